//! All pages of a document, one after the other, as they come.

use std::process::ExitCode;

use a2c_agent::{Agent, DocumentError, PageContent};
use a2c_protocol::uri::{DpeLevel, DpeUri, Format};
use anyhow::{Context as _, Error, Result, bail};
use futures_util::TryStreamExt as _;
use serde_json::Value;

use super::browse::rendering;
use super::dpe;
use super::read::{FormatArg, Out, ReadArgs};
use crate::output;

/// A document that is printed page by page.
pub(super) struct Pages<'a> {
    computer: &'a str,
    uri: &'a str,
    format: Format,
}

impl<'a> Pages<'a> {
    pub(super) fn new(args: &'a ReadArgs) -> Result<Self> {
        let ReadArgs { computer, uri, format, .. } = args;
        dpe::within(uri)?;
        let document = DpeUri::parse(uri).context("--pages is for documents: give dpe://HOST/DOCUMENT")?.uri;
        if *document.level() == DpeLevel::Catalogue {
            bail!("{uri} is a catalogue: documents have pages, `finder` lists them");
        }
        let format = match format {
            Some(FormatArg::Markdown) => Format::Markdown,
            Some(FormatArg::Text) => Format::Text,
            Some(FormatArg::Json) => Format::Json,
            None => document.query().format.unwrap_or(Format::Markdown),
        };
        Ok(Self { computer, uri, format })
    }

    pub(super) async fn run(self, agent: &Agent) -> Result<ExitCode> {
        let mut pages = agent.all_pages(self.computer, self.uri, self.format);
        let (mut out, mut is_first) = (Out::new(), true);
        while let Some(page) = pages.try_next().await.map_err(told)? {
            if self.format == Format::Json {
                out.json(&elements(&page)?)?;
            } else {
                let text = match page {
                    PageContent::Rendered(page) => page.text,
                    // A server that does not render gives the elements.
                    page @ PageContent::Elements(_) => rendering(elements(&page)?.to_string()),
                };
                let gap = if is_first { "" } else { "\n" };
                out.text(&format!("{gap}{}\n", text.trim_end()))?;
            }
            is_first = false;
        }
        if is_first {
            output::note("a2c: it has no pages");
        }
        out.end();
        Ok(ExitCode::SUCCESS)
    }
}

fn elements(page: &PageContent) -> Result<Value> {
    match page {
        PageContent::Elements(page) => Ok(serde_json::to_value(page)?),
        PageContent::Rendered(page) => bail!("page {} came as text, and not as JSON", page.page_index),
    }
}

/// A refusal is reported as by every other command.
fn told(error: DocumentError) -> Error {
    match error {
        DocumentError::Request(error) => error.into(),
        error => error.into(),
    }
}
