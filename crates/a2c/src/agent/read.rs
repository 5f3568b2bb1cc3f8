//! Reading a resource to its end: a large result page after page, and part after part where its URI lists several;
//! anything else in one answer.

use std::collections::HashSet;
use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;

use a2c_agent::Agent;
use a2c_protocol::context::ReadResourceRet;
use a2c_protocol::event;
use a2c_protocol::seconds::Seconds;
use a2c_protocol::uri::{DpeLevel, DpeQuery, DpeUri};
use anyhow::{Context as _, Result, anyhow, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use super::payload::without_nulls;
use crate::output;

/// What large results are read from.
const RESULT: &str = "a2c-result://";

// (No documentation comment: it would become the help of the command.)
#[derive(Args)]
pub(super) struct ReadArgs {
    /// The Computer's name.
    pub(super) computer: String,
    /// The resource: dpe:// (a document, page or element), window://, what `resources` lists, or the a2c-result:// URI
    /// that stands in a result which was too large to be sent at once.
    pub(super) uri: String,
    /// The MCP server that has it, where the URI alone does not tell.
    #[arg(long, value_name = "NAME")]
    pub(super) server: Option<String>,
    /// Only this page of a document or a large result, counted from 0.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = page_number)]
    pub(super) page: Option<u64>,
    /// All pages of a document, one after the other.
    #[arg(long, conflicts_with_all = ["page", "server", "json"])]
    pub(super) pages: bool,
    /// How --pages prints them; json is a line per page [default: markdown].
    #[arg(long, value_enum, requires = "pages", hide_default_value = true)]
    pub(super) format: Option<FormatArg>,
}

/// How pages are printed.
#[derive(Clone, Copy, ValueEnum)]
pub(super) enum FormatArg {
    Markdown,
    Text,
    Json,
}

fn page_number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "pages are counted from 0, so a page is 0, 1, 2, …".to_owned())
}

/// Refuses what cannot be a URI at all, before anything is asked.
fn checked(uri: &str) -> Result<()> {
    let scheme = uri.split_once(':').filter(|(_, rest)| !rest.is_empty()).map(|(scheme, _)| scheme);
    let is_scheme = |scheme: &str| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    };
    if scheme.is_some_and(is_scheme) {
        return Ok(());
    }
    bail!(
        "'{uri}' is no URI: one looks like dpe://com.example.docs/report, window://com.example.editor/main or \
         file:///notes.txt; `a2c agent finder COMPUTER` and `a2c agent resources COMPUTER SERVER` list some"
    )
}

/// The URI of one page of a resource.
pub(super) fn at_page(uri: &str, page: Option<u64>) -> Result<String> {
    checked(uri)?;
    match page {
        None => Ok(uri.to_owned()),
        Some(page) if uri.starts_with(RESULT) => Ok(format!("{}?page={page}", base(uri))),
        Some(page) if uri.starts_with("dpe:") => page_of_document(uri, page),
        Some(_) => bail!("{uri} has no pages: --page is for documents (dpe://) and large results ({RESULT})"),
    }
}

fn page_of_document(uri: &str, index: u64) -> Result<String> {
    let document = DpeUri::parse(uri)?.uri;
    let doc_ref = match document.level() {
        DpeLevel::Document { doc_ref } => doc_ref.clone(),
        DpeLevel::Page { .. } => bail!("{uri} is one page: leave --page out, or give the URI of the document"),
        DpeLevel::Catalogue => bail!("{uri} is a catalogue: documents have pages, `finder` lists them"),
        DpeLevel::Element { .. } => bail!("{uri} is one element: leave --page out, or give the URI of the document"),
    };
    // How to list pages says nothing about one of them.
    let query = DpeQuery { depth: None, offset: None, limit: None, ..document.query().clone() };
    Ok(DpeUri::new(document.host().clone(), DpeLevel::Page { doc_ref, index }, query)?.to_string())
}

fn base(uri: &str) -> &str {
    uri.split_once("?page=").map_or(uri, |(base, _)| base)
}

/// All that there is at a URI.
pub(super) struct WholeResource<'a> {
    computer: &'a str,
    uri: &'a str,
    server: Option<&'a str>,
}

impl<'a> WholeResource<'a> {
    pub(super) fn new(args: &'a ReadArgs) -> Result<Self> {
        checked(&args.uri)?;
        Ok(Self { computer: &args.computer, uri: &args.uri, server: args.server.as_deref() })
    }

