//! The parts of a message, as far as their headers and boundaries tell; nothing is decoded.
//!
//! The parser of messages would follow parts within parts as deep as a file says, and search the rest of the file for every
//! boundary that is missing. The tree is built here, within bounds; the parser reads headers.

use std::borrow::Cow;
use std::ops::Range;

use mail_parser::decoders::base64::base64_decode;
use mail_parser::decoders::charsets::map::charset_decoder;
use mail_parser::decoders::quoted_printable::quoted_printable_decode;
use mail_parser::{Message, MessageParser, MimeHeaders};
use memchr::memmem;

/// How deep parts stand in each other.
const DEPTH: usize = 16;

/// The parts of one message; those after them are not read.
pub(super) const PARTS: usize = 1_000;

/// What a part is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum MimeNode {
    /// A part that holds no others.
    Leaf(MimeLeaf),
    /// Parts one after the other.
    Sequence(Vec<MimeNode>),
    /// Forms of one content, from the plainest to the richest.
    Alternatives(Vec<MimeNode>),
    /// What only its receiver can read.
    Encrypted,
}

/// A part that holds no others: where it is, and what its headers say.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct MimeLeaf {
    /// Its headers and its body.
    pub(super) whole: Range<usize>,
    pub(super) body: Range<usize>,
    /// In lower case.
    pub(super) media_type: String,
    pub(super) name: Option<String>,
    /// What HTML calls it.
    pub(super) content_id: Option<String>,
    /// Whether it is declared as a file beside the text.
    pub(super) attached: bool,
    /// Whether a blank at the end of a line means that the line goes on.
    pub(super) flowed: bool,
    charset: Option<String>,
    encoding: TransferEncoding,
}

/// How the bytes of a part are written.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum TransferEncoding {
    #[default]
    AsTheyAre,
    Base64,
    QuotedPrintable,
}

impl TransferEncoding {
    fn of_name(name: &str) -> Self {
        match name.trim().to_ascii_lowercase().as_str() {
            "base64" => Self::Base64,
            "quoted-printable" => Self::QuotedPrintable,
            _ => Self::AsTheyAre,
        }
    }
}

impl MimeLeaf {
    /// Its bytes, decoded; as they are where they are not written as its headers say.
    pub(super) fn decoded<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        let body = bytes.get(self.body.clone()).unwrap_or_default();
        let decoded = match self.encoding {
            TransferEncoding::AsTheyAre => None,
            TransferEncoding::Base64 => base64_decode(body),
            TransferEncoding::QuotedPrintable => quoted_printable_decode(body),
        };
        decoded.map_or(Cow::Borrowed(body), Cow::Owned)
    }

    /// Its text. Plain ASCII is what many programs declare that write something else.
    pub(super) fn text(&self, bytes: &[u8]) -> String {
        let decoded = self.decoded(bytes);
        let charset = self.charset.as_deref().map(str::trim).filter(|name| !name.eq_ignore_ascii_case("us-ascii"));
        match charset.and_then(|name| charset_decoder(name.as_bytes())) {
            Some(decode) => decode(&decoded),
            None => crate::encoding::decoded(&decoded).into_owned(),
        }
    }

    /// The number of its bytes when it is decoded; close to it where lines are quoted.
    pub(super) fn size(&self, bytes: &[u8]) -> usize {
        let body = bytes.get(self.body.clone()).unwrap_or_default();
        if self.encoding != TransferEncoding::Base64 {
            return body.len();
        }
        let signs = body.iter().filter(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/')).count();
        signs * 3 / 4
    }
}

/// The parts of a message.
pub(super) fn mime_tree(bytes: &[u8]) -> MimeNode {
    node(bytes, 0..bytes.len(), 0, "text/plain", &mut 0)
}

