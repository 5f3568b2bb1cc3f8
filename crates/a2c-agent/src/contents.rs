//! MCP resource contents, as far as documents need them.

use serde_json::Value;

/// The contents of one read, as the MCP server gave them.
pub(crate) struct Contents(pub(crate) Vec<Value>);

impl Contents {
    /// The first text.
    pub(crate) fn first_text(&self) -> Option<&str> {
        self.texts().next()
    }

    /// All texts, as paragraphs.
    pub(crate) fn text(&self) -> Option<String> {
        let texts: Vec<&str> = self.texts().collect();
        (!texts.is_empty()).then(|| texts.join("\n\n"))
    }

    fn texts(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|content| content["text"].as_str())
    }

    /// Whether the server gave the model although a rendering was asked for.
    pub(crate) fn is_json(&self) -> bool {
        self.0.iter().any(|content| {
            let mime = content["mimeType"].as_str().or_else(|| content["mime_type"].as_str()).unwrap_or_default();
            mime.split(';').next().is_some_and(|mime| mime.trim().eq_ignore_ascii_case("application/json"))
        })
    }

    /// The title in the metadata of a rendering.
    pub(crate) fn title(&self) -> Option<String> {
        let metas = self.0.iter().flat_map(|content| [&content["_meta"], &content["meta"]]);
        metas.filter_map(|meta| meta["title"].as_str()).next().map(str::to_owned)
    }

    /// A rendering inside JSON, `{title?, content_markdown}`, as the guide of the Finder shows one.
    pub(crate) fn rendering_within(&self) -> Option<(Option<String>, String)> {
        let page: Value = serde_json::from_str(self.first_text()?).ok()?;
        let text = page["content_markdown"].as_str()?.to_owned();
        Some((page["title"].as_str().map(str::to_owned).or_else(|| self.title()), text))
    }
}
