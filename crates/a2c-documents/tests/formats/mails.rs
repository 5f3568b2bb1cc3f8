//! E-mails.

use a2c_documents::model::{AnnotationKind, ElementContent, UnreadableCode};

use crate::{markdown, open, open_bytes, pages, written_by};

#[test]
fn a_message_has_its_headers_its_text_and_its_attachments() {
    let folder = written_by("mail_files.py");
    let mut document = open(&folder.path().join("rich.eml"));
    assert_eq!(document.title(), "Quarterly report 季度报告");
    assert_eq!(document.properties().author.as_deref(), Some("Jörg Müller <joerg@example.com>"));
    assert_eq!(document.properties().created.as_deref(), Some("2024-03-15T10:30:00+02:00"));
    assert_eq!(markdown(&mut document), include_str!("mail.md").trim_end());
    let page = document.page(0).unwrap();
    let image = page.elements.iter().find(|element| matches!(element.content, ElementContent::Image { .. })).unwrap();
    let ElementContent::Image { alt, width, height, .. } = &image.content else { panic!("an image") };
    assert_eq!((alt.as_deref(), *width, *height), (Some("A chart"), Some(30), Some(20)));
    assert!(document.blob(image).unwrap().unwrap().starts_with(b"\x89PNG"));
    let files: Vec<_> = page
        .elements
        .iter()
        .filter(|element| {
            matches!(element.content, ElementContent::Annotation { kind: AnnotationKind::Attachment, .. })
        })
        .map(|element| document.blob(element).unwrap().unwrap())
        .collect();
    assert_eq!(files[0], b"a;b\n\xe9;2\n", "as they were, whatever their charset");
    assert!(String::from_utf8_lossy(&files[1]).contains("Inside."));
}

#[test]
fn charsets_are_decoded_and_layout_loses_to_plain_text() {
    let folder = written_by("mail_files.py");
    let plain = markdown(&mut open(&folder.path().join("plain.eml")));
    assert!(plain.ends_with("你好，\n\n这是一封纯文本邮件。\n\n- 第一\n- 第二"), "{plain}");
    let layout = markdown(&mut open(&folder.path().join("layout.eml")));
    assert!(layout.ends_with("Short and plain."), "{layout}");
}

#[test]
fn encrypted_messages_say_so() {
    let text = "Subject: s\nContent-Type: multipart/encrypted; boundary=x\n\n--x\n\na\n--x--\n";
    let mut document = open_bytes("a.eml", text.as_bytes()).unwrap();
    let page = document.page(0).unwrap();
    assert_eq!(page.elements[1].metadata.error.as_deref(), Some("encrypted"));
    assert_eq!(open_bytes("a.eml", &b""[..]).err().unwrap().code, UnreadableCode::Corrupt);
}

#[test]
fn parts_in_parts_and_masses_of_parts_are_bounded() {
    let messages = "Content-Type: message/rfc822\n\n".repeat(50_000);
    let nested: String =
        (0..2_000).map(|n| format!("Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n")).collect();
    let many = format!("Content-Type: multipart/mixed; boundary=b\n\n{}", "--b\n\nx\n".repeat(100_000));
    let missing = "Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: multipart/mixed; boundary=none\n\n"
        .repeat(10_000);
    let headers = format!("From: {}\n\n", "a@b, ".repeat(200_000));
    for text in [messages, nested, many, missing, headers] {
        let start = std::time::Instant::now();
        let mut document = open_bytes("a.eml", text.as_bytes()).unwrap();
        let elements: usize = pages(&mut document).iter().map(|page| page.elements.len()).sum();
        assert!(elements <= 1_100, "{elements} elements of {}", &text[..40]);
        assert!(start.elapsed().as_secs() < 20, "{:?} for {}", start.elapsed(), &text[..40]);
    }
}
