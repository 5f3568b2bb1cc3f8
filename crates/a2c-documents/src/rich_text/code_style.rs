//! What tells source code in a text that has no mark for it: the names of styles and fonts. Pure.

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
