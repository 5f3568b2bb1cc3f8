//! Results of tools that are too large to be sent whole, stored for a while so that the Agent can read them in pages.
//!
//! A result is stored as its parts. A result of one part is read at `a2c-result://<id>`; one of several has a list of them
//! there, and each part at `a2c-result://<id>/<part>`. Further pages are at `?page=N`, counted from 0; each page names
//! the next one. Text pages end between characters, blob pages between groups of four, so that each can be decoded by
//! itself. The id is the permission to read: it is random, and only the Agent that made the call gets it.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use uuid::Uuid;

/// The scheme of a stored result's URI.
pub(crate) const SCHEME: &str = "a2c-result://";

/// The limits of the store.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ResultStoreLimits {
    /// Bytes of all results.
    pub(crate) bytes: usize,
    /// How many results.
    pub(crate) results: usize,
    /// How long a result stays after it was stored or last read.
    pub(crate) age: Duration,
    /// Bytes of a page.
    pub(crate) page: usize,
}

impl Default for ResultStoreLimits {
    fn default() -> Self {
        Self { bytes: 256 * 1024 * 1024, results: 256, age: Duration::from_secs(30 * 60), page: 256 * 1024 }
    }
}

/// A part of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ResultPart {
    /// Its name in the URI: the number of a content block, or the name of a field.
    pub(crate) name: String,
    /// The `type` of the content block, or the name of the field.
    pub(crate) kind: String,
    pub(crate) mime_type: String,
    /// The URI that an embedded resource has at its server.
    pub(crate) source: Option<String>,
    pub(crate) body: Body,
}

/// What a part consists of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Body {
    Text(String),
    /// As base64.
    Blob(String),
}

/// The id of a stored result. Random, so that it cannot be guessed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ResultId(Uuid);

impl ResultId {
    pub(crate) fn random() -> Self {
        Self(Uuid::new_v4())
    }

    /// Where the result is read.
    pub(crate) fn uri(self) -> String {
        format!("{SCHEME}{self}")
    }
}

impl fmt::Display for ResultId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.simple().fmt(f)
    }
}

/// One page: MCP's `ResourceContents`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ResultPage {
    pub(crate) contents: Vec<Value>,
}

/// Why a page cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ReadResultError {
    /// The URI is not one of a stored result.
    #[error(
        "'{0}' is not the URI of a result: take it from the answer, {SCHEME}<id>, {SCHEME}<id>/<part> or either with ?page=N"
    )]
    BadUri(String),
    /// There is no such result, or not any more.
    #[error("there is no result '{0}': results are kept for a while only, call the tool again")]
    Unknown(String),
    /// The result has no such part.
    #[error("the result has no part '{part}': {uri} says which it has")]
    NoSuchPart {
        /// The part that was asked for.
        part: String,
        /// Where the parts are listed.
        uri: String,
    },
    /// There are fewer pages.
    #[error("there is no page {page}: the last one is {}", .pages.saturating_sub(1))]
    OutOfRange {
        /// The page that was asked for.
        page: usize,
        /// How many there are.
        pages: usize,
    },
}

/// The result is larger than the whole store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the result has {size} bytes, and no more than {limit} can be kept")]
pub(crate) struct TooLarge {
    pub(crate) size: usize,
    pub(crate) limit: usize,
}

/// Results to be read in pages, within limits. The least recently read result is removed first.
#[derive(Debug)]
pub(crate) struct ResultStore {
    limits: ResultStoreLimits,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    results: HashMap<ResultId, StoredResult>,
    bytes: usize,
}

#[derive(Debug)]
struct StoredResult {
    parts: Vec<ResultPart>,
    size: usize,
    touched: Instant,
}

impl Default for ResultStore {
    fn default() -> Self {
        Self::new(ResultStoreLimits::default())
    }
}

impl ResultStore {
    pub(crate) fn new(limits: ResultStoreLimits) -> Self {
        // A page must hold any character, and whole groups of base64.
        let page = (limits.page / 4 * 4).max(4);
        Self { limits: ResultStoreLimits { page, ..limits }, state: Mutex::default() }
    }

    /// Bytes of a page.
    pub(crate) fn page_size(&self) -> usize {
        self.limits.page
    }

