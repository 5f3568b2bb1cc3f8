//! Any text is read or refused.

use a2c_computer::config::ComputerConfig;

proptest::proptest! {
    #[test]
    fn no_text_is_too_strange_to_be_read(text in ".{0,200}") {
        let _ = ComputerConfig::parse(&text);
        let _ = ComputerConfig::parse_toml(&text);
    }

    #[test]
    fn no_part_of_a_file_is_too_strange_to_be_read(
        start in 0_usize..400, length in 0_usize..40, new in "[\\[\\]{}:,\"0-9a-z/*\\\\\\n]{0,6}"
    ) {
        let whole = r#"{"inputs": [{"type": "pickString", "id": "ü", "options": ["a"], "default": "a"}], // x
            "servers": {"a": {"command": "x", "args": ["1", "2"], "env": {"A": "b"}, "tool_meta": {"t": {"alias": "y"}}},
            "b": {"type": "sse", "server_parameters": {"url": "https://h/${input:x}", "timeout": "PT5S"}}}}"#;
        let start = whole.floor_char_boundary(start.min(whole.len()));
        let end = whole.floor_char_boundary((start + length).min(whole.len())).max(start);
        let text = format!("{}{new}{}", &whole[..start], &whole[end..]);
        if let Ok(config) = ComputerConfig::parse(&text) {
            proptest::prop_assert_eq!(ComputerConfig::parse(&config.to_json()), Ok(config));
        }
    }
}