fn node(bytes: &[u8], whole: Range<usize>, depth: usize, default_type: &str, count: &mut usize) -> MimeNode {
    *count += 1;
    let part = bytes.get(whole.clone()).unwrap_or_default();
    let body = whole.start + headers_length(part)..whole.end;
    let head = bytes.get(whole.start..body.start).and_then(|head| MessageParser::new().parse_headers(head));
    let facts = head.as_ref().map(|head| PartFacts::read(head, default_type));
    let facts = facts.unwrap_or_else(|| PartFacts { media_type: default_type.to_owned(), ..PartFacts::default() });
    match facts.boundary.as_deref().filter(|boundary| !boundary.is_empty()) {
        _ if facts.media_type == "multipart/encrypted" || facts.is_sealed => MimeNode::Encrypted,
        Some(boundary) if facts.media_type.starts_with("multipart/") && depth < DEPTH => {
            let of_digest = facts.media_type == "multipart/digest";
            let default_type = if of_digest { "message/rfc822" } else { "text/plain" };
            let mut parts = Vec::new();
            for part in divided(bytes, body, boundary.as_bytes()) {
                if *count >= PARTS {
                    break;
                }
                parts.push(node(bytes, part, depth + 1, default_type, count));
            }
            match facts.media_type == "multipart/alternative" {
                true => MimeNode::Alternatives(parts),
                false => MimeNode::Sequence(parts),
            }
        }
        _ => MimeNode::Leaf(MimeLeaf { whole, body, ..facts.leaf() }),
    }
}

/// What the headers of a part say about it.
#[derive(Default)]
struct PartFacts {
    media_type: String,
    boundary: Option<String>,
    name: Option<String>,
    content_id: Option<String>,
    attached: bool,
    flowed: bool,
    charset: Option<String>,
    encoding: TransferEncoding,
    /// Whether it is encrypted as one part.
    is_sealed: bool,
}

impl PartFacts {
    fn read(head: &Message<'_>, default_type: &str) -> Self {
        let Some(part) = head.parts.first() else { return Self::default() };
        let kind = part.content_type();
        let attribute = |name: &str| kind.and_then(|kind| kind.attribute(name)).map(str::to_owned);
        let media_type = kind.map(|kind| format!("{}/{}", kind.ctype(), kind.subtype().unwrap_or("octet-stream")));
        let media_type = media_type.map_or_else(|| default_type.to_owned(), |kind| kind.to_ascii_lowercase());
        let is_sealed = media_type.ends_with("pkcs7-mime")
            && attribute("smime-type").is_none_or(|kind| kind.eq_ignore_ascii_case("enveloped-data"));
        Self {
            boundary: attribute("boundary"),
            flowed: attribute("format").is_some_and(|format| format.eq_ignore_ascii_case("flowed")),
            name: part.attachment_name().map(str::to_owned).filter(|name| !name.trim().is_empty()),
            content_id: part.content_id().map(str::to_owned),
            attached: part.content_disposition().is_some_and(|one| one.ctype().eq_ignore_ascii_case("attachment")),
            charset: attribute("charset"),
            encoding: part.content_transfer_encoding().map(TransferEncoding::of_name).unwrap_or_default(),
            media_type,
            is_sealed,
        }
    }

    fn leaf(self) -> MimeLeaf {
        let Self { media_type, name, content_id, attached, flowed, charset, encoding, .. } = self;
        MimeLeaf { media_type, name, content_id, attached, flowed, charset, encoding, ..MimeLeaf::default() }
    }
}

/// How long the headers of a part are, with the empty line after them.
pub(super) fn headers_length(part: &[u8]) -> usize {
    let mut start = 0;
    for end in memchr::memchr_iter(b'\n', part) {
        if matches!(&part[start..end], b"" | b"\r") {
            return end + 1;
        }
        start = end + 1;
    }
    part.len()
}

