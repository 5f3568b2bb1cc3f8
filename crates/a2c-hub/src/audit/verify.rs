//! Checking a log: line by line, in constant memory.

use std::io::{self, BufRead, Read as _};

use serde::Serialize;

use super::chain::{self, ChainEnd, Hash, MAX_LINE, RecordFlaw};

/// What the caller knows from elsewhere.
#[derive(Debug, Clone, Copy, Default)]
pub struct ExpectedHashes {
    /// The last hash of the file before, which the first line has to follow.
    pub follows: Option<Hash>,
    /// A hash that was noted earlier and has to be among those of the file.
    pub holds: Option<Hash>,
}

/// A log in good order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verified {
    /// How many records.
    pub records: u64,
    /// The time of the first.
    pub from: Option<String>,
    /// The time of the last.
    pub to: Option<String>,
    /// What the first record follows: zeros, or the last hash of another file.
    pub follows: Hash,
    /// The hash that stands for all of it.
    pub last_hash: Hash,
    /// Records that the hub could not write, by its own account.
    pub lost: u64,
    /// Unfinished lines that the hub found when it started, and set aside.
    pub recovered: u64,
    /// Bytes after the last line break: a line that is being written, or that a crash has cut.
    pub unfinished_bytes: u64,
}

/// A log that cannot be relied on, or not be read.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// The file cannot be read.
    #[error("cannot read: {0}")]
    Read(#[source] io::Error),
    /// The chain is broken.
    #[error("line {line}: {how}")]
    Broken {
        /// The first line that does not fit, counted from 1.
        line: u64,
        /// In which way.
        how: Break,
    },
    /// The hash that was noted earlier is nowhere.
    #[error("no line of {records} has the hash {hash}: lines were cut off the end, or it is another log")]
    NotHeld {
        /// The hash.
        hash: Hash,
        /// How many records there are.
        records: u64,
    },
}

/// How a line breaks the chain.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Break {
    /// It was not written by a hub.
    #[error("is no audit record")]
    NotARecord,
    /// Its bytes and its hash differ.
    #[error("was changed: its hash is that of other bytes")]
    Changed,
    /// Its number is too high.
    #[error("is record {found} where {expected} should be: a record was removed, or this one was moved up")]
    Missing {
        /// The number that should be here.
        expected: u64,
        /// The number that is.
        found: u64,
    },
    /// Its number is too low.
    #[error("is record {found} where {expected} should be: it was inserted, repeated or moved down")]
    OutOfPlace {
        /// The number that should be here.
        expected: u64,
        /// The number that is.
        found: u64,
    },
    /// Its number is right, but it follows another line.
    #[error("does not follow the line before: one of the two was replaced")]
    Replaced,
    /// The first line follows nothing and is not the first.
    #[error("begins a chain as record {found}: those before it were removed")]
    NoBeginning {
        /// Its number.
        found: u64,
    },
    /// The first line follows something else.
    #[error("follows {found}, not the file that ends with {expected}")]
    OtherFile {
        /// The hash that was given.
        expected: Hash,
        /// The hash that is there.
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

/// Checks that every record is as it was written and follows the one before.
///
/// What it cannot see: lines cut off the end (unless [`ExpectedHashes::holds`] names one of them), files removed before this
/// one (unless [`ExpectedHashes::follows`] is given), and a log that was written anew as a whole.
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

/// How many bytes there are to the end of the file; nothing if another line follows, so that this one is too long.
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
