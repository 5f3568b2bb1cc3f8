//! Keeps the catalogue in step with one server, for as long as a session lasts: lists its resources, subscribes to them,
//! and reads the documents about which the list does not say enough.

use std::collections::HashSet;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use a2c_mcp::paging::written_size;
use a2c_mcp::{CallFailure, Connection, RedactModel as _, ResourceSupport};
use a2c_protocol::tree_size::TreeSize;
use a2c_supervise::{Coalescer, Pace};
use futures_util::stream::{self, FuturesUnordered, StreamExt as _};
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use super::protocol_code::is_missing;
use super::record::ServerRecord;
use crate::catalogue::{DocumentRead, Listing, ReadFailure, UpdateEffect};

/// The least time between two listings that the server's notifications cause.
const LIST_PAUSE: Duration = Duration::from_millis(250);

/// How long one page of the list may take.
const PAGE_LIMIT: Duration = Duration::from_secs(30);

/// How many resources of one server are known, on how many pages, of how much text, with URIs of what length.
const MAX_RESOURCES: usize = 1_000_000;
const MAX_PAGES: usize = 10_000;
const MAX_BYTES: usize = 1 << 30;
const MAX_URI: usize = 8 << 10;

/// The pause before a list is tried again that could not be had; it doubles.
const FIRST_RETRY: Duration = Duration::from_secs(1);
const LAST_RETRY: Duration = Duration::from_secs(60);

/// How many subscriptions are asked for at a time, and how long one may take.
const SUBSCRIPTIONS: usize = 16;
const SUBSCRIBE_LIMIT: Duration = Duration::from_secs(10);

/// How many documents of one server are read at a time, and how long one may take.
const READS: usize = 8;
const READ_LIMIT: Duration = Duration::from_secs(20);

/// What the level 1 of a document may take in memory.
const LARGEST_LEVEL: usize = 16 << 20;

/// The server says that a resource changed.
pub(super) fn resource_updated(record: &ServerRecord, uri: &str) {
    // What is remembered of a document is old, whether the Finder shows it or not.
    record.context.documents.changed(&record.name, uri);
    match record.context.catalogue.updated(&record.name, uri) {
        UpdateEffect::Nothing => {}
        UpdateEffect::Read => record.sync.to_read.mark(),
        UpdateEffect::List => record.sync.list_changed.mark(),
    }
}

/// Keeps the catalogue in step with the resources of a server.
pub(super) async fn sync_resources(record: &ServerRecord, connection: &Connection) -> Infallible {
    let support = record.sync.support();
    let catalogue = &record.context.catalogue;
    if !support.resources {
        catalogue.forget(&record.name);
        record.sync.ended();
        return std::future::pending().await;
    }
    catalogue.connected(&record.name);
    record.context.documents.forget(&record.name);
    let syncing = ResourceSync { record, connection, support, wanted: watch::Sender::new(Arc::default()) };
    let (never, _, _) = tokio::join!(syncing.list(), syncing.subscribe(), syncing.read());
    never
}

struct ResourceSync<'a> {
    record: &'a ServerRecord,
    connection: &'a Connection,
    support: ResourceSupport,
    /// What to be subscribed to.
    wanted: watch::Sender<Arc<HashSet<Box<str>>>>,
}

