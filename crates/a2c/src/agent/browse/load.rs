//! Loads what the browser asks for, from the office.

use a2c_agent::{Agent, FinderQuery};
use a2c_protocol::office::Role;
use a2c_protocol::uri::Format;
use serde_json::Value;

use super::document;
use super::item::{Item, Loaded};
use super::query::{LoadError, Query};

/// Asks, and waits for the answer.
pub(super) async fn load(agent: &Agent, query: Query) -> Result<Loaded, LoadError> {
    match query {
        Query::Computers => {
            let members = agent.members().await?;
            let computers = members.into_iter().filter(|member| member.role == Role::Computer);
            let mut names: Vec<String> = computers.map(|member| member.name).collect();
            names.sort_unstable();
            Ok(all(names.into_iter().map(Item::Computer).collect()))
        }
        Query::Documents { computer, keywords, file_type, offset, limit } => {
            let query = FinderQuery::default().with_keywords(keywords).with_offset(offset).with_limit(limit);
            let query = file_type.into_iter().fold(query, FinderQuery::with_file_type);
            let answer = agent.finder(&computer, query).await?;
            let items = answer.documents.into_iter().map(|document| Item::Document(Box::new(document))).collect();
            Ok(Loaded::Items { items, total: answer.total_count })
        }
        Query::Pages { computer, uri, offset } => {
            let document = json(&text(agent, &computer, &document::pages_uri(&uri, offset)?).await?)?;
            let (pages, total) = document::pages(&document, offset);
            Ok(Loaded::Items { items: pages.into_iter().map(Item::Page).collect(), total })
        }
        Query::Elements { computer, uri, index } => {
            let page = json(&text(agent, &computer, &document::page_uri(&uri, index, None)?).await?)?;
            Ok(all(document::elements(&page).into_iter().map(Item::Element).collect()))
        }
        Query::Page { computer, uri, index } => {
            let markdown = document::page_uri(&uri, index, Some(Format::Markdown))?;
            let rendered = match text(agent, &computer, &markdown).await {
                Ok(rendered) => rendered,
                // A server may have no Markdown to give. If something else failed, the second read tells it.
                Err(_) => text(agent, &computer, &document::page_uri(&uri, index, None)?).await?,
            };
            Ok(Loaded::Text(document::rendering(rendered)))
        }
        Query::Element { computer, uri, id } => {
            let rendered = text(agent, &computer, &document::element_uri(&uri, &id)?).await?;
            Ok(Loaded::Text(document::rendering(rendered)))
        }
    }
}

fn all(items: Vec<Item>) -> Loaded {
    let total = items.len() as u64;
    Loaded::Items { items, total }
}

async fn text(agent: &Agent, computer: &str, uri: &str) -> Result<String, LoadError> {
    let contents = agent.read_resource(computer, uri).await?;
    let texts: Vec<&str> = contents.iter().filter_map(|content| content["text"].as_str()).collect();
    match texts[..] {
        [] => Err(LoadError::NoText(uri.to_owned())),
        _ => Ok(texts.join("\n\n")),
    }
}

fn json(text: &str) -> Result<Value, LoadError> {
    serde_json::from_str(text).map_err(|error| LoadError::NotJson(error.to_string()))
}
