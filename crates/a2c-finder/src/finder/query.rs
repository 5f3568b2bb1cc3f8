//! What is asked of the Finder.

use a2c_protocol::context::GetFinderReq;

use super::fold::fold;

/// Which documents to give, and which page of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentQuery {
    /// Keep documents in whose title, keywords or summary any of these occurs, whatever its case; empty keeps all.
    ///
    /// A keyword is looked for as it is, spaces included. The empty one occurs in every text: it keeps all documents.
    pub keywords: Vec<String>,
    /// Keep documents of exactly this type; the empty type is a type as any other.
    pub file_type: Option<String>,
    /// Skip so many.
    pub offset: u64,
    /// Give at most so many, and never more than [`GetFinderReq::MAX_LIMIT`].
    pub limit: u64,
}

impl DocumentQuery {
    /// The page size after capping.
    pub(super) fn page_size(&self) -> usize {
        // The cap is far below any usize.
        self.limit.min(GetFinderReq::MAX_LIMIT) as usize
    }

    /// The keywords as they are looked for; `None` if they keep every document.
    pub(super) fn folded_keywords(&self) -> Option<Vec<String>> {
        let mut folded: Vec<String> = self.keywords.iter().map(|keyword| fold(keyword)).collect();
        folded.sort_unstable();
        folded.dedup();
        (!folded.is_empty() && !folded.iter().any(String::is_empty)).then_some(folded)
    }
}

impl Default for DocumentQuery {
    /// The first page of all documents, as a request without any wishes gets it.
    fn default() -> Self {
        Self { keywords: Vec::new(), file_type: None, offset: 0, limit: GetFinderReq::DEFAULT_LIMIT }
    }
}

impl From<&GetFinderReq> for DocumentQuery {
    fn from(request: &GetFinderReq) -> Self {
        Self {
            keywords: request.keywords.clone().unwrap_or_default(),
            file_type: request.file_type.clone(),
            offset: request.offset,
            limit: request.limit,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_a_query() {
        let request = |json: &str| DocumentQuery::from(&serde_json::from_str::<GetFinderReq>(json).unwrap());
        let bare = request(r#"{"agent": "a", "req_id": "1", "computer": "c"}"#);
        assert_eq!(bare, DocumentQuery::default());
        let full = request(
            r#"{"agent": "a", "req_id": "1", "computer": "c", "keywords": ["x"], "file_type": "pdf", "offset": 3, "limit": 500}"#,
        );
        let expected =
            DocumentQuery { keywords: vec!["x".into()], file_type: Some("pdf".into()), offset: 3, limit: 500 };
        assert_eq!(full, expected);
        assert_eq!((bare.page_size(), full.page_size()), (20, 100));
    }

    #[test]
    fn keywords_that_keep_everything_are_no_filter() {
        let folded = |keywords: &[&str]| {
            let keywords = keywords.iter().map(|&keyword| keyword.to_owned()).collect();
            DocumentQuery { keywords, ..DocumentQuery::default() }.folded_keywords()
        };
        assert_eq!(folded(&[]), None);
        assert_eq!(folded(&["a", ""]), None);
        assert_eq!(folded(&[" "]), Some(vec![" ".to_owned()]));
        assert_eq!(folded(&["b", "A", "a"]), Some(vec!["a".to_owned(), "b".to_owned()]));
    }
}
