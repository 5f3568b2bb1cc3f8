//! The A2C-SMCP Agent role: call tools, read context and follow an office.
//!
//! It must not know MCP, processes or configuration files: an Agent learns from its Computer what a tool is.
//!
//! [`Agent`] asks; [`Agent::subscribe`] listens; [`Agent::follow`] does both, so that what is known stays current.
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use a2c_agent::{Agent, AgentEvent, LinkOptions};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let mut options = LinkOptions::new("http://127.0.0.1:7420");
//! options.token = std::env::var("A2C_TOKEN").ok().map(Into::into);
//! let agent = Agent::connect(&options, "assistant").await?;
//! let mut events = agent.subscribe();
//! agent.join("demo").await?;
//!
//! for tool in agent.tools("desk").await? {
//!     println!("{}: {}", tool.name, tool.description);
//! }
//! let arguments = serde_json::json!({ "text": "hello" });
//! let result = agent.call_tool("desk", "echo", arguments, Duration::from_secs(30)).await?;
//! println!("{}", result.text());
//!
//! while let Some(event) = events.recv().await {
//!     match event {
//!         AgentEvent::Notification(notification) => println!("{notification:?}"),
//!         AgentEvent::Disconnected { cause } => println!("the connection was lost: {cause}"),
//!         AgentEvent::Closed { .. } => break,
//!         _ => {}
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Requests go through the hub to the Computer they name and come back as the structure asked for or as the error that
//! was sent instead. An office has at most one Agent. After a lost connection the Agent connects and takes its seat again
//! by itself; requests that were under way then end with [`RequestError::Lost`]. A token that expires is best given as a
//! [`Token::File`], which is read again for every connection.
//!
//! # What a Computer shows
//!
//! Besides tools a Computer has a context plane: its **Desktop** ([`Agent::desktop`]), its **Finder**
//! ([`Agent::finder`], [`Agent::all_documents`]) and the resources of its MCP servers ([`Agent::resources`],
//! [`Agent::all_resources`], [`Agent::read_resource`]).
//!
//! ```no_run
//! # use a2c_agent::{Agent, DesktopQuery, FinderQuery, Format};
//! # async fn example(agent: Agent) -> Result<(), Box<dyn std::error::Error>> {
//! use futures_util::TryStreamExt;
//!
//! let windows = agent.desktop("desk", DesktopQuery::default().with_size(10)).await?;
//! let reports = FinderQuery::default().with_keywords(["report"]);
//! for document in agent.finder("desk", reports).await?.documents {
//!     let mut pages = agent.all_pages("desk", &document.uri, Format::Markdown);
//!     while let Some(page) = pages.try_next().await? {
//!         println!("{}: {}", document.title, page.title().unwrap_or_default());
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! A document is read level by level ([`Agent::read_document_metadata`], [`Agent::read_page_index`],
//! [`Agent::read_page`], [`Agent::read_element`], [`Agent::all_pages`]) or as a whole: [`Agent::resolve_dpe`] asks where
//! it can be had, [`Agent::fetch_dpe`] fetches it. What a Computer answers is not trusted there: see [`dpe`].
//!
//! ```no_run
//! # use a2c_agent::{Agent, FetchOptions};
//! # async fn example(agent: Agent) -> Result<(), Box<dyn std::error::Error>> {
//! let fetched = agent.fetch_dpe("desk", "dpe://com.example.docs/report", &FetchOptions::default()).await?;
//! let document = fetched.document()?;
//! println!("{} has {} pages", document.metadata.doc_ref, document.pages.len());
//! # Ok(())
//! # }
//! ```
//!
//! # What changes
//!
//! [`Agent::follow`] fetches what the Computers of the office offer, and fetches it again when it changes. A
//! [`Follower`] is told, and can replace each step.
//!
//! ```no_run
//! # use std::sync::Arc;
//! # use a2c_agent::{Agent, FollowOptions, FollowedParts};
//! # async fn example(agent: Agent) -> Result<(), Box<dyn std::error::Error>> {
//! let options = FollowOptions::default().with_parts(FollowedParts::TOOLS);
//! let office = agent.follow(Arc::new(()), options).await?;
//! // Later: what "desk" offers now.
//! let tools = office.tools("desk");
//! # Ok(())
//! # }
//! ```
//!
//! # Tracing
//!
//! An Agent that traces says with [`Agent::traced`] which span its requests belong to; the hub, the Computer and its MCP
//! servers continue the trace from there.

mod agent;
mod cancel;
mod contents;
mod context;
mod documents;
pub mod dpe;
mod events;
mod fetch;
mod follow;
mod paging;
mod traced;

pub use a2c_link::{
    AnswerText, CertificateProblem, ClientCertificate, ConnectError, DisconnectReason, JoinError, LinkEnded,
    LinkOptions, Reconnect, RequestError, Secret, SocketConnectError, TlsFiles, Token, TokenFileError, Transport,
};
/// Parts of [`FetchFailure`].
pub use a2c_net::{AddressKind, HttpClientError, UrlRefusal, tls::TlsError};
pub use a2c_protocol as protocol;
pub use a2c_protocol::context::{A2cResource, DpeDocumentSummary, Resource};
pub use a2c_protocol::notification::Notification;
pub use a2c_protocol::office::{Role, SessionInfo};
pub use a2c_protocol::tool::{CallToolResult, SmcpTool, ToolSchema};
pub use a2c_protocol::trace::TraceContext;
pub use a2c_protocol::uri::Format;
pub use a2c_protocol::{ErrorBody, ErrorCode};
pub use agent::Agent;
/// For implementing the asynchronous traits of this crate, such as [`Follower`].
pub use async_trait::async_trait;
pub use context::{DesktopQuery, FinderQuery};
pub use documents::{DocumentError, PageContent, RenderedPage};
pub use dpe::{DpeError, FetchError, FetchedDpe};
pub use events::{AgentEvent, AgentEvents};
pub use fetch::{FetchFailure, FetchOptions, Files};
pub use follow::{FollowOptions, FollowedPart, FollowedParts, Follower, Following};
pub use paging::PagingError;

/// The guide and the README compile as they are shown.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/agent.md")]
#[doc = include_str!("../README.md")]
struct Guide;
