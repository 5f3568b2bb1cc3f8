//! What the unit tests share: documents, and a reader that answers from a script.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use a2c_protocol::uri::DpeDocumentUri;
use serde_json::{Value, json};
use tokio::sync::{Semaphore, watch};

use crate::reader::{DocumentReader, ReadError};
use crate::resolver::{DpeContents, ExternalDocument, SourceDocument};

pub(crate) fn uri(text: &str) -> DpeDocumentUri {
    DpeDocumentUri::parse(text).unwrap().uri
}

pub(crate) fn inline(text: &str, json: &str) -> SourceDocument {
    SourceDocument::new(uri(text), DpeContents::Inline(json.to_owned().into()))
}

pub(crate) fn external(text: &str, at: &str) -> SourceDocument {
    SourceDocument::new(uri(text), DpeContents::External(ExternalDocument::new(at)))
}

pub(crate) fn json_content(json: &Value) -> Value {
    json!({"mimeType": "application/json", "text": json.to_string()})
}

pub(crate) fn inline_content(json: &Value) -> Value {
    json!({"mimeType": "application/vnd.a2c.dpe-inline+json", "text": json.to_string()})
}

pub(crate) fn external_content(json: &Value) -> Value {
    json!({"mimeType": "application/vnd.a2c.dpe-uri+json", "text": json.to_string()})
}

/// A reader that answers from a script, and counts.
#[derive(Clone)]
pub(crate) struct Script(Arc<Inner>);

struct Inner {
    steps: Mutex<HashMap<String, Step>>,
    begun: watch::Sender<usize>,
    most_at_once: Mutex<usize>,
}

#[derive(Clone)]
enum Step {
    Contents(Value),
    Fails(Arc<Mutex<Option<ReadError>>>),
    /// Until so many more readings have begun, then the contents.
    Held(usize, Value),
    /// Until the gate is opened, then the contents.
    Gated(Arc<Semaphore>, Value),
}

impl Default for Script {
    fn default() -> Self {
        Self(Arc::new(Inner { steps: Mutex::default(), begun: watch::Sender::new(0), most_at_once: Mutex::new(0) }))
    }
}

impl Script {
    pub(crate) fn put(&self, uri: &str, content: Value) {
        self.0.steps.lock().unwrap().insert(uri.into(), Step::Contents(content));
    }

    pub(crate) fn fail(&self, uri: &str, failure: ReadError) {
        self.0.steps.lock().unwrap().insert(uri.into(), Step::Fails(Arc::new(Mutex::new(Some(failure)))));
    }

    /// Lets the reading of what is there wait until `more` others have begun.
    pub(crate) fn hold(&self, uri: &str, more: usize) {
        let mut steps = self.0.steps.lock().unwrap();
        let Some(Step::Contents(content)) = steps.get(uri).cloned() else { panic!("nothing to hold") };
        steps.insert(uri.into(), Step::Held(more, content));
    }

    /// Lets readings wait for permits.
    pub(crate) fn gate(&self, uri: &str) -> Arc<Semaphore> {
        let gate = Arc::new(Semaphore::new(0));
        let mut steps = self.0.steps.lock().unwrap();
        let Some(Step::Contents(content)) = steps.get(uri).cloned() else { panic!("nothing to hold") };
        steps.insert(uri.into(), Step::Gated(gate.clone(), content));
        gate
    }

    pub(crate) fn reads(&self) -> usize {
        *self.0.begun.borrow()
    }

    pub(crate) async fn until_reads(&self, count: usize) {
        self.0.begun.subscribe().wait_for(|begun| *begun >= count).await.unwrap();
    }

    /// How many had begun while one was held, with that one.
    pub(crate) fn most_at_once(&self) -> usize {
        *self.0.most_at_once.lock().unwrap()
    }
}

impl DocumentReader for Script {
    async fn read(&self, uri: &str) -> Result<Vec<Value>, ReadError> {
        let mut begun = self.0.begun.subscribe();
        self.0.begun.send_modify(|begun| *begun += 1);
        let start = *begun.borrow();
        let step = self.0.steps.lock().unwrap().get(uri).cloned();
        match step {
            Some(Step::Contents(content)) => Ok(vec![content]),
            Some(Step::Fails(failure)) => Err(failure.lock().unwrap().take().expect("it fails once")),
            Some(Step::Held(more, content)) => {
                begun.wait_for(|begun| *begun >= start + more).await.unwrap();
                *self.0.most_at_once.lock().unwrap() = *begun.borrow() - start + 1;
                Ok(vec![content])
            }
            Some(Step::Gated(gate, content)) => {
                gate.acquire().await.unwrap().forget();
                Ok(vec![content])
            }
            None => Err(ReadError::Unavailable(format!("{uri} is not in the script"))),
        }
    }
}
