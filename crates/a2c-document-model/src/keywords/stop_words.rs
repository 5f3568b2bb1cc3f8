//! Words that say nothing about a text, in the languages that are met most often.

use std::collections::HashSet;
use std::sync::LazyLock;

/// Whether a word, in lower case, says nothing.
pub(super) fn is_stop_word(word: &str) -> bool {
    static WORDS: LazyLock<HashSet<&str>> =
        LazyLock::new(|| [ENGLISH, GERMAN, FRENCH, SPANISH].into_iter().flat_map(str::split_whitespace).collect());
    WORDS.contains(word)
}

const ENGLISH: &str = "the and for are was were has have had not but with from that this these those they them their there then \
    than when where which who whom whose what why how will would shall should can could may might must been being into onto \
    over under about above below after before between during through each every any some all both more most other such only \
    own same very just also here its it's our your his her him she you one two out off per via too yes still yet once again \
    because while until against without within upon does did done doing get got make made use used using many much few new";

const GERMAN: &str = "der die das den dem des ein eine einer eines einem einen und oder aber nicht mit von vom zum zur für auf aus \
    bei ist sind war waren wird werden wurde wurden hat haben hatte hatten kann können soll sollen muss müssen darf dürfen \
    als auch dass daß wenn weil wie wer was wo wann warum nur noch schon sehr mehr viel viele alle alles jede jeder jedes \
    dieser diese dieses diesem diesen sich sie ihr ihre ihrer ihrem ihren sein seine seiner seinem seinen mein dein unser \
    über unter vor nach zwischen durch gegen ohne bis seit während dann denn doch hier dort man kein keine keiner zwei";

const FRENCH: &str = "les des une aux est sont était été être avoir ont avait pour par avec sans sous sur dans entre vers chez mais \
    donc car que qui quoi dont où quand comme cette ces cet son ses leur leurs notre nos votre vos mon mes ton tes elle elles \
    ils nous vous pas plus moins très tout tous toute toutes même aussi encore peut peuvent fait faire deux";

const SPANISH: &str = "los las una unos unas del que por para con sin sobre entre hasta desde como pero más menos muy todo todos toda \
    todas este esta estos estas ese esa esos esas aquel ser son era fue han hay está están su sus nuestro nuestra cuando donde \
    porque también dos";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn particles_say_nothing_and_nouns_do() {
        for (word, expected) in [("the", true), ("werden", true), ("harbour", false), ("", false)] {
            assert_eq!(is_stop_word(word), expected, "{word}");
        }
    }
}
