//! Reading the Desktop: every window at the same time, and none for longer than it may take.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::stream::{self, FuturesUnordered, StreamExt as _};
use tokio::time::Instant;

use crate::catalogue::CataloguedWindow;
use crate::desktop::{Window, organize_desktop};
use crate::machine::Machine;
use crate::servers::calling::CallFailure;

/// How many windows of one server are read at a time.
const AT_A_TIME: usize = 64;

impl Machine {
    /// The Desktop: at most `size` windows, or all; with `only`, the window of that URI.
    pub(crate) async fn desktop(&self, size: Option<i64>, only: Option<&str>) -> Vec<String> {
        if size.is_some_and(|size| size <= 0) {
            return Vec::new();
        }
        let listed = self.surroundings.catalogue.windows(only);
        let windows = self.read_windows(listed).await;
        organize_desktop(&windows, size, &self.history.servers_by_recency())
    }

    /// The windows that could be read in time, in the order of their list.
    async fn read_windows(&self, listed: Vec<Arc<CataloguedWindow>>) -> Vec<Window> {
        let limit = self.surroundings.limits.window;
        // All begin now: one limit is everybody's.
        let deadline = Instant::now() + limit;
        let mut by_server: BTreeMap<Arc<str>, Vec<(usize, Arc<CataloguedWindow>)>> = BTreeMap::new();
        for (place, window) in listed.into_iter().enumerate() {
            by_server.entry(window.server.clone()).or_default().push((place, window));
        }
        let reading = FuturesUnordered::new();
        for (server, windows) in by_server {
            // It may have been taken away meanwhile.
            let Some(server) = self.servers.get(&server) else { continue };
            reading.push(async move {
                let server = &server;
                let read = stream::iter(windows).map(|(place, window)| async move {
                    (place, server.read_now(&window.listed_uri, deadline).await, window)
                });
                read.buffer_unordered(AT_A_TIME).collect::<Vec<_>>().await
            });
        }
        let mut read: Vec<_> = reading.collect::<Vec<_>>().await.into_iter().flatten().collect();
        read.sort_unstable_by_key(|(place, ..)| *place);
        let shown = read.into_iter().filter_map(|(_, contents, window)| match contents {
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
                Some(window)
            }
            Err(failure) => {
                let (server, uri) = (&*window.server, &window.uri);
                match failure {
                    // The owner knows already.
                    CallFailure::NotRunning => tracing::debug!(server, uri, "a window is left out: {failure}"),
                    _ => tracing::warn!(server, uri, "a window is left out: {failure}"),
                }
                None
            }
        });
        shown.collect()
    }
}
