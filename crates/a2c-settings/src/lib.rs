//! Reads settings from JSON and TOML text: values that know their place, every mistake at once, and for each setting
//! whether a flag, the environment, the file or the default decided it.
//!
//! This crate must not do I/O, and must not know a command-line parser, MCP, or what any setting means: text goes in,
//! values and problems come out.
//!
//! How it goes: [`SettingsDocument::parse`] turns JSON (with comments) or TOML into one kind of tree, [`Spanned`]. A
//! [`Field`] is a value with its path; its getters ask for a type and report what is there instead. An [`Object`] gives
//! its fields and reports unknown keys with the nearest known one. All of them write into a [`Report`], so that reading
//! goes on after a mistake. [`Layers`] picks among flag, environment, file and default, and an [`Overview`] lists the
//! outcome.
//!
//! ```
//! use a2c_settings::{SettingsDocument, FileFormat, Report};
//!
//! let text = "retires = 3\nworkers = 5000\n";
//! let document = SettingsDocument::parse(text, FileFormat::Toml).unwrap();
//! let mut report = Report::new(document.text());
//! let mut workers = None;
//! if let Some(top) = document.root().object(&mut report) {
//!     top.only(&[&["retries", "workers"]], &mut report);
//!     workers = top.get("workers").and_then(|field| field.clamped(1..=64_u32, &mut report));
//! }
//! let findings = report.finish();
//! assert_eq!(workers, Some(64));
//! assert_eq!(findings.problems[0].to_string(), "1:1: retires: unknown key: did you mean `retries`?");
//! assert_eq!(findings.warnings[0].to_string(), "2:11: workers: is above 64: 64 is used");
//! ```
//!
//! A message never quotes a value: it may be a secret in the wrong place.

mod document;
mod field;
pub mod integer;
pub mod json;
mod origin;
mod report;
mod spanned;
pub mod spelling;
mod toml;

pub use document::{FileFormat, SettingsDocument, without_byte_order_mark};
pub use field::{Field, Key, Object};
pub use integer::{Clamped, NotInRange};
pub use origin::{Layers, Origin, Overview, OverviewRow, Setting};
pub use report::{Findings, Problem, Report};
pub use spanned::{Entry, Node, Spanned};