/// The parts between the lines of a boundary. Where the last line is missing, the last part goes to the end.
fn divided<'a>(
    bytes: &'a [u8],
    body: Range<usize>,
    boundary: &'a [u8],
) -> impl Iterator<Item = Range<usize>> + use<'a> {
    let text = bytes.get(body.clone()).unwrap_or_default();
    let line = [b"--", boundary].concat();
    let finder = memmem::Finder::new(&line).into_owned();
    let (mut at, mut start) = (0, None::<usize>);
    let mut over = false;
    std::iter::from_fn(move || {
        while !over {
            let Some(found) = text.get(at..).and_then(|rest| finder.find(rest)).map(|found| at + found) else { break };
            at = found + line.len();
            let begins_line = found == 0 || text[found - 1] == b'\n';
            let rest = text.get(at..).unwrap_or_default();
            let ends = rest.starts_with(b"--");
            // A boundary that another one begins with is no boundary.
            if !begins_line || !(ends || rest.first().is_none_or(u8::is_ascii_whitespace)) {
                continue;
            }
            let length = memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
            let former = start.replace(at + length);
            over = ends;
            if let Some(former) = former {
                // The line break before a boundary belongs to it.
                let before = &text[former.min(found)..found];
                let blank = before.len() - before.strip_suffix(b"\n").unwrap_or(before).len();
                let blank = blank + usize::from(before.ends_with(b"\r\n"));
                return Some(body.start + former.min(found)..body.start + found - blank);
            }
        }
        let last = start.take().filter(|start| !over && *start < text.len())?;
        over = true;
        Some(body.start + last..body.end)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(node: &MimeNode, text: &str) -> String {
        let all = |nodes: &[MimeNode]| nodes.iter().map(|node| shown(node, text)).collect::<Vec<_>>().join(" ");
        match node {
            MimeNode::Leaf(leaf) => format!("{}={:?}", leaf.media_type, &text[leaf.body.clone()]),
            MimeNode::Sequence(nodes) => format!("({})", all(nodes)),
            MimeNode::Alternatives(nodes) => format!("[{}]", all(nodes)),
            MimeNode::Encrypted => "encrypted".to_owned(),
        }
    }

    #[test]
    fn parts_stand_between_boundaries() {
        for (text, expected) in [
            ("Subject: x\n\nhello", "text/plain=\"hello\""),
            ("hello", "text/plain=\"\""),
            (
                "Content-Type: multipart/mixed; boundary=\"a b\"\r\n\r\npreamble\r\n--a b\r\n\r\none\r\n--a b  \r\nContent-Type: text/HTML\r\n\r\n\r\ntwo\r\n--a b--\r\nafter",
                "(text/plain=\"one\" text/html=\"\\r\\ntwo\")",
            ),
            (
                "Content-Type: multipart/alternative; boundary=x\n\n--xy\n--x\n\na\n--x\n\nb --x\n--xx\nc",
                "[text/plain=\"a\" text/plain=\"b --x\\n--xx\\nc\"]",
            ),
            (
                "Content-Type: multipart/digest; boundary=x\n\n--x\n\nSubject: in\n\nb\n--x--",
                "(message/rfc822=\"Subject: in\\n\\nb\")",
            ),
            ("Content-Type: multipart/mixed; boundary=x\n\nnothing", "()"),
            ("Content-Type: multipart/encrypted; boundary=x\n\n--x\n\n--x--", "encrypted"),
        ] {
            assert_eq!(shown(&mime_tree(text.as_bytes()), text), expected, "{text}");
        }
    }

    #[test]
    fn the_size_of_a_part_is_known_without_decoding_it() {
        let text = "Content-Transfer-Encoding: base64\n\naGVs\nbG8=\n";
        let MimeNode::Leaf(leaf) = mime_tree(text.as_bytes()) else { panic!("a leaf") };
        assert_eq!((leaf.size(text.as_bytes()), leaf.text(text.as_bytes())), (5, "hello".to_owned()));
    }

    #[test]
    fn texts_are_decoded_as_their_headers_say_or_as_they_look() {
        for (headers, body, expected) in [
            (
                "Content-Type: text/plain; charset=gb2312\nContent-Transfer-Encoding: quoted-printable",
                "=D6=D0=\n=CE=C4",
                "中文",
            ),
            ("Content-Type: text/plain; charset=us-ascii", "中文", "中文"),
            ("Content-Type: text/plain; charset=unheard-of", "é", "é"),
            ("Content-Transfer-Encoding: base64", "!!", "!!"),
        ] {
            let text = format!("{headers}\n\n{body}");
            let MimeNode::Leaf(leaf) = mime_tree(text.as_bytes()) else { panic!("a leaf") };
            assert_eq!(leaf.text(text.as_bytes()), expected, "{headers}");
        }
    }
}
