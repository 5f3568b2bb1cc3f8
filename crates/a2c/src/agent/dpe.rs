//! Where a document can be had as a whole.
//!
//! The answer names a URL; what is behind it is fetched only where it is to be kept.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use a2c_agent::{Agent, DpeError, FetchError, FetchFailure, FetchOptions, Files};
use a2c_protocol::context::GetDpeRet;
use a2c_protocol::uri::{DpeDocumentUri, DpeLevel, DpeUri};
use anyhow::{Context as _, Result, anyhow, bail};
use serde_json::Value;

use crate::output;

/// The URI of a document, as it was given. A query or a fragment would be ignored by the Computer, and is refused.
pub(super) fn document(uri: &str) -> Result<&str> {
    within(uri)?;
    DpeDocumentUri::parse_strict(uri).context("which document? Give its URI, as `finder` shows it")?;
    Ok(uri)
}

/// Refuses the URI of a part of a document where a whole one is wanted.
pub(super) fn within(uri: &str) -> Result<()> {
    let Ok(parsed) = DpeUri::parse(uri) else { return Ok(()) };
    let part = match parsed.uri.level() {
        DpeLevel::Page { .. } => "a page",
        DpeLevel::Element { .. } => "an element",
        DpeLevel::Catalogue | DpeLevel::Document { .. } => return Ok(()),
    };
    let document = parsed.uri.document().map(|document| document.to_string()).unwrap_or_default();
    bail!("this is {part} of a document: give {document}")
}

/// A document that is fetched and kept.
pub(super) struct Fetch<'a> {
    pub(super) computer: &'a str,
    pub(super) uri: &'a str,
    pub(super) timeout: Option<u64>,
    pub(super) output: &'a Path,
    pub(super) files: &'a [PathBuf],
    pub(super) from_hub: bool,
}

impl Fetch<'_> {
    pub(super) async fn run(&self, agent: &Agent) -> Result<ExitCode> {
        let files = if self.files.is_empty() { Files::Refused } else { Files::Within(self.files.to_vec()) };
        let mut options = FetchOptions::default().with_files(files).with_hub(self.from_hub);
        options.resolve_timeout = self.timeout.map_or(options.resolve_timeout, Duration::from_secs);
        let fetched = agent.fetch_dpe(self.computer, self.uri, &options).await.map_err(|error| match error {
            // What is refused is told as everywhere else.
            FetchError::Resolve(DpeError::Request(error)) => anyhow::Error::from(error),
            FetchError::Fetch { failure: FetchFailure::NotAllowed { .. } | FetchFailure::Outside, resource } => anyhow!(
                "the Computer says that the document is in a file of this machine ({}): --files DIR allows to read those of a \
                 directory",
                output::one_line(&resource.uri)
            ),
            FetchError::Fetch { failure: FetchFailure::Hub, .. } => anyhow!(
                "the Computer says that the document is at the hub itself: --from-hub allows to fetch it there, where the hub \
                 serves documents, too"
            ),
            error => error.into(),
        })?;
        if self.output == Path::new("-") {
            let mut stdout = std::io::stdout().lock();
            stdout.write_all(&fetched.body).and_then(|()| stdout.flush())?;
            return Ok(ExitCode::SUCCESS);
        }
        std::fs::write(self.output, &fetched.body)
            .with_context(|| format!("cannot write {}", self.output.display()))?;
        let kind = fetched.mime_type.as_deref().unwrap_or("of unknown type");
        let size = output::size(fetched.body.len() as u64);
        output::note(&format!("a2c: wrote {}: {size}, {kind}", self.output.display()));
        Ok(ExitCode::SUCCESS)
    }
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
