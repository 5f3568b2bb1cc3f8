//! Answers a query from the documents of all servers.
//!
//! First every chunk is asked which of its documents are found, in parallel where there is much text; then the chunks
//! are walked in order, counting, and the documents on the page are read.

use std::num::NonZero;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::thread;

use a2c_protocol::context::DpeDocumentSummary;

use super::chunk::{Chunk, Mask};
use super::server_documents::ServerDocuments;
use super::signature::Keyword;
use crate::finder::query::DocumentQuery;

/// Fewer chunks than this (some 25,000 documents) are searched sooner than a thread is started.
const MIN_CHUNKS_FOR_THREADS: usize = 256;
/// How many chunks a thread takes at a time: a fraction of a millisecond of work.
const CHUNKS_PER_PORTION: usize = 32;
/// More threads only wait for the same memory.
const MAX_THREADS: usize = 4;

static THREADS: LazyLock<usize> =
    LazyLock::new(|| thread::available_parallelism().map_or(1, NonZero::get).min(MAX_THREADS));

/// A page of the documents of these servers, in their order, and how many the query finds.
pub(super) fn page(servers: &[(&str, &ServerDocuments)], query: &DocumentQuery) -> (Vec<DpeDocumentSummary>, u64) {
    let mut page = Page { skip: query.offset, room: query.page_size(), documents: Vec::new(), total: 0 };
    match (query.folded_keywords(), query.file_type.as_deref()) {
        (None, None) => page.add_all(servers),
        (None, Some(file_type)) => page.add_of_type(servers, file_type),
        (Some(keywords), file_type) => {
            let keywords: Vec<Keyword<'_>> = keywords.iter().map(|keyword| Keyword::new(keyword)).collect();
            let chunks: Vec<&Chunk> = servers.iter().flat_map(|(_, documents)| documents.chunks()).collect();
            let found = search(&chunks, |chunk| {
                let wanted = file_type.map_or(chunk.all(), |file_type| chunk.of_type(file_type));
                keywords.iter().fold(0, |found, keyword| found | chunk.containing(keyword, wanted & !found))
            });
            page.add_found(servers, &found);
        }
    }
    (page.documents, page.total)
}

/// What each chunk says, in the order of the chunks.
fn search(chunks: &[&Chunk], look: impl Fn(&Chunk) -> Mask + Sync) -> Vec<Mask> {
    let mut found: Vec<Mask> = vec![0; chunks.len()];
    let portions = chunks.chunks(CHUNKS_PER_PORTION).zip(found.chunks_mut(CHUNKS_PER_PORTION));
    // A free thread takes the next portion, so that a busy processor delays one portion and not half of the work.
    let portions = Mutex::new(portions);
    let work = || {
        let next = || portions.lock().unwrap_or_else(PoisonError::into_inner).next();
        while let Some((chunks, found)) = next() {
            chunks.iter().zip(found).for_each(|(chunk, found)| *found = look(chunk));
        }
    };
    thread::scope(|scope| {
        if chunks.len() >= MIN_CHUNKS_FOR_THREADS {
            for _ in 1..*THREADS {
                // If a thread cannot be started, the current thread does its work.
                drop(thread::Builder::new().name("finder".into()).spawn_scoped(scope, work));
            }
        }
        work();
    });
    found
}

/// A page that is being filled.
struct Page {
    /// How many documents there are still to come before the page.
    skip: u64,
    /// How many documents still fit on it.
    room: usize,
    documents: Vec<DpeDocumentSummary>,
    /// How many documents were found so far.
    total: u64,
}

impl Page {
    fn add_all(&mut self, servers: &[(&str, &ServerDocuments)]) {
        for (server, documents) in servers {
            for row in documents.rows() {
                if self.pass(row.len()) {
                    continue;
                }
                for chunk in row.chunks() {
                    self.take(server, chunk, chunk.len(), || chunk.all());
                }
            }
        }
    }

    fn add_of_type(&mut self, servers: &[(&str, &ServerDocuments)], file_type: &str) {
        for (server, documents) in servers {
            for chunk in documents.chunks() {
                self.take(server, chunk, chunk.count_of_type(file_type), || chunk.of_type(file_type));
            }
        }
    }

    fn add_found(&mut self, servers: &[(&str, &ServerDocuments)], found: &[Mask]) {
        let chunks =
            servers.iter().flat_map(|(server, documents)| documents.chunks().map(move |chunk| (server, chunk)));
        for ((server, chunk), mask) in chunks.zip(found) {
            self.take(server, chunk, mask.count_ones() as usize, || *mask);
        }
    }

    /// Counts documents without looking at them, if none of them is on the page.
    fn pass(&mut self, count: usize) -> bool {
        let count = count as u64;
        let is_before = count <= self.skip;
        if !is_before && self.room > 0 {
            return false;
        }
        self.skip -= count.min(self.skip);
        self.total += count;
        true
    }

    /// Takes from a chunk what belongs on the page, and counts the rest.
    fn take(&mut self, server: &str, chunk: &Chunk, count: usize, found: impl FnOnce() -> Mask) {
        if self.pass(count) {
            return;
        }
        let found = found();
        let documents = (0..chunk.len()).filter(|at| found >> at & 1 == 1);
        let on_page = documents.skip(self.skip as usize).take(self.room);
        self.documents.extend(on_page.map(|at| chunk.document(at).summary(server)));
        self.room = self.room - (count - self.skip as usize).min(self.room);
        self.skip = 0;
        self.total += count as u64;
    }
}
