//! The kinds of elements.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! categories {
    ($($name:ident $word:literal $prefix:literal $what:literal,)*) => {
        /// What an element is.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum ElementCategory {
            $(#[doc = $what] #[serde(rename = $word)] $name,)*
        }

        impl ElementCategory {
            /// Every category.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// Its name in JSON and in queries.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $word),* }
            }

            /// What the ids of such elements begin with.
            pub fn id_prefix(self) -> &'static str {
                match self { $(Self::$name => $prefix),* }
            }
        }
    };
}

categories! {
    Text "text" "txt" "A paragraph.",
    Heading "heading" "h" "A heading.",
    List "list" "lst" "A list, with its nested items.",
    Code "code" "code" "Source code.",
    Table "table" "tbl" "A table.",
    PivotTable "pivot_table" "pvt" "A pivot table.",
    Chart "chart" "chart" "A chart.",
    Diagram "diagram" "dgm" "A diagram, such as SmartArt.",
    Image "image" "img" "A picture.",
    Formula "formula" "fx" "An equation or a formula that stands on its own.",
    Link "link" "link" "A paragraph that is nothing but a link.",
    Annotation "annotation" "note" "A note, footnote or comment, or why something cannot be read.",
    Header "header" "hdr" "What stands above the pages of a section.",
    Footer "footer" "ftr" "What stands below the pages of a section.",
    Separator "separator" "sep" "A rule between two parts.",
    Audio "audio" "aud" "A sound.",
    Video "video" "vid" "A film.",
    Form "form" "form" "Fields to fill in.",
    Widget "widget" "wdg" "Anything else that a program draws.",
}

impl fmt::Display for ElementCategory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
