//! Which chunks cannot hold a keyword, without looking at their text.
//!
//! A signature is a set of all three bytes that stand next to each other in a chunk's text. A keyword one of whose own
//! triples is missing occurs nowhere in the chunk. Most words that are in few documents are thus looked for in few
//! chunks only, and a word that is in none costs next to nothing.

use memchr::memmem::Finder;

use super::indexed_document::END;

const BITS: usize = 1 << 15;
const TRIPLE: usize = 3;

/// The triples of a text, hashed: it may seem to have some that it has not, but never the other way round.
#[derive(Clone)]
pub(super) struct Signature(Box<[u64]>);

impl Signature {
    pub(super) fn of(text: &[u8]) -> Self {
        let mut signature = Self(vec![0; BITS / 64].into());
        signature.add(text);
        signature
    }

    /// Adds the triples of a text whose parts end in [`END`], over which no keyword reaches.
    pub(super) fn add(&mut self, text: &[u8]) {
        for part in text.split(|byte| *byte == END) {
            for bit in bits(part) {
                self.0[bit / 64] |= 1 << (bit % 64);
            }
        }
    }

    fn may_hold(&self, keyword: &Keyword<'_>) -> bool {
        keyword.bits.iter().all(|bit| self.0[bit / 64] >> (bit % 64) & 1 == 1)
    }
}

/// The bits for the triples of a text.
fn bits(text: &[u8]) -> impl Iterator<Item = usize> {
    text.windows(TRIPLE).map(|triple| {
        let triple = triple.iter().fold(0, |number: u32, byte| number << 8 | u32::from(*byte));
        // Multiplying by the golden ratio spreads neighbours; the highest bits are the best mixed.
        (triple.wrapping_mul(0x9E37_79B1) >> (u32::BITS - BITS.ilog2())) as usize
    })
}

/// A folded keyword, ready to be looked for in many chunks.
pub(super) struct Keyword<'a> {
    finder: Finder<'a>,
    bits: Vec<usize>,
}

impl<'a> Keyword<'a> {
    pub(super) fn new(folded: &'a str) -> Self {
        Self { finder: Finder::new(folded), bits: bits(folded.as_bytes()).collect() }
    }

    /// Where it first is in a text.
    pub(super) fn find(&self, text: &[u8]) -> Option<usize> {
        self.finder.find(text)
    }

    /// Whether a text with this signature need not be searched. Without a signature one has to look.
    pub(super) fn cannot_be_in(&self, signature: Option<&Signature>) -> bool {
        signature.is_some_and(|signature| !signature.may_hold(self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_a_text_is_in_its_signature() {
        let text = "annual report\u{1F4C4} 财务年报";
        let mut signature = Signature::of(b"other\xFF");
        signature.add(text.as_bytes());
        for (start, _) in text.char_indices() {
            for (end, c) in text[start..].char_indices() {
                let part = &text[start..start + end + c.len_utf8()];
                assert!(!Keyword::new(part).cannot_be_in(Some(&signature)), "{part}");
            }
        }
        let absent = Keyword::new("zebra");
        assert!(absent.cannot_be_in(Some(&signature)));
        assert!(!absent.cannot_be_in(None));
        assert!(Keyword::new("herann").cannot_be_in(Some(&signature)), "texts do not run into each other");
    }
}
