//! What a Computer shows: its Desktop, its Finder and the resources of its MCP servers.

use a2c_link::RequestError;
use a2c_protocol::context::{
    DpeDocumentSummary, GetDesktopReq, GetDesktopRet, GetFinderReq, GetFinderRet, GetResourcesReq, GetResourcesRet,
    ReadResourceReq, ReadResourceRet, Resource,
};
use a2c_protocol::event;
use futures_util::stream::BoxStream;
use serde_json::Value;

use crate::Agent;
use crate::agent::{hub_limit, new_id, same_request};
use crate::paging::{MAX_PAGES, PagingError, by_cursor, by_offset};

/// Which part of a Desktop is wanted; the default is all of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DesktopQuery {
    /// At most so many windows; zero and less give none.
    pub size: Option<i64>,
    /// Only the window of this URI. Where no window has it, the answer is empty.
    pub window: Option<String>,
}

impl DesktopQuery {
    /// At most so many windows.
    pub fn with_size(self, size: i64) -> Self {
        Self { size: Some(size), ..self }
    }

    /// Only the window of this URI.
    pub fn with_window(self, uri: impl Into<String>) -> Self {
        Self { window: Some(uri.into()), ..self }
    }
}

/// Which documents of a Finder are wanted; the default is the first page of all.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FinderQuery {
    /// Documents in whose title, keywords or summary any of these occurs; empty takes all.
    pub keywords: Vec<String>,
    /// Documents of exactly this type.
    pub file_type: Option<String>,
    /// Skip so many.
    pub offset: u64,
    /// Give at most so many. A Computer gives no more than [`GetFinderReq::MAX_LIMIT`] at once.
    pub limit: u64,
}

impl Default for FinderQuery {
    fn default() -> Self {
        Self { keywords: Vec::new(), file_type: None, offset: 0, limit: GetFinderReq::DEFAULT_LIMIT }
    }
}

impl FinderQuery {
    /// Also documents with one of these words.
    pub fn with_keywords<K: Into<String>>(mut self, keywords: impl IntoIterator<Item = K>) -> Self {
        self.keywords.extend(keywords.into_iter().map(Into::into));
        self
    }

    /// Only documents of this type.
    pub fn with_file_type(self, file_type: impl Into<String>) -> Self {
        Self { file_type: Some(file_type.into()), ..self }
    }

    /// Skip so many documents.
    pub fn with_offset(self, offset: u64) -> Self {
        Self { offset, ..self }
    }

    /// At most so many documents at once.
    pub fn with_limit(self, limit: u64) -> Self {
        Self { limit, ..self }
    }
}

