//! Files that are text: plain, code, JSON, values between commas, Markdown.

pub(crate) mod code;
pub(crate) mod csv;
pub(crate) mod json;
pub(crate) mod markdown;
pub(crate) mod text;
