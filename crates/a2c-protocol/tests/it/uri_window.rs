//! `window://` as a Rust value: what the vectors cannot say.

use a2c_protocol::uri::{Flaw, Host, MAX_URI_BYTES, WindowUri};

fn host(text: &str) -> Host {
    Host::new(text).expect("a host")
}

#[test]
fn building_encodes_each_segment() {
    #[track_caller]
    fn check(segments: &[&str], expected: Result<&str, Flaw>) {
        let built = WindowUri::new(host("com.example"), segments.iter().copied());
        let text = built.map(|uri| uri.to_string()).map_err(|error| error.flaw);
        assert_eq!(text.as_deref(), expected.as_deref(), "{segments:?}");
    }
    check(&[], Ok("window://com.example"));
    check(&["main", "tab1"], Ok("window://com.example/main/tab1"));
    check(&["c/d", "100%", "a?b#c"], Ok("window://com.example/c%2Fd/100%25/a%3Fb%23c"));
    check(&[".."], Ok("window://com.example/%2E%2E"));
    check(&["a", ""], Err(Flaw::EmptySegment));
    let room = MAX_URI_BYTES - "window://com.example/".len();
    let longest = "a".repeat(room);
    check(&[&longest], Ok(&format!("window://com.example/{longest}")));
    check(&[&format!("{longest}a")], Err(Flaw::TooLong));
}

#[test]
fn the_same_window_in_another_spelling_is_equal() {
    let spellings =
        ["window://com.example/c%2Fd", "WINDOW://Com.Example/c%2fd/", "window://com.example/%63%2Fd?priority=1#x"];
    let [first, second, third] = spellings.map(|text| text.parse::<WindowUri>().expect("a window"));
    assert_eq!(first, second);
    assert_eq!(first, third);
    assert_ne!(first, "window://com.example/c/d".parse().expect("a window"));
}

#[test]
fn it_travels_as_text() {
    let uri: WindowUri = serde_json::from_str(r#""window://h/a%20b?dropped""#).expect("a window");
    assert_eq!(serde_json::to_string(&uri).expect("text"), r#""window://h/a%20b""#);
    let escaped: WindowUri = serde_json::from_str(r#""window:\/\/h\/a%20b""#).expect("a window");
    assert_eq!(uri, escaped);
    let refused = serde_json::from_str::<WindowUri>(r#""window://""#).expect_err("no host");
    assert!(refused.to_string().contains("has no host"), "{refused}");
    assert!(serde_json::from_str::<WindowUri>("7").is_err());
}

#[test]
fn the_message_says_what_is_wrong_and_what_to_write() {
    let error = WindowUri::parse("window://h/100%").expect_err("a broken escape");
    assert_eq!(
        error.to_string(),
        "invalid window:// URI: `window://h/100%` has a `%` that is not followed by two hexadecimal digits; \
         write `window://host/segment/…` with each segment percent-encoded"
    );
    let endless = WindowUri::parse(&"x".repeat(1_000_000)).expect_err("too long");
    assert!(endless.to_string().len() < 500, "messages stay short");
}
