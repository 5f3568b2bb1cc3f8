//! What the names of styles and fonts tell: headings, entries of contents, source code. Pure.

/// Whether a font is one that programs are written in.
pub(crate) fn is_fixed_width(font: &str) -> bool {
    const KNOWN: &[&str] = &[
        "courier",
        "consolas",
        "menlo",
        "monaco",
        "inconsolata",
        "lucida console",
        "source code",
        "fira code",
        "cascadia",
        "monospace",
    ];
    let font = font.to_ascii_lowercase();
    font.ends_with("mono") || KNOWN.iter().any(|known| font.contains(known))
}

/// Whether a style is made for code, by its name.
pub(crate) fn is_code_name(name: &str) -> bool {
    let mut words = name.split(|c: char| !c.is_alphanumeric());
    words.any(|word| {
        matches!(word, "code" | "preformatted" | "verbatim" | "listing" | "macro" | "snippet" | "sourcecode" | "代码")
    })
}

/// The level that the name of a style stands for.
pub(crate) fn heading_level(name: &str) -> Option<u8> {
    let name = name.to_lowercase();
    if name == "title" {
        return Some(1);
    }
    let number = name.strip_prefix("heading")?.trim();
    number.parse().ok().filter(|level| (1..=9).contains(level))
}

/// The level, from 0, of an entry in a table of contents whose style has this name, in lower case.
pub(crate) fn contents_level(name: &str) -> Option<u8> {
    let number = name.strip_prefix("toc").or_else(|| name.strip_prefix("contents"))?.trim();
    number.parse::<u8>().ok()?.checked_sub(1).filter(|level| *level < 9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fonts_and_names_tell_code() {
        for (font, expected) in [
            ("Courier New", true),
            ("DejaVu Sans Mono", true),
            ("Monotype Corsiva", false),
            ("Calibri", false),
            ("宋体", false),
        ] {
            assert_eq!(is_fixed_width(font), expected, "{font}");
        }
        for (name, expected) in
            [("source code", true), ("html preformatted", true), ("postcode", false), ("normal", false)]
        {
            assert_eq!(is_code_name(name), expected, "{name}");
        }
    }
}
