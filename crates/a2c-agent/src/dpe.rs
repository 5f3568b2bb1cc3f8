//! Whole documents: where a Computer makes one available, and what is there.
//!
//! [`Agent::resolve_dpe`] asks a Computer for a URI; [`Agent::fetch_dpe`] also gets what is behind it, and asks again where
//! the URI has expired.
//!
//! # Who is trusted with what
//!
//! The URI comes from the Computer, and the Computer may have it from an MCP server. So it is **not** trusted:
//!
//! - A `file://` URI makes *this process* read a file with *its* rights: a hostile Computer could name
//!   `/home/me/.ssh/id_ed25519`, and what is fetched is likely to be shown to a model that talks to that same Computer.
//!   Hence [`Files::Refused`] is the default. [`Files::Within`] allows the directories in which a resolver on this machine
//!   puts its documents, also when a link leads out of them; [`Files::Anywhere`] is for programs whose user chose the
//!   Computer and owns both ends.
//! - An `http(s)://` URI makes this process send a GET to wherever it says: also to loopback, where the Computer's own
//!   listener is by default. It carries no credential, no cookie, no referrer; link-local addresses (where clouds keep
//!   credentials) are refused, in redirects and behind names too, and so is the hub of the Agent unless
//!   [`FetchOptions::hub`] allows it. Who can reach services that act on a GET should fetch
//!   from a process that cannot, or switch it off with [`FetchOptions::http`].
//! - Whatever comes is limited in size and time, and is not interpreted before [`FetchedDpe::document`] is called.

use std::time::Duration;

use a2c_link::RequestError;
use a2c_protocol::context::{A2cResource, GetDpeReq, GetDpeRet};
use a2c_protocol::document::{Document, ShapeError};
use a2c_protocol::event;
use a2c_protocol::seconds::Seconds;
use a2c_protocol::uri::{DpeDocumentUri, DpeDocumentUriError};
use bytes::Bytes;
use jiff::Timestamp;

use crate::Agent;
use crate::agent::{PATIENCE, new_id, same_request};
use crate::fetch::{self, FetchedBody};
pub use crate::fetch::{FetchFailure, FetchOptions, Files};

