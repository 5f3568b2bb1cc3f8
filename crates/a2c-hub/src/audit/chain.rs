//! The hash chain: each line of the log depends on all lines before it.
//!
//! A line reads `{"seq":2,…,"prev":"<hash of the line before>","hash":"<its own>"}`. Its hash is the SHA-256 of its bytes
//! in the file, up to the comma before `"hash"`; `prev` is among them. A check needs neither a parser nor a canonical
//! form, and `sha256sum` is enough to do it by hand; docs/decisions/0014-audit-chain.md says why.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize, Serializer};
use sha2::{Digest as _, Sha256};

/// The longest line, without its line break. The fields of a record are bounded well below.
pub(crate) const MAX_LINE: usize = 256 << 10;

/// The bytes between the hashed part of a line and its hash.
const BEFORE_HASH: &[u8] = b",\"hash\":\"";
const AFTER_HASH: &[u8] = b"\"}";
const HEX: usize = 64;

/// The SHA-256 of a line, which covers all lines before it; written as 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Hash([u8; 32]);

impl Hash {
    /// The predecessor of the first line.
    pub const ZERO: Self = Self([0; 32]);

    fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    fn hex(self) -> [u8; HEX] {
        let mut hex = [0; HEX];
        for (digits, byte) in hex.as_chunks_mut::<2>().0.iter_mut().zip(self.0) {
            *digits = [byte >> 4, byte & 15].map(|digit| b"0123456789abcdef"[usize::from(digit)]);
        }
        hex
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(str::from_utf8(&self.hex()).expect("digits are ASCII"))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Hash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(str::from_utf8(&self.hex()).expect("digits are ASCII"))
    }
}

/// The text is no hash of an audit log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a hash is 64 lower-case hexadecimal digits, as `last hash` of `a2c audit verify` shows it")]
pub struct NotAHash;

impl FromStr for Hash {
    type Err = NotAHash;

    /// Refuses upper case, so that a hash has one spelling.
    fn from_str(text: &str) -> Result<Self, NotAHash> {
        let digit = |byte: u8| match byte {
            b'0'..=b'9' => Ok(byte - b'0'),
            b'a'..=b'f' => Ok(byte - b'a' + 10),
            _ => Err(NotAHash),
        };
        let (pairs, []) = text.as_bytes().as_chunks::<2>() else { return Err(NotAHash) };
        let mut hash = [0; 32];
        if pairs.len() != hash.len() {
            return Err(NotAHash);
        }
        for (byte, [high, low]) in hash.iter_mut().zip(pairs) {
            *byte = digit(*high)? << 4 | digit(*low)?;
        }
        Ok(Self(hash))
    }
}

/// The end of a chain, which the next line follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ChainEnd {
    /// The number of the last line.
    pub(crate) seq: u64,
    /// The hash of the last line.
    pub(crate) hash: Hash,
}

impl ChainEnd {
    /// The end of an empty chain.
    pub(crate) const START: Self = Self { seq: 0, hash: Hash::ZERO };
}

/// Adds its hash and a line break to the line, a JSON object, that begins at `start` of `out`.
pub(crate) fn seal(out: &mut Vec<u8>, start: usize) -> Hash {
    debug_assert_eq!(out.last(), Some(&b'}'), "a line is an object");
    out.pop();
    let hash = Hash::of(&out[start..]);
    out.extend_from_slice(BEFORE_HASH);
    out.extend_from_slice(&hash.hex());
    out.extend_from_slice(AFTER_HASH);
    out.push(b'\n');
    hash
}

/// The fields of a line that the chain reads.
#[derive(Deserialize)]
struct SealedFields<'a> {
    seq: u64,
    #[serde(borrow)]
    time: Cow<'a, str>,
    #[serde(borrow)]
    event: Cow<'a, str>,
    #[serde(borrow)]
    prev: Cow<'a, str>,
    count: Option<u64>,
}

