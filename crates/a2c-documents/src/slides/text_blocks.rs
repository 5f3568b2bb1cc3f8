//! The paragraphs of a shape as elements: lists, texts, links, equations.

use a2c_document_model::{ElementContent, ElementDraft};

use crate::ooxml::{DrawingBullet, DrawingParagraph};
use crate::rich_text::{BULLET, CountFormat, ListBuilder, ListItem};

/// Makes elements of paragraphs. `inherited` tells the bullet of a level that neither the paragraph nor its shape declares.
pub(super) fn text_blocks(
    paragraphs: Vec<DrawingParagraph>,
    inherited: impl Fn(usize) -> DrawingBullet,
) -> Vec<ElementDraft> {
    let (mut elements, mut list, mut counts) = (Vec::new(), None::<ListBuilder>, LevelCounts::default());
    for paragraph in paragraphs {
        let DrawingParagraph { level, bullet, text, equations } = paragraph;
        if text.text().trim().is_empty() {
            continue;
        }
        let bullet = bullet.unwrap_or_else(|| inherited(level));
        let label = counts.label(level, bullet);
        if let Some(label) = label {
            let ordered = bullet != DrawingBullet::Sign;
            let (text, metadata) = text.finish();
            let place = ListItem { ordered, label, list: 1, level: level as u8, indent: 0, ..ListItem::default() };
            let item = ListItem { text, links: metadata.links, ..place };
            let begins = match &mut list {
                Some(list) => list.add(item),
                None => Some(item),
            };
            if let Some(item) = begins {
                elements.extend(list.replace(ListBuilder::new(item)).map(ListBuilder::finish));
            }
            continue;
        }
        elements.extend(list.take().map(ListBuilder::finish));
        elements.extend(plain(text, equations));
    }
    elements.extend(list.map(ListBuilder::finish));
    elements
}

fn plain(text: crate::rich_text::RichText, equations: Vec<String>) -> Vec<ElementDraft> {
    let only_equations = {
        let all: String = equations.iter().map(|equation| format!("${equation}$")).collect();
        let without_blanks = |text: &str| text.split_whitespace().collect::<String>();
        !equations.is_empty() && without_blanks(&all) == without_blanks(text.text())
    };
    if only_equations {
        let formula = |expression: String| ElementContent::Formula { expression, value: None }.into();
        return equations.into_iter().map(formula).collect();
    }
    if let Some(link) = text.sole_link() {
        return vec![ElementContent::Link { text: link.text.clone(), url: link.url.clone() }.into()];
    }
    let (text, metadata) = text.finish();
    let mut draft = ElementDraft::from(ElementContent::text(text));
    draft.metadata = metadata;
    vec![draft]
}

/// How far each level is counted.
#[derive(Default)]
struct LevelCounts {
    levels: Vec<(CountFormat, i64)>,
}

impl LevelCounts {
    /// The label of a paragraph; `None` where it has no bullet.
    fn label(&mut self, level: usize, bullet: DrawingBullet) -> Option<String> {
        self.levels.truncate(level + 1);
        let DrawingBullet::Count { format, before, after, start } = bullet else {
            self.levels.truncate(level);
            return (bullet == DrawingBullet::Sign).then(|| BULLET.to_owned());
        };
        let count = match self.levels.get(level) {
            Some((known, count)) if *known == format => count.saturating_add(1),
            _ => start,
        };
        self.levels.resize(level + 1, (CountFormat::None, 0));
        self.levels[level] = (format, count);
        Some(format!("{before}{}{after}", format.show(count)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_go_on_and_begin_anew() {
        let digits = DrawingBullet::Count { format: CountFormat::Decimal, before: "", after: ".", start: 1 };
        let letters = DrawingBullet::Count { format: CountFormat::LowerLetter, before: "", after: ")", start: 2 };
        let mut counts = LevelCounts::default();
        let labels: Vec<Option<String>> = [
            (0, digits),
            (1, letters),
            (1, letters),
            (0, digits),
            (1, letters),
            (0, DrawingBullet::Sign),
            (0, digits),
            (0, DrawingBullet::None),
            (8, digits),
        ]
        .into_iter()
        .map(|(level, bullet)| counts.label(level, bullet))
        .collect();
        let shown: Vec<&str> = labels.iter().map(|label| label.as_deref().unwrap_or("-")).collect();
        assert_eq!(shown, ["1.", "b)", "c)", "2.", "b)", "•", "1.", "-", "1."]);
    }
}