    /// Stores a result.
    pub(crate) fn put(&self, id: ResultId, parts: Vec<ResultPart>, now: Instant) -> Result<(), TooLarge> {
        let size = parts.iter().map(ResultPart::weight).sum();
        let limit = self.limits.bytes;
        if size > limit {
            return Err(TooLarge { size, limit });
        }
        let mut state = self.state();
        state.expire(now, self.limits.age);
        while state.bytes + size > limit || state.results.len() >= self.limits.results.max(1) {
            state.drop_least_recent();
        }
        state.bytes += size;
        state.results.insert(id, StoredResult { parts, size, touched: now });
        Ok(())
    }

    /// Reads the page that a URI names.
    pub(crate) fn read(&self, uri: &str, now: Instant) -> Result<ResultPage, ReadResultError> {
        let Address { id, part, page } = Address::parse(uri).ok_or_else(|| ReadResultError::BadUri(shortened(uri)))?;
        let mut state = self.state();
        state.expire(now, self.limits.age);
        let stored = state.results.get_mut(&id).ok_or_else(|| ReadResultError::Unknown(id.uri()))?;
        stored.touched = now;
        let base = id.uri();
        let content = match (part, stored.parts.as_slice()) {
            (None, [only]) => only.page(&base, page, self.limits.page),
            (None, parts) => list(parts, &base, self.limits.page).page(&base, page, self.limits.page),
            (Some(name), parts) => {
                let no_part = || ReadResultError::NoSuchPart { part: shortened(name), uri: base.clone() };
                let part = parts.iter().find(|part| part.name == name).ok_or_else(no_part)?;
                part.page(&format!("{base}/{name}"), page, self.limits.page)
            }
        };
        Ok(ResultPage { contents: vec![content?] })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // After a panic the count of bytes is off by one result at most.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn expire(&mut self, now: Instant, age: Duration) {
        let bytes = &mut self.bytes;
        self.results.retain(|_, stored| {
            let stays = now.saturating_duration_since(stored.touched) < age;
            *bytes -= if stays { 0 } else { stored.size };
            stays
        });
    }

    fn drop_least_recent(&mut self) {
        // There are a few hundred at most: a search is cheaper than an order.
        let least = self.results.iter().min_by_key(|(_, stored)| stored.touched).map(|(id, _)| *id);
        if let Some(stored) = least.and_then(|id| self.results.remove(&id)) {
            self.bytes -= stored.size;
        }
    }
}

impl ResultPart {
    fn text(&self) -> &str {
        match &self.body {
            Body::Text(text) | Body::Blob(text) => text,
        }
    }

    /// How many bytes there are to read.
    pub(crate) fn size(&self) -> usize {
        self.text().len()
    }

    /// How many pages there are. An empty part has one, empty.
    pub(crate) fn pages(&self, page_size: usize) -> usize {
        self.size().div_ceil(page_size).max(1)
    }

    /// The memory that it takes.
    fn weight(&self) -> usize {
        let label =
            self.name.len() + self.kind.len() + self.mime_type.len() + self.source.as_ref().map_or(0, String::len);
        size_of::<Self>() + label + self.size()
    }

    fn page(&self, uri: &str, page: usize, page_size: usize) -> Result<Value, ReadResultError> {
        let (text, pages) = (self.text(), self.pages(page_size));
        if page >= pages {
            return Err(ReadResultError::OutOfRange { page, pages });
        }
        // Both ends follow the same rule, so the pages together are the whole text.
        let [from, to] = [page, page + 1].map(|n| text.floor_char_boundary(n.saturating_mul(page_size)));
        let mut meta = json!({"page": page, "pages": pages, "size": text.len()});
        if page + 1 < pages {
            meta["next"] = at_page(uri, page + 1).into();
        }
        let field = match self.body {
            Body::Text(_) => "text",
            Body::Blob(_) => "blob",
        };
        Ok(json!({"uri": at_page(uri, page), "mimeType": self.mime_type, field: &text[from..to], "_meta": meta}))
    }
}

fn at_page(uri: &str, page: usize) -> String {
    format!("{uri}?page={page}")
}

