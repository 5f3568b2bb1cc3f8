//! The documents of a Computer: some of them, or all.

use std::process::ExitCode;

use a2c_agent::Agent;
use a2c_protocol::context::{DpeDocumentSummary, GetFinderReq, GetFinderRet};
use a2c_protocol::event;
use a2c_protocol::seconds::Seconds;
use anyhow::{Result, bail};
use clap::Args;
use serde_json::{Map, Value, json};

use super::payload::without_nulls;
use super::{show, typed};
use crate::output;

/// A list with more pieces has no end.
const MOST_PIECES: usize = 100_000;

// (No documentation comment: it would become the help of the command.)
#[derive(Args)]
pub(super) struct FinderArgs {
    /// The Computer's name.
    computer: String,
    /// Only documents with this in their title, keywords or summary. Can be given several times: one of them is enough.
    #[arg(long = "keyword", value_name = "K")]
    keywords: Vec<String>,
    /// Only documents of this type, written exactly as it is listed, such as pdf.
    #[arg(long, value_name = "T")]
    file_type: Option<String>,
    /// Skip so many.
    #[arg(long, value_name = "N", default_value_t = 0)]
    offset: u64,
    /// At most so many; 100 is the most.
    #[arg(long, value_name = "N", default_value_t = GetFinderReq::DEFAULT_LIMIT,
        value_parser = clap::value_parser!(u64).range(0..=GetFinderReq::MAX_LIMIT))]
    limit: u64,
    /// All of them, from --offset on, printed as they come. With --json, each answer is a line.
    #[arg(long, conflicts_with = "limit")]
    pub(super) all: bool,
}

impl FinderArgs {
    /// What is asked for.
    pub(super) fn request(&self) -> Map<String, Value> {
        self.piece(self.offset, self.limit)
    }

    fn piece(&self, offset: u64, limit: u64) -> Map<String, Value> {
        let keywords = (!self.keywords.is_empty()).then_some(&self.keywords);
        without_nulls(json!({
            "computer": self.computer, "keywords": keywords, "file_type": self.file_type, "offset": offset, "limit": limit
        }))
    }

    /// Prints one piece after the other, as they come, until the end of the list or of the reader.
    pub(super) async fn list_all(&self, agent: &Agent, as_received: bool) -> Result<ExitCode> {
        tokio::select! {
            listed = self.pieces(agent, as_received) => listed,
            () = output::reader_gone() => Ok(ExitCode::SUCCESS),
        }
    }

    /// Pieces may be shorter than asked for; an empty one is the end, whatever was counted.
    async fn pieces(&self, agent: &Agent, as_received: bool) -> Result<ExitCode> {
        let mut offset = self.offset;
        for _ in 0..MOST_PIECES {
            let payload = self.piece(offset, GetFinderReq::MAX_LIMIT);
            let answer = agent.request(event::GET_FINDER, payload, Seconds::DEFAULT.duration()).await?;
            if as_received {
                output::json(&answer)?;
            }
            let piece: GetFinderRet = typed(answer)?;
            offset = offset.saturating_add(piece.documents.len() as u64);
            let is_over = piece.documents.is_empty() || offset >= piece.total_count;
            if !as_received {
                print(&piece.documents);
            }
            if !is_over {
                continue;
            }
            if !as_received {
                output::note(&self.told(offset - self.offset, piece.total_count));
            }
            return Ok(ExitCode::SUCCESS);
        }
        bail!("the list of documents of '{}' does not end", self.computer)
    }

    /// Shows one answer, and how to go on.
    pub(super) fn show(&self, answer: &GetFinderRet) {
        print(&answer.documents);
        output::note(&self.told(answer.documents.len() as u64, answer.total_count));
    }

    /// What is to be said about a list, below it.
    fn told(&self, shown: u64, total: u64) -> String {
        let Self { computer, offset, .. } = self;
        let end = offset.saturating_add(shown);
        match shown {
            0 if self.limit == 0 => format!("no documents: --limit 0 asks for none of {}", output::count(total)),
            0 if total > 0 => format!("no documents from --offset {offset} on: there are {}", output::count(total)),
            0 if !self.keywords.is_empty() || self.file_type.is_some() => {
                "no documents match: try another --keyword, or another --file-type".to_owned()
            }
            0 => format!("no documents: no MCP server of '{computer}' has any (dpe:// resources, with subscriptions)"),
            _ if end < total => {
                format!("{} of {}; next: --offset {end}, or --all", output::count(shown), output::count(total))
            }
            _ if *offset > 0 => format!("{} of {}; these are the last", output::count(shown), output::count(total)),
            1 => "1 document".to_owned(),
            _ => format!("{} documents", output::count(shown)),
        }
    }
}

fn print(documents: &[DpeDocumentSummary]) {
    // What the next command needs is never cut: the URI.
    output::fitted_table(&documents.iter().map(row).collect::<Vec<_>>(), &[0, 4]);
}

fn row(document: &DpeDocumentSummary) -> Vec<String> {
    vec![
        document.title.clone(),
        document.file_type.clone(),
        show::pages(document.page_count),
        document.last_modified.as_deref().map(output::date).unwrap_or_default(),
        document.server.clone(),
        document.uri.clone(),
    ]
}
