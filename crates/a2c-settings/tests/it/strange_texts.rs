//! Texts that a parser meets by accident.

use a2c_settings::{Field, FileFormat, Node, Report, SettingsDocument};
use proptest::prelude::*;

/// Asks every value for every type.
fn ask(field: &Field<'_>, report: &mut Report<'_>) {
    field.string(report);
    field.boolean(report);
    field.integer(1..=9_u8, report);
    field.clamped(1..=9_i64, report);
    field.number(0.0..=1.0, report);
    field.choice(&[("a", 1), ("b", 2)], report);
    match field.value.node {
        Node::List(_) => field.list(report).into_iter().flatten().for_each(|element| ask(&element, report)),
        Node::Object(_) => {
            if let Some(object) = field.object(report) {
                object.only(&[&["a"]], report);
                object.keys().for_each(|key| ask(&key.field, report));
            }
        }
        _ => {}
    }
}

fn read(text: &str, format: FileFormat) {
    if let Ok(document) = SettingsDocument::parse(text, format) {
        let mut report = Report::new(document.text());
        ask(&document.root(), &mut report);
        for problem in report.finish().problems {
            assert!(!problem.what.contains("s3cret"), "{problem}");
        }
    }
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in ".{0,200}") {
        read(&text, FileFormat::Json);
        read(&text, FileFormat::Toml);
    }

    #[test]
    fn a_damaged_file_is_read_or_refused(
        start in 0_usize..120, length in 0_usize..20, new in "[\\[\\]{}:,=\"0-9a-z/*#\\\\\\n]{0,6}"
    ) {
        for (whole, format) in [
            ("{\"a\": [1, 2.5, -3], // ü\n \"b\": {\"c\": \"s3cret\", \"d\": null}, \"c\": true}", FileFormat::Json),
            ("a = [1, 2.5, -3] # ü\nc = true\n[b]\nc = \"s3cret\"\nd = 1979-05-27\n[[e]]\nf = {g = 1}\n", FileFormat::Toml),
        ] {
            let start = whole.floor_char_boundary(start.min(whole.len()));
            let end = whole.floor_char_boundary((start + length).min(whole.len())).max(start);
            read(&format!("{}{new}{}", &whole[..start], &whole[end..]), format);
        }
    }
}
