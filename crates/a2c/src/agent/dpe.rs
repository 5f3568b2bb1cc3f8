//! Where a document can be had as a whole.
//!
//! The answer names a URL; what is behind it is not fetched here.

use a2c_protocol::context::GetDpeRet;
use a2c_protocol::uri::DpeDocumentUri;
use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::output;

/// The URI of a document, as it was given. A query or a fragment would be ignored by the Computer, and is refused.
pub(super) fn document(uri: &str) -> Result<&str> {
    DpeDocumentUri::parse_strict(uri).context("which document? Give its URI, as `finder` shows it")?;
    Ok(uri)
}

/// The URL alone goes to standard output, so that it can be handed on.
pub(super) fn show(answer: &GetDpeRet) {
    output::text(&answer.resource.uri);
    let known = known(answer);
    if !known.is_empty() {
        output::note(&known.join("\n"));
    }
}

fn known(answer: &GetDpeRet) -> Vec<String> {
    let resource = &answer.resource;
    let meta = |key: &str| resource.meta.as_ref().and_then(|meta| meta.get(key)).map(plain);
    let facts = [
        ("name", resource.name.clone()),
        ("about", resource.description.clone()),
        ("type", resource.mime_type.clone()),
        ("size", resource.size.map(output::size)),
        ("expires", meta("expires_at").map(|at| output::date(&at))),
        ("etag", meta("etag")),
    ];
    let facts = facts.into_iter().filter_map(|(what, fact)| Some((what, fact?)));
    facts.map(|(what, fact)| format!("{what:8} {}", output::one_line(&fact))).collect()
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned)
}