/// Why a Computer did not say where a document is.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum DpeError {
    /// The URI is not that of a document, or carries a query or a fragment; nothing was sent.
    #[error(transparent)]
    Uri(#[from] DpeDocumentUriError),
    /// The Computer did not say it: 4011 where it has no resolver, 4013 with a `category` where it failed.
    #[error(transparent)]
    Request(#[from] RequestError),
}

/// A document that was fetched.
#[derive(Debug, Clone, PartialEq)]
pub struct FetchedDpe {
    /// Where it was, as the Computer said.
    pub resource: A2cResource,
    /// What is there.
    pub body: Bytes,
    /// Its MIME type: what the Computer said, else what the server of the URL said.
    pub mime_type: Option<String>,
}

impl FetchedDpe {
    /// The body as the JSON of a whole document.
    pub fn document(&self) -> Result<Document, ShapeError> {
        Document::parse(&self.body)
    }
}

/// Why a document was not fetched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// The Computer did not say where it is.
    #[error(transparent)]
    Resolve(#[from] DpeError),
    /// The Computer said where it is, and it could not be had there.
    #[error("the document cannot be fetched: {failure}")]
    Fetch {
        /// What the Computer said. Its URI may be a key to the document: do not log it.
        resource: Box<A2cResource>,
        /// What happened.
        #[source]
        failure: FetchFailure,
    },
}

impl Agent {
    /// Asks a Computer to make a whole document available, and where it then is. The answer may expire
    /// (`expires_at` in its metadata).
    ///
    /// `uri` is `dpe://host/doc-ref`, without query and fragment; the doc-ref may be several segments. `timeout` is for
    /// the whole resolution; it travels as whole seconds: it is rounded up, and an hour is the most.
    ///
    /// ```no_run
    /// # use std::time::Duration;
    /// # use a2c_agent::Agent;
    /// # async fn example(agent: Agent) -> Result<(), Box<dyn std::error::Error>> {
    /// let resource = agent.resolve_dpe("desk", "dpe://com.example.docs/report", Duration::from_secs(30)).await?;
    /// println!("{}", resource.uri);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn resolve_dpe(&self, computer: &str, uri: &str, timeout: Duration) -> Result<A2cResource, DpeError> {
        let uri = DpeDocumentUri::parse_strict(uri)?;
        let timeout = Seconds::covering(timeout);
        let request = GetDpeReq {
            agent: self.name().to_owned(),
            req_id: new_id(),
            computer: computer.to_owned(),
            uri: uri.to_string(),
            timeout: Some(timeout),
        };
        let answer: GetDpeRet = self.ask(event::GET_DPE, &request, timeout.duration() + PATIENCE).await?;
        same_request(&request.req_id, &answer.req_id)?;
        Ok(answer.resource)
    }

    /// Asks a Computer for a whole document and fetches it.
    ///
    /// Where the URI that the Computer gave has expired, it is asked once more. Read who is trusted with what at
    /// [`Files`] before switching files on.
    ///
    /// ```no_run
    /// # use a2c_agent::{Agent, FetchOptions, Files};
    /// # async fn example(agent: Agent) -> Result<(), Box<dyn std::error::Error>> {
    /// let options = FetchOptions::default().with_files(Files::Within(vec!["/var/lib/a2c/documents".into()]));
    /// let fetched = agent.fetch_dpe("desk", "dpe://com.example.docs/report", &options).await?;
    /// println!("{} pages", fetched.document()?.pages.len());
    /// # Ok(())
    /// # }
    /// ```
    pub async fn fetch_dpe(&self, computer: &str, uri: &str, options: &FetchOptions) -> Result<FetchedDpe, FetchError> {
        let resource = self.resolve_dpe(computer, uri, options.resolve_timeout).await?;
        if !has_expired(&resource) {
            match fetch::fetch(self.web(), &resource, options).await {
                Err(failure) if failure.may_be_expired() => {
                    tracing::debug!(%failure, "the document is no longer where it was said to be; asking again");
                }
                outcome => return finish(resource, outcome),
            }
        }
        // The second answer is tried whatever it says about its end: the clocks of two machines need not agree.
        let resource = self.resolve_dpe(computer, uri, options.resolve_timeout).await?;
        let outcome = fetch::fetch(self.web(), &resource, options).await;
        finish(resource, outcome)
    }
}

fn finish(resource: A2cResource, outcome: Result<FetchedBody, FetchFailure>) -> Result<FetchedDpe, FetchError> {
    match outcome {
        Ok(FetchedBody { body, mime_type }) => {
            let mime_type = resource.mime_type.clone().or(mime_type);
            Ok(FetchedDpe { resource, body, mime_type })
        }
        Err(failure) => Err(FetchError::Fetch { resource: Box::new(resource), failure }),
    }
}

/// Whether the answer says itself that it is over. A time that cannot be read says nothing.
fn has_expired(resource: &A2cResource) -> bool {
    let end = resource.meta.as_ref().and_then(|meta| meta.get("expires_at")?.as_str()?.parse::<Timestamp>().ok());
    end.is_some_and(|end| end <= Timestamp::now())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_a_time_that_has_passed_is_expired() {
        let expired = |meta: serde_json::Value| {
            has_expired(&serde_json::from_value(json!({"uri": "file:///x", "_meta": meta})).unwrap())
        };
        assert!(expired(json!({"expires_at": "2020-01-01T00:00:00Z"})));
        assert!(expired(json!({"expires_at": "2020-01-01T00:00:00.5+08:00"})));
        for open in [
            json!(null),
            json!({}),
            json!({"expires_at": "9000-01-01T00:00:00Z"}),
            json!({"expires_at": "soon"}),
            json!({"expires_at": 7}),
        ] {
            assert!(!expired(open.clone()), "{open}");
        }
    }
}
