//! Any text is a `dpe://` URI or is refused, in Finder context and in document form, and what was read can be written
//! and read again.

use a2c_protocol::uri::{DpeDocumentUri, DpeUri, MAX_URI_BYTES};

/// Reads a text as both kinds of URI.
pub(crate) fn check(text: &str) {
    check_finder(text);
    check_document(text);
}

fn check_finder(text: &str) {
    match DpeUri::parse(text) {
        Ok(parsed) => {
            let written = parsed.uri.to_string();
            assert!(written.len() <= MAX_URI_BYTES && written.bytes().all(|byte| byte.is_ascii_graphic()));
            let again = DpeUri::parse(&written).expect("what was written can be read");
            assert!(again.dropped.is_empty());
            assert_eq!(again.uri, parsed.uri);
            assert_eq!(again.uri.to_string(), written);
            if let Some(document) = parsed.uri.document() {
                assert_eq!(document.level().number(), 1);
                assert_eq!(document.to_string().parse(), Ok(document));
            }
        }
        Err(error) => assert!(error.to_string().len() < 1000),
    }
}

fn check_document(text: &str) {
    let strict = DpeDocumentUri::parse_strict(text);
    match DpeDocumentUri::parse(text) {
        Ok(parsed) => {
            assert_eq!(strict.is_ok(), parsed.dropped.is_empty());
            let written = parsed.uri.to_string();
            assert!(written.len() <= MAX_URI_BYTES);
            let again = DpeDocumentUri::parse_strict(&written).expect("what was written can be read");
            assert_eq!(again, parsed.uri);
            assert_eq!(again.to_string(), written);
            let in_finder = parsed.uri.in_finder_context();
            assert!(in_finder.is_ok() || parsed.uri.segments().len() > 1);
        }
        Err(error) => {
            assert_eq!(strict, Err(error.clone()));
            assert!(!error.reason().is_empty() && error.to_string().len() < 1000);
        }
    }
}
