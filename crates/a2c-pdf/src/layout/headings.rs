//! Which texts are headings: by their size and weight against the body of the page. Pure.

use super::lines::LinePiece;
use crate::content::ContentRole;

/// The longest heading, in characters.
const LONGEST: usize = 220;
/// The longest heading that only its weight tells.
const LONGEST_BOLD: usize = 110;
/// A page with fewer characters has no body of its own to compare with.
const FEW: usize = 250;
/// The size of letters that are a body on any page.
const USUAL: f32 = 12.0;
const SMALLEST: f32 = 10.0;

/// How most of a page looks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct BodyLook {
    pub(crate) size: f32,
    bold: bool,
}

impl BodyLook {
    /// The look of most letters of some lines.
    pub(crate) fn of<'l>(lines: impl Iterator<Item = &'l LinePiece>) -> Self {
        // By half points. Code is set smaller than the text around it.
        let lines: Vec<&LinePiece> = lines.collect();
        let has_text = lines.iter().any(|line| !line.is_fixed());
        let mut sizes: std::collections::BTreeMap<u32, (usize, usize)> = std::collections::BTreeMap::new();
        let mut all = 0;
        for line in lines.into_iter().filter(|line| !has_text || !line.is_fixed()) {
            for word in &line.words {
                let (count, bold) = sizes.entry((word.size * 2.0).round().clamp(0.0, 10_000.0) as u32).or_default();
                let length = word.text.chars().count();
                *count += length;
                *bold += if word.style.bold { length } else { 0 };
                all += length;
            }
        }
        let most = sizes.iter().max_by_key(|(_, (count, _))| *count);
        let Some((size, (count, bold))) = most else { return Self { size: USUAL, bold: false } };
        let size = *size as f32 / 2.0;
        let size = if all < FEW { size.clamp(SMALLEST, USUAL) } else { size };
        Self { size: size.max(1.0), bold: bold * 10 > count * 6 }
    }

    /// The level of the heading that some lines are.
    pub(crate) fn heading_level(&self, lines: &[LinePiece]) -> Option<u8> {
        let first = lines.first()?;
        let length: usize = lines.iter().map(LinePiece::length).sum();
        let letters = lines.iter().flat_map(|line| &line.words).flat_map(|word| word.text.chars());
        if length > LONGEST || lines.len() > 4 || letters.filter(|c| c.is_alphabetic()).count() < 2 {
            return None;
        }
        if let ContentRole::Heading(level) = first.role() {
            return Some(level);
        }
        let ratio = first.size / self.size;
        if ratio >= 1.12 {
            return Some(match ratio {
                1.7.. => 1,
                1.35.. => 2,
                _ => 3,
            });
        }
        let last = lines.last().and_then(|line| line.words.last()).map_or("", |word| word.text.as_str());
        let is_sentence = last.ends_with(['.', ',', ';', ':', '。', '，', '；', '：']);
        let stands_out = !self.bold && lines.iter().all(LinePiece::is_bold) && ratio > 0.85;
        (stands_out && length <= LONGEST_BOLD && lines.len() <= 2 && !is_sentence).then_some(4)
    }
}
