//! One file name for each document: readable, safe on every file system, and unique to the document.

use std::fmt::Write as _;

use a2c_protocol::uri::DpeDocumentUri;
use sha2::{Digest, Sha256};

/// How many characters of a host and of a doc-ref are shown; the hash stands for the rest.
const HOST_CHARS: usize = 48;
const DOC_REF_CHARS: usize = 80;

/// A name for a document, without an extension: `host--doc-ref-hash`, of ASCII letters, digits, `-`, `_` and inner dots.
pub(crate) fn file_name_of(uri: &DpeDocumentUri) -> String {
    format!("{}--{}", host_of(uri), doc_ref_of(uri))
}

/// The part of a name that shows the host.
pub(crate) fn host_of(uri: &DpeDocumentUri) -> String {
    slug(&uri.host().as_str().to_ascii_lowercase(), HOST_CHARS)
}

/// The part of a name that shows the doc-ref; its hash covers the host too.
pub(crate) fn doc_ref_of(uri: &DpeDocumentUri) -> String {
    format!("{}-{}", slug(&uri.doc_ref(), DOC_REF_CHARS), hash_of(uri))
}

/// SHA-256 in hexadecimal digits.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// 128 bits, so that two documents cannot be made to clash. The length of each segment counts: `a/b` of two segments
/// is not `a/b` of one.
fn hash_of(uri: &DpeDocumentUri) -> String {
    let mut hash = Sha256::new();
    let mut add = |text: &str| {
        hash.update((text.len() as u64).to_be_bytes());
        hash.update(text);
    };
    add(&uri.host().as_str().to_ascii_lowercase());
    uri.segments().iter().for_each(|segment| add(segment));
    hex(&hash.finalize()[..16])
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        write!(text, "{byte:02x}").expect("writing to a String cannot fail");
        text
    })
}

/// A text in characters that every file system takes. It is never empty and has no dot at its ends, so it is not `.` or
/// `..`, not hidden, and not refused by Windows.
fn slug(text: &str, limit: usize) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' };
    let shown: String = text.chars().take(limit).map(plain).collect();
    let shown = shown.trim_matches(['.', '-']);
    if shown.is_empty() { "document".to_owned() } else { shown.to_owned() }
}

#[cfg(test)]
mod tests {
    use std::path::{Component, Path};

    use a2c_protocol::uri::Host;
    use proptest::prelude::*;

    use super::*;

    fn is_safe(name: &str) -> bool {
        let components: Vec<_> = Path::new(name).components().collect();
        matches!(components[..], [Component::Normal(_)])
            && name.len() <= 200
            && !name.starts_with(['.', '-'])
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
    }

    #[test]
    fn hostile_references_become_plain_names() {
        for (uri, begins) in [
            ("dpe://com.example/report", "com.example--report-"),
            ("dpe://h/..", "h--document-"),
            ("dpe://h/%2E%2E%2F%2E%2E%2Fetc%2Fpasswd", "h--etc-passwd-"),
            ("dpe://h/a%2Fb", "h--a-b-"),
            ("dpe://h/a%00b", "h--a-b-"),
            ("dpe://h/%E6%8A%A5%E5%91%8A", "h--document-"),
            ("dpe://h/C:%5Cwindows", "h--C--windows-"),
        ] {
            let Ok(parsed) = DpeDocumentUri::parse(uri) else {
                // A URI that is refused needs no name.
                continue;
            };
            let name = file_name_of(&parsed.uri);
            assert!(is_safe(&name) && name.starts_with(begins), "{uri}: {name}");
        }
        let long = DpeDocumentUri::new(Host::new("h").unwrap(), ["x".repeat(4000)]).unwrap();
        assert!(is_safe(&file_name_of(&long)));
    }

    #[test]
    fn the_spelling_of_a_host_does_not_matter_and_the_cut_between_segments_does() {
        let name = |uri: &str| file_name_of(&DpeDocumentUri::parse(uri).unwrap().uri);
        assert_eq!(name("dpe://Com.Example/a"), name("dpe://com.example/a"));
        assert_ne!(name("dpe://h/a/b"), name("dpe://h/a%2Fb"));
        assert_ne!(name("dpe://h/A"), name("dpe://h/a"));
    }

    proptest! {
        #[test]
        fn any_two_documents_have_two_safe_names(
            one in prop::collection::vec("\\PC{1,12}|[./%\\\\\0-\u{20}]{1,6}", 1..4),
            other in prop::collection::vec("\\PC{1,12}|[./%\\\\\0-\u{20}]{1,6}", 1..4),
        ) {
            let host = || Host::new("com.example.docs").unwrap();
            let one = DpeDocumentUri::new(host(), one);
            let other = DpeDocumentUri::new(host(), other);
            prop_assume!(one.is_ok() && other.is_ok());
            let (one, other) = (one.unwrap(), other.unwrap());
            prop_assert!(is_safe(&file_name_of(&one)), "{}", file_name_of(&one));
            prop_assert_eq!(file_name_of(&one).to_lowercase() == file_name_of(&other).to_lowercase(), one == other);
        }
    }
}
