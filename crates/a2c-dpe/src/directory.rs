//! Documents as files of a directory, for Agents on the same machine or on a shared file system.

use std::io;
use std::path::{Path, PathBuf};

use a2c_net::AddressPolicy;
use a2c_protocol::context::A2cResource;
use async_trait::async_trait;
use url::Url;

use crate::fetch::Fetcher;
use crate::resolver::{DpeContents, DpeResolver, ExternalDocument, ResolveError, SourceDocument};
use crate::{file_names, private_files};

/// Writes documents to a directory and answers with `file://` addresses.
///
/// Each document has one file, which is replaced when the document changes. Nothing is ever removed. External documents
/// are handed on as they are, unless copying is on.
#[derive(Debug, Clone)]
pub struct LocalDirectory {
    path: PathBuf,
    copies: Option<Copies>,
    off_limits: Option<Url>,
}

/// Which external documents may be copied.
#[derive(Debug, Clone, Copy)]
struct Copies {
    max_bytes: u64,
    addresses: AddressPolicy,
}

impl LocalDirectory {
    /// Uses a directory. If it does not exist, it is created for this user only.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        Ok(Self { path: private_files::make_directory(path.as_ref())?, copies: None, off_limits: None })
    }

    /// Whether external documents are copied to the directory too: over http and https, from public addresses, and up to
    /// 256 MiB.
    pub fn copying(mut self, copying: bool) -> Self {
        self.copies = copying.then_some(Copies { max_bytes: 256 << 20, addresses: AddressPolicy::PUBLIC });
        self
    }

    /// Copies external documents up to this size in bytes.
    pub fn copying_up_to(mut self, max_bytes: u64) -> Self {
        let addresses = self.copies.map_or(AddressPolicy::PUBLIC, |copies| copies.addresses);
        self.copies = Some(Copies { max_bytes, addresses });
        self
    }

    /// Copies from loopback, private and link-local addresses too. An MCP server then decides what this Computer fetches
    /// from its own network: use it only with servers that you trust.
    pub fn copying_from_anywhere(mut self) -> Self {
        let max_bytes = self.copies.map_or(256 << 20, |copies| copies.max_bytes);
        self.copies = Some(Copies { max_bytes, addresses: AddressPolicy::ANYWHERE });
        self
    }

    /// Copies nothing from the listener behind this URL, under whatever address it is reachable: the hub of the Computer,
    /// for example, which may answer this machine more than others.
    pub fn copying_nothing_from(mut self, listener: Url) -> Self {
        self.off_limits = Some(listener);
        self
    }

    async fn copy(&self, external: &ExternalDocument, name: String, copies: Copies) -> Result<PathBuf, ResolveError> {
        let Copies { max_bytes, addresses } = copies;
        let fetcher = Fetcher { max_bytes, addresses, off_limits: self.off_limits.clone() };
        let file = fetcher.fetch(&external.uri, &self.path).await?;
        private_files::commit(file, self.path.join(name)).await.map_err(not_written)
    }
}

#[async_trait]
impl DpeResolver for LocalDirectory {
    async fn resolve(&self, document: &SourceDocument) -> Result<A2cResource, ResolveError> {
        let name = file_names::file_name_of(&document.uri);
        let (path, mime_type) = match (&document.contents, self.copies) {
            (DpeContents::External(external), None) => return Ok(external.answer()),
            (DpeContents::External(external), Some(copies)) => {
                let name = format!("{name}.{}", extension(external));
                (self.copy(external, name, copies).await?, external.mime_type.clone())
            }
            (DpeContents::Inline(json), _) => {
                let written = private_files::write(self.path.join(format!("{name}.json")), json.clone()).await;
                (written.map_err(not_written)?, None)
            }
        };
        let size = tokio::fs::metadata(&path).await.map_err(not_written)?.len();
        let url = Url::from_file_path(&path).map_err(|()| ResolveError::new("the directory has no absolute path"))?;
        Ok(A2cResource { mime_type, size: Some(size), ..document.at(url) })
    }

    /// The owner may have removed the file.
    async fn still_holds(&self, resource: &A2cResource) -> bool {
        let Some(path) = Url::parse(&resource.uri).ok().filter(|url| url.scheme() == "file") else { return true };
        match path.to_file_path() {
            Ok(path) if path.starts_with(&self.path) => {
                let found = tokio::fs::metadata(path).await;
                found.is_ok_and(|found| resource.size.is_none_or(|size| size == found.len()))
            }
            _ => true,
        }
    }
}

fn not_written(error: io::Error) -> ResolveError {
    ResolveError::new("the document could not be written to the directory of this Computer").caused_by(error)
}

/// The extension of a copy. A document is JSON unless its server says otherwise.
fn extension(external: &ExternalDocument) -> &'static str {
    match &external.mime_type {
        Some(mime) if !mime.to_ascii_lowercase().contains("json") => "bin",
        _ => "json",
    }
}
