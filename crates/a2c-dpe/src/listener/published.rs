//! The documents that the listener serves: their files, tokens and expiry.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use a2c_protocol::uri::DpeDocumentUri;
use bytes::Bytes;
use jiff::Timestamp;
use tempfile::TempDir;
use tokio::sync::Notify;
use uuid::Uuid;

use crate::clock::Clock;
use crate::private_files;

pub(super) struct PublicationLimits {
    pub(super) lifetime: Duration,
    pub(super) max_documents: usize,
    pub(super) max_bytes: u64,
}

/// Documents in a private folder, by the token in their address.
pub(super) struct PublishedDocuments {
    folder: TempDir,
    limits: PublicationLimits,
    clock: Clock,
    state: Mutex<State>,
    /// Notified when there is a new document, which will expire.
    pub(super) added: Notify,
}

#[derive(Default)]
struct State {
    by_token: HashMap<String, Entry>,
    /// Tokens by age. All documents live equally long: the oldest is the next to expire.
    ages: BTreeMap<u64, String>,
    next: u64,
    bytes: u64,
    is_closed: bool,
}

struct Entry {
    age: u64,
    document: DpeDocumentUri,
    etag: String,
    path: PathBuf,
    size: u64,
    expires: Timestamp,
}

impl PublishedDocuments {
    pub(super) fn new(limits: PublicationLimits, clock: Clock) -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix("a2c-documents-");
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        Ok(Self { folder: builder.tempdir()?, limits, clock, state: Mutex::default(), added: Notify::new() })
    }

    /// Publishes a document; returns its token and its expiry. Other states of the document are removed.
    pub(super) async fn put(
        &self,
        document: &DpeDocumentUri,
        etag: &str,
        json: Bytes,
    ) -> io::Result<(String, Timestamp)> {
        let size = json.len() as u64;
        if size > self.limits.max_bytes {
            let message = format!("it has {size} bytes, the limit is {}", self.limits.max_bytes);
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
        }
        // 244 random bits from the operating system.
        let token = format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple());
        let name = format!("{}.json", Uuid::new_v4().simple());
        let folder = self.folder.path().to_owned();
        // If the request is cancelled, the file is removed with its handle.
        let file = tokio::task::spawn_blocking(move || private_files::write_temporary(&folder, &name, &json));
        let file = file.await.map_err(io::Error::other)??;
        let expires = self.clock.now().checked_add(self.limits.lifetime).unwrap_or(Timestamp::MAX);
        let mut state = self.state();
        if state.is_closed {
            return Err(io::Error::other("the listener is closed"));
        }
        let path = file.keep().map_err(|error| error.error)?;
        state.remove_where(|entry| entry.document == *document && entry.etag != etag);
        let age = state.next;
        state.next += 1;
        state.bytes += size;
        state.ages.insert(age, token.clone());
        let entry = Entry { age, document: document.clone(), etag: etag.to_owned(), path, size, expires };
        state.by_token.insert(token.clone(), entry);
        while state.by_token.len() > self.limits.max_documents || state.bytes > self.limits.max_bytes {
            let Some((_, oldest)) = state.ages.first_key_value() else { break };
            let oldest = oldest.clone();
            state.remove(&oldest);
        }
        drop(state);
        self.added.notify_one();
        Ok((token, expires))
    }

    /// The file behind a token, if it has not expired.
    pub(super) fn find(&self, token: &str) -> Option<PathBuf> {
        let now = self.clock.now();
        self.state().by_token.get(token).filter(|entry| now < entry.expires).map(|entry| entry.path.clone())
    }

    /// Removes the document behind a token, with all its tokens.
    pub(super) fn remove_document(&self, token: &str) {
        let mut state = self.state();
        if let Some(document) = state.by_token.get(token).map(|entry| entry.document.clone()) {
            state.remove_where(|entry| entry.document == document);
        }
    }

    /// Removes expired documents; returns the time until the next one expires.
    pub(super) fn remove_expired(&self) -> Option<Duration> {
        let now = self.clock.now();
        let mut state = self.state();
        state.remove_where(|entry| entry.expires <= now);
        let next = state.ages.first_key_value().and_then(|(_, token)| state.by_token.get(token))?;
        Some(Duration::try_from(now.duration_until(next.expires)).unwrap_or_default())
    }

    /// Removes everything; nothing is published any more.
    pub(super) fn close(&self) {
        let mut state = self.state();
        state.is_closed = true;
        state.remove_where(|_| true);
        if let Err(error) = std::fs::remove_dir_all(self.folder.path())
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(%error, folder = %self.folder.path().display(), "the folder of published documents could not be removed");
        }
    }

    #[cfg(test)]
    pub(super) fn folder(&self) -> &std::path::Path {
        self.folder.path()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn remove_where(&mut self, is_selected: impl Fn(&Entry) -> bool) {
        let selected = self.by_token.iter().filter(|(_, entry)| is_selected(entry)).map(|(token, _)| token.clone());
        for token in selected.collect::<Vec<_>>() {
            self.remove(&token);
        }
    }

    fn remove(&mut self, token: &str) {
        if let Some(entry) = self.by_token.remove(token) {
            self.ages.remove(&entry.age);
            self.bytes -= entry.size;
            // A client that fetches it has the file open, and gets the rest.
            remove_file(&entry.path);
        }
    }
}

fn remove_file(path: &std::path::Path) {
    if let Err(error) = std::fs::remove_file(path)
        && error.kind() != io::ErrorKind::NotFound
    {
        tracing::warn!(%error, "an expired document could not be removed");
    }
}