/// A line whose hash is correct.
#[derive(Debug)]
pub(crate) struct Sealed<'a> {
    pub(crate) seq: u64,
    pub(crate) time: Cow<'a, str>,
    pub(crate) event: Cow<'a, str>,
    pub(crate) count: u64,
    pub(crate) prev: Hash,
    pub(crate) hash: Hash,
}

/// What is wrong with a line by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RecordFlaw {
    NotARecord,
    WrongHash,
}

/// Reads a line, without its line break, and checks its hash.
pub(crate) fn read(line: &[u8]) -> Result<Sealed<'_>, RecordFlaw> {
    let body = line.len().checked_sub(BEFORE_HASH.len() + HEX + AFTER_HASH.len()).ok_or(RecordFlaw::NotARecord)?;
    let (body, end) = line.split_at(body);
    let hex =
        end.strip_prefix(BEFORE_HASH).and_then(|end| end.strip_suffix(AFTER_HASH)).ok_or(RecordFlaw::NotARecord)?;
    let hash: Hash = str::from_utf8(hex).ok().and_then(|hex| hex.parse().ok()).ok_or(RecordFlaw::NotARecord)?;
    if Hash::of(body) != hash {
        return Err(RecordFlaw::WrongHash);
    }
    let content: SealedFields<'_> = serde_json::from_slice(line).map_err(|_| RecordFlaw::NotARecord)?;
    let prev = content.prev.parse().map_err(|NotAHash| RecordFlaw::NotARecord)?;
    let SealedFields { seq, time, event, count, .. } = content;
    Ok(Sealed { seq, time, event, count: count.unwrap_or(0), prev, hash })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sealed(text: &str) -> Vec<u8> {
        let mut out = text.as_bytes().to_vec();
        seal(&mut out, 0);
        out.pop();
        out
    }

    fn record() -> Vec<u8> {
        sealed(&format!(r#"{{"seq":1,"time":"t","event":"call","prev":"{}"}}"#, Hash::ZERO))
    }

    #[test]
    fn every_changed_byte_of_a_line_is_found() {
        let line = record();
        assert_eq!(read(&line).map(|sealed| sealed.seq), Ok(1));
        for at in 0..line.len() {
            for change in [0x01, 0x20, 0x80] {
                let mut changed = line.clone();
                changed[at] ^= change;
                assert!(read(&changed).is_err(), "byte {at}: {}", String::from_utf8_lossy(&changed));
            }
            assert!(read(&line[..at]).is_err(), "cut at {at}");
        }
    }

    #[test]
    fn the_hash_is_that_of_sha256sum() {
        // printf '{"a":1' | sha256sum
        let expected = r#"{"a":1,"hash":"8b0f0d75aabe01bbfba9341752c2cf7626f154e676aa791427b31aebfabc2592"}"#;
        assert_eq!(String::from_utf8_lossy(&sealed(r#"{"a":1}"#)), expected);
    }

    #[test]
    fn a_hash_has_one_spelling() {
        let text = Hash::of(b"x").to_string();
        assert_eq!(text.parse(), Ok(Hash::of(b"x")));
        for wrong in ["", "0", &text[1..], &text.to_uppercase(), &format!("{text}00"), &"é".repeat(32)] {
            assert_eq!(wrong.parse::<Hash>(), Err(NotAHash), "{wrong}");
        }
    }

    #[test]
    fn a_sealed_line_that_is_no_record_is_none() {
        assert_eq!(read(&sealed(r#"{"seq":1}"#)).map(|s| s.seq), Err(RecordFlaw::NotARecord));
        assert_eq!(
            read(&sealed(r#"{"seq":1,"time":"t","event":"x","prev":"0"}"#)).map(|s| s.seq),
            Err(RecordFlaw::NotARecord)
        );
    }

    impl PartialEq for Sealed<'_> {
        fn eq(&self, other: &Self) -> bool {
            self.hash == other.hash
        }
    }
}
