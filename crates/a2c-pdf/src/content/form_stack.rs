//! Content streams, and the forms that they draw in turn: unpacked once a page, however often they are drawn.

use std::collections::HashMap;
use std::sync::Arc;

use a2c_document_model::UnreadableFile;
use hayro_syntax::object::{ObjectIdentifier, Stream};

use super::budget::PageBudget;
use crate::unpack::unpack;

/// How deep forms are nested at most.
const DEPTH: usize = 24;
/// The most bytes of forms that are kept while a page is read.
const KEPT: usize = 16 << 20;

/// The forms of a page.
#[derive(Default)]
pub(super) struct FormStack {
    /// The forms that are being drawn.
    open: Vec<ObjectIdentifier>,
    unpacked: HashMap<ObjectIdentifier, Arc<[u8]>>,
    kept: usize,
}

impl FormStack {
    /// Begins to draw a form; `None` where it is being drawn already, or too deep.
    pub(super) fn begin(
        &mut self,
        stream: &Stream<'_>,
        budget: &mut PageBudget,
    ) -> Result<Option<Arc<[u8]>>, UnreadableFile> {
        let id = stream.obj_id();
        if self.open.len() >= DEPTH || self.open.contains(&id) {
            return Ok(None);
        }
        let bytes = match self.unpacked.get(&id) {
            Some(bytes) => bytes.clone(),
            None => {
                let bytes: Arc<[u8]> = unpack(stream, budget.stream_bytes)?.into();
                if self.kept + bytes.len() <= KEPT {
                    self.kept += bytes.len();
                    self.unpacked.insert(id, bytes.clone());
                }
                bytes
            }
        };
        budget.content(bytes.len())?;
        self.open.push(id);
        Ok(Some(bytes))
    }

    /// Ends the form that is being drawn.
    pub(super) fn end(&mut self) {
        self.open.pop();
    }
}
