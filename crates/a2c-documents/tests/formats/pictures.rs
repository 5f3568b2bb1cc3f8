//! Pictures.

use a2c_documents::model::{ElementContent, UnreadableCode};

use crate::{markdown, open, open_bytes, written_by};

#[test]
fn a_picture_is_one_element_with_its_size_and_its_bytes() {
    let folder = written_by("picture_files.py");
    for (name, mime) in [
        ("plain.png", "image/png"),
        ("plain.gif", "image/gif"),
        ("plain.webp", "image/webp"),
        ("plain.bmp", "image/bmp"),
        ("plain.tiff", "image/tiff"),
        ("plain.avif", "image/avif"),
    ] {
        let path = folder.path().join(name);
        let mut document = open(&path);
        let page = document.page(0).unwrap();
        let [element] = page.elements.as_slice() else { panic!("{name}: {:?}", page.elements) };
        let ElementContent::Image { mime_type, width, height, .. } = &element.content else { panic!("an image") };
        assert_eq!((mime_type.as_deref(), *width, *height), (Some(mime), Some(60), Some(40)), "{name}");
        assert_eq!(document.blob(element).unwrap(), Some(std::fs::read(&path).unwrap()));
        assert_eq!((page.title.as_str(), document.title()), (name, "plain"));
    }
    assert!(markdown(&mut open(&folder.path().join("plain.ico"))).starts_with("[图片: icon, "));
}

#[test]
fn what_the_camera_noted_is_told() {
    let folder = written_by("picture_files.py");
    for (name, format) in [("camera.jpg", "JPEG"), ("camera.webp", "WebP")] {
        let mut document = open(&folder.path().join(name));
        assert_eq!(document.properties().created.as_deref(), Some("2024-03-15T10:30:00"));
        assert_eq!(document.properties().author.as_deref(), Some("Ada"));
        let page = document.page(0).unwrap();
        let ElementContent::Image { alt, description, width, height, .. } = &page.elements[0].content else {
            panic!("an image")
        };
        assert_eq!((alt.as_deref(), *width, *height), (Some("A blue field"), Some(40), Some(60)), "as it is shown");
        let expected = format!(
            "{format}, 40 × 60 pixels, taken 2024-03-15T10:30:00 with Canon EOS 40D, stored turned left by 90°"
        );
        assert_eq!(description.as_deref(), Some(expected.as_str()));
    }
}

#[test]
fn a_drawing_has_words() {
    let svg =
        "<svg xmlns='http://www.w3.org/2000/svg' width='30' height='20'><title>Plan</title><text>Kitchen</text></svg>";
    let mut document = open_bytes("plan.svg", svg.as_bytes()).unwrap();
    assert_eq!(document.title(), "Plan");
    let page = document.page(0).unwrap();
    assert_eq!(page.elements[1].content, ElementContent::text("Kitchen"));
    assert_eq!(document.blob(&page.elements[0]).unwrap().as_deref(), Some(svg.as_bytes()));
}

#[test]
fn broken_pictures_are_refused_with_a_reason() {
    for (name, bytes) in [
        ("a.png", &b"\x89PNG\r\n\x1a\n"[..]),
        ("a.jpg", b"\xff\xd8\xff\xe1\xff\xff"),
        ("a.gif", b"no picture"),
        ("a.tiff", b"II*\0\xff\xff\xff\x7f"),
        ("a.heic", b"\0\0\0\x18ftypheic\0\0\0\0\0\0\0\x01meta"),
        ("a.svg", b"<html></html>"),
        ("a.svg", b"<svg><g></svg"),
    ] {
        let problem = open_bytes(name, bytes).err().unwrap_or_else(|| panic!("{name} was read"));
        assert_eq!(problem.code, UnreadableCode::Corrupt, "{problem}");
    }
}

#[test]
fn a_drawing_with_masses_of_words_keeps_some_of_them() {
    let svg = format!("<svg>{}</svg>", "<text>many words in one line</text>".repeat(100_000));
    let mut document = open_bytes("a.svg", svg.as_bytes()).unwrap();
    assert!(markdown(&mut document).len() < 300_000);
    let deep = open_bytes("a.svg", "<svg>".repeat(10_000).as_bytes()).err().unwrap();
    assert_eq!(deep.code, UnreadableCode::TooLarge);
}
