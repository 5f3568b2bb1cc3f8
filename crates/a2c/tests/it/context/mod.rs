//! Desktop, Finder, resources and documents, through hub, Computer and Agent, with servers made of the Python `mcp`
//! package.

mod desktop;
mod documents;
mod errors;
mod example;
mod finder;
mod library;
mod news;
mod resources;
mod sdk;
mod warnings;
