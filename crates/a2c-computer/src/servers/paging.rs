//! Every page of an MCP list, within reason.

use std::collections::HashSet;

use rmcp::ServiceError;
use rmcp::model::PaginatedRequestParams;
use serde::Serialize;

use super::upstream;

/// How long a list may be, on how many pages.
pub(crate) const MAX_ITEMS: usize = 10_000;
const MAX_PAGES: usize = 1_000;
const MAX_BYTES: usize = 8 << 20;

/// Why a list is not known.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PagingError {
    #[error("cannot list its {what}: {}", upstream::plain(source))]
    Service { what: &'static str, source: ServiceError },
    #[error("it lists more than {MAX_ITEMS} {what}")]
    TooMany { what: &'static str },
    #[error("its list of {what} has more than {} MiB", MAX_BYTES >> 20)]
    TooLarge { what: &'static str },
    #[error("the pages of its list of {what} do not end")]
    Endless { what: &'static str },
}

/// Asks for page after page. `page` gives the items and the cursor of the next one.
pub(crate) async fn all<T: Serialize, F>(
    what: &'static str,
    mut page: impl FnMut(Option<PaginatedRequestParams>) -> F,
) -> Result<Vec<T>, PagingError>
where
    F: Future<Output = Result<(Vec<T>, Option<String>), ServiceError>>,
{
    let mut items = Vec::new();
    let mut seen = HashSet::new();
    let mut cursor = None;
    let mut bytes = 0;
    loop {
        let params = PaginatedRequestParams::default().with_cursor(cursor);
        let (more, next) = page(Some(params)).await.map_err(|source| PagingError::Service { what, source })?;
        bytes += more.iter().map(written_size).sum::<usize>();
        if bytes > MAX_BYTES {
            return Err(PagingError::TooLarge { what });
        }
        items.extend(more);
        if items.len() > MAX_ITEMS {
            return Err(PagingError::TooMany { what });
        }
        cursor = match next {
            None => return Ok(items),
            Some(next) if seen.insert(next.clone()) && seen.len() <= MAX_PAGES => Some(next),
            Some(_) => return Err(PagingError::Endless { what }),
        };
    }
}

/// How many bytes a value has as JSON.
pub(crate) fn written_size(value: &impl Serialize) -> usize {
    struct Counted(usize);
    impl std::io::Write for Counted {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut counted = Counted(0);
    // What was read as JSON can be written as JSON, and counting does not fail.
    let _ = serde_json::to_writer(&mut counted, value);
    counted.0
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
        let large = all("tools", |_| async { Ok((vec![page.clone()], Some(fastrand::u64(..).to_string()))) });
        assert!(large.await.unwrap_err().to_string().contains("more than 8 MiB"));
    }
}
