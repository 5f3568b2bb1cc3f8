//! Files that are text: plain, code, JSON, values between commas, Markdown, HTML.

pub(crate) mod code;
mod collector;
pub(crate) mod csv;
pub(crate) mod html;
pub(crate) mod json;
pub(crate) mod markdown;
pub(crate) mod text;
