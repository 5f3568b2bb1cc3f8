//! The text of a message and what is attached to it, as elements.

use a2c_document_model::{AnnotationKind, BlobPlace, ElementContent, ElementDraft, UnreadableCode};
use mail_parser::MessageParser;

use super::mime_tree::{MimeLeaf, MimeNode, PARTS, headers_length};
use crate::limits::ReadLimits;
use crate::picture::picture_size;
use crate::plain::{html, text};

/// A cell with more characters than that is no cell of a table but a column of a layout.
const LONG_CELL: usize = 400;

/// The elements of a message under construction.
pub(super) struct MailElements<'a> {
    bytes: &'a [u8],
    /// How much text may still be read.
    left: usize,
    pub(super) elements: Vec<ElementDraft>,
    /// What is attached, which stands at the end.
    attached: Vec<ElementDraft>,
    files: Vec<MimeLeaf>,
    parts: usize,
    is_cut: bool,
}

impl<'a> MailElements<'a> {
    pub(super) fn new(bytes: &'a [u8], limits: &ReadLimits) -> Self {
        let left = usize::try_from(limits.text_part_bytes).unwrap_or(usize::MAX);
        Self { bytes, left, elements: Vec::new(), attached: Vec::new(), files: Vec::new(), parts: 0, is_cut: false }
    }

    /// Adds a part with all that is in it. The tree is as deep as it was built.
    pub(super) fn add(&mut self, node: &MimeNode) {
        self.parts += 1;
        match node {
            MimeNode::Leaf(leaf) => self.leaf(leaf),
            MimeNode::Sequence(parts) => parts.iter().for_each(|part| self.add(part)),
            MimeNode::Alternatives(forms) => self.alternatives(forms),
            MimeNode::Encrypted => {
                let code = UnreadableCode::Encrypted.as_str();
                let message = "the text of the message is encrypted: only its receiver can read it";
                let mut draft = ElementDraft::from(ElementContent::error(code, message));
                draft.metadata.error = Some(code.to_owned());
                self.elements.push(draft);
            }
        }
    }

    /// All elements, the parts that they name, and what was not read.
    pub(super) fn finish(mut self) -> (Vec<ElementDraft>, Vec<MimeLeaf>, Vec<String>) {
        self.elements.append(&mut self.attached);
        self.place_pictures();
        let mut warnings = Vec::new();
        if self.parts >= PARTS {
            warnings.push(format!("the message has more than {PARTS} parts: the rest is not shown"));
        }
        if self.is_cut {
            warnings.push("the message is too long to be kept: the rest of it is not shown".to_owned());
        }
        (self.elements, self.files, warnings)
    }

    fn leaf(&mut self, leaf: &MimeLeaf) {
        let media_type = leaf.media_type.as_str();
        let is_text = !leaf.attached && leaf.name.is_none();
        match media_type {
            "text/plain" if is_text => {
                let read = self.plain(leaf);
                self.elements.extend(read);
            }
            "text/html" if is_text => {
                let read = self.html(leaf);
                self.elements.extend(read);
            }
            // The form of a signature for the receiver's program, and the like.
            "text/plain" | "text/html" if leaf.size(self.bytes) == 0 => {}
            _ if media_type.starts_with("image/") && !leaf.attached => self.picture(leaf),
            _ => self.attachment(leaf),
        }
    }

