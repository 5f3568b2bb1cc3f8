//! What of a page one answer holds.

use a2c_document_model::{ElementContent, PageDraft};
use a2c_documents::{PageRequest, ReadLimits};

/// Pages with masses of little texts keep their words, in one element.
pub(crate) fn join_overflow(page: &mut PageDraft, limit: usize) {
    if page.elements.len() <= limit {
        return;
    }
    let rest = page.elements.split_off(limit.saturating_sub(1));
    let (mut lines, mut all_texts) = (Vec::new(), true);
    for draft in rest {
        match draft.content {
            ElementContent::Text { text, .. }
            | ElementContent::Heading { text, .. }
            | ElementContent::Code { text, .. }
            | ElementContent::Header { text }
            | ElementContent::Footer { text }
            | ElementContent::Annotation { text, .. } => lines.push(text),
            ElementContent::List { items, .. } => lines.extend(items.iter().map(|item| item.text().to_owned())),
            ElementContent::Link { text, url } => lines.push(format!("{text} ({url})")),
            ElementContent::Table(table) => {
                lines.extend(std::iter::once(table.headers).chain(table.rows).map(|row| row.join("\t")));
            }
            _ => all_texts = false,
        }
    }
    page.partial |= !all_texts;
    page.elements.push(ElementContent::text(lines.join("\n")).into());
}

/// Cuts tables and texts to what is wanted of them.
pub(crate) fn cut(page: &mut PageDraft, request: &PageRequest, limits: &ReadLimits) {
    for (at, draft) in page.elements.iter_mut().enumerate() {
        let detail = request.detail.filter(|(wanted, _)| *wanted == at);
        match &mut draft.content {
            ElementContent::Table(table) => table.cut(detail.map_or(request.rows, |(_, rows)| rows)),
            ElementContent::Text { text, truncated } | ElementContent::Code { text, truncated, .. }
                if detail.is_none() && text.len() > limits.page_text =>
            {
                text.truncate(text.floor_char_boundary(limits.page_text));
                *truncated = true;
            }
            _ => {}
        }
    }
}
