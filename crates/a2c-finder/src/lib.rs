//! Orders, filters, pages and renders what MCP servers list: the Desktop (`window://`) and the Finder (`dpe://`).
//!
//! This crate must not do I/O, log, or know a clock, an MCP client or a connection: of our crates it depends on
//! `a2c-protocol` only.
//!
//! ```
//! use a2c_finder::finder::{DocumentQuery, FinderIndex, ListedDocument};
//!
//! # fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let resource = serde_json::from_value(serde_json::json!({
//!     "uri": "dpe://library/report",
//!     "name": "Annual report",
//!     "_meta": {"file_uri": "file:///report.pdf", "file_type": "pdf", "page_count": 12},
//! }))?;
//! let listed = ListedDocument::of(&resource, "library").ok_or("the URI names no document")?;
//!
//! let mut index = FinderIndex::new();
//! index.put(&listed.complete()?);
//! let query = DocumentQuery { keywords: vec!["REPORT".into()], ..DocumentQuery::default() };
//! let (page, total) = index.view().page(&query, &["library"]);
//! assert_eq!((page[0].title.as_str(), total), ("Annual report", 1));
//! # Ok(())
//! # }
//! # example().unwrap();
//! ```

pub mod desktop;
pub mod finder;
mod server_order;