impl ResourceSync<'_> {
    /// Lists everything now, and again when the server says that it changed: one listing at a time, and not too often.
    async fn list(&self) -> Infallible {
        let sync = &self.record.sync;
        let (mut is_first, mut retry) = (true, FIRST_RETRY);
        let mut changes = Coalescer::new(Pace::at_most_every(LIST_PAUSE));
        changes.pause().await;
        loop {
            match self.pages(is_first).await {
                Ok(()) => {
                    (is_first, retry) = (false, FIRST_RETRY);
                    sync.advance(|pass| pass.listed = true);
                    sync.to_subscribe.mark();
                    sync.to_read.mark();
                    changes.next(&sync.list_changed).await;
                }
                Err(problem) => {
                    let problem = self.record.redactors().logs.redact(&problem.to_string());
                    let server = &*self.record.name;
                    tracing::warn!(
                        server,
                        problem,
                        "the resources of an MCP server are not known; trying again in {} s",
                        retry.as_secs()
                    );
                    self.record.log.remark(&format!("its resources are not known: {problem}"));
                    self.record.context.catalogue.listing_failed(&self.record.name);
                    // A caller does not wait for a server that does not list what it has.
                    sync.ended();
                    tokio::select! {
                        () = sleep(retry) => retry = (retry * 2).min(LAST_RETRY),
                        () = changes.next(&sync.list_changed) => {}
                    }
                }
            }
        }
    }

    /// One pass over the list.
    async fn pages(&self, is_first: bool) -> Result<(), CallFailure> {
        let (server, catalogue) = (&self.record.name, &self.record.context.catalogue);
        let mut listing = Listing::new(self.support.subscribe, is_first);
        let credentials = self.record.redactors().results;
        let mut cursors = HashSet::new();
        let (mut cursor, mut count, mut bytes) = (None, 0, 0);
        loop {
            let mut page = self.connection.list_resources(cursor, Instant::now() + PAGE_LIMIT).await?;
            let listed = page.resources.len();
            page.resources.retain(|resource| resource.uri.len() <= MAX_URI);
            page.refused += listed - page.resources.len();
            if page.refused > 0 {
                tracing::warn!(server = &**server, entries = page.refused, "an MCP server lists what are no resources");
            }
            count += listed;
            bytes += page.resources.iter().map(written_size).sum::<usize>();
            page.resources.iter_mut().for_each(|resource| credentials.redact_resource(resource));
            catalogue.add_page(server, &mut listing, page.resources);
            // Reading may begin while the list goes on.
            self.record.sync.to_read.mark();
            let Some(next) = page.next_cursor else { break };
            // What was listed so far is shown; the rest of a list without end is left out.
            let reason = match () {
                () if count >= MAX_RESOURCES => "it has more resources than are looked at",
                () if bytes >= MAX_BYTES => "its list of resources has more text than is looked at",
                () if !cursors.insert(next.clone()) || cursors.len() >= MAX_PAGES => {
                    "its list of resources does not end"
                }
                () => {
                    cursor = Some(next);
                    continue;
                }
            };
            tracing::warn!(
                server = &**server,
                resources = count,
                bytes,
                reason,
                "the rest of what an MCP server lists is left out"
            );
            break;
        }
        let finished = catalogue.finish(server, listing);
        // A document that comes back need not be the one that went.
        finished.gone.iter().for_each(|uri| self.record.context.documents.changed(server, uri));
        if self.support.subscribe {
            self.wanted.send_replace(finished.to_subscribe);
        }
        Ok(())
    }

    /// Subscribes to what is listed, once, and not any more to what is gone.
    async fn subscribe(&self) -> Infallible {
        let (server, sync) = (&self.record.name, &self.record.sync);
        let catalogue = &self.record.context.catalogue;
        let mut subscribed: HashSet<Box<str>> = HashSet::new();
        loop {
            sync.to_subscribe.changed().await;
            let wanted = self.wanted.borrow().clone();
            let missing = wanted.iter().filter(|uri| !subscribed.contains(*uri)).map(|uri| (uri.clone(), true));
            let gone = subscribed.iter().filter(|uri| !wanted.contains(*uri)).map(|uri| (uri.clone(), false));
            let changes: Vec<(Box<str>, bool)> = missing.chain(gone).collect();
            let mut asked = stream::iter(changes)
                .map(|(uri, wanted)| async move {
                    let deadline = Instant::now() + SUBSCRIBE_LIMIT;
                    let outcome = match wanted {
                        true => self.connection.subscribe(&uri, deadline).await,
                        false => self.connection.unsubscribe(&uri, deadline).await,
                    };
                    (outcome, uri, wanted)
                })
                .buffer_unordered(SUBSCRIPTIONS);
            let mut refused: Option<(usize, Box<str>, CallFailure)> = None;
            while let Some((outcome, uri, wanted)) = asked.next().await {
                match outcome {
                    Ok(()) if wanted => {
                        catalogue.set_subscribed(server, &uri, true);
                        subscribed.insert(uri);
                    }
                    Err(failure) if wanted => {
                        let count = refused.take().map_or(1, |(count, ..)| count + 1);
                        refused = Some((count, uri, failure));
                    }
                    // What is gone may not even be known any more.
                    _ => {
                        catalogue.set_subscribed(server, &uri, false);
                        self.record.context.documents.changed(server, &uri);
                        subscribed.remove(&uri);
                    }
                }
            }
            if let Some((count, uri, failure)) = refused {
                let problem = self.record.redactors().logs.redact(&failure.to_string());
                tracing::warn!(server = &**server, count, %uri, problem, "an MCP server does not take subscriptions: changes may go unnoticed");
            }
            sync.advance(|pass| pass.subscribed |= pass.listed);
        }
    }

    /// Reads documents, several at a time.
    async fn read(&self) -> Infallible {
        let (sync, catalogue) = (&self.record.sync, &self.record.context.catalogue);
        let mut reading = FuturesUnordered::new();
        loop {
            while reading.len() < READS {
                match catalogue.next_read(&self.record.name) {
                    Some(job) => reading.push(self.read_one(job)),
                    None => break,
                }
            }
            if reading.is_empty() {
                sync.advance(|pass| pass.read |= pass.listed);
            }
            tokio::select! {
                Some(()) = reading.next(), if !reading.is_empty() => {}
                () = sync.to_read.changed() => {}
            }
        }
    }

    async fn read_one(&self, job: DocumentRead) {
        let context = &self.record.context;
        // Never closed: the catalogue that owns the semaphore outlives this task.
        let _turn = context.catalogue.reading.acquire().await;
        let outcome = match self.connection.read_resource(&job.uri, Instant::now() + READ_LIMIT).await {
            Ok(mut contents) => {
                let credentials = self.record.redactors().results;
                contents.iter_mut().for_each(|content| credentials.redact_json(content));
                level_one(&contents).ok_or_else(|| ReadFailure::Failed("what it reads as is no JSON object".into()))
            }
            Err(failure) => {
                let problem = self.record.redactors().logs.redact(&failure.to_string());
                match failure {
                    CallFailure::Refused(error) if is_missing(&error) => Err(ReadFailure::Missing(problem)),
                    _ => Err(ReadFailure::Failed(problem)),
                }
            }
        };
        context.catalogue.document_read(&self.record.name, &job, outcome);
    }
}

/// The level 1 of a document, of what was read.
fn level_one(contents: &[Value]) -> Option<Value> {
    let texts = contents.iter().filter_map(|content| content["text"].as_str());
    let texts = texts.filter(|text| TreeSize::of(text).bytes() <= LARGEST_LEVEL);
    texts.filter_map(|text| serde_json::from_str(text).ok()).find(Value::is_object)
}
