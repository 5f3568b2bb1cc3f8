//! Reading the Desktop: every window at the same time, and none for longer than it may take.

use std::collections::BTreeMap;
use std::sync::Arc;

use a2c_finder::desktop::{Window, organize_desktop};
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use serde_json::Value;
use tokio::time::Instant;

use crate::catalogue::CataloguedWindow;
use crate::core::Core;
use crate::servers::calling::CallFailure;
use crate::servers::paging::written_size;

/// How much one window may hold. One that holds more would keep the others from being shown.
const MAX_WINDOW: usize = 4 << 20;

/// How much the windows of one server may hold, and those of all: an answer that is larger than what a hub passes on would
/// be no answer, whatever the others show.
const MAX_SERVER: usize = 6 << 20;
const MAX_DESKTOP: usize = 12 << 20;

/// What came of reading a window.
type Read = (Arc<CataloguedWindow>, Result<Vec<Value>, CallFailure>);

/// How much of a Desktop is taken.
#[derive(Default)]
struct Room {
    by_server: BTreeMap<Arc<str>, usize>,
    all: usize,
}

impl Room {
    /// Takes room for a window, or says why there is none.
    fn take(&mut self, server: &Arc<str>, size: usize) -> Result<(), String> {
        let of_server = self.by_server.entry(server.clone()).or_default();
        let (what, limit) = match () {
            () if size > MAX_WINDOW => ("it holds", MAX_WINDOW),
            () if *of_server + size > MAX_SERVER => ("the windows of its server hold", MAX_SERVER),
            () if self.all + size > MAX_DESKTOP => ("the windows of all servers hold", MAX_DESKTOP),
            () => {
                *of_server += size;
                self.all += size;
                return Ok(());
            }
        };
        Err(format!("{what} more than {} MiB", limit >> 20))
    }
}

impl Core {
    /// The Desktop: at most `size` windows, or all; with `only`, the window of that URI.
    pub(crate) async fn desktop(&self, size: Option<i64>, only: Option<&str>) -> Vec<String> {
        if size.is_some_and(|size| size <= 0) {
            return Vec::new();
        }
        // All begin now: one limit is everybody's.
        let deadline = Instant::now() + self.surroundings.limits.window;
        let listed = self.surroundings.catalogue.windows(only);
        let windows = self.shown(self.read(listed, deadline).await);
        organize_desktop(&windows, size, &self.history.servers_by_recency())
    }

    /// Reads windows, in the order in which they are listed. What is not there at the deadline is not waited for, however
    /// much there is to be looked at.
    async fn read(&self, listed: Vec<Arc<CataloguedWindow>>, deadline: Instant) -> Vec<Read> {
        let mut read: Vec<Read> = listed.into_iter().map(|window| (window, Err(CallFailure::Timeout))).collect();
        let mut reading: FuturesUnordered<_> = read
            .iter()
            .enumerate()
            .map(|(place, (window, _))| {
                let window = window.clone();
                async move {
                    // It may have been taken away meanwhile.
                    match self.servers.get(&window.server) {
                        Some(server) => (place, server.read_now(&window.listed_uri, deadline).await),
                        None => (place, Err(CallFailure::NotRunning)),
                    }
                }
            })
            .collect();
        let mut room = Room::default();
        while let Ok(Some((place, contents))) = tokio::time::timeout_at(deadline, reading.next()).await {
            // Told at once: what is not shown is not kept until the last one is there.
            let (window, outcome) = &mut read[place];
            *outcome = contents.and_then(|contents| {
                let size = contents.iter().map(written_size).sum();
                room.take(&window.server, size).map(|()| contents).map_err(CallFailure::Failed)
            });
        }
        read
    }

    /// The windows that could be read; the others are told of, once for each server.
    fn shown(&self, read: Vec<Read>) -> Vec<Window> {
        let mut left_out: BTreeMap<Arc<str>, (usize, String, String)> = BTreeMap::new();
        let mut leave_out = |window: &CataloguedWindow, why: String| {
            let entry = left_out.entry(window.server.clone()).or_insert((0, window.uri.clone(), why));
            entry.0 += 1;
        };
        let mut shown = Vec::with_capacity(read.len());
        for (window, contents) in read {
            match contents {
                Ok(contents) => {
                    let window = Window {
                        server: window.server.to_string(),
                        uri: window.uri.clone(),
                        priority: window.priority,
                        fullscreen: window.fullscreen,
                        contents,
                    };
                    if let Some(warning) = window.warning() {
                        tracing::warn!(server = window.server, uri = window.uri, "a window {warning}");
                    }
                    shown.push(window);
                }
                // The owner knows already.
                Err(CallFailure::NotRunning) => {
                    tracing::debug!(uri = window.uri, "the server of a window is not running")
                }
                Err(failure) => leave_out(&window, failure.to_string()),
            }
        }
        for (server, (windows, uri, problem)) in left_out {
            let problem = self.servers.get(&server).map_or(problem.clone(), |server| server.loggable(&problem));
            tracing::warn!(server = &*server, windows, uri, problem, "windows are left out of the Desktop");
        }
        shown
    }
}
