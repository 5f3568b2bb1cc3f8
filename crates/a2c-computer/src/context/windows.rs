//! Answers `get_desktop`: reads all windows at the same time, until one deadline.

use std::collections::BTreeMap;
use std::sync::Arc;

use a2c_finder::desktop::{Window, organize_desktop};
use a2c_mcp::CallFailure;
use a2c_mcp::paging::written_size;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use serde_json::Value;
use tokio::time::Instant;

use super::ContextPlane;
use crate::catalogue::CataloguedWindow;

/// The largest window in bytes. A larger one would keep the others from being shown.
const MAX_WINDOW: usize = 4 << 20;

/// The most bytes of all windows of one server, and of all servers: a hub would not pass on a larger answer.
const MAX_SERVER: usize = 6 << 20;
const MAX_DESKTOP: usize = 12 << 20;

/// A window, and its contents or why they could not be read.
type WindowRead = (Arc<CataloguedWindow>, Result<Vec<Value>, NotShown>);

/// Why a window is not shown.
#[derive(Debug, thiserror::Error)]
enum NotShown {
    #[error(transparent)]
    Unread(#[from] CallFailure),
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
}

/// How many bytes of a Desktop are used.
#[derive(Default)]
struct UsedBytes {
    by_server: BTreeMap<Arc<str>, usize>,
    all: usize,
}

/// Why a window does not fit on the Desktop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
enum TooLarge {
    #[error("it holds more than {} MiB", MAX_WINDOW >> 20)]
    Window,
    #[error("the windows of its server hold more than {} MiB", MAX_SERVER >> 20)]
    Server,
    #[error("the windows of all servers hold more than {} MiB", MAX_DESKTOP >> 20)]
    Desktop,
}

impl UsedBytes {
    /// Counts a window, if it fits.
    fn add(&mut self, server: &Arc<str>, size: usize) -> Result<(), TooLarge> {
        let of_server = self.by_server.entry(server.clone()).or_default();
        if size > MAX_WINDOW {
            return Err(TooLarge::Window);
        } else if *of_server + size > MAX_SERVER {
            return Err(TooLarge::Server);
        } else if self.all + size > MAX_DESKTOP {
            return Err(TooLarge::Desktop);
        }
        *of_server += size;
        self.all += size;
        Ok(())
    }
}

impl ContextPlane<'_> {
    /// The Desktop: at most `size` windows, or all; with `only`, the window of that URI.
    pub(crate) async fn desktop(&self, size: Option<i64>, only: Option<&str>) -> Vec<String> {
        if size.is_some_and(|size| size <= 0) {
            return Vec::new();
        }
        // All windows are read at the same time, so one deadline holds for all.
        let deadline = Instant::now() + self.window_limit;
        let listed = self.catalogue.windows(only);
        let windows = self.readable(self.read_windows(listed, deadline).await);
        organize_desktop(&windows, size, &self.history.servers_by_recency())
    }

    /// Reads windows; the outcome has the order of the list. A window that is not read at the deadline has timed out.
    async fn read_windows(&self, listed: Vec<Arc<CataloguedWindow>>, deadline: Instant) -> Vec<WindowRead> {
        let mut read: Vec<WindowRead> =
            listed.into_iter().map(|window| (window, Err(CallFailure::Timeout.into()))).collect();
        let mut reading: FuturesUnordered<_> = read
            .iter()
            .enumerate()
            .map(|(index, (window, _))| {
                let window = window.clone();
                async move {
                    // The server may have been removed meanwhile.
                    match self.servers.get(&window.server) {
                        Some(server) => (index, server.read_now(&window.listed_uri, deadline).await),
                        None => (index, Err(CallFailure::NotRunning)),
                    }
                }
            })
            .collect();
        let mut used = UsedBytes::default();
        while let Ok(Some((index, contents))) = tokio::time::timeout_at(deadline, reading.next()).await {
            // Counted at once, so that contents that do not fit are dropped before the last window is read.
            let (window, outcome) = &mut read[index];
            *outcome = contents.map_err(NotShown::from).and_then(|contents| {
                let size = contents.iter().map(written_size).sum();
                used.add(&window.server, size)?;
                Ok(contents)
            });
        }
        read
    }

    /// The windows that could be read. The others are logged, once for each server.
    fn readable(&self, read: Vec<WindowRead>) -> Vec<Window> {
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
                // The log has said so already.
                Err(NotShown::Unread(CallFailure::NotRunning)) => {
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
