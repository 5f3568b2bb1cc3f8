//! `a2c documents show`: a document, a page or an element, as people or programs read it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use a2c_document_worker::{DocumentOutline, DocumentWorkers};
use a2c_documents::NotInDocument;
use a2c_documents::model::render::{self, HtmlOptions, PictureBytes};
use a2c_documents::model::{ElementContent, ReadElement, ReadPage, RowWindow};
use anyhow::{Result, anyhow, bail};
use clap::{Args, ValueEnum};

use super::outline;
use crate::output;

/// How many bytes of pictures an HTML document holds; those beyond are shown by their words.
const MAX_PICTURES: usize = 64 << 20;

/// Show what is in a file.
///
/// Shows all pages, one page, or one element. Tables are cut to their first 20 rows on a page; an element by itself has up to
/// 5,000. The ids of elements stand in --outline and in --format json.
#[derive(Args)]
pub(crate) struct ShowArgs {
    /// The file.
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Only this page, counted from 0.
    #[arg(long, value_name = "N")]
    page: Option<usize>,

    /// Only this element; with --page, of that page.
    #[arg(long, value_name = "ID")]
    element: Option<String>,

    /// The first row to show of --element, counted from 0 below the headers.
    #[arg(long, value_name = "ROW", requires = "element", default_value_t = 0)]
    offset: usize,

    /// How many rows to show of --element.
    #[arg(long, value_name = "ROWS", requires = "element", default_value_t = RowWindow::OF_ELEMENT.limit)]
    limit: usize,

    /// List the pages, or with --page its elements, with their ids.
    #[arg(long, conflicts_with_all = ["element", "format"])]
    outline: bool,

    /// How to print it. json is one line for each page.
    #[arg(long, value_enum, default_value_t = DocumentFormat::Markdown)]
    format: DocumentFormat,
}

/// How a document is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DocumentFormat {
    Markdown,
    Json,
    Text,
    Html,
}

pub(crate) async fn show(args: &ShowArgs, workers: &DocumentWorkers) -> Result<ExitCode> {
    let of_file = |problem: NotInDocument| anyhow!("{}: {problem}", args.file.display());
    let document = workers.outline(&args.file).await.map_err(of_file)?;
    for warning in &document.warnings {
        output::note(&format!("warning: {warning}"));
    }
    if let Some(element_id) = &args.element {
        let (page, element) = find(args, &document, workers, element_id).await?;
        show_element(args, &document, workers, page, element).await?;
        return Ok(ExitCode::SUCCESS);
    }
    if args.outline {
        match args.page {
            None => outline::of_document(&document),
            Some(page) => outline::of_page(&workers.page(&args.file, page).await.map_err(of_file)?),
        }
        return Ok(ExitCode::SUCCESS);
    }
    let pages = match args.page {
        Some(page) => page..page + 1,
        None => 0..document.pages.len(),
    };
    let mut together = Vec::new();
    let mut is_cut = false;
    let first = pages.start;
    for index in pages {
        let page = workers.page(&args.file, index).await.map_err(of_file)?;
        is_cut |= page.elements.iter().any(is_truncated);
        match args.format {
            DocumentFormat::Markdown => print_page(&page, "# ", &render::markdown(&page), index > first),
            DocumentFormat::Text => print_page(&page, "", &render::text(&page), index > first),
            DocumentFormat::Json => output::json(&page)?,
            DocumentFormat::Html => together.push(page),
        }
    }
    if args.format == DocumentFormat::Html {
        print_html(&args.file, &document, workers, &together).await;
    }
    if is_cut {
        output::note(
            "some tables or texts are cut: --element ID shows one of them as a whole (ids: --page N --outline)",
        );
    }
    Ok(ExitCode::SUCCESS)
}

