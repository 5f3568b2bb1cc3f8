//! Bounds the result of a tool: a larger one goes to the [`ResultStore`], and the answer shows its beginning and its end.
//!
//! Nothing is lost: each part that is not shown whole says where it can be read. A text keeps its head and
//! its tail, a list of many blocks its first and its last ones. Small parts stay as they are, and a failure stays a failure
//! with its code.

use std::io;
use std::time::Instant;

use a2c_protocol::ErrorCode;
use a2c_protocol::tool::CallToolResult;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::result_store::{Body, ResultId, ResultPart, ResultStore, shortened};

/// Meta: where the whole result can be read, `{uri, size, pages, page_size, mime_type, parts}`.
pub(crate) const A2C_RESULT: &str = "a2c_result";

/// A smaller limit would leave no room to say where the rest is.
pub(crate) const MIN_LIMIT: usize = 16 * 1024;

/// The most that is shown of one block: two thirds of it from the beginning, one third from the end.
const PREVIEW: usize = 12 * 1024;
/// A block whose other fields have at most this size is stored as its plain text, without them.
const SMALL: usize = 512;
/// A result of more blocks is read as one JSON document.
const MAX_PARTS: usize = 256;
/// The part that holds the structured content.
const STRUCTURED: &str = "structured";
/// Metadata that only this Computer sets.
const OWN_META: [&str; 4] =
    [CallToolResult::ERROR_CODE, CallToolResult::MCP_SERVER, CallToolResult::TIMEOUT, CallToolResult::CANCELLED];

/// The parts of a result that are too large to be built as a tree, each as the JSON that the server sent.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LargeParts<'a> {
    /// The whole result.
    pub(crate) result: Option<&'a str>,
    /// The structured content.
    pub(crate) structured: Option<&'a str>,
    /// The metadata.
    pub(crate) meta: Option<&'a str>,
}

/// The result, if it has at most `limit` bytes on the wire; else a preview of it, and the whole goes to the store.
pub(crate) fn bound(mut result: CallToolResult, limit: usize, store: &ResultStore, now: Instant) -> CallToolResult {
    // Only this Computer sets it: a server must not send an Agent elsewhere.
    result.meta.remove(A2C_RESULT);
    if wire_size(&result) <= limit.max(MIN_LIMIT) {
        return result;
    }
    bound_large(result, LargeParts::default(), limit, store, now)
}

/// A preview of a result, of which some parts are texts; the whole goes to the store.
pub(crate) fn bound_large(
    result: CallToolResult,
    large: LargeParts<'_>,
    limit: usize,
    store: &ResultStore,
    now: Instant,
) -> CallToolResult {
    let id = ResultId::random();
    let budget = Budget::of(limit.max(MIN_LIMIT));
    let structured_fits = result.structured_content.as_ref().is_none_or(|own| encoded_size(own) <= budget.structured);
    let meta_fits = encoded_size(&result.meta) <= budget.meta && encoded_size(&result.extra) <= budget.extra;
    let parts = parts_of(&result, large, structured_fits, meta_fits);

    let mut about = json!({
        "uri": id.uri(), "size": parts.iter().map(ResultPart::size).sum::<usize>(), "page_size": store.page_size(),
        "parts": parts.len(), "pages": 1, "mime_type": "application/json",
    });
    if let [only] = parts.as_slice() {
        about["pages"] = only.pages(store.page_size()).into();
        about["mime_type"] = only.mime_type.as_str().into();
    }
    let mut bounded = CallToolResult {
        content: preview(&result.content, &parts, id, store, budget),
        is_error: result.is_error,
        ..CallToolResult::default()
    };
    if meta_fits {
        (bounded.meta, bounded.extra) = (result.meta, result.extra);
    } else {
        bounded.meta = own_meta(&result.meta);
    }
    if structured_fits {
        bounded.structured_content = result.structured_content;
    }
    match store.put(id, parts, now) {
        Ok(()) => bounded.with_meta(A2C_RESULT, about),
        Err(too_large) => {
            let message = format!("the tool has run, but {too_large}: ask it for less, such as a part of the data");
            let mut failure = CallToolResult::failure(ErrorCode::ToolFailed, &message);
            let mut meta = own_meta(&bounded.meta);
            meta.append(&mut failure.meta);
            CallToolResult { meta, ..failure }
        }
    }
}