/// The list of parts, which is read at the URI of a result with several parts.
fn list(parts: &[ResultPart], base: &str, page_size: usize) -> ResultPart {
    let entry = |part: &ResultPart| {
        let mut entry = json!({
            "uri": format!("{base}/{}", part.name), "type": part.kind, "mimeType": part.mime_type,
            "size": part.size(), "pages": part.pages(page_size),
        });
        if let Some(source) = &part.source {
            entry["source"] = source.as_str().into();
        }
        entry
    };
    let list = Value::from_iter(parts.iter().map(entry));
    ResultPart {
        name: String::new(),
        kind: "list".into(),
        mime_type: "application/json".into(),
        source: None,
        body: Body::Text(list.to_string()),
    }
}

/// A URI, taken apart.
struct Address<'a> {
    id: ResultId,
    part: Option<&'a str>,
    page: usize,
}

impl<'a> Address<'a> {
    fn parse(uri: &'a str) -> Option<Self> {
        let rest = uri.strip_prefix(SCHEME)?;
        let (path, page) = match rest.split_once('?') {
            Some((path, query)) => (path, number(query.strip_prefix("page=")?)?),
            None => (rest, 0),
        };
        let (id, part) = match path.split_once('/') {
            Some((id, "")) => (id, None),
            Some((id, part)) => (id, Some(part)),
            None => (path, None),
        };
        let id = if id.len() == 32 { Uuid::try_parse(id).ok()? } else { return None };
        Some(Self { id: ResultId(id), part, page })
    }
}

/// A number in plain digits; the standard parser would take a sign as well.
fn number(digits: &str) -> Option<usize> {
    digits.bytes().all(|digit| digit.is_ascii_digit()).then(|| digits.parse().ok())?
}