/// Looks for an element on one page, or on all of them.
async fn find(
    args: &ShowArgs,
    document: &DocumentOutline,
    workers: &DocumentWorkers,
    element_id: &str,
) -> Result<(usize, ReadElement)> {
    let of_file = |problem: NotInDocument| anyhow!("{}: {problem}", args.file.display());
    let rows = RowWindow { offset: args.offset, limit: args.limit.min(RowWindow::OF_ELEMENT.limit) };
    let pages = match args.page {
        Some(page) => page..page + 1,
        None => 0..document.pages.len(),
    };
    for page in pages {
        match workers.element(&args.file, page, element_id, rows).await {
            Ok(element) => return Ok((page, element)),
            Err(NotInDocument::NoElement { .. }) => {}
            Err(problem) => return Err(of_file(problem)),
        }
    }
    bail!("{} has no element '{element_id}': see --page N --outline for the ids", args.file.display())
}

async fn show_element(
    args: &ShowArgs,
    document: &DocumentOutline,
    workers: &DocumentWorkers,
    page_index: usize,
    element: ReadElement,
) -> Result<()> {
    match args.format {
        DocumentFormat::Markdown => output::text(&render::element_markdown(&element)),
        DocumentFormat::Text => output::text(&render::element_text(&element)),
        DocumentFormat::Json => output::pretty_json(&element)?,
        DocumentFormat::Html => {
            let page = ReadPage { page_index, elements: vec![element], ..ReadPage::default() };
            print_html(&args.file, document, workers, &[page]).await;
        }
    }
    Ok(())
}

/// Prints a page below its title, unless it begins with that itself.
fn print_page(page: &ReadPage, mark: &str, text: &str, is_next: bool) {
    if is_next {
        output::line("");
    }
    let begins_with_title = page.elements.first().is_some_and(|first| match &first.content {
        ElementContent::Heading { text, .. } | ElementContent::Text { text, .. } => *text == page.title,
        _ => false,
    });
    if !page.title.is_empty() && !begins_with_title {
        let hidden = if page.hidden { " (hidden)" } else { "" };
        output::text(&format!("{mark}{}{hidden}\n", output::one_line(&page.title)));
    }
    if !text.is_empty() {
        output::text(text);
    }
}

async fn print_html(file: &Path, document: &DocumentOutline, workers: &DocumentWorkers, pages: &[ReadPage]) {
    let pictures = pictures(file, workers, pages).await;
    let picture = |element: &ReadElement| pictures.get(&element.blob.as_ref()?.part).cloned();
    let page_class = match document.file_type.as_str() {
        "pptx" | "odp" => "slide",
        "xlsx" | "xlsb" | "xls" | "ods" | "csv" | "tsv" => "sheet",
        _ => "",
    };
    let options = HtmlOptions {
        title: &document.title,
        language: document.properties.language.as_deref(),
        page_class,
        picture: Some(&picture),
    };
    output::line(&render::html(pages, &options));
}

/// The pictures of pages by the names of their parts.
async fn pictures(file: &Path, workers: &DocumentWorkers, pages: &[ReadPage]) -> HashMap<String, PictureBytes> {
    let mut found = HashMap::new();
    let mut total = 0;
    for element in pages.iter().flat_map(|page| &page.elements) {
        let (ElementContent::Image { .. }, Some(place)) = (&element.content, &element.blob) else { continue };
        if found.contains_key(&place.part) || total > MAX_PICTURES {
            continue;
        }
        match workers.blob(file, place).await {
            Ok(bytes) => {
                total += bytes.len();
                found.insert(place.part.clone(), PictureBytes { mime_type: place.mime_type.clone(), bytes });
            }
            Err(problem) => output::note(&format!("warning: a picture cannot be read: {problem}")),
        }
    }
    found
}

fn is_truncated(element: &ReadElement) -> bool {
    match &element.content {
        ElementContent::Text { truncated, .. } | ElementContent::Code { truncated, .. } => *truncated,
        ElementContent::Table(table) => table.truncated,
        _ => false,
    }
}
