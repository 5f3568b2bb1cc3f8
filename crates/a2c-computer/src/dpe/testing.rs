//! What the tests of this part share: documents, and an MCP server's side that follows a script.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use a2c_protocol::uri::DpeDocumentUri;
use serde_json::{Value, json};
use tokio::sync::{Semaphore, watch};

use super::assemble::{DocumentReader, ReadFailure};
use super::resolver::{Document, DpeContents, ExternalDocument};

pub(super) fn uri(text: &str) -> DpeDocumentUri {
    DpeDocumentUri::parse(text).unwrap().uri
}

pub(super) fn inline(text: &str, json: &str) -> Document {
    Document::new(uri(text), DpeContents::Inline(json.to_owned().into()))
}

pub(super) fn external(text: &str, at: &str) -> Document {
    Document::new(uri(text), DpeContents::External(ExternalDocument::new(at)))
}

pub(super) fn json_content(json: &Value) -> Value {
    json!({"mimeType": "application/json", "text": json.to_string()})
}

pub(super) fn inline_content(json: &Value) -> Value {
    json!({"mimeType": "application/vnd.a2c.dpe-inline+json", "text": json.to_string()})
}

pub(super) fn external_content(json: &Value) -> Value {
    json!({"mimeType": "application/vnd.a2c.dpe-uri+json", "text": json.to_string()})
}

/// Answers as it was told, and counts.
#[derive(Clone)]
pub(super) struct Script(Arc<Inner>);

struct Inner {
    lines: Mutex<HashMap<String, Line>>,
    begun: watch::Sender<usize>,
    most_at_once: Mutex<usize>,
}

#[derive(Clone)]
enum Line {
    Contents(Value),
    Fails(Arc<Mutex<Option<ReadFailure>>>),
    /// Until so many more readings have begun, then the contents.
    Held(usize, Value),
    /// Until the gate is opened, then the contents.
    Gated(Arc<Semaphore>, Value),
}

impl Default for Script {
    fn default() -> Self {
        Self(Arc::new(Inner { lines: Mutex::default(), begun: watch::Sender::new(0), most_at_once: Mutex::new(0) }))
    }
}

impl Script {
    pub(super) fn put(&self, uri: &str, content: Value) {
        self.0.lines.lock().unwrap().insert(uri.into(), Line::Contents(content));
    }

    pub(super) fn fail(&self, uri: &str, failure: ReadFailure) {
        self.0.lines.lock().unwrap().insert(uri.into(), Line::Fails(Arc::new(Mutex::new(Some(failure)))));
    }

    /// Lets the reading of what is there wait until `more` others have begun.
    pub(super) fn hold(&self, uri: &str, more: usize) {
        let mut lines = self.0.lines.lock().unwrap();
        let Some(Line::Contents(content)) = lines.get(uri).cloned() else { panic!("nothing to hold") };
        lines.insert(uri.into(), Line::Held(more, content));
    }

    /// Lets readings wait for permits.
    pub(super) fn gate(&self, uri: &str) -> Arc<Semaphore> {
        let gate = Arc::new(Semaphore::new(0));
        let mut lines = self.0.lines.lock().unwrap();
        let Some(Line::Contents(content)) = lines.get(uri).cloned() else { panic!("nothing to hold") };
        lines.insert(uri.into(), Line::Gated(gate.clone(), content));
        gate
    }

    pub(super) fn reads(&self) -> usize {
        *self.0.begun.borrow()
    }

    pub(super) async fn until_reads(&self, count: usize) {
        self.0.begun.subscribe().wait_for(|begun| *begun >= count).await.unwrap();
    }

    /// How many had begun while one was held, with that one.
    pub(super) fn most_at_once(&self) -> usize {
        *self.0.most_at_once.lock().unwrap()
    }
}

impl DocumentReader for Script {
    async fn read(&self, uri: &str) -> Result<Vec<Value>, ReadFailure> {
        let mut begun = self.0.begun.subscribe();
        self.0.begun.send_modify(|begun| *begun += 1);
        let start = *begun.borrow();
        let line = self.0.lines.lock().unwrap().get(uri).cloned();
        match line {
            Some(Line::Contents(content)) => Ok(vec![content]),
            Some(Line::Fails(failure)) => Err(failure.lock().unwrap().take().expect("it fails once")),
            Some(Line::Held(more, content)) => {
                begun.wait_for(|begun| *begun >= start + more).await.unwrap();
                *self.0.most_at_once.lock().unwrap() = *begun.borrow() - start + 1;
                Ok(vec![content])
            }
            Some(Line::Gated(gate, content)) => {
                gate.acquire().await.unwrap().forget();
                Ok(vec![content])
            }
            None => Err(ReadFailure::Unavailable(format!("{uri} is not in the script"))),
        }
    }
}