/// How the limit is divided. Metadata counts twice, since it is written twice; the sum stays below the limit.
#[derive(Clone, Copy)]
struct Budget {
    content: usize,
    block: usize,
    structured: usize,
    meta: usize,
    extra: usize,
}

impl Budget {
    fn of(limit: usize) -> Self {
        let block = PREVIEW.min(limit / 8);
        Self { content: limit / 2, block, structured: limit / 8, meta: limit / 16, extra: limit / 16 }
    }
}

fn own_meta(meta: &Map<String, Value>) -> Map<String, Value> {
    let own = meta.iter().filter(|(key, value)| OWN_META.contains(&key.as_str()) && encoded_size(value) <= SMALL);
    own.map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// The whole result in parts, each of which can be read by itself.
fn parts_of(result: &CallToolResult, large: LargeParts<'_>, structured_fits: bool, meta_fits: bool) -> Vec<ResultPart> {
    if let Some(text) = large.result {
        return vec![text_part("result", text.to_owned())];
    }
    if result.content.len() > MAX_PARTS && large.structured.is_none() && large.meta.is_none() {
        return vec![json_part("result", result)];
    }
    let mut parts: Vec<_> = result.content.iter().enumerate().map(|(n, block)| block_part(n, block)).collect();
    if let (false, Some(structured)) = (structured_fits, &result.structured_content) {
        parts.push(json_part(STRUCTURED, structured));
    }
    parts.extend(large.structured.map(|text| text_part(STRUCTURED, text.to_owned())));
    if !meta_fits {
        parts.push(json_part("meta", &json!({"meta": result.meta, "extra": result.extra})));
    }
    parts.extend(large.meta.map(|text| text_part("meta", text.to_owned())));
    parts
}

/// A field of the result, or all of it, as JSON.
fn json_part(name: &str, value: &impl Serialize) -> ResultPart {
    text_part(name, serde_json::to_string(value).expect("maps with text for keys are JSON"))
}

/// A field of the result, or all of it, in JSON already.
fn text_part(name: &str, text: String) -> ResultPart {
    ResultPart {
        name: name.into(),
        kind: name.into(),
        mime_type: "application/json".into(),
        source: None,
        body: Body::Text(text),
    }
}

/// A content block: its text or its data if it has little else, else its JSON.
fn block_part(number: usize, block: &Value) -> ResultPart {
    let kind = block["type"].as_str().unwrap_or("unknown");
    let holder = if kind == "resource" { &block["resource"] } else { block };
    let mime = |default: &str| shortened(holder["mimeType"].as_str().unwrap_or(default));
    let found = match kind {
        "text" => block["text"].as_str().map(|text| ("text/plain".into(), Body::Text(text.into()))),
        "image" | "audio" => {
            block["data"].as_str().map(|data| (mime("application/octet-stream"), Body::Blob(data.into())))
        }
        "resource" => match (&holder["text"], &holder["blob"]) {
            (Value::String(text), Value::Null) => Some((mime("text/plain"), Body::Text(text.clone()))),
            (Value::Null, Value::String(blob)) => Some((mime("application/octet-stream"), Body::Blob(blob.clone()))),
            _ => None,
        },
        _ => None,
    };
    let plain = found.filter(|(_, Body::Text(body) | Body::Blob(body))| encoded_size(block) <= text_size(body) + SMALL);
    let name = number.to_string();
    match plain {
        Some((mime_type, body)) => {
            let source = holder["uri"].as_str().map(Into::into);
            ResultPart { name, kind: kind.into(), mime_type, source, body }
        }
        None => ResultPart { name, kind: shortened(kind), ..json_part("", block) },
    }
}

/// The blocks that are shown: as many as fit from the beginning and from the end, with a note instead of the others.
fn preview(content: &[Value], parts: &[ResultPart], id: ResultId, store: &ResultStore, budget: Budget) -> Vec<Value> {
    let uri = |name: &str| if parts.len() == 1 { id.uri() } else { format!("{}/{name}", id.uri()) };
    let shown = |number: usize| {
        let block = &content[number];
        if encoded_size(block) <= budget.block {
            return block.clone();
        }
        let name = number.to_string();
        match parts.iter().find(|part| part.name == name) {
            Some(part) => abridged(part, &uri(&name), store, budget.block),
            None => abridged(&block_part(number, block), &id.uri(), store, budget.block),
        }
    };
    let fitting = |numbers: &mut dyn Iterator<Item = usize>, mut room: usize| {
        let mut blocks = Vec::new();
        for number in numbers {
            let block = shown(number);
            let size = encoded_size(&block) + 1;
            if size > room {
                break;
            }
            room -= size;
            blocks.push(block);
        }
        blocks
    };
    let mut blocks = fitting(&mut (0..content.len()), budget.content / 3 * 2);
    let mut last = fitting(&mut (blocks.len()..content.len()).rev(), budget.content / 3);
    last.reverse();
    let left_out = content.len() - blocks.len() - last.len();
    if left_out > 0 {
        blocks.push(text_block(&format!("[{left_out} more parts left out; read all with read_resource {}]", id.uri())));
    }
    blocks.append(&mut last);
    // Most tools say the same in text blocks, and then a note is enough.
    match parts.iter().find(|part| part.name == STRUCTURED) {
        Some(part) if content.is_empty() => {
            blocks.push(abridged(part, &uri(STRUCTURED), store, budget.structured / 2));
        }
        Some(part) => blocks.push(text_block(&format!(
            "[structured content, {} bytes, left out; read it with read_resource {}]",
            part.size(),
            uri(STRUCTURED)
        ))),
        None => {}
    }
    // A result of which nothing could be built shows the ends of its text.
    if let ([only], true) = (parts, blocks.is_empty()) {
        blocks.push(abridged(only, &uri(&only.name), store, budget.block));
    }
    blocks
}

/// The preview of a part that is too large.
fn abridged(part: &ResultPart, uri: &str, store: &ResultStore, room: usize) -> Value {
    let (size, pages) = (part.size(), part.pages(store.page_size()));
    let whole = match pages {
        1 => format!("read it with read_resource {uri}"),
        _ => format!("read it with read_resource {uri}?page=0 to {}", pages - 1),
    };
    let mut label = format!("{} {}", part.kind, part.mime_type);
    if let Some(source) = &part.source {
        label = format!("{label} {}", shortened(source));
    }
    match &part.body {
        Body::Blob(_) => text_block(&format!("[{label}, {size} bytes of base64, left out; {whole}]")),
        Body::Text(text) => {
            let (head, tail) = ends(text, room);
            let left_out = size - head.len() - tail.len();
            text_block(&format!("{head}\n[… {left_out} of {size} bytes left out ({label}); {whole} …]\n{tail}"))
        }
    }
}

fn text_block(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

/// The beginning and the end of a text, together at most `room` bytes on the wire.
fn ends(text: &str, room: usize) -> (&str, &str) {
    let within = |costs: &mut dyn Iterator<Item = (usize, usize)>, room: usize| {
        let mut spent = 0;
        let fits = costs.take_while(|(_, cost)| {
            spent += cost;
            spent <= room
        });
        fits.map(|(length, _)| length).sum::<usize>()
    };
    let costs = |c: char| (c.len_utf8(), encoded_char(c));
    let (head, rest) = text.split_at(within(&mut text.chars().map(costs), room / 3 * 2));
    let tail = within(&mut rest.chars().rev().map(costs), room / 3);
    (head, &rest[rest.len() - tail..])
}

/// How many bytes a character takes in a JSON string.
fn encoded_char(c: char) -> usize {
    match c {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        c if c < ' ' => 6,
        c => c.len_utf8(),
    }
}

fn text_size(text: &str) -> usize {
    text.chars().map(encoded_char).sum()
}

/// The bytes of a result on the wire, without writing it.
fn wire_size(result: &CallToolResult) -> usize {
    // The names of the fields, and the braces around them.
    const FRAME: usize = 80;
    let meta = if result.meta.is_empty() { 0 } else { 2 * encoded_size(&result.meta) };
    let structured = result.structured_content.as_ref().map_or(0, encoded_size);
    encoded_size(&result.content) + structured + meta + encoded_size(&result.extra) + FRAME
}

fn encoded_size(value: &impl Serialize) -> usize {
    struct Count(usize);
    impl io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    serde_json::to_writer(&mut count, value).expect("counting cannot fail, and maps with text for keys are JSON");
    count.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::result_store::ResultStoreLimits;
    use proptest::prelude::*;
    use std::time::Duration;

    const LIMIT: usize = MIN_LIMIT;

    fn result(content: Vec<Value>) -> CallToolResult {
        CallToolResult { content, ..CallToolResult::default() }
    }

    fn bounded(result: CallToolResult) -> (CallToolResult, ResultStore) {
        let store = ResultStore::default();
        let bounded = bound(result, LIMIT, &store, Instant::now());
        let size = serde_json::to_string(&bounded).unwrap().len();
        assert!(size <= LIMIT, "{size}");
        (bounded, store)
    }

    fn read(store: &ResultStore, uri: &str) -> Value {
        store.read(uri, Instant::now()).unwrap().contents.remove(0)
    }

    fn uri(result: &CallToolResult) -> String {
        result.meta[A2C_RESULT]["uri"].as_str().unwrap().to_owned()
    }

    #[test]
    fn a_small_result_stays_as_it_is_and_cannot_pass_for_a_large_one() {
        let small = result(vec![text_block("hi")]).with_meta("own", 1);
        let (answer, _) = bounded(small.clone().with_meta(A2C_RESULT, "https://evil.example"));
        assert_eq!(answer, small);
    }

    #[test]
    fn the_size_is_that_on_the_wire() {
        let mut some = result(vec![text_block("é\u{1}\"\n汉"), json!({"type": "x"})]).with_meta("k", "v");
        some.structured_content = Some(json!({"a": [1.5, null]}));
        let real = serde_json::to_string(&some).unwrap().len();
        assert!((real..real + 60).contains(&wire_size(&some)), "{} for {real}", wire_size(&some));
        assert_eq!(text_size("é\u{1}\"\n汉\u{7f}\u{8}") + 2, encoded_size(&"é\u{1}\"\n汉\u{7f}\u{8}"));
    }

    #[test]
    fn a_long_text_shows_its_head_and_tail_and_where_the_rest_is() {
        let long: String = (0..20_000).map(|n| format!("line {n}\n")).collect();
        let (answer, store) = bounded(result(vec![text_block(&long)]));
        let text = answer.text();
        assert!(text.starts_with("line 0\n") && text.ends_with("line 19999\n"));
        assert!(text.contains(&format!("of {} bytes left out", long.len())), "{text}");
        assert!(text.contains(&uri(&answer)));
        let about = &answer.meta[A2C_RESULT];
        assert_eq!((&about["size"], &about["pages"]), (&json!(long.len()), &json!(1)));
        assert_eq!(about["mime_type"], "text/plain");
        assert_eq!(read(&store, &uri(&answer))["text"], long.as_str(), "one text is read as that text");
    }

    #[test]
    fn a_failure_stays_a_failure() {
        let mut failed = CallToolResult::failure(ErrorCode::ToolFailed, &"x".repeat(LIMIT));
        failed.meta.insert(CallToolResult::MCP_SERVER.into(), "files".into());
        failed.meta.insert("noise".into(), "y".repeat(LIMIT).into());
        let (answer, store) = bounded(failed);
        assert!(answer.is_error);
        assert_eq!(answer.error_code(), Some(ErrorCode::ToolFailed));
        assert_eq!(answer.meta[CallToolResult::MCP_SERVER], "files");
        let meta = read(&store, &format!("{}/meta", uri(&answer)));
        assert!(meta["text"].as_str().unwrap().contains("noise"), "metadata that was left out can be read");
    }

    #[test]
    fn small_blocks_stay_and_large_ones_are_named() {
        let data = "QUJD".repeat(10_000);
        let icon = json!({"type": "image", "mimeType": "image/gif", "data": "R0lGODlh"});
        let (answer, store) = bounded(result(vec![
            text_block("see below"),
            icon.clone(),
            json!({"type": "image", "mimeType": "image/png", "data": data}),
            json!({"type": "resource", "resource": {"uri": "file:///a.csv", "mimeType": "text/csv", "text": "1,2\n".repeat(9000)}}),
        ]));
        assert_eq!(answer.content[..2], [text_block("see below"), icon]);
        let note = answer.content[2]["text"].as_str().unwrap();
        assert!(note.starts_with("[image image/png, 40000 bytes of base64, left out"), "{note}");
        assert!(answer.content[3]["text"].as_str().unwrap().contains("resource text/csv file:///a.csv"));
        let base = uri(&answer);
        let list: Value = serde_json::from_str(read(&store, &base)["text"].as_str().unwrap()).unwrap();
        assert_eq!(list.as_array().unwrap().len(), 4);
        assert_eq!(list[3]["source"], "file:///a.csv");
        let image = read(&store, &format!("{base}/2"));
        assert_eq!((&image["blob"], &image["mimeType"]), (&json!(data), &json!("image/png")));
        assert_eq!(read(&store, &format!("{base}/3"))["mimeType"], "text/csv");
    }

    #[test]
    fn structured_content_stays_if_it_is_small_and_can_be_read_if_not() {
        let with = |structured: Value| {
            bounded(CallToolResult {
                structured_content: Some(structured),
                ..result(vec![text_block(&"x".repeat(LIMIT))])
            })
        };
        let (small, _) = with(json!({"count": 3}));
        assert_eq!(small.structured_content, Some(json!({"count": 3})));
        assert_eq!(small.meta[A2C_RESULT]["parts"], 1);
        let large = json!({"rows": vec!["row"; LIMIT]});
        let (answer, store) = with(large.clone());
        assert_eq!(answer.structured_content, None);
        assert!(answer.text().ends_with(&format!("read_resource {}/structured]", uri(&answer))));
        let page = read(&store, &format!("{}/structured", uri(&answer)));
        assert_eq!(serde_json::from_str::<Value>(page["text"].as_str().unwrap()).unwrap(), large);
    }

    #[test]
    fn a_block_with_much_beside_its_text_is_read_as_json() {
        let block = json!({"type": "text", "text": "short", "_meta": {"rows": "r".repeat(LIMIT)}});
        let (answer, store) = bounded(result(vec![block.clone()]));
        let page = read(&store, &uri(&answer));
        assert_eq!(page["mimeType"], "application/json");
        assert_eq!(serde_json::from_str::<Value>(page["text"].as_str().unwrap()).unwrap(), block);
    }

    #[test]
    fn a_result_that_is_only_structured_shows_something_too() {
        let structured = json!({"rows": vec!["row"; LIMIT]});
        let (answer, store) = bounded(CallToolResult { structured_content: Some(structured), ..result(vec![]) });
        assert!(answer.text().starts_with("{\"rows\":[\"row\""), "{}", answer.text());
        assert_eq!(read(&store, &uri(&answer))["mimeType"], "application/json");
    }

    #[test]
    fn of_very_many_blocks_the_first_and_the_last_are_shown() {
        let many: Vec<_> = (0..5_000).map(|n| text_block(&format!("block {n}"))).collect();
        let (answer, store) = bounded(result(many.clone()));
        assert_eq!(answer.content.first(), many.first());
        assert_eq!(answer.content.last(), many.last());
        assert!(answer.text().contains("more parts left out"));
        let whole = read(&store, &uri(&answer));
        let whole: CallToolResult = serde_json::from_str(whole["text"].as_str().unwrap()).unwrap();
        assert_eq!(whole.content, many);
    }

    #[test]
    fn a_result_that_cannot_be_stored_is_a_failure_that_says_so() {
        let limits = ResultStoreLimits { bytes: 50_000, results: 9, age: Duration::from_secs(9), page: 1024 };
        let store = ResultStore::new(limits);
        let answer = bound(result(vec![text_block(&"x".repeat(60_000))]), LIMIT, &store, Instant::now());
        assert_eq!(answer.error_code(), Some(ErrorCode::ToolFailed));
        assert!(answer.is_error && answer.text().contains("no more than 50000 can be kept"), "{}", answer.text());
        assert!(!answer.meta.contains_key(A2C_RESULT));
    }

    fn any_block() -> impl Strategy<Value = Value> {
        let text = ("[a\u{1}\"é😀\n]{1,4}", 0..2_500_usize).prop_map(|(unit, times)| unit.repeat(times));
        prop_oneof![
            text.clone().prop_map(|text| text_block(&text)),
            text.clone().prop_map(|text| json!({"type": "text", "text": "small", "_meta": {"k": text}})),
            text.clone().prop_map(|data| json!({"type": "image", "mimeType": data, "data": data})),
            text.clone().prop_map(|kind| json!({"type": kind, "text": 7})),
            text.clone().prop_map(|text| json!({"type": "resource", "resource": {"uri": text, "text": text}})),
            text.prop_map(Value::from),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn every_answer_is_within_the_limit(
            blocks in proptest::collection::vec(any_block(), 0..6),
            copies in prop_oneof![Just(1_usize), Just(70)],
            meta in 0..4_000_usize,
            structured in 0..4_000_usize,
        ) {
            let content: Vec<_> = blocks.iter().cycle().take(blocks.len() * copies).cloned().collect();
            let mut sent = result(content).with_meta("k", "m".repeat(meta));
            sent.structured_content = Some("s".repeat(structured).into());
            sent.extra.insert("later".into(), "e".repeat(meta / 2).into());
            bounded(sent);
        }
    }
}
