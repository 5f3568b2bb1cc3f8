//! Rich text.

use a2c_documents::model::{ElementCategory, ElementContent, UnreadableCode};

use crate::{markdown, open, open_bytes, pages, written_by};

fn read(text: &str) -> String {
    markdown(&mut open_bytes("a.rtf", text.as_bytes()).unwrap())
}

#[test]
fn a_text_of_pandoc_is_read_with_its_structure() {
    let folder = written_by("open_files.py");
    let mut document = open(&folder.path().join("pandoc.rtf"));
    assert_eq!(markdown(&mut document), include_str!("pandoc_rtf.md").trim_end());
    let page = document.page(2).unwrap();
    let image = page.elements.iter().find(|element| element.content.category() == ElementCategory::Image).unwrap();
    let ElementContent::Image { width, mime_type, .. } = &image.content else { panic!("an image") };
    assert_eq!((*width, mime_type.as_deref()), (Some(53), Some("image/png")));
    assert_eq!(document.blob(image).unwrap(), Some(std::fs::read(folder.path().join("box.png")).unwrap()));
}

#[test]
fn code_pages_and_unicode_are_decoded() {
    for (text, expected) in [
        (r"{\rtf1\ansi\ansicpg1250 za\'bf\'f3\'b3\'e6}", "zażółć"),
        (r"{\rtf1\ansi{\fonttbl{\f0\fcharset134 SimSun;}{\f1\fcharset204 Arial;}}\f0 \'d6\'d0\f1 \'cf}", "中П"),
        (r"{\rtf1\uc1 a\u20013 ?b\uc2\u-10179 ??\u-8704 ??c\uc0\u233 d}", "a中b😀céd"),
        (r"{\rtf1\uc1\u233\'e9x\~y\_z\-w \{\}\\}", "éx\u{a0}y\u{2011}zw {}\\"),
        (r"{\rtf1 {\upr{no}{\*\ud yes}}}", "yes"),
    ] {
        assert_eq!(read(text), expected, "{text}");
    }
}

#[test]
fn styles_lists_and_notes_are_known() {
    let text = r#"{\rtf1\ansi{\stylesheet{\s1\outlinelevel0 heading 1;}{\s2 Source Code;}{\*\cs3 strong;}}{\info{\title The title}{\author Ada}{\keywords a, b}{\creatim\yr2024\mo3\dy15\hr10\min30}}
{\header\pard above\par}{\footer\pard below\par}
\pard\s1\b Chapter\par
\pard\plain text{\super\chftn{\footnote\pard\plain a note\par}} and {\v hidden}{\deleted gone}shown{\*\atnauthor Bo}{\*\annotation why?}\par
{\listtext\pard 1.\tab}\pard\ls1\ilvl0 one\par{\listtext\pard a)\tab}\pard\ls1\ilvl1 inner\par{\listtext\pard 2.\tab}\pard\ls1\ilvl0 two\par
\pard\s2 let x;\par\pard\brdrb\brdrs\par\page\pard next{\field{\*\fldinst HYPERLINK "https://e.com/"}{\fldrslt link}}\par}"#;
    let mut document = open_bytes("a.rtf", text.as_bytes()).unwrap();
    assert_eq!(document.title(), "The title");
    assert_eq!(document.properties().created.as_deref(), Some("2024-03-15T10:30:00"));
    assert_eq!(document.properties().keywords, ["a", "b"]);
    assert_eq!(
        markdown(&mut document),
        "[header: above]\n\n# Chapter\n\ntext[1] and shown\n\n1. one\n   - a) inner\n2. two\n\n```\nlet x;\n```\n\n---\n\n[footer: below]\n\n\
         [annotation: a note]\n\n[annotation: Bo: why?]\n\n=====\n\nnext[link](https://e.com/)"
    );
}

#[test]
fn merged_cells_are_told() {
    let text = r"{\rtf1\trowd\trhdr\cellx1000\cellx3000\pard\intbl Name\cell wide\cell\row\trowd\clvmgf\cellx1000\cellx2000\cellx3000 a\cell b\cell c\cell\row
\trowd\clvmrg\cellx1000\cellx2000\cellx3000\cell d\cell e\cell\row\pard after\par}";
    let mut document = open_bytes("a.rtf", text.as_bytes()).unwrap();
    let page = document.page(0).unwrap();
    assert_eq!(page.elements[0].metadata.merges, ["B1:C1", "A2:A3"]);
    assert_eq!(
        markdown(&mut document),
        "| Name | wide |  |\n| --- | --- | --- |\n| a | b | c |\n|  | d | e |\n\nafter"
    );
}

#[test]
fn broken_files_are_refused_or_kept_up_to_the_mistake() {
    assert_eq!(open_bytes("a.rtf", &b"hello"[..]).err().unwrap().code, UnreadableCode::Corrupt);
    let deep = format!("{{\\rtf1 kept\\par{}", "{".repeat(100_000));
    let mut document = open_bytes("a.rtf", deep.as_bytes()).unwrap();
    let page = document.page(0).unwrap();
    assert_eq!(page.elements[1].metadata.error.as_deref(), Some("too_large"));
    assert_eq!(read(r"{\rtf1 a}}}} b"), "a", "what comes after the last group is no text");
    let cut = read(r"{\rtf1 a{\b b");
    assert!(cut.starts_with("a**b**"), "{cut}");
}

#[test]
fn masses_are_bounded() {
    let notes = format!("{{\\rtf1 x\\par {}", "{\\footnote ".repeat(300));
    let cells = format!("{{\\rtf1 {}\\row}}", "\\cellx1\\intbl x\\cell ".repeat(100_000));
    let rows = format!("{{\\rtf1 {}}}", "\\trowd\\cellx1 x\\cell\\row ".repeat(100_000));
    let pictures = format!("{{\\rtf1 {}}}", "{\\pict\\pngblip 00}".repeat(50_000));
    let fields = format!("{{\\rtf1 x\\par {}", "{\\field{\\*\\fldinst HYPERLINK x}{\\fldrslt ".repeat(150));
    let fonts = format!("{{\\rtf1{{\\fonttbl{}}}x}}", "{\\f9 a;}".repeat(100_000));
    for text in [notes, cells, rows, pictures, fields, fonts] {
        let mut document = open_bytes("a.rtf", text.as_bytes()).unwrap();
        let elements: usize = pages(&mut document).iter().map(|page| page.elements.len()).sum();
        assert!(elements <= 20_001, "{elements} of {}", &text[..30]);
    }
}