    /// Writes it to standard output as it comes. The URI of a page is that page.
    pub(super) async fn run(self, agent: &Agent) -> Result<ExitCode> {
        let Self { computer, uri, server } = self;
        let reading = Reading { agent, computer, server };
        let first = reading.page(uri).await?;
        match uri.starts_with(RESULT) {
            true => result(&reading, uri, first).await?,
            false => plain(&first)?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Contents that came at once.
fn plain(contents: &[Value]) -> Result<()> {
    if contents.is_empty() {
        output::note("a2c: there is nothing in it");
    }
    let mut out = Out::new();
    for content in contents {
        // Each text begins on a line of its own.
        if !out.at_start {
            out.write(b"\n")?;
        }
        out.content(content, contents.len() == 1)?;
    }
    out.end();
    Ok(())
}

async fn result(reading: &Reading<'_>, uri: &str, first: Vec<Value>) -> Result<()> {
    if base(uri) != uri {
        return output::contents(&first);
    }
    let mut out = Out::new();
    // A list may have several pages, too.
    let is_json = first.iter().any(|content| content["mimeType"] == "application/json");
    if !is_json {
        return reading.part(first, &mut out, true).await;
    }
    let pages = reading.rest(first).await?;
    match parts(uri, &pages) {
        Some(parts) => {
            for part in parts {
                let first = reading.page(&part).await?;
                reading.part(first, &mut out, false).await?;
            }
        }
        None => pages.iter().try_for_each(|content| out.content(content, true))?,
    }
    out.end();
    Ok(())
}

struct Reading<'a> {
    agent: &'a Agent,
    computer: &'a str,
    server: Option<&'a str>,
}

impl Reading<'_> {
    async fn page(&self, uri: &str) -> Result<Vec<Value>> {
        let payload = without_nulls(json!({ "computer": self.computer, "uri": uri, "mcp_server": self.server }));
        let answer = self.agent.request(event::READ_RESOURCE, payload, Seconds::DEFAULT.duration()).await?;
        let answer: ReadResourceRet = super::typed(answer)?;
        Ok(answer.contents)
    }

    /// The pages from this one to the last.
    async fn rest(&self, first: Vec<Value>) -> Result<Vec<Value>> {
        let (mut all, mut seen) = (first, HashSet::new());
        while let Some(next) = next(&all, &mut seen)? {
            all.extend(self.page(&next).await?);
        }
        Ok(all)
    }

    /// Writes a part. Text need not fit into memory.
    async fn part(&self, first: Vec<Value>, out: &mut Out, is_only: bool) -> Result<()> {
        let is_blob = first.iter().any(|content| content["blob"].is_string());
        if is_blob && !is_only {
            let pages = self.rest(first).await?;
            return out.json(&joined(&pages));
        }
        let (mut page, mut seen) = (first, HashSet::new());
        loop {
            page.iter().try_for_each(|content| out.content(content, is_only))?;
            match next(&page, &mut seen)? {
                Some(next) => page = self.page(&next).await?,
                None => break,
            }
        }
        out.end();
        Ok(())
    }
}

/// The URI of the next page. A Computer that names a page twice is not followed.
fn next(pages: &[Value], seen: &mut HashSet<String>) -> Result<Option<String>> {
    let Some(next) = pages.last().and_then(|page| page["_meta"]["next"].as_str()) else { return Ok(None) };
    if !seen.insert(next.to_owned()) {
        bail!("the pages of this resource go round in circles: {next} comes again");
    }
    Ok(Some(next.to_owned()))
}

/// The parts that a text lists, if it is a list of the parts of this very resource.
fn parts(uri: &str, pages: &[Value]) -> Option<Vec<String>> {
    let text: String = pages.iter().map(|page| page["text"].as_str()).collect::<Option<_>>()?;
    let list: Vec<Value> = serde_json::from_str(&text).ok()?;
    let own = format!("{uri}/");
    let part = |entry: &Value| entry["uri"].as_str().filter(|part| part.starts_with(&own)).map(ToOwned::to_owned);
    let parts: Vec<String> = list.iter().map(part).collect::<Option<_>>()?;
    (!parts.is_empty()).then_some(parts)
}

/// The pages of a blob as one. Each ends between groups of base64.
fn joined(pages: &[Value]) -> Value {
    let blob: String = pages.iter().filter_map(|page| page["blob"].as_str()).collect();
    let first = pages.first().unwrap_or(&Value::Null);
    json!({"uri": first["uri"].as_str().map(base), "mimeType": first["mimeType"], "blob": blob})
}

/// Standard output, and whether it stands at the start of a line.
pub(super) struct Out {
    at_start: bool,
}

impl Out {
    pub(super) fn new() -> Self {
        Self { at_start: true }
    }

