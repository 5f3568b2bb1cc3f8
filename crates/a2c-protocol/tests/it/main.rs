//! The wire as a whole: test vectors, and properties of every request, text and URI.

mod properties;
mod uri_dpe;
mod uri_properties;
mod uri_vectors;
mod uri_window;
mod vectors;
