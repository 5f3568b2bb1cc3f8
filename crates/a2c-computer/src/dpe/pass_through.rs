//! Hands on what is published already.

use a2c_protocol::context::A2cResource;
use async_trait::async_trait;

use super::resolver::{Document, DpeContents, DpeResolver, ResolveError};

/// Hands on documents that their MCP server has published itself, and no others.
#[derive(Debug, Clone, Copy, Default)]
pub struct PassThrough;

#[async_trait]
impl DpeResolver for PassThrough {
    async fn resolve(&self, document: &Document) -> Result<A2cResource, ResolveError> {
        match &document.contents {
            DpeContents::External(elsewhere) => Ok(elsewhere.answer()),
            DpeContents::Inline(_) => Err(ResolveError::new(
                "this Computer only hands on documents that are published already, and this one is not: its owner can \
                 choose a directory, a listener or an object store",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dpe::testing;

    #[tokio::test]
    async fn only_what_is_published_already_is_handed_on() {
        let external = testing::external("dpe://h/d", "s3://bucket/d");
        assert_eq!(PassThrough.resolve(&external).await.unwrap().uri, "s3://bucket/d");
        let inline = testing::inline("dpe://h/d", "{}");
        assert!(PassThrough.resolve(&inline).await.unwrap_err().to_string().contains("published already"));
    }
}
