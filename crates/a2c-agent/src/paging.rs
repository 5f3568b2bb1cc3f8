//! Lists that come in pages, as streams.
//!
//! The other side decides how many pages there are, so each stream has an end of its own: a cursor that was seen before
//! and a list that goes on and on are errors, not loops.

use std::collections::HashSet;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

use a2c_link::RequestError;
use futures_util::stream::{self, BoxStream};
use futures_util::{StreamExt, TryStreamExt};

/// A list with more pages has no end.
pub(crate) const MAX_PAGES: usize = 100_000;

/// Why a list that comes in pages ended early.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum PagingError {
    /// A page could not be had.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// A page names itself or an earlier one as the next: the list has no end.
    #[error("the list repeats itself after {pages} pages: the server gave a cursor a second time")]
    Repeats {
        /// How many pages there were.
        pages: usize,
    },
    /// The list is longer than lists are.
    #[error("the list has more than {limit} pages; it was not read further")]
    TooLong {
        /// How many pages were read.
        limit: usize,
    },
}

/// Follows cursors: `fetch` gives the items of a page and the cursor of the next.
pub(crate) fn by_cursor<T, Fetch, Page>(max_pages: usize, fetch: Fetch) -> BoxStream<'static, Result<T, PagingError>>
where
    T: Send + 'static,
    Fetch: FnMut(Option<String>) -> Page + Send + 'static,
    Page: Future<Output = Result<(Vec<T>, Option<String>), RequestError>> + Send,
{
    // The cursors so far, as keyed hashes: a hostile one may be long.
    let (seen, keys) = (HashSet::new(), RandomState::new());
    let start = Some((fetch, None::<String>, seen, 0));
    let pages = stream::try_unfold((start, keys), move |(state, keys)| async move {
        let Some((mut fetch, cursor, mut seen, pages)) = state else { return Ok(None) };
        if cursor.as_ref().is_some_and(|cursor| !seen.insert(keys.hash_one(cursor))) {
            return Err(PagingError::Repeats { pages });
        }
        if pages == max_pages {
            return Err(PagingError::TooLong { limit: max_pages });
        }
        let (items, next) = fetch(cursor).await?;
        let state = next.map(|cursor| (fetch, Some(cursor), seen, pages + 1));
        Ok(Some((stream::iter(items.into_iter().map(Ok)), (state, keys))))
    });
    pages.try_flatten().boxed()
}

/// Counts on: `fetch` gives the items from an offset on, and how many there are in all.
pub(crate) fn by_offset<T, Fetch, Page>(
    max_pages: usize,
    offset: u64,
    fetch: Fetch,
) -> BoxStream<'static, Result<T, PagingError>>
where
    T: Send + 'static,
    Fetch: FnMut(u64) -> Page + Send + 'static,
    Page: Future<Output = Result<(Vec<T>, u64), RequestError>> + Send,
{
    let pages = stream::try_unfold(Some((fetch, offset, 0)), move |state| async move {
        let Some((mut fetch, offset, pages)) = state else { return Ok(None) };
        if pages == max_pages {
            return Err(PagingError::TooLong { limit: max_pages });
        }
        let (items, total) = fetch(offset).await?;
        // A page may be shorter than asked for; an empty one says that nothing more comes, whatever the count is.
        let offset = offset.saturating_add(items.len() as u64);
        let is_over = items.is_empty() || offset >= total;
        let state = (!is_over).then_some((fetch, offset, pages + 1));
        Ok(Some((stream::iter(items.into_iter().map(Ok)), state)))
    });
    pages.try_flatten().boxed()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads to the end: the items, and how it ended.
    async fn drain(mut list: BoxStream<'static, Result<u64, PagingError>>) -> (Vec<u64>, Option<PagingError>) {
        let mut items = Vec::new();
        while let Some(item) = list.next().await {
            match item {
                Ok(item) => items.push(item),
                Err(error) => {
                    assert!(list.next().await.is_none(), "an error ends the list");
                    return (items, Some(error));
                }
            }
        }
        (items, None)
    }

    /// A list whose pages hold one item each: the number that its cursor names, and the next as `next` says.
    fn cursors(max: usize, next: fn(u64) -> Option<u64>) -> BoxStream<'static, Result<u64, PagingError>> {
        by_cursor(max, move |cursor| async move {
            let here = cursor.map_or(0, |cursor| cursor.parse().unwrap());
            Ok((vec![here], next(here).map(|next| next.to_string())))
        })
    }

    #[tokio::test]
    async fn cursors_are_followed_to_the_end_of_the_list() {
        let (items, error) = drain(cursors(4, |n| (n < 3).then_some(n + 1))).await;
        assert_eq!(items, [0, 1, 2, 3]);
        assert!(error.is_none());
    }

    #[tokio::test]
    async fn a_cursor_that_comes_again_ends_the_list() {
        for (next, pages) in [((|_| Some(1)) as fn(u64) -> Option<u64>, 2), (|n| Some((n + 1) % 3), 4)] {
            let (items, error) = drain(cursors(100, next)).await;
            assert_eq!(items.len(), pages);
            assert!(matches!(error, Some(PagingError::Repeats { pages: p }) if p == pages), "{error:?}");
        }
    }

    #[tokio::test]
    async fn a_list_without_an_end_is_given_up() {
        let (items, error) = drain(cursors(7, |n| Some(n + 1))).await;
        assert_eq!(items.len(), 7);
        assert!(matches!(error, Some(PagingError::TooLong { limit: 7 })), "{error:?}");
        let (items, error) = drain(by_offset(7, 0, |offset| async move { Ok((vec![offset], u64::MAX)) })).await;
        assert_eq!(items.len(), 7);
        assert!(matches!(error, Some(PagingError::TooLong { limit: 7 })), "{error:?}");
    }

    #[tokio::test]
    async fn offsets_go_on_after_short_pages_and_end_with_an_empty_one() {
        let numbers = |total: u64, claimed: u64| {
            by_offset(100, 1, move |from| async move { Ok(((from..total.min(from + 2)).collect(), claimed)) })
        };
        for (total, claimed, last) in [(6, 6, 5), (6, 1_000, 5), (6, 4, 4)] {
            let (items, error) = drain(numbers(total, claimed)).await;
            assert_eq!(items, (1..=last).collect::<Vec<_>>(), "{claimed}");
            assert!(error.is_none());
        }
        assert!(drain(numbers(0, 0)).await.0.is_empty());
    }

    #[tokio::test]
    async fn a_page_that_cannot_be_had_ends_the_list() {
        let list = by_offset(100, 0, |offset| async move {
            if offset == 0 { Ok((vec![7], 2)) } else { Err(RequestError::NotConnected) }
        });
        let (items, error) = drain(list).await;
        assert_eq!(items, [7]);
        assert!(matches!(error, Some(PagingError::Request(RequestError::NotConnected))), "{error:?}");
    }
}
