//! The formatting that runs of text and styles declare.

use super::runs::RunFormat;

/// What is declared of a run; `None` where nothing is said.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RunToggles {
    pub(crate) bold: Option<bool>,
    pub(crate) italic: Option<bool>,
    pub(crate) underline: Option<bool>,
    pub(crate) strike: Option<bool>,
    /// In a font of fixed width.
    pub(crate) code: Option<bool>,
    /// Not shown.
    pub(crate) hidden: Option<bool>,
}

impl RunToggles {
    /// What holds where `self` is said on top of `base`.
    pub(crate) fn over(self, base: Self) -> Self {
        Self {
            bold: self.bold.or(base.bold),
            italic: self.italic.or(base.italic),
            underline: self.underline.or(base.underline),
            strike: self.strike.or(base.strike),
            code: self.code.or(base.code),
            hidden: self.hidden.or(base.hidden),
        }
    }

    /// The format that is meant.
    pub(crate) fn format(self) -> RunFormat {
        RunFormat {
            bold: self.bold == Some(true),
            italic: self.italic == Some(true),
            underline: self.underline == Some(true),
            strike: self.strike == Some(true),
            code: self.code == Some(true),
        }
    }
}
