//! Verifies a log line by line, in constant memory.

use std::io::{self, BufRead, Read as _};

use serde::Serialize;

use super::chain::{self, ChainEnd, Hash, MAX_LINE, RecordFlaw};

/// Hashes that the caller knows from elsewhere.
#[derive(Debug, Clone, Copy, Default)]
pub struct ExpectedHashes {
    /// The last hash of the previous file, which the first line has to follow.
    pub follows: Option<Hash>,
    /// A hash that was noted earlier and has to be in the file.
    pub holds: Option<Hash>,
}

/// The summary of a valid log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verified {
    /// The number of records.
    pub records: u64,
    /// The time of the first record.
    pub from: Option<String>,
    /// The time of the last record.
    pub to: Option<String>,
    /// The hash that the first record follows: zeros, or the last hash of another file.
    pub follows: Hash,
    /// The hash of the last record, which covers the whole file.
    pub last_hash: Hash,
    /// The number of records that the hub reported as lost.
    pub lost: u64,
    /// The number of unfinished lines that the hub moved away when it started.
    pub recovered: u64,
    /// The bytes after the last line break: a line that is being written, or that a crash has cut.
    pub unfinished_bytes: u64,
}

/// Why a log is not valid.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// The file cannot be read.
    #[error("cannot read: {0}")]
    Read(#[source] io::Error),
    /// The chain is broken.
    #[error("line {line}: {how}")]
    Broken {
        /// The first line that breaks the chain, counted from 1.
        line: u64,
        /// How it breaks the chain.
        how: Break,
    },
    /// The hash that was noted earlier is not in the file.
    #[error("no line of {records} has the hash {hash}: lines were cut off the end, or it is another log")]
    NotHeld {
        /// The hash.
        hash: Hash,
        /// The number of records in the file.
        records: u64,
    },
}

/// How a line breaks the chain.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Break {
    /// No hub wrote it.
    #[error("is no audit record")]
    NotARecord,
    /// Its bytes and its hash disagree.
    #[error("was changed: its hash is that of other bytes")]
    Changed,
    /// Its number is too high.
    #[error("is record {found} where {expected} should be: a record was removed, or this one was moved up")]
    Missing {
        /// The expected number.
        expected: u64,
        /// The number of the line.
        found: u64,
    },
    /// Its number is too low.
    #[error("is record {found} where {expected} should be: it was inserted, repeated or moved down")]
    OutOfPlace {
        /// The expected number.
        expected: u64,
        /// The number of the line.
        found: u64,
    },
    /// Its number is correct, but it follows another line.
    #[error("does not follow the line before: one of the two was replaced")]
    Replaced,
    /// The first line begins a chain with another number than 1.
    #[error("begins a chain as record {found}: those before it were removed")]
    NoBeginning {
        /// Its number.
        found: u64,
    },
    /// The first line follows another file.
    #[error("follows {found}, not the file that ends with {expected}")]
    OtherFile {
        /// The expected hash.
        expected: Hash,
        /// The hash in the line.
        found: Hash,
    },
}

impl From<RecordFlaw> for Break {
    fn from(flaw: RecordFlaw) -> Self {
        match flaw {
            RecordFlaw::NotARecord => Self::NotARecord,
            RecordFlaw::WrongHash => Self::Changed,
        }
    }
}

/// Checks that every record is unchanged and follows the one before.
///
/// It cannot detect lines cut off the end (unless [`ExpectedHashes::holds`] names one of them), removed files before
/// this one (unless [`ExpectedHashes::follows`] is given), and a log that was rewritten as a whole.
pub fn verify(mut log: impl BufRead, expected: &ExpectedHashes) -> Result<Verified, VerifyError> {
    let mut seen = Verified {
        records: 0,
        from: None,
        to: None,
        follows: expected.follows.unwrap_or(Hash::ZERO),
        last_hash: expected.follows.unwrap_or(Hash::ZERO),
        lost: 0,
        recovered: 0,
        unfinished_bytes: 0,
    };
    let mut end = None;
    let mut is_held = expected.holds.is_none_or(|hash| hash == seen.last_hash);
    let mut line = Vec::new();
    loop {
        line.clear();
        (&mut log).take(MAX_LINE as u64 + 1).read_until(b'\n', &mut line).map_err(VerifyError::Read)?;
        let number = seen.records + 1;
        let broken = |how| VerifyError::Broken { line: number, how };
        if line.pop_if(|last| *last == b'\n').is_none() {
            seen.unfinished_bytes = unfinished(&mut log, line.len())?.ok_or_else(|| broken(Break::NotARecord))?;
            break;
        }
        let sealed = chain::read(&line).map_err(|flaw| broken(flaw.into()))?;
        match end {
            None => {
                check_first(sealed.seq, sealed.prev, expected.follows).map_err(broken)?;
                seen.follows = sealed.prev;
                seen.from = Some(sealed.time.to_string());
            }
            Some(end) => check_next(end, sealed.seq, sealed.prev).map_err(broken)?,
        }
        end = Some(ChainEnd { seq: sealed.seq, hash: sealed.hash });
        seen.records += 1;
        seen.last_hash = sealed.hash;
        is_held |= expected.holds == Some(sealed.hash);
        match &*sealed.event {
            "lost" => seen.lost += sealed.count,
            "recovered" => seen.recovered += 1,
            _ => {}
        }
        let to = seen.to.get_or_insert_default();
        to.clear();
        to.push_str(&sealed.time);
    }
    match expected.holds {
        Some(hash) if !is_held => Err(VerifyError::NotHeld { hash, records: seen.records }),
        _ => Ok(seen),
    }
}

/// The number of bytes to the end of the file; `None` if another line follows, so that this one is too long.
fn unfinished(log: &mut impl BufRead, begun: usize) -> Result<Option<u64>, VerifyError> {
    let mut bytes = begun as u64;
    loop {
        let more = log.fill_buf().map_err(VerifyError::Read)?;
        if more.contains(&b'\n') {
            return Ok(None);
        }
        let length = more.len();
        if length == 0 {
            return Ok(Some(bytes));
        }
        bytes += length as u64;
        log.consume(length);
    }
}

fn check_first(seq: u64, prev: Hash, follows: Option<Hash>) -> Result<(), Break> {
    match follows {
        Some(expected) if expected != prev => Err(Break::OtherFile { expected, found: prev }),
        _ if prev == Hash::ZERO && seq != 1 => Err(Break::NoBeginning { found: seq }),
        _ => Ok(()),
    }
}

fn check_next(end: ChainEnd, found: u64, prev: Hash) -> Result<(), Break> {
    let expected = end.seq + 1;
    match found {
        _ if found > expected => Err(Break::Missing { expected, found }),
        _ if found < expected => Err(Break::OutOfPlace { expected, found }),
        _ if prev != end.hash => Err(Break::Replaced),
        _ => Ok(()),
    }
}
