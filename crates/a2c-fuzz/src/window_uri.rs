//! Any text is a `window://` URI or is refused, and what was read can be written and read again.

use a2c_protocol::uri::{MAX_URI_BYTES, WindowUri};

/// Reads a text as a URI of a window.
pub(crate) fn check(text: &str) {
    match WindowUri::parse(text) {
        Ok(parsed) => {
            let written = parsed.uri.to_string();
            assert!(written.len() <= MAX_URI_BYTES && written.bytes().all(|byte| byte.is_ascii_graphic()));
            let again = WindowUri::parse(&written).expect("what was written can be read");
            assert!(again.dropped.is_empty());
            assert_eq!(again.uri, parsed.uri);
            assert_eq!(again.uri.host().as_str(), parsed.uri.host().as_str());
            assert_eq!(again.uri.to_string(), written);
            let rebuilt = WindowUri::new(parsed.uri.host().clone(), parsed.uri.segments().iter().cloned());
            assert_eq!(rebuilt.as_ref(), Ok(&parsed.uri));
        }
        Err(error) => assert!(error.to_string().len() < 1000),
    }
}
