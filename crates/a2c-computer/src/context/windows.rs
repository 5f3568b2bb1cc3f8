//! Reading the Desktop: every window at the same time, and none for longer than it may take.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::future::join_all;
use serde_json::Value;
use tokio::time::Instant;

use crate::catalogue::CataloguedWindow;
use crate::desktop::{Window, organize_desktop};
use crate::machine::Machine;
use crate::servers::calling::CallFailure;
use crate::servers::paging::written_size;

/// How much one window may hold. One that holds more would keep the others from being shown.
const MAX_WINDOW: usize = 4 << 20;

/// What came of reading a window.
type Read = (Arc<CataloguedWindow>, Result<Vec<Value>, CallFailure>);

impl Machine {
    /// The Desktop: at most `size` windows, or all; with `only`, the window of that URI.
    pub(crate) async fn desktop(&self, size: Option<i64>, only: Option<&str>) -> Vec<String> {
        if size.is_some_and(|size| size <= 0) {
            return Vec::new();
        }
        // All begin now: one limit is everybody's.
        let deadline = Instant::now() + self.surroundings.limits.window;
        let listed = self.surroundings.catalogue.windows(only);
        let read = join_all(listed.into_iter().map(|window| async {
            // It may have been taken away meanwhile.
            let contents = match self.servers.get(&window.server) {
                Some(server) => server.read_now(&window.listed_uri, deadline).await,
                None => Err(CallFailure::NotRunning),
            };
            (window, contents)
        }));
        let windows = self.shown(read.await);
        organize_desktop(&windows, size, &self.history.servers_by_recency())
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
                Ok(contents) if contents.iter().map(written_size).sum::<usize>() > MAX_WINDOW => {
                    leave_out(&window, format!("it holds more than {} MiB", MAX_WINDOW >> 20));
                }
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
