//! Inputs that are nearly seeds.

/// No input gets longer than that.
const MAX_BYTES: usize = 4096;

/// Makes inputs out of seeds and the words of a dictionary. The same seeds and words give the same inputs.
#[derive(Debug)]
pub struct Mutator {
    seeds: Vec<Vec<u8>>,
    words: Vec<Vec<u8>>,
    random: fastrand::Rng,
}

impl Mutator {
    /// Begins with a number that chooses the inputs.
    pub fn new(seeds: Vec<Vec<u8>>, words: Vec<Vec<u8>>, choice: u64) -> Self {
        Self { seeds, words, random: fastrand::Rng::with_seed(choice) }
    }

    /// The next input.
    pub fn input(&mut self) -> Vec<u8> {
        let mut input = self.random.choice(&self.seeds).cloned().unwrap_or_default();
        for _ in 0..self.random.usize(1..=8) {
            self.change(&mut input);
        }
        input.truncate(MAX_BYTES);
        input
    }

    fn change(&mut self, input: &mut Vec<u8>) {
        let at = self.random.usize(..=input.len());
        let end = self.random.usize(at..=input.len().min(at + 32));
        match self.random.u8(..8) {
            0 => drop(input.drain(at..end)),
            1 => {
                let part = input[at..end].to_vec();
                insert(input, at, &part);
            }
            2 => {
                // The end of another seed.
                let other = self.random.choice(&self.seeds).cloned().unwrap_or_default();
                let from = self.random.usize(..=other.len());
                input.truncate(at);
                input.extend_from_slice(&other[from..]);
            }
            3 if at < input.len() => input[at] ^= 1 << self.random.u8(..8),
            4 if at < input.len() => input[at] = self.byte(),
            5 => {
                let byte = self.byte();
                input.insert(at, byte);
            }
            _ => {
                if let Some(word) = self.random.choice(&self.words).cloned() {
                    if self.random.bool() {
                        input.drain(at..end);
                    }
                    insert(input, at, &word);
                }
            }
        }
    }

    /// A byte, more often one at a border of something.
    fn byte(&mut self) -> u8 {
        let borders = [0, 1, b' ', b'"', b'%', b',', b'/', b'0', b'9', b'[', b'\\', b'{', 0x1e, 0x7f, 0x80, 0xff];
        if self.random.bool() { borders[self.random.usize(..borders.len())] } else { self.random.u8(..) }
    }
}

fn insert(input: &mut Vec<u8>, at: usize, part: &[u8]) {
    input.splice(at..at, part.iter().copied());
}

/// The words of a dictionary as libFuzzer reads it: one a line, in quotes, with `\"`, `\\` and `\xNN`.
pub fn dictionary(text: &str) -> Vec<Vec<u8>> {
    let lines = text.lines().map(str::trim).filter(|line| !line.starts_with('#'));
    let quoted = lines.filter_map(|line| line.split_once('"')?.1.strip_suffix('"'));
    quoted.map(unescape).collect()
}

fn unescape(word: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = word.as_bytes();
    while let [first, after @ ..] = rest {
        rest = match (first, after) {
            (b'\\', [b'x', digits @ ..]) if digits.len() >= 2 => {
                let number = std::str::from_utf8(&digits[..2]).ok().and_then(|two| u8::from_str_radix(two, 16).ok());
                bytes.push(number.unwrap_or_default());
                &digits[2..]
            }
            (b'\\', [escaped, after @ ..]) => {
                bytes.push(*escaped);
                after
            }
            _ => {
                bytes.push(*first);
                after
            }
        };
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_a_dictionary_are_read() {
        let text = "# words\n\"window://\"\nname=\"a\\\"b\\\\\"\n\n\"\\x1e\\xffz\"\n";
        assert_eq!(dictionary(text), [b"window://".to_vec(), b"a\"b\\".to_vec(), b"\x1e\xffz".to_vec()]);
    }

    #[test]
    fn inputs_differ_and_are_the_same_again() {
        let inputs = |choice| {
            let mut mutator = Mutator::new(vec![b"some seed".to_vec()], vec![b"word".to_vec()], choice);
            (0..1000).map(|_| mutator.input()).collect::<Vec<_>>()
        };
        let first = inputs(1);
        assert_eq!(first, inputs(1));
        assert_ne!(first, inputs(2));
        let different: std::collections::HashSet<_> = first.iter().collect();
        assert!(different.len() > 800, "{}", different.len());
        assert!(first.iter().any(|input| input.windows(4).any(|part| part == b"word")));
        assert!(first.iter().all(|input| input.len() <= MAX_BYTES));
    }

    #[test]
    fn there_are_inputs_without_any_seed() {
        let mut mutator = Mutator::new(Vec::new(), Vec::new(), 0);
        assert!((0..100).any(|_| !mutator.input().is_empty()));
    }
}