/// A foreign text, cut so that a message can repeat it.
pub(super) fn shortened(text: &str) -> String {
    match text.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(name: &str, text: &str) -> ResultPart {
        let (kind, mime_type, body) = ("text".into(), "text/plain".into(), Body::Text(text.into()));
        ResultPart { name: name.into(), kind, mime_type, source: None, body }
    }

    fn store(bytes: usize, results: usize, page: usize) -> ResultStore {
        ResultStore::new(ResultStoreLimits { bytes, results, page, age: Duration::from_secs(60) })
    }

    fn put(store: &ResultStore, parts: Vec<ResultPart>, now: Instant) -> ResultId {
        let id = ResultId::random();
        store.put(id, parts, now).unwrap();
        id
    }

    /// Follows `next` from a URI to the end.
    fn read_all(store: &ResultStore, uri: String, field: &str) -> String {
        let (mut all, mut next) = (String::new(), Some(uri));
        while let Some(uri) = next {
            let page = store.read(&uri, Instant::now()).unwrap().contents.remove(0);
            let piece = page[field].as_str().unwrap();
            assert!(piece.len() <= store.page_size() + 3, "a character may reach over, no more");
            all.push_str(piece);
            next = page["_meta"]["next"].as_str().map(Into::into);
        }
        all
    }

    proptest! {
        #[test]
        fn the_pages_of_a_text_are_the_text(body in "[a-zé汉😀\"\n]{0,60}", page in 1..20_usize) {
            let store = store(10_000, 10, page);
            let id = put(&store, vec![text("0", &body)], Instant::now());
            prop_assert_eq!(read_all(&store, id.uri(), "text"), body);
        }
    }

    #[test]
    fn a_result_of_one_part_is_read_at_its_uri() {
        let store = store(10_000, 10, 4);
        let id = put(&store, vec![text("0", "abcdef")], Instant::now());
        let uri = id.uri();
        let first = json!({
            "uri": format!("{uri}?page=0"), "mimeType": "text/plain", "text": "abcd",
            "_meta": {"page": 0, "pages": 2, "size": 6, "next": format!("{uri}?page=1")},
        });
        let last = json!({
            "uri": format!("{uri}?page=1"), "mimeType": "text/plain", "text": "ef",
            "_meta": {"page": 1, "pages": 2, "size": 6},
        });
        let read = |uri: &str| store.read(uri, Instant::now()).unwrap().contents;
        assert_eq!(read(&uri), std::slice::from_ref(&first));
        assert_eq!(read(&format!("{uri}?page=0")), std::slice::from_ref(&first));
        assert_eq!(read(&format!("{uri}?page=1")), [last]);
        assert_eq!(read(&format!("{uri}/0"))[0]["text"], first["text"]);
    }

    #[test]
    fn a_result_of_several_parts_lists_them() {
        let store = store(10_000, 10, 1000);
        let blob =
            ResultPart { body: Body::Blob("AAECAwQFBgc=".into()), mime_type: "image/png".into(), ..text("1", "") };
        let id = put(&store, vec![text("0", "hello"), blob], Instant::now());
        let list: Value = serde_json::from_str(&read_all(&store, id.uri(), "text")).unwrap();
        assert_eq!(list[0]["size"], 5);
        assert_eq!(list[1]["mimeType"], "image/png");
        let uri = list[1]["uri"].as_str().unwrap().to_owned();
        assert_eq!(read_all(&store, uri, "blob"), "AAECAwQFBgc=");
    }

    #[test]
    fn each_page_of_a_blob_is_base64() {
        let store = store(10_000, 10, 7);
        let blob = ResultPart { body: Body::Blob("AAECAwQFBgc=".into()), ..text("0", "") };
        let id = put(&store, vec![blob], Instant::now());
        let pages: Vec<_> = (0..3)
            .map(|n| {
                store.read(&at_page(&id.uri(), n), Instant::now()).unwrap().contents[0]["blob"]
                    .as_str()
                    .unwrap()
                    .to_owned()
            })
            .collect();
        assert_eq!(pages, ["AAEC", "AwQF", "Bgc="]);
    }

    #[test]
    fn each_reason_has_its_error() {
        let store = store(10_000, 10, 4);
        let (uri, now) = (put(&store, vec![text("0", "abcdef")], Instant::now()).uri(), Instant::now());
        let read = |uri: String| store.read(&uri, now).unwrap_err();
        assert_eq!(read(format!("{uri}?page=2")), ReadResultError::OutOfRange { page: 2, pages: 2 });
        assert!(matches!(read(format!("{uri}/7")), ReadResultError::NoSuchPart { .. }));
        assert!(matches!(read(ResultId::random().uri()), ReadResultError::Unknown(_)));
        for bad in ["", "file:///etc/passwd", SCHEME, "a2c-result://../x", "a2c-result://0123"] {
            assert!(matches!(read(bad.into()), ReadResultError::BadUri(_)), "{bad}");
        }
        for query in ["?page=", "?page=-1", "?page=+1", "?page=x", "?p=1", "?page=99999999999999999999999"] {
            assert!(matches!(read(format!("{uri}{query}")), ReadResultError::BadUri(_)), "{query}");
        }
        assert!(read("x".repeat(1_000_000)).to_string().len() < 500, "a message does not repeat what is endless");
    }

    #[test]
    fn the_least_recently_read_is_removed_first() {
        let (now, second) = (Instant::now(), Duration::from_secs(1));
        let store = store(10_000, 3, 4);
        let ids: Vec<_> = (0..3).map(|n| put(&store, vec![text("0", "x")], now + second * n)).collect();
        store.read(&ids[0].uri(), now + second * 5).unwrap();
        put(&store, vec![text("0", "x")], now + second * 6);
        let there = |id: ResultId| store.read(&id.uri(), now + second * 7).is_ok();
        assert_eq!([there(ids[0]), there(ids[1]), there(ids[2])], [true, false, true]);
    }

    #[test]
    fn bytes_and_age_are_bounded() {
        let (now, second) = (Instant::now(), Duration::from_secs(1));
        let store = store(2_000, 100, 4);
        let first = put(&store, vec![text("0", &"x".repeat(1_000))], now);
        let second_one = put(&store, vec![text("0", &"x".repeat(1_000))], now + second);
        assert!(store.read(&first.uri(), now).is_err(), "both do not fit");
        assert!(store.state().bytes <= 2_000);
        let refused = store.put(ResultId::random(), vec![text("0", &"x".repeat(3_000))], now + second);
        assert!(refused.unwrap_err().size > 3_000);
        assert!(store.read(&second_one.uri(), now + second * 59).is_ok(), "a result that is refused removes no other");
        assert!(store.read(&second_one.uri(), now + second * 118).is_ok(), "reading keeps it");
        assert!(store.read(&second_one.uri(), now + second * 178).is_err(), "too old");
        assert_eq!(store.state().bytes, 0);
    }
}
