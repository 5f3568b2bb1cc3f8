//! From windows to the strings of a Desktop.

use std::collections::HashMap;

use a2c_protocol::uri::WindowUri;
use serde_json::Value;

use super::listed_window::{WindowWarning, in_range, without_query};
use crate::server_order::servers_by_use;

/// A window whose contents have been read.
#[derive(Debug, Clone, PartialEq)]
pub struct Window {
    /// The MCP server that shows it.
    pub server: String,
    /// Its URI as listed; a query is left out when it is rendered.
    pub uri: String,
    /// How much it matters among the windows of its server, from 0 to 1; anything else counts as 0.
    pub priority: f64,
    /// Whether it wants to be the only window of its server.
    pub fullscreen: bool,
    /// MCP resource contents, as the server gave them.
    pub contents: Vec<Value>,
}

impl Window {
    /// What its contents are worth a warning for.
    pub fn warning(&self) -> Option<WindowWarning> {
        match self.contents.iter().filter(|content| is_blob(content)).count() {
            0 => None,
            blobs if blobs == self.contents.len() => Some(WindowWarning::OnlyBlobs),
            blobs => Some(WindowWarning::BlobsLeftOut(blobs)),
        }
    }

    fn is_shown(&self) -> bool {
        !self.contents.iter().all(is_blob) && WindowUri::parse(&self.uri).is_ok()
    }

    fn sort_priority(&self) -> f64 {
        in_range(self.priority).unwrap_or_default()
    }

    /// `{URI}\n\n{body}`. A window with nothing but empty texts, or with contents that are neither text nor blob, has no
    /// body: it is shown as its bare URI without trailing line breaks.
    fn render(&self) -> String {
        let uri = without_query(&self.uri);
        let texts: Vec<&str> = self.contents.iter().filter_map(text).collect();
        if texts.iter().all(|text| text.is_empty()) {
            return uri.to_owned();
        }
        format!("{uri}\n\n{}", texts.join("\n\n"))
    }
}

/// The Desktop: each window that is shown, rendered, in the order in which they matter.
///
/// - `windows`: those of each server in the order of its `resources/list`; servers may be mixed.
/// - `size`: at most so many over all servers; none gives all, zero and less give none.
/// - `recent`: the servers of past tool calls, the newest call first, each once or repeated. First sight wins, which is
///   the protocol's walk backwards through the history. Servers that are not in it follow by name.
///
/// Windows without contents, with only binary contents or with an invalid URI are left out **first**: a fullscreen
/// window that cannot be shown does not hide the others of its server. Then, per server: one fullscreen window, the
/// first as listed, leaves only itself; else the highest priority comes first, equal ones as listed.
pub fn organize_desktop(windows: &[Window], size: Option<i64>, recent: &[impl AsRef<str>]) -> Vec<String> {
    let size = match size {
        None => usize::MAX,
        // A size beyond the address space is no limit.
        Some(size) if size > 0 => usize::try_from(size).unwrap_or(usize::MAX),
        Some(_) => return Vec::new(),
    };
    let mut by_server: HashMap<&str, Vec<&Window>> = HashMap::new();
    for window in windows.iter().filter(|window| window.is_shown()) {
        by_server.entry(&window.server).or_default().push(window);
    }
    let order = servers_by_use(by_server.keys().copied(), recent);
    let shown = order.iter().flat_map(|server| arrange(&by_server[server]));
    shown.take(size).map(Window::render).collect()
}

/// The windows of one server, given as listed, as they are shown.
fn arrange<'a>(windows: &[&'a Window]) -> Vec<&'a Window> {
    if let Some(fullscreen) = windows.iter().find(|window| window.fullscreen) {
        return vec![fullscreen];
    }
    let mut windows = windows.to_vec();
    windows.sort_by(|a, b| b.sort_priority().total_cmp(&a.sort_priority()));
    windows
}

fn text(content: &Value) -> Option<&str> {
    content.get("text")?.as_str()
}

