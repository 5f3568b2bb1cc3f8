//! Documents, level by level: metadata, page index, pages, elements.
//!
//! Every helper turns a document's URI into that of the wanted part, reads it through the Computer, and parses the text of
//! the contents as that part of the document model. A URI that breaks a rule is an error here, before anything is sent.

use a2c_link::RequestError;
use a2c_protocol::document::{self, DocumentMetadata, DocumentPages, Element, Page, ShapeError};
use a2c_protocol::uri::{Depth, DpeLevel, DpeQuery, DpeUri, DpeUriError, Format, Host};
use futures_util::stream::{self, BoxStream};
use futures_util::{StreamExt, TryStreamExt};
use serde::de::DeserializeOwned;

use crate::Agent;
use crate::contents::Contents;

/// How many pages are read ahead of the one that is asked for.
const READ_AHEAD: usize = 4;

/// Why a part of a document cannot be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DocumentError {
    /// The URI breaks a rule; nothing was sent.
    #[error(transparent)]
    Uri(#[from] DpeUriError),
    /// The URI is valid, but names no document; nothing was sent.
    #[error("`{uri}` is not the URI of a document: give `dpe://host/doc-ref`")]
    NotADocument {
        /// The URI.
        uri: String,
    },
    /// The Computer did not give it: 4201 where there is no such document, 4202 page, 4203 element.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// What the document server gave has no text.
    #[error("`{uri}` was read, but what came has no text")]
    NoText {
        /// What was read.
        uri: String,
    },
    /// What the document server gave is not of the document model.
    #[error("`{uri}` was read, but what came is {source}")]
    Shape {
        /// What was read.
        uri: String,
        /// What is wrong with it.
        source: ShapeError,
    },
}

/// How many pages of a document are gone through.
const MAX_PAGES: u64 = 1_000_000;

/// A page in the format that was asked for.
#[derive(Debug, Clone, PartialEq)]
pub enum PageContent {
    /// As elements: what [`Format::Json`] gives, and what a server gives that does not render.
    Elements(Page),
    /// As text: what [`Format::Markdown`] and [`Format::Text`] give.
    Rendered(RenderedPage),
}

/// A page as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderedPage {
    /// Its title, where the server told it.
    pub title: Option<String>,
    /// Which page, counted from 0.
    pub page_index: u64,
    /// What is on it.
    pub text: String,
}

impl PageContent {
    /// Which page, counted from 0.
    pub fn page_index(&self) -> u64 {
        match self {
            Self::Elements(page) => page.page_index,
            Self::Rendered(page) => page.page_index,
        }
    }

    /// Its title.
    pub fn title(&self) -> Option<&str> {
        match self {
            Self::Elements(page) => page.title.as_deref(),
            Self::Rendered(page) => page.title.as_deref(),
        }
    }
}

/// A document, from which the URIs of its parts are made.
#[derive(Clone)]
struct DocumentId {
    host: Host,
    doc_ref: String,
}

impl DocumentId {
    /// Parses a level-1 URI; its parameters are replaced by those of each read.
    fn parse(uri: &str) -> Result<Self, DocumentError> {
        let parsed = DpeUri::parse(uri)?.uri;
        match parsed.level() {
            DpeLevel::Document { doc_ref } => Ok(Self { host: parsed.host().clone(), doc_ref: doc_ref.clone() }),
            _ => Err(DocumentError::NotADocument { uri: uri.to_owned() }),
        }
    }

    fn metadata_uri(&self, query: DpeQuery) -> Result<DpeUri, DpeUriError> {
        DpeUri::new(self.host.clone(), DpeLevel::Document { doc_ref: self.doc_ref.clone() }, query)
    }

    fn page_uri(&self, index: u64, format: Format) -> Result<DpeUri, DpeUriError> {
        let level = DpeLevel::Page { doc_ref: self.doc_ref.clone(), index };
        // JSON is the default, also of servers that do not know the parameter.
        let format = (format != Format::Json).then_some(format);
        DpeUri::new(self.host.clone(), level, DpeQuery { format, ..Default::default() })
    }

    fn element_uri(&self, id: &str) -> Result<DpeUri, DpeUriError> {
        let level = DpeLevel::Element { doc_ref: self.doc_ref.clone(), id: id.to_owned() };
        DpeUri::new(self.host.clone(), level, DpeQuery::default())
    }
}

impl Agent {
    /// What is known about a document.
    pub async fn read_document_metadata(&self, computer: &str, uri: &str) -> Result<DocumentMetadata, DocumentError> {
        self.read_model(computer, &DocumentId::parse(uri)?.metadata_uri(DpeQuery::default())?).await
    }

    /// A document and its page index: `limit` pages (1 to 100) from `offset` on.
    pub async fn read_page_index(
        &self,
        computer: &str,
        uri: &str,
        offset: u64,
        limit: u8,
    ) -> Result<DocumentPages, DocumentError> {
        let query =
            DpeQuery { depth: Some(Depth::Pages), offset: Some(offset), limit: Some(limit), ..Default::default() };
        self.read_model(computer, &DocumentId::parse(uri)?.metadata_uri(query)?).await
    }

