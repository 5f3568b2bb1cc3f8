//! Asking the office on behalf of the browser. A failure is a sentence for the status line.

use a2c_agent::{Agent, RequestError};
use a2c_protocol::context::GetFinderRet;
use a2c_protocol::event;
use a2c_protocol::office::Role;
use a2c_protocol::seconds::Seconds;
use a2c_protocol::uri::Format;
use serde_json::{Value, json};

use super::super::question::given;
use super::document;
use super::place::{Answer, Item, Request};

/// Asks, and waits for the answer.
pub(super) async fn ask(agent: &Agent, request: Request) -> Result<Answer, String> {
    match request {
        Request::Computers => {
            let members = agent.members().await.map_err(sentence)?;
            let computers = members.into_iter().filter(|member| member.role == Role::Computer);
            let mut names: Vec<String> = computers.map(|member| member.name).collect();
            names.sort_unstable();
            Ok(all(names.into_iter().map(Item::Computer).collect()))
        }
        Request::Documents { computer, keywords, file_type, offset, limit } => {
            let keywords = (!keywords.is_empty()).then_some(keywords);
            let payload = given(json!({
                "computer": computer, "keywords": keywords, "file_type": file_type, "offset": offset, "limit": limit
            }));
            let answer = agent.request(event::GET_FINDER, payload, Seconds::DEFAULT.duration()).await;
            let answer: GetFinderRet = serde_json::from_value(answer.map_err(sentence)?)
                .map_err(|error| format!("the Finder of '{computer}' answers in the wrong shape: {error}"))?;
            let items = answer.documents.into_iter().map(|document| Item::Document(Box::new(document))).collect();
            Ok(Answer::Items { items, total: answer.total_count })
        }
        Request::Pages { computer, uri, offset } => {
            let document = json(&text(agent, &computer, &document::pages_uri(&uri, offset)?).await?)?;
            let (pages, total) = document::pages(&document, offset);
            Ok(Answer::Items { items: pages.into_iter().map(Item::Page).collect(), total })
        }
        Request::Elements { computer, uri, index } => {
            let page = json(&text(agent, &computer, &document::page_uri(&uri, index, None)?).await?)?;
            Ok(all(document::elements(&page).into_iter().map(Item::Element).collect()))
        }
        Request::Page { computer, uri, index } => {
            let markdown = document::page_uri(&uri, index, Some(Format::Markdown))?;
            let rendered = match text(agent, &computer, &markdown).await {
                Ok(rendered) => rendered,
                // A server may have no Markdown to give. If that was not it, this says what was.
                Err(_) => text(agent, &computer, &document::page_uri(&uri, index, None)?).await?,
            };
            Ok(Answer::Text(document::rendering(rendered)))
        }
        Request::Element { computer, uri, id } => {
            let rendered = text(agent, &computer, &document::element_uri(&uri, &id)?).await?;
            Ok(Answer::Text(document::rendering(rendered)))
        }
    }
}

fn all(items: Vec<Item>) -> Answer {
    let total = items.len() as u64;
    Answer::Items { items, total }
}

async fn text(agent: &Agent, computer: &str, uri: &str) -> Result<String, String> {
    let contents = agent.read_resource(computer, uri).await.map_err(sentence)?;
    let texts: Vec<&str> = contents.iter().filter_map(|content| content["text"].as_str()).collect();
    match texts[..] {
        [] => Err(format!("there is no text at {uri}")),
        _ => Ok(texts.join("\n\n")),
    }
}

fn json(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| format!("the document's answer is no JSON: {error}"))
}

#[expect(clippy::needless_pass_by_value, reason = "it is mapped over")]
fn sentence(error: RequestError) -> String {
    error.to_string()
}