fn is_blob(content: &Value) -> bool {
    text(content).is_none() && content.get("blob").is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const NONE: [&str; 0] = [];

    /// A window whose only text is its name; what stands after the name sets it up: a priority, or `full`.
    fn window(server: &str, name: &str, how: &str) -> Window {
        Window {
            server: server.into(),
            uri: format!("window://{server}/{name}"),
            priority: how.parse().unwrap_or_default(),
            fullscreen: how == "full",
            contents: vec![json!({"text": name})],
        }
    }

    /// Writes a Desktop as the names of its windows.
    fn names(desktop: &[String]) -> String {
        let name = |window: &String| window.split_once("\n\n").map_or("-".to_owned(), |(_, body)| body.to_owned());
        desktop.iter().map(name).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn order_and_number() {
        let two = [("s", "a", ""), ("s", "b", ""), ("t", "c", ""), ("t", "d", "")];
        let weighty = [("s", "a", "0.2"), ("s", "b", "0.9"), ("s", "c", "0.2"), ("s", "d", ""), ("s", "e", "0.9")];
        let full = [("s", "a", "1"), ("s", "b", "full"), ("t", "c", "0.1"), ("s", "d", "full"), ("t", "e", "0.2")];
        let three = [("b", "b", "1"), ("a", "a", "0"), ("c", "c", "0.5")];
        type Row<'a> = (&'a str, &'a [(&'a str, &'a str, &'a str)], Option<i64>, &'a [&'a str], &'a str);
        let rows: &[Row<'_>] = &[
            ("empty", &[], None, &[], ""),
            ("empty with a size and a history", &[], Some(3), &["s"], ""),
            ("size 0", &two, Some(0), &[], ""),
            ("negative size", &two, Some(-1), &[], ""),
            ("smallest size", &two, Some(i64::MIN), &[], ""),
            ("no size", &two, None, &[], "a b c d"),
            ("largest size", &two, Some(i64::MAX), &[], "a b c d"),
            ("size 1", &two, Some(1), &[], "a"),
            ("size caps over servers, not per server", &two, Some(3), &[], "a b c"),
            ("size caps after the order of servers", &two, Some(3), &["t"], "c d a"),
            ("size equal to the number", &two, Some(4), &[], "a b c d"),
            ("priority, equal ones as listed", &weighty, None, &[], "b e a c d"),
            ("size keeps the highest", &weighty, Some(2), &[], "b e"),
            ("fullscreen per server, lowest index, priority no matter", &full, None, &[], "b e c"),
            ("fullscreen and size", &full, Some(2), &[], "b e"),
            ("servers by name, priority does not cross them", &three, None, &[], "a b c"),
            ("history first", &three, None, &["c"], "c a b"),
            ("newest first, first sight wins", &three, None, &["b", "c", "b", "a"], "b c a"),
            ("unknown names in the history", &three, None, &["x", "c", "y"], "c a b"),
            (
                "a fullscreen server does not come before others",
                &[("z", "z", "full"), ("a", "a", "")],
                None,
                &[],
                "a z",
            ),
            ("two servers fullscreen", &[("s", "a", "full"), ("t", "b", "full"), ("t", "c", "")], None, &["t"], "b a"),
            (
                "priority out of range counts as 0",
                &[("s", "a", "0"), ("s", "b", "7"), ("s", "c", "0.1")],
                None,
                &[],
                "c a b",
            ),
            (
                "NaN and negative zero count as 0",
                &[("s", "a", "-0"), ("s", "b", "NaN"), ("s", "c", "0")],
                None,
                &[],
                "a b c",
            ),
            (
                "mixed servers keep their own order",
                &[("t", "a", ""), ("s", "b", ""), ("t", "c", "")],
                None,
                &[],
                "b a c",
            ),
        ];
        for (case, given, size, recent, expected) in rows {
            let windows: Vec<Window> = given.iter().map(|(server, name, how)| window(server, name, how)).collect();
            assert_eq!(names(&organize_desktop(&windows, *size, recent)), *expected, "{case}");
        }
    }

    #[test]
    fn rendering() {
        let rows = [
            ("no contents", json!([]), None),
            ("only a blob", json!([{"blob": "AA=="}]), None),
            ("only blobs", json!([{"blob": "AA=="}, {"blob": "", "mimeType": "image/png"}]), None),
            ("one text", json!([{"text": "a"}]), Some("window://h/w\n\na")),
            ("texts", json!([{"text": "a"}, {"text": "b\n"}]), Some("window://h/w\n\na\n\nb\n")),
            ("an empty text among others", json!([{"text": ""}, {"text": "b"}]), Some("window://h/w\n\n\n\nb")),
            ("text and blob", json!([{"blob": "AA=="}, {"text": "a"}, {"blob": "AA=="}]), Some("window://h/w\n\na")),
            ("blank text", json!([{"text": " "}]), Some("window://h/w\n\n ")),
            ("empty text", json!([{"text": ""}]), Some("window://h/w")),
            ("empty texts", json!([{"text": ""}, {"text": ""}]), Some("window://h/w")),
            ("empty text and blob", json!([{"text": ""}, {"blob": "AA=="}]), Some("window://h/w")),
            ("text and blob in one", json!([{"text": "a", "blob": "AA=="}]), Some("window://h/w\n\na")),
            ("neither text nor blob", json!([{"uri": "window://h/w"}]), Some("window://h/w")),
            ("text of another type", json!([{"text": 7}]), Some("window://h/w")),
            ("no object", json!(["a"]), Some("window://h/w")),
        ];
        for (case, contents, expected) in rows {
            let contents = contents.as_array().unwrap().clone();
            let window = Window { uri: "window://h/w?x=1#y".into(), contents, ..window("s", "w", "") };
            assert_eq!(organize_desktop(&[window], None, &NONE), Vec::from_iter(expected), "{case}");
        }
    }

    #[test]
    fn what_cannot_be_shown_hides_nothing() {
        let full = window("s", "full", "full");
        let shown = window("s", "a", "");
        for hidden in [
            Window { contents: vec![], ..full.clone() },
            Window { contents: vec![json!({"blob": "AA=="})], ..full.clone() },
            Window { uri: "window:///full".into(), ..full.clone() },
            Window { uri: "dpe://s/full".into(), ..full },
        ] {
            let windows = [hidden, shown.clone(), window("t", "b", "")];
            assert_eq!(names(&organize_desktop(&windows, Some(2), &NONE)), "a b", "{windows:?}");
        }
    }

    #[test]
    fn blobs_are_worth_a_warning() {
        let warning = |contents: Value| {
            Window { contents: contents.as_array().unwrap().clone(), ..window("s", "w", "") }.warning()
        };
        assert_eq!(warning(json!([])), None);
        assert_eq!(warning(json!([{"text": ""}, {}])), None);
        assert_eq!(warning(json!([{"blob": ""}, {"blob": ""}])), Some(WindowWarning::OnlyBlobs));
        assert_eq!(warning(json!([{"blob": ""}, {"text": "a"}, {"blob": ""}])), Some(WindowWarning::BlobsLeftOut(2)));
    }
}
