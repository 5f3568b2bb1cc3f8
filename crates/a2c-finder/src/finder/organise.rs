//! From documents to a page of the Finder, in the steps of the protocol.

use std::cmp::Reverse;
use std::collections::HashMap;

use a2c_protocol::context::DpeDocumentSummary;

use super::doc_ref_of;
use super::fold::searchable;
use super::last_modified::instant;
use super::query::DocumentQuery;
use crate::server_order::servers_by_use;

/// A page of documents, and how many there are after filtering and before paging.
///
/// 1. Documents whose URI is not a `dpe://` of level 1 are left out.
/// 2. The filters of the query.
/// 3. Servers in the order of `recent`, the newest call first, where first sight wins (the protocol's walk backwards
///    through the history of tool calls); the others follow by name.
/// 4. Within a server the last changed first, compared as points in time; missing and unreadable times last. Equal
///    ones by title, then by URI, both by code point, so that pages fit together.
/// 5. Offset and limit.
pub fn organize_finder<'a>(
    documents: &'a [DpeDocumentSummary],
    query: &DocumentQuery,
    recent: &[impl AsRef<str>],
) -> (Vec<&'a DpeDocumentSummary>, u64) {
    let keywords = query.folded_keywords();
    let is_found = |document: &DpeDocumentSummary| {
        keywords.as_ref().is_none_or(|keywords| {
            let texts = searchable(document);
            keywords.iter().any(|keyword| texts.iter().any(|text| text.contains(keyword)))
        })
    };
    let is_of_type =
        |document: &DpeDocumentSummary| query.file_type.as_ref().is_none_or(|wanted| *wanted == document.file_type);
    let mut found: Vec<&DpeDocumentSummary> = documents
        .iter()
        .filter(|document| doc_ref_of(&document.uri).is_some() && is_of_type(document) && is_found(document))
        .collect();

    let servers = servers_by_use(found.iter().map(|document| document.server.as_str()), recent);
    let rank: HashMap<&str, usize> = servers.into_iter().enumerate().map(|(rank, server)| (server, rank)).collect();
    found.sort_by_cached_key(|document| {
        // None is less than any point in time, so that it comes last when reversed.
        let changed = document.last_modified.as_deref().and_then(instant);
        (rank[document.server.as_str()], Reverse(changed), &document.title, &document.uri)
    });

    let total = found.len() as u64;
    let offset = usize::try_from(query.offset).unwrap_or(usize::MAX);
    (found.into_iter().skip(offset).take(query.page_size()).collect(), total)
}

#[cfg(test)]
mod tests;
