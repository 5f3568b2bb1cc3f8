//! Paragraphs, headings, code and items of lists, out of the lines of a column.

use super::headings::BodyLook;
use super::lines::LinePiece;
use super::lists::{ListMarker, without_sign};
use super::script::is_unspaced;

/// Lines that belong together.
#[derive(Debug)]
pub(super) struct TextBlock {
    pub(super) kind: BlockKind,
    pub(super) lines: Vec<LinePiece>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum BlockKind {
    Paragraph,
    Heading(u8),
    Code,
    /// An item of a list, whose marker is not among its words.
    Item {
        marker: ListMarker,
        indent: f32,
    },
}

/// The blocks of a column of lines.
pub(super) fn text_blocks(lines: Vec<LinePiece>, body: &BodyLook) -> Vec<TextBlock> {
    let leading = usual_leading(&lines);
    let right = lines.iter().map(|line| line.place.x1).fold(f32::MIN, f32::max);
    let left = lines.iter().map(|line| line.place.x0).fold(f32::MAX, f32::min);
    let column = ColumnShape { left, right, leading };
    let mut blocks: Vec<TextBlock> = Vec::new();
    for line in lines {
        if line.is_fixed() {
            match blocks.last_mut() {
                Some(block) if block.kind == BlockKind::Code => block.lines.push(line),
                _ => blocks.push(TextBlock { kind: BlockKind::Code, lines: vec![line] }),
            }
            continue;
        }
        let starts = blocks.last().is_none_or(|block| column.ends_block(block, &line));
        match item_of(&line, &blocks, starts, body) {
            Some((marker, line)) => {
                let indent = line.1;
                blocks.push(TextBlock { kind: BlockKind::Item { marker, indent }, lines: vec![line.0] });
            }
            None if starts => blocks.push(TextBlock { kind: BlockKind::Paragraph, lines: vec![line] }),
            None => blocks.last_mut().into_iter().for_each(|block| block.lines.push(line.clone())),
        }
    }
    for block in &mut blocks {
        if block.kind == BlockKind::Paragraph
            && let Some(level) = body.heading_level(&block.lines)
        {
            block.kind = BlockKind::Heading(level);
        }
    }
    blocks
}

/// The marker of the item that begins with a line, and the rest of the line with the place where it began.
fn item_of(
    line: &LinePiece,
    blocks: &[TextBlock],
    starts: bool,
    body: &BodyLook,
) -> Option<(ListMarker, (LinePiece, f32))> {
    let indent = line.place.x0;
    let first = line.words.first()?;
    if let Some(rest) = without_sign(&first.text) {
        let mut line = line.clone();
        line.words[0].text = rest.to_owned();
        return Some((ListMarker::Sign, (line, indent)));
    }
    let marker = ListMarker::read(&first.text)?;
    if line.words.len() < 2 {
        return None;
    }
    let before = blocks.iter().rev().find_map(|block| match &block.kind {
        BlockKind::Item { marker, indent: other } if (other - indent).abs() < 3.0 => Some(marker),
        _ => None,
    });
    let goes_on = before.is_some_and(|before| marker.follows(before));
    let is_sign = ListMarker::is_plain_sign(&first.text);
    let is_heading = body.heading_level(std::slice::from_ref(line)).is_some();
    if is_heading || !(is_sign || goes_on || starts) {
        return None;
    }
    let mut line = line.clone();
    line.words.remove(0);
    Some((marker, (line, indent)))
}

/// How the lines of a column stand.
struct ColumnShape {
    left: f32,
    right: f32,
    /// The usual distance of lines, by the size of letters.
    leading: f32,
}

impl ColumnShape {
    /// Whether a block ends before a line.
    fn ends_block(&self, block: &TextBlock, line: &LinePiece) -> bool {
        let Some(last) = block.lines.last() else { return true };
        let size = last.size.max(line.size);
        let step = line.baseline - last.baseline;
        let is_far = step > (self.leading * 1.22 * size).max(1.02 * size) + 0.5 || step < 0.0;
        let looks_other = (line.size - last.size).abs() > 0.08 * size
            || line.is_bold() != last.is_bold()
            || line.role() != last.role()
            || block.kind == BlockKind::Code;
        if is_far || looks_other {
            return true;
        }
        let indent = line.place.x0 - last.place.x0;
        if let BlockKind::Item { indent, .. } = block.kind {
            // What goes on stands below the text of the item, not below its marker.
            return line.place.x0 < indent + 0.3 * size;
        }
        let is_short = last.place.x1 < self.right - 0.12 * (self.right - self.left).max(1.0);
        let is_indented = indent > 0.9 * size;
        let is_outdented = indent < -0.9 * size && block.lines.len() > 1;
        if is_indented && (is_short || block.lines.len() > 1) || is_outdented {
            return true;
        }
        is_short && ends_sentence(last) && begins_sentence(line)
    }
}

fn ends_sentence(line: &LinePiece) -> bool {
    line.words.last().is_some_and(|word| word.text.ends_with(['.', '!', '?', ':', '。', '！', '？', '：', '”', ')']))
}

fn begins_sentence(line: &LinePiece) -> bool {
    line.words.first().and_then(|word| word.text.chars().next()).is_some_and(|c| !c.is_lowercase() || is_unspaced(c))
}

/// The distance of most lines from the ones before them, by the size of their letters.
fn usual_leading(lines: &[LinePiece]) -> f32 {
    let steps = lines.windows(2).filter(|pair| (pair[0].size - pair[1].size).abs() < 0.08 * pair[0].size);
    let mut steps: Vec<f32> = steps
        .map(|pair| (pair[1].baseline - pair[0].baseline) / pair[0].size)
        .filter(|step| (0.8..2.2).contains(step))
        .collect();
    if steps.is_empty() {
        return 1.25;
    }
    let place = steps.len() / 3;
    *steps.select_nth_unstable_by(place, f32::total_cmp).1
}