    /// The richest form that can be read; HTML that only arranges things loses to plain text.
    fn alternatives(&mut self, forms: &[MimeNode]) {
        let leaf = |node: &'_ MimeNode, kind: &str| match node {
            MimeNode::Leaf(leaf) if leaf.media_type == kind && !leaf.attached => Some(leaf.clone()),
            _ => None,
        };
        let plain = forms.iter().find_map(|form| leaf(form, "text/plain"));
        let mut rest: Vec<&MimeNode> = forms.iter().filter(|form| leaf(form, "text/plain").is_none()).collect();
        let readable = |form: &MimeNode| leaf(form, "text/html").is_some() || !matches!(form, MimeNode::Leaf(_));
        let richest = rest.iter().rposition(|form| readable(form)).map(|at| rest.remove(at));
        let before = self.elements.len();
        if let Some(richest) = richest {
            self.add(richest);
        }
        let plain = plain.map(|plain| self.plain(&plain)).filter(|plain| !plain.is_empty());
        if let Some(plain) = plain
            && (self.elements.len() == before || self.elements[before..].iter().any(is_layout))
        {
            self.elements.splice(before.., plain);
        }
        // Invitations and other forms for programs are files.
        for form in rest {
            if let MimeNode::Leaf(leaf) = form
                && !leaf.media_type.starts_with("text/html")
            {
                self.attachment(leaf);
            }
        }
    }

    fn plain(&mut self, leaf: &MimeLeaf) -> Vec<ElementDraft> {
        let text = self.text_of(leaf);
        text::elements(&if leaf.flowed { unflowed(&text) } else { text })
    }

    fn html(&mut self, leaf: &MimeLeaf) -> Vec<ElementDraft> {
        html::read(&self.text_of(leaf)).1
    }

    /// The decoded text of a part, as far as there is room for it.
    fn text_of(&mut self, leaf: &MimeLeaf) -> String {
        let mut text = leaf.text(self.bytes);
        if text.len() > self.left {
            text.truncate(text.floor_char_boundary(self.left));
            self.is_cut = true;
        }
        self.left -= text.len();
        text
    }

    fn picture(&mut self, leaf: &MimeLeaf) {
        let size = picture_size(&leaf.decoded(self.bytes));
        let content = ElementContent::Image {
            alt: None,
            // The text refers to it so; what nobody refers to has a name.
            url: leaf.content_id.as_ref().map(|id| format!("cid:{id}")),
            description: leaf.name.clone().or_else(|| leaf.content_id.is_none().then(|| "inline picture".to_owned())),
            mime_type: Some(leaf.media_type.clone()),
            width: size.map(|size| size.0),
            height: size.map(|size| size.1),
        };
        self.file(content, leaf);
    }

    fn attachment(&mut self, leaf: &MimeLeaf) {
        let size = shown_size(leaf.size(self.bytes));
        let message = (leaf.media_type == "message/rfc822").then(|| inner_subject(self.bytes, leaf)).flatten();
        let name = leaf.name.clone().or(message).unwrap_or_else(|| "unnamed".to_owned());
        let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
        let text = format!("{name} ({}, {size})", leaf.media_type);
        let kind = AnnotationKind::Attachment;
        let content =
            ElementContent::Annotation { kind, text, author: None, date: None, target: Some(name), error: None };
        self.file(content, leaf);
    }

    fn file(&mut self, content: ElementContent, leaf: &MimeLeaf) {
        let mut draft = ElementDraft::from(content);
        draft.blob = Some(BlobPlace { part: self.files.len().to_string(), mime_type: leaf.media_type.clone() });
        self.files.push(leaf.clone());
        self.attached.push(draft);
    }

    /// Puts pictures where the text refers to them.
    fn place_pictures(&mut self) {
        let url_of = |draft: &ElementDraft| match &draft.content {
            ElementContent::Image { url: Some(url), .. } if url.starts_with("cid:") => Some(url.clone()),
            _ => None,
        };
        let files: Vec<(String, ElementDraft)> = self
            .elements
            .iter()
            .filter(|draft| draft.blob.is_some())
            .filter_map(|draft| Some((url_of(draft)?, draft.clone())))
            .collect();
        let mut placed = Vec::new();
        for draft in &mut self.elements {
            let Some(url) = url_of(draft).filter(|_| draft.blob.is_none()) else { continue };
            let Some((_, file)) = files.iter().find(|(known, _)| *known == url) else { continue };
            let words = match &mut draft.content {
                ElementContent::Image { alt, .. } => alt.take(),
                _ => None,
            };
            *draft = file.clone();
            if let ElementContent::Image { alt, url, .. } = &mut draft.content {
                (*alt, *url) = (words, None);
            }
            placed.push(url);
        }
        self.elements.retain(|draft| !(draft.blob.is_some() && url_of(draft).is_some_and(|url| placed.contains(&url))));
        // The address of a part leads nowhere outside of the message.
        for draft in self.elements.iter_mut().filter(|draft| draft.blob.is_some()) {
            if let ElementContent::Image { url, description, .. } = &mut draft.content
                && let Some(url) = url.take()
                && description.is_none()
            {
                *description = Some(url);
            }
        }
    }
}

/// Whether a table is only there to arrange things.
fn is_layout(draft: &ElementDraft) -> bool {
    let ElementContent::Table(table) = &draft.content else { return false };
    let mut cells = table.headers.iter().chain(table.rows.iter().flatten());
    cells.any(|cell| cell.chars().nth(LONG_CELL).is_some())
}

/// What a message within the message is about.
fn inner_subject(bytes: &[u8], leaf: &MimeLeaf) -> Option<String> {
    let inner = bytes.get(leaf.body.clone())?;
    let head = MessageParser::new().parse_headers(inner.get(..headers_length(inner))?)?;
    head.subject().map(str::to_owned)
}

/// A text whose lines were broken where they ended with a blank.
fn unflowed(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    for line in text.lines() {
        let line = line.strip_prefix(' ').unwrap_or(line);
        // The line before a signature ends with a blank, too.
        match line.ends_with(' ') && line != "-- " {
            true => written.push_str(line),
            false => {
                written.push_str(line);
                written.push('\n');
            }
        }
    }
    written
}

fn shown_size(bytes: usize) -> String {
    match bytes {
        0..1_024 => format!("{bytes} bytes"),
        1_024..1_048_576 => format!("{} KiB", bytes.div_ceil(1_024)),
        _ => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_flow_are_joined() {
        assert_eq!(unflowed("a b \nc\n\n-- \nme\n  indented"), "a b c\n\n-- \nme\n indented\n");
    }

    #[test]
    fn sizes_are_shown_as_people_say_them() {
        assert_eq!([0, 1_024, 1_500_000].map(shown_size), ["0 bytes", "1 KiB", "1.4 MiB"]);
    }
}
