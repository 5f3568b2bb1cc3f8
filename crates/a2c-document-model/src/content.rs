//! What an element holds, by its category.

use serde::{Deserialize, Serialize};

use crate::category::ElementCategory;
use crate::skip::is_false;
use crate::table::TableContent;

/// The content of an element.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "category", content = "content", rename_all = "snake_case")]
pub enum ElementContent {
    /// A paragraph.
    Text {
        /// Its words, without markup.
        text: String,
        /// Whether only the beginning is here.
        #[serde(default, skip_serializing_if = "is_false")]
        truncated: bool,
    },
    /// A heading.
    Heading {
        /// From 1, the highest.
        level: u8,
        /// Its words.
        text: String,
    },
    /// A list.
    List {
        /// Whether its items are counted.
        ordered: bool,
        /// The items of the first level.
        items: Vec<ListEntry>,
    },
    /// Source code.
    Code {
        /// Its language, where known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        language: Option<String>,
        /// Its lines.
        text: String,
        /// Whether only the beginning is here.
        #[serde(default, skip_serializing_if = "is_false")]
        truncated: bool,
    },
    /// A table.
    Table(TableContent),
    /// A pivot table.
    PivotTable {
        /// Its name.
        name: String,
        /// Where its data comes from.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        source: Option<String>,
        /// The fields in its rows.
        rows: Vec<String>,
        /// The fields in its columns.
        columns: Vec<String>,
        /// What is counted or added up.
        values: Vec<String>,
        /// The fields that filter it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        filters: Vec<String>,
    },
    /// A chart.
    Chart {
        /// Its kind: `bar`, `line`, `pie`, …
        chart_type: String,
        /// Its title; empty where it has none.
        title: String,
        /// What it shows, in a sentence.
        data_summary: String,
        /// Its data.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        series: Vec<ChartSeries>,
    },
    /// A diagram.
    Diagram {
        /// The words in it, as they hang together.
        items: Vec<ListEntry>,
    },
    /// A picture.
    Image {
        /// What it shows, in the words of its author.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        alt: Option<String>,
        /// Where it is, if it is elsewhere.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        url: Option<String>,
        /// What is known of it besides.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        description: Option<String>,
        /// Its format.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mime_type: Option<String>,
        /// In pixels.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        width: Option<u32>,
        /// In pixels.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        height: Option<u32>,
    },
    /// An equation.
    Formula {
        /// Its text, in LaTeX or as the file has it.
        expression: String,
        /// Its value.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        value: Option<String>,
    },
    /// A paragraph that is nothing but a link.
    Link {
        /// What is shown.
        text: String,
        /// Where it leads.
        url: String,
    },
    /// A note, a comment, or an error.
    Annotation {
        /// Which of these.
        kind: AnnotationKind,
        /// Its words.
        text: String,
        /// Who wrote it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        author: Option<String>,
        /// When, in ISO 8601.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        date: Option<String>,
        /// What it is about: a cell, a mark in the text, a quotation.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        target: Option<String>,
        /// Why something could not be read.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<ElementError>,
    },
    /// What stands above the pages of a section.
    Header {
        /// Its words.
        text: String,
    },
    /// What stands below the pages of a section.
    Footer {
        /// Its words.
        text: String,
    },
    /// A rule between two parts.
    Separator {},
    /// A sound.
    Audio {
        /// The name of its part, or its address.
        name: String,
        /// Its format.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mime_type: Option<String>,
    },
    /// A film.
    Video {
        /// The name of its part, or its address.
        name: String,
        /// Its format.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mime_type: Option<String>,
    },
    /// Fields to fill in.
    Form {
        /// The fields, in reading order.
        fields: Vec<FormField>,
    },
    /// Anything else that a program draws.
    Widget {
        /// What it is.
        kind: String,
        /// The words in it.
        text: String,
    },
}

/// An item of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ListEntry {
    /// Only words.
    Plain(String),
    /// Words and a list below them.
    Nested {
        /// The words.
        text: String,
        /// The items below.
        items: Vec<ListEntry>,
    },
}

impl ListEntry {
    /// An item; nested where there is something below it.
    pub fn new(text: impl Into<String>, items: Vec<ListEntry>) -> Self {
        match items.is_empty() {
            true => Self::Plain(text.into()),
            false => Self::Nested { text: text.into(), items },
        }
    }

    /// Its own words.
    pub fn text(&self) -> &str {
        match self {
            Self::Plain(text) | Self::Nested { text, .. } => text,
        }
    }

    /// The items below it.
    pub fn items(&self) -> &[ListEntry] {
        match self {
            Self::Plain(_) => &[],
            Self::Nested { items, .. } => items,
        }
    }
}

/// One row of data in a chart.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ChartSeries {
    /// Its name.
    pub name: String,
    /// What the values belong to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub categories: Vec<String>,
    /// The values, as they are shown.
    pub values: Vec<String>,
}

/// What an annotation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnnotationKind {
    /// Notes of a slide, or a note at the margin.
    Note,
    /// Below the page.
    Footnote,
    /// At the end.
    Endnote,
    /// A remark of a reader.
    Comment,
    /// A change that is not accepted yet.
    TrackedChange,
    /// A file that is attached.
    Attachment,
    /// Something could not be read.
    Error,
}

/// Why something could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ElementError {
    /// For programs: `encrypted`, `corrupt`, …
    pub code: String,
    /// For people.
    pub message: String,
}

/// A field to fill in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FormField {
    /// Its name in the file.
    pub name: String,
    /// `text`, `checkbox`, `choice`, `button`, `signature`.
    pub kind: String,
    /// What people see beside it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// What is filled in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// What may be chosen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
}

impl ElementContent {
    /// A paragraph.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into(), truncated: false }
    }

    /// Why something could not be read.
    pub fn error(code: &str, message: impl Into<String>) -> Self {
        let message = message.into();
        let error = Some(ElementError { code: code.to_owned(), message: message.clone() });
        Self::Annotation { kind: AnnotationKind::Error, text: message, author: None, date: None, target: None, error }
    }

    /// Its category.
    pub fn category(&self) -> ElementCategory {
        match self {
            Self::Text { .. } => ElementCategory::Text,
            Self::Heading { .. } => ElementCategory::Heading,
            Self::List { .. } => ElementCategory::List,
            Self::Code { .. } => ElementCategory::Code,
            Self::Table(_) => ElementCategory::Table,
            Self::PivotTable { .. } => ElementCategory::PivotTable,
            Self::Chart { .. } => ElementCategory::Chart,
            Self::Diagram { .. } => ElementCategory::Diagram,
            Self::Image { .. } => ElementCategory::Image,
            Self::Formula { .. } => ElementCategory::Formula,
            Self::Link { .. } => ElementCategory::Link,
            Self::Annotation { .. } => ElementCategory::Annotation,
            Self::Header { .. } => ElementCategory::Header,
            Self::Footer { .. } => ElementCategory::Footer,
            Self::Separator {} => ElementCategory::Separator,
            Self::Audio { .. } => ElementCategory::Audio,
            Self::Video { .. } => ElementCategory::Video,
            Self::Form { .. } => ElementCategory::Form,
            Self::Widget { .. } => ElementCategory::Widget,
        }
    }
}
