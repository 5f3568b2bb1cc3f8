//! One changed document in the index, among a thousand and among a million.

use std::time::Instant;

use a2c_computer::finder::FinderIndex;
use a2c_protocol::context::DpeDocumentSummary;

use crate::round::Round;
use crate::server::summary;

const SERVERS: usize = 50;
const CHANGES: usize = 20_000;

pub(crate) fn measure(is_quick: bool) {
    let many = if is_quick { 100_000 } else { 1_000_000 };
    // By turns, so that a machine that is busy for a while is busy for both.
    let (mut few, mut lots) = (filled(1_000), filled(many));
    let (mut of_few, mut of_many) = (Round::default(), Round::default());
    for turn in 0..3 {
        of_few.add(changes(&mut few, 1_000, turn));
        of_many.add(changes(&mut lots, many, turn));
    }
    of_few.print("a document changes, 1,000", 1);
    of_many.print(&format!("a document changes, {many}"), 1);
}

fn document(number: usize) -> DpeDocumentSummary {
    let server = format!("s{}", number % SERVERS);
    let mut said = summary(&server, number / SERVERS);
    said["server"] = server.into();
    serde_json::from_value(said).expect("it is a summary")
}

fn filled(count: usize) -> FinderIndex {
    let mut index = FinderIndex::new();
    for number in 0..count {
        index.put(&document(number));
    }
    index
}

/// Each change makes a document the newest of its server, or gives it its old place back.
fn changes(index: &mut FinderIndex, count: usize, turn: usize) -> Round {
    let times = (0..CHANGES).map(|change| {
        let mut changed = document((change * 7_919 + turn * 31) % count);
        changed.title = format!("Changed {change} in turn {turn}");
        let begin = Instant::now();
        index.put(&changed);
        begin.elapsed()
    });
    Round::of(times.collect())
}