    /// One page of a document, counted from 0.
    ///
    /// ```no_run
    /// # use a2c_agent::{Agent, Format, PageContent};
    /// # async fn example(agent: Agent) -> Result<(), Box<dyn std::error::Error>> {
    /// let page = agent.read_page("desk", "dpe://com.example.docs/report", 0, Format::Markdown).await?;
    /// if let PageContent::Rendered(page) = page {
    ///     println!("{}", page.text);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn read_page(
        &self,
        computer: &str,
        uri: &str,
        index: u64,
        format: Format,
    ) -> Result<PageContent, DocumentError> {
        self.page_of(computer, &DocumentId::parse(uri)?, index, format).await
    }

    /// One element of a document, by its id.
    pub async fn read_element(&self, computer: &str, uri: &str, id: &str) -> Result<Element, DocumentError> {
        self.read_model(computer, &DocumentId::parse(uri)?.element_uri(id)?).await
    }

    /// All pages of a document, in order, a few of them read ahead. The number of pages is asked for first; the first
    /// error ends the stream.
    ///
    /// ```no_run
    /// # use a2c_agent::{Agent, Format};
    /// # async fn example(agent: Agent) -> Result<(), Box<dyn std::error::Error>> {
    /// use futures_util::TryStreamExt;
    ///
    /// let mut pages = agent.all_pages("desk", "dpe://com.example.docs/report", Format::Json);
    /// while let Some(page) = pages.try_next().await? {
    ///     println!("{}: {}", page.page_index(), page.title().unwrap_or_default());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn all_pages(
        &self,
        computer: &str,
        uri: &str,
        format: Format,
    ) -> BoxStream<'static, Result<PageContent, DocumentError>> {
        let document = match DocumentId::parse(uri) {
            Ok(document) => document,
            Err(error) => return stream::iter([Err(error)]).boxed(),
        };
        let (agent, computer) = (self.clone(), computer.to_owned());
        let count = {
            let (agent, computer, document) = (agent.clone(), computer.clone(), document.clone());
            async move {
                let metadata: DocumentMetadata =
                    agent.read_model(&computer, &document.metadata_uri(DpeQuery::default())?).await?;
                // No document has so many; a server that claims more is not followed.
                let count = metadata.page_count.min(MAX_PAGES);
                Ok::<_, DocumentError>(stream::iter((0..count).map(Ok)))
            }
        };
        let read = move |index| {
            let (agent, computer, document) = (agent.clone(), computer.clone(), document.clone());
            async move { agent.page_of(&computer, &document, index, format).await }
        };
        let pages = stream::once(count).try_flatten().map_ok(read).try_buffered(READ_AHEAD + 1);
        until_error(pages.boxed())
    }

    async fn page_of(
        &self,
        computer: &str,
        document: &DocumentId,
        index: u64,
        format: Format,
    ) -> Result<PageContent, DocumentError> {
        let uri = document.page_uri(index, format)?;
        if format == Format::Json {
            return self.read_model(computer, &uri).await.map(PageContent::Elements);
        }
        let contents = self.contents(computer, &uri).await?;
        let no_text = || DocumentError::NoText { uri: uri.to_string() };
        let text = contents.text().ok_or_else(no_text)?;
        if contents.is_json() {
            return match contents.rendering_within() {
                Some((title, text)) => Ok(PageContent::Rendered(RenderedPage { title, page_index: index, text })),
                None => Ok(PageContent::Elements(model(&uri, &text)?)),
            };
        }
        Ok(PageContent::Rendered(RenderedPage { title: contents.title(), page_index: index, text }))
    }

    /// Reads a URI as a part of the document model.
    async fn read_model<T: DeserializeOwned>(&self, computer: &str, uri: &DpeUri) -> Result<T, DocumentError> {
        let contents = self.contents(computer, uri).await?;
        let text = contents.first_text().ok_or_else(|| DocumentError::NoText { uri: uri.to_string() })?;
        model(uri, text)
    }

    async fn contents(&self, computer: &str, uri: &DpeUri) -> Result<Contents, DocumentError> {
        Ok(Contents(self.read_resource(computer, &uri.to_string()).await?))
    }
}

fn model<T: DeserializeOwned>(uri: &DpeUri, text: &str) -> Result<T, DocumentError> {
    document::parse(text.as_bytes()).map_err(|source| DocumentError::Shape { uri: uri.to_string(), source })
}

/// Ends the stream after an error, also where more was read ahead.
fn until_error<T: Send + 'static, E: Send + 'static>(
    stream: BoxStream<'static, Result<T, E>>,
) -> BoxStream<'static, Result<T, E>> {
    stream::unfold(Some(stream), |stream| async {
        let mut stream = stream?;
        let item = stream.next().await?;
        let rest = item.is_ok().then_some(stream);
        Some((item, rest))
    })
    .boxed()
}