    /// Writes a text that begins on a line of its own: harmless on a terminal, as it is elsewhere.
    pub(super) fn text(&mut self, text: &str) -> Result<()> {
        if !self.at_start {
            self.write(b"\n")?;
        }
        match std::io::stdout().is_terminal() {
            true => self.write(output::printable(text).as_bytes()),
            false => self.write(text.as_bytes()),
        }
    }

    fn content(&mut self, content: &Value, is_only: bool) -> Result<()> {
        let is_terminal = std::io::stdout().is_terminal();
        match (content["text"].as_str(), content["blob"].as_str()) {
            (Some(text), _) if is_terminal => self.write(output::printable(text).as_bytes()),
            (Some(text), _) => self.write(text.as_bytes()),
            (None, Some(_)) if is_only && is_terminal => {
                Err(anyhow!("this is {}, which is not for a terminal: send it into a file with > FILE", kind(content)))
            }
            (None, Some(blob)) if is_only => {
                let bytes = STANDARD.decode(blob).context("the Computer sent what is no base64")?;
                self.write(&bytes)
            }
            _ => self.json(content),
        }
    }

    pub(super) fn json(&mut self, value: &Value) -> Result<()> {
        if !self.at_start {
            self.write(b"\n")?;
        }
        self.write(format!("{}\n", output::json_text(value)?).as_bytes())
    }

    /// A person's prompt is not to stand behind the text.
    pub(super) fn end(&mut self) {
        if !self.at_start && std::io::stdout().is_terminal() {
            let _ = self.write(b"\n");
        }
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let Some(last) = bytes.last() else { return Ok(()) };
        self.at_start = *last == b'\n';
        let mut stdout = std::io::stdout().lock();
        stdout.write_all(bytes).and_then(|()| stdout.flush()).context("cannot write to standard output")
    }
}

fn kind(content: &Value) -> String {
    output::printable(content["mimeType"].as_str().unwrap_or("binary"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_list_of_its_own_parts_is_one() {
        let listed = |text: &str| parts("a2c-result://1", &[json!({ "text": text })]);
        let own = r#"[{"uri": "a2c-result://1/0"}, {"uri": "a2c-result://1/1"}]"#;
        assert_eq!(listed(own).unwrap(), ["a2c-result://1/0", "a2c-result://1/1"]);
        for other in ["[]", "[1]", "text", r#"[{"uri": "a2c-result://2/0"}]"#, r#"[{"uri": "a2c-result://1"}]"#] {
            assert_eq!(listed(other), None, "{other}");
        }
    }

    #[test]
    fn circles_are_not_followed() {
        let page = [json!({"_meta": {"next": "x?page=1"}})];
        let mut seen = HashSet::new();
        assert_eq!(next(&page, &mut seen).unwrap().as_deref(), Some("x?page=1"));
        assert!(next(&page, &mut seen).is_err());
    }

    #[test]
    fn a_page_is_named_once() {
        for (uri, page, expected) in [
            ("a2c-result://x", Some(2), "a2c-result://x?page=2"),
            ("a2c-result://x?page=1", Some(2), "a2c-result://x?page=2"),
            ("a2c-result://x?page=1", None, "a2c-result://x?page=1"),
            ("dpe://h/a%2Fb", Some(0), "dpe://h/a%2Fb/pages/0"),
            ("dpe://h/d?format=markdown&depth=pages&limit=5", Some(3), "dpe://h/d/pages/3?format=markdown"),
            ("file:///any thing", None, "file:///any thing"),
            ("memo+x.y-1:note", None, "memo+x.y-1:note"),
        ] {
            assert_eq!(at_page(uri, page).unwrap(), expected, "{uri} {page:?}");
        }
        for uri in ["window://h/w", "file:///x", "dpe://h", "dpe://h/d/elements/e", "dpe://h/d/pages/1", "dpe:///d"] {
            assert!(at_page(uri, Some(0)).is_err(), "{uri}");
        }
        for nonsense in ["nonsense", "", ":x", "a b:c", "1a:b", "dpe:", "年:x"] {
            assert!(at_page(nonsense, None).unwrap_err().to_string().contains("is no URI"), "{nonsense}");
        }
    }
}