impl Agent {
    /// The windows of a Computer as text, in the order in which they matter.
    ///
    /// ```no_run
    /// # use a2c_agent::{Agent, DesktopQuery};
    /// # async fn example(agent: Agent) -> Result<(), Box<dyn std::error::Error>> {
    /// for window in agent.desktop("desk", DesktopQuery::default().with_size(5)).await? {
    ///     println!("{window}\n");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn desktop(&self, computer: &str, query: DesktopQuery) -> Result<Vec<String>, RequestError> {
        let request = GetDesktopReq {
            agent: self.name().to_owned(),
            req_id: new_id(),
            computer: computer.to_owned(),
            desktop_size: query.size,
            window: query.window,
        };
        let answer: GetDesktopRet = self.ask(event::GET_DESKTOP, &request, hub_limit()).await?;
        same_request(&request.req_id, &answer.req_id)?;
        Ok(answer.desktops)
    }

    /// One page of the documents of a Computer, and how many there are.
    ///
    /// ```no_run
    /// # use a2c_agent::{Agent, FinderQuery};
    /// # async fn example(agent: Agent) -> Result<(), Box<dyn std::error::Error>> {
    /// let reports = FinderQuery::default().with_keywords(["report"]);
    /// let found = agent.finder("desk", reports).await?;
    /// println!("{} of {}", found.documents.len(), found.total_count);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn finder(&self, computer: &str, query: FinderQuery) -> Result<GetFinderRet, RequestError> {
        let request = GetFinderReq {
            agent: self.name().to_owned(),
            req_id: new_id(),
            computer: computer.to_owned(),
            keywords: (!query.keywords.is_empty()).then_some(query.keywords),
            file_type: query.file_type,
            offset: query.offset,
            limit: query.limit,
        };
        let answer: GetFinderRet = self.ask(event::GET_FINDER, &request, hub_limit()).await?;
        same_request(&request.req_id, &answer.req_id)?;
        Ok(answer)
    }

    /// All documents that a query finds, from its `offset` on; `limit` is how many are asked for at once.
    ///
    /// Pages are asked for as the stream is read. A Finder that changes meanwhile may show a document twice or not at
    /// all, as paging by offset does.
    pub fn all_documents(
        &self,
        computer: &str,
        mut query: FinderQuery,
    ) -> BoxStream<'static, Result<DpeDocumentSummary, PagingError>> {
        query.limit = query.limit.clamp(1, GetFinderReq::MAX_LIMIT);
        let (agent, computer) = (self.clone(), computer.to_owned());
        by_offset(MAX_PAGES, query.offset, move |offset| {
            let (agent, computer, query) = (agent.clone(), computer.clone(), query.clone().with_offset(offset));
            async move {
                let page = agent.finder(&computer, query).await?;
                Ok((page.documents, page.total_count))
            }
        })
    }

    /// One page of what an MCP server of a Computer lists, from `cursor` on; `next_cursor` of the answer leads to the
    /// next page.
    pub async fn resources(
        &self,
        computer: &str,
        mcp_server: &str,
        cursor: Option<&str>,
    ) -> Result<GetResourcesRet, RequestError> {
        let request = GetResourcesReq {
            agent: self.name().to_owned(),
            req_id: new_id(),
            computer: computer.to_owned(),
            mcp_server: mcp_server.to_owned(),
            cursor: cursor.map(str::to_owned),
        };
        let answer: GetResourcesRet = self.ask(event::GET_RESOURCES, &request, hub_limit()).await?;
        same_request(&request.req_id, &answer.req_id)?;
        Ok(answer)
    }

    /// All that an MCP server of a Computer lists. Pages are asked for as the stream is read; the first error ends it.
    ///
    /// ```no_run
    /// # use a2c_agent::Agent;
    /// # async fn example(agent: Agent) -> Result<(), Box<dyn std::error::Error>> {
    /// use futures_util::TryStreamExt;
    ///
    /// let mut resources = agent.all_resources("desk", "files");
    /// while let Some(resource) = resources.try_next().await? {
    ///     println!("{}", resource.uri);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn all_resources(&self, computer: &str, mcp_server: &str) -> BoxStream<'static, Result<Resource, PagingError>> {
        let (agent, computer, mcp_server) = (self.clone(), computer.to_owned(), mcp_server.to_owned());
        by_cursor(MAX_PAGES, move |cursor: Option<String>| {
            let (agent, computer, mcp_server) = (agent.clone(), computer.clone(), mcp_server.clone());
            async move {
                let page = agent.resources(&computer, &mcp_server, cursor.as_deref()).await?;
                Ok((page.resources, page.next_cursor))
            }
        })
    }

    /// Reads a resource of a Computer: MCP resource contents. A result that was too large to be sent at once names in its
    /// metadata, under `a2c_result`, the URI from which it is read page by page.
    pub async fn read_resource(&self, computer: &str, uri: &str) -> Result<Vec<Value>, RequestError> {
        self.read(computer, None, uri).await
    }

    /// Reads a resource of one MCP server of a Computer, also one that the server does not list.
    pub async fn read_resource_from(
        &self,
        computer: &str,
        mcp_server: &str,
        uri: &str,
    ) -> Result<Vec<Value>, RequestError> {
        self.read(computer, Some(mcp_server), uri).await
    }

    async fn read(&self, computer: &str, mcp_server: Option<&str>, uri: &str) -> Result<Vec<Value>, RequestError> {
        let request = ReadResourceReq {
            agent: self.name().to_owned(),
            req_id: new_id(),
            computer: computer.to_owned(),
            uri: uri.to_owned(),
            mcp_server: mcp_server.map(str::to_owned),
        };
        let answer: ReadResourceRet = self.ask(event::READ_RESOURCE, &request, hub_limit()).await?;
        same_request(&request.req_id, &answer.req_id)?;
        Ok(answer.contents)
    }
}
