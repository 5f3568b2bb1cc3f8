//! The element types of the document model, and sets of them as the `categories` parameter carries them.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

macro_rules! categories {
    ($($variant:ident $name:literal $doc:literal,)+) => {
        /// The type of an element: one of the 19 that the document model knows.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[non_exhaustive]
        pub enum Category {
            $(#[doc = $doc] #[serde(rename = $name)] $variant,)+
        }

        impl Category {
            /// All of them, in the order of the document model.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The name on the wire.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }
        }
    };
}

categories! {
    Text "text" "A paragraph, plain or rich.",
    Heading "heading" "A heading with its level.",
    List "list" "An ordered or unordered list.",
    Code "code" "A block of code.",
    Table "table" "Tabular data.",
    PivotTable "pivot_table" "A pivot table.",
    Chart "chart" "A bar, line or other chart.",
    Diagram "diagram" "A flow or architecture diagram.",
    Image "image" "An embedded image.",
    Formula "formula" "A formula or calculation.",
    Link "link" "A hyperlink or reference.",
    Annotation "annotation" "A note, footnote or comment.",
    Header "header" "A page header.",
    Footer "footer" "A page footer.",
    Separator "separator" "A separator.",
    Audio "audio" "Embedded sound.",
    Video "video" "Embedded video.",
    Form "form" "A form.",
    Widget "widget" "A control of another kind.",
}

/// A name that is no element type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error(
    "no such element type; the known ones are text, heading, list, code, table, pivot_table, chart, diagram, image, formula, link, annotation, header, footer, separator, audio, video, form, widget"
)]
pub struct UnknownCategory;

impl FromStr for Category {
    type Err = UnknownCategory;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let mut all = Self::ALL.iter().copied();
        all.find(|category| category.name() == name).ok_or(UnknownCategory)
    }
}

impl fmt::Display for Category {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A set of element types that holds at least one, written as a comma list in the order of the document model.
///
/// Order and repetition in the text mean nothing: `table,chart,table` and `chart,table` are the same set.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Categories(BTreeSet<Category>);

impl Categories {
    /// The set of these types; `None` when there are none, since an empty filter has no meaning.
    pub fn new(categories: impl IntoIterator<Item = Category>) -> Option<Self> {
        let set: BTreeSet<Category> = categories.into_iter().collect();
        (!set.is_empty()).then_some(Self(set))
    }

    /// Whether elements of this type are wanted.
    #[must_use]
    pub fn contains(&self, category: Category) -> bool {
        self.0.contains(&category)
    }

    /// The types, in the order of the document model.
    pub fn iter(&self) -> impl Iterator<Item = Category> + '_ {
        self.0.iter().copied()
    }
}

impl FromStr for Categories {
    type Err = UnknownCategory;

    fn from_str(list: &str) -> Result<Self, Self::Err> {
        list.split(',').map(str::parse).collect::<Result<_, _>>().map(Self)
    }
}

impl fmt::Display for Categories {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, category) in self.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(f, "{comma}{category}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Categories, Category, UnknownCategory};

    #[test]
    fn every_category_has_one_name_everywhere() {
        assert_eq!(Category::ALL.len(), 19);
        for &category in Category::ALL {
            assert_eq!(category.name().parse(), Ok(category));
            let json = serde_json::to_value(category).expect("a name");
            assert_eq!(json, category.name());
            assert!(UnknownCategory.to_string().contains(category.name()));
        }
    }

    #[test]
    fn a_list_is_a_set() {
        let list: Categories = "table,chart,table".parse().expect("known names");
        assert_eq!(list.to_string(), "table,chart");
        assert_eq!("chart,table".parse(), Ok(list.clone()));
        assert!(list.contains(Category::Chart) && !list.contains(Category::Text));
        assert_eq!(Categories::new([]), None);
        for bad in ["", ",", "table,", ",table", "table,,chart", "Table", " table", "tables"] {
            assert_eq!(bad.parse::<Categories>(), Err(UnknownCategory), "{bad:?}");
        }
    }
}
