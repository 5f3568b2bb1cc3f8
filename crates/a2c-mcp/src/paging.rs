//! Every page of an MCP list, within reason.

use std::collections::HashSet;

use a2c_protocol::tree_size::TreeSize;
use a2c_secrets::Redactor;
use rmcp::model::PaginatedRequestParams;
use serde::Serialize;

use crate::call_failure::CallFailure;

/// How long a list may be, on how many pages.
const MAX_ITEMS: usize = 10_000;
const MAX_PAGES: usize = 1_000;
const MAX_BYTES: usize = 8 << 20;
/// What all items may take in memory: a short text may hold many values.
const MAX_TREE: usize = 64 << 20;

/// Why a list is not known.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ListError {
    /// A page could not be had.
    #[error("cannot list its {what}: {source}")]
    Request {
        /// What is listed.
        what: &'static str,
        /// Why there is no page.
        source: CallFailure,
    },
    /// There are too many items.
    #[error("it lists more than {MAX_ITEMS} {what}")]
    TooMany {
        /// What is listed.
        what: &'static str,
    },
    /// The items are too large together.
    #[error("its list of {what} has more than {} MiB", MAX_BYTES >> 20)]
    TooLarge {
        /// What is listed.
        what: &'static str,
    },
    /// The items have too many values together.
    #[error("its list of {what} has too many values: they would take more than {} MiB", MAX_TREE >> 20)]
    TooManyValues {
        /// What is listed.
        what: &'static str,
    },
    /// The pages repeat, or there are too many.
    #[error("the pages of its list of {what} do not end")]
    Endless {
        /// What is listed.
        what: &'static str,
    },
}

impl ListError {
    /// The error without the secrets that the server's own words may hold.
    pub fn redacted(self, secrets: &Redactor) -> Self {
        match self {
            Self::Request { what, source } => Self::Request { what, source: source.redacted(secrets) },
            Self::TooMany { .. } | Self::TooLarge { .. } | Self::TooManyValues { .. } | Self::Endless { .. } => self,
        }
    }
}

/// Asks for page after page. `page` gives the items and the cursor of the next one.
pub(crate) async fn all<T: Serialize, F>(
    what: &'static str,
    mut page: impl FnMut(Option<PaginatedRequestParams>) -> F,
) -> Result<Vec<T>, ListError>
where
    F: Future<Output = Result<(Vec<T>, Option<String>), CallFailure>>,
{
    let mut items = Vec::new();
    let mut seen = HashSet::new();
    let mut cursor = None;
    let (mut bytes, mut tree) = (0, 0);
    loop {
        let params = PaginatedRequestParams::default().with_cursor(cursor);
        let page = page(Some(params)).await;
        let (more, next) = page.map_err(|source| ListError::Request { what, source })?;
        for size in more.iter().map(JsonSize::of) {
            bytes += size.bytes;
            tree += size.tree.bytes();
        }
        if bytes > MAX_BYTES {
            return Err(ListError::TooLarge { what });
        }
        if tree > MAX_TREE {
            return Err(ListError::TooManyValues { what });
        }
        items.extend(more);
        if items.len() > MAX_ITEMS {
            return Err(ListError::TooMany { what });
        }
        cursor = match next {
            None => return Ok(items),
            Some(next) if seen.insert(next.clone()) && seen.len() <= MAX_PAGES => Some(next),
            Some(_) => return Err(ListError::Endless { what }),
        };
    }
}

/// How many bytes a value has as JSON.
pub fn written_size(value: &impl Serialize) -> usize {
    JsonSize::of(value).bytes
}

/// The size of a value: as JSON and in memory.
#[derive(Default)]
struct JsonSize {
    bytes: usize,
    tree: TreeSize,
}

impl JsonSize {
    fn of(value: &impl Serialize) -> Self {
        let mut size = Self::default();
        // What was read as JSON can be written as JSON, and counting does not fail.
        let _ = serde_json::to_writer(&mut size, value);
        size
    }
}

impl std::io::Write for JsonSize {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.bytes += bytes.len();
        self.tree.add(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lists what `pages` says: the items of a page and where the next one is.
    async fn list(pages: impl Fn(usize) -> (usize, Option<usize>)) -> Result<usize, String> {
        let all = all("tools", |params| {
            let number = params.and_then(|p| p.cursor).map_or(0, |cursor| cursor.parse().unwrap());
            let (count, next) = pages(number);
            async move { Ok((vec![(); count], next.map(|next| next.to_string()))) }
        });
        all.await.map(|items| items.len()).map_err(|e| e.to_string())
    }

    #[tokio::test]
    async fn a_list_ends_or_is_refused() {
        assert_eq!(list(|_| (3, None)).await, Ok(3));
        assert_eq!(list(|n| (2, (n < 4).then_some(n + 1))).await, Ok(10));
        assert!(list(|_| (1, Some(7))).await.unwrap_err().contains("do not end"));
        assert!(list(|n| (1, Some(n + 1))).await.unwrap_err().contains("do not end"));
        assert!(list(|n| (999, Some(n + 1))).await.unwrap_err().contains("more than 10000 tools"));
        let page = "x".repeat(MAX_BYTES / 2);
        let large = all("tools", |params| {
            let next = params.and_then(|p| p.cursor).map_or(1, |cursor| cursor.parse::<u64>().unwrap() + 1);
            let page = page.clone();
            async move { Ok((vec![page], Some(next.to_string()))) }
        });
        assert!(large.await.unwrap_err().to_string().contains("more than 8 MiB"));
        let dense = all("tools", |_| async { Ok((vec![vec![0_u8; MAX_TREE / 32]], None)) });
        assert!(dense.await.unwrap_err().to_string().contains("too many values"));
    }
}
