//! The state of drawing: where, in which font, how far apart.

use std::sync::Arc;

use crate::font::TextFont;
use crate::geometry::PlaneMatrix;

/// How deep states are saved; deeper ones share the last.
const DEPTH: usize = 512;

/// What a page sets and saves.
#[derive(Clone)]
pub(super) struct DrawState {
    pub(super) matrix: PlaneMatrix,
    pub(super) line_width: f64,
    pub(super) text: TextSettings,
}

/// How text is set.
#[derive(Clone)]
pub(super) struct TextSettings {
    pub(super) font: Option<Arc<TextFont>>,
    pub(super) size: f64,
    pub(super) letter_space: f64,
    pub(super) word_space: f64,
    /// 1 is as wide as the font has it.
    pub(super) stretch: f64,
    pub(super) leading: f64,
    pub(super) rise: f64,
    /// Text that is not drawn: what was recognised in a scan.
    pub(super) invisible: bool,
}

/// The states of a page.
pub(super) struct StateStack {
    pub(super) now: DrawState,
    saved: Vec<DrawState>,
    /// States that were saved beyond the depth.
    beyond: usize,
}

impl StateStack {
    pub(super) fn new(matrix: PlaneMatrix) -> Self {
        let text = TextSettings {
            font: None,
            size: 0.0,
            letter_space: 0.0,
            word_space: 0.0,
            stretch: 1.0,
            leading: 0.0,
            rise: 0.0,
            invisible: false,
        };
        Self { now: DrawState { matrix, line_width: 1.0, text }, saved: Vec::new(), beyond: 0 }
    }

    pub(super) fn save(&mut self) {
        match self.saved.len() < DEPTH {
            true => self.saved.push(self.now.clone()),
            false => self.beyond += 1,
        }
    }

    /// Goes back to the last state, but not beyond `floor`.
    pub(super) fn restore(&mut self, floor: usize) {
        if self.beyond > 0 {
            self.beyond -= 1;
        } else if self.saved.len() > floor
            && let Some(state) = self.saved.pop()
        {
            self.now = state;
        }
    }

    pub(super) fn depth(&self) -> usize {
        self.saved.len()
    }

    /// Goes back to a depth.
    pub(super) fn restore_to(&mut self, depth: usize) {
        self.beyond = 0;
        while self.saved.len() > depth {
            self.restore(depth);
        }
    }
}
