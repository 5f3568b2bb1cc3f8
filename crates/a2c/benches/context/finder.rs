//! A page of twenty among a hundred thousand documents, and among a million.

use std::time::{Duration, Instant};

use a2c_agent::FinderQuery;
use serde_json::{Map, Value, json};

use crate::Bench;
use crate::bars::Bars;
use crate::computer_process::ComputerProcess;
use crate::round::many;
use crate::server::started;

const SERVERS: usize = 50;
const MIB: f64 = 1024.0;
const CHANGES: usize = 4_000;
const CHANGES_AT_A_TIME: usize = 20;

pub(crate) async fn measure(bench: &Bench, bars: &mut Bars, is_quick: bool) {
    // What the Computer and its fifty servers need by themselves.
    let empty = ComputerProcess::start(bench, "empty", &servers(0));
    let base = empty.resident_kib();
    empty.stop();
    let few = library(bench, 1_000).await;
    let one_of_few = change(bench, &few).await;
    few.stop();
    size(bench, bars, 100_000, 500, 10.0, base).await;
    if !is_quick {
        let one_of_many = size(bench, bars, 1_000_000, 200, 60.0, base).await;
        bars.at_most("CPU for one changed document, of a million to of a thousand", one_of_many / one_of_few, 1.25);
    }
}

/// A Computer that knows so many documents.
async fn library(bench: &Bench, documents: usize) -> ComputerProcess {
    let begin = Instant::now();
    let computer = ComputerProcess::start(bench, &format!("library-{documents}"), &servers(documents / SERVERS));
    let found =
        async || bench.agent.finder(&computer.name, FinderQuery::default()).await.map_or(0, |page| page.total_count);
    while found().await < documents as u64 {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let took = begin.elapsed().as_secs_f64();
    println!("\n{documents} documents on {SERVERS} servers: all known {took:.1} s after the start");
    computer
}

/// The CPU time of the Computer for one document that changes, is read again and put into its place, in milliseconds.
async fn change(bench: &Bench, computer: &ComputerProcess) -> f64 {
    let touch = async || {
        let arguments = json!({ "documents": CHANGES_AT_A_TIME });
        bench
            .agent
            .call_tool(&computer.name, "s0_touch", arguments, Duration::from_secs(60))
            .await
            .expect("it is called");
    };
    touch().await;
    let before = computer.cpu_ms();
    for _ in 0..CHANGES / CHANGES_AT_A_TIME {
        touch().await;
    }
    let each = (computer.cpu_ms() - before) / CHANGES as f64;
    println!("a document that changes costs {each:.3} ms of the Computer's CPU");
    each
}

/// Asks for pages, and gives what one changed document costs.
async fn size(bench: &Bench, bars: &mut Bars, documents: usize, asks: usize, limit: f64, base: f64) -> f64 {
    let computer = library(bench, documents).await;
    let resident = computer.resident_kib();
    let each = (resident - base) * 1024.0 / documents as f64;
    println!(
        "the Computer has {:.0} MiB, {:.0} MiB of it without documents: {each:.0} bytes for each",
        resident / MIB,
        base / MIB
    );

    let filter = |keywords: &[&str], kind: Option<&str>, offset: u64| {
        let query = FinderQuery::default().with_keywords(keywords.iter().copied()).with_offset(offset);
        kind.into_iter().fold(query, FinderQuery::with_file_type)
    };
    let deep = documents as u64 - 100;
    let filters = [
        ("no filter", filter(&[], None, 0)),
        ("no filter, the last page", filter(&[], None, deep)),
        ("a word in one of a thousand", filter(&["QUOKKA"], None, 0)),
        ("a word in all", filter(&["expense"], None, 0)),
        ("a word in all, the last page", filter(&["expense"], None, deep)),
        ("a word in none", filter(&["nowhere to be found"], None, 0)),
        ("one letter", filter(&["e"], None, 0)),
        ("three words", filter(&["quokka", "project 77", "team 9"], None, 0)),
        ("a file type", filter(&[], Some("xlsx"), 0)),
        ("a word and a file type", filter(&["project 77"], Some("xlsx"), 0)),
    ];
    let mut worst: f64 = 0.0;
    for (what, query) in filters {
        let (agent, name) = (bench.agent.clone(), computer.name.clone());
        let round = many(asks, 1, move |_| {
            let (agent, name, query) = (agent.clone(), name.clone(), query.clone());
            async move { agent.finder(&name, query).await.is_ok() }
        });
        let round = round.await;
        round.print(what, 1);
        worst = worst.max(round.ms(0.99));
    }
    bars.below(&format!("a page of {documents} documents, any filter, worst p99"), worst, limit, "ms");
    bars.below(&format!("memory for each of {documents} documents"), each, 1024.0, "bytes");
    let one = change(bench, &computer).await;
    computer.stop();
    one
}

fn servers(documents_of_each: usize) -> Value {
    let servers: Map<String, Value> = (0..SERVERS)
        .map(|number| (format!("s{number}"), started("documents", &format!("s{number}"), documents_of_each)))
        .collect();
    servers.into()
}
