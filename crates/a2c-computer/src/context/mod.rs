//! What an Agent asks for besides tools: Desktop, Finder, resources and documents.
//!
//! `windows` reads what is on the Desktop; `resources` lists and reads on behalf of an Agent that says what it wants;
//! `documents` has documents resolved to URLs. `refusal` says what a server's failure means to an Agent.

mod documents;
pub(crate) mod refusal;
mod resources;
mod windows;
