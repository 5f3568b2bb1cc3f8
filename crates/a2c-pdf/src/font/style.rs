//! How a font looks: by its name and its descriptor.

use hayro_syntax::object::{Array, Dict, Name};

/// The looks that tell headings, code and emphasis.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct FontStyle {
    pub(crate) bold: bool,
    pub(crate) italic: bool,
    /// All letters are equally wide.
    pub(crate) fixed: bool,
}

const FIXED_PITCH: u32 = 1;
const ITALIC: u32 = 1 << 6;
const FORCE_BOLD: u32 = 1 << 18;

impl FontStyle {
    pub(super) fn of(dict: &Dict<'_>) -> Self {
        let descendant = dict.get::<Array<'_>>("DescendantFonts").and_then(|list| list.iter::<Dict<'_>>().next());
        let descriptor = dict
            .get::<Dict<'_>>("FontDescriptor")
            .or_else(|| descendant.and_then(|font| font.get::<Dict<'_>>("FontDescriptor")));
        let name = dict.get::<Name<'_>>("BaseFont").map(|name| name.as_str().to_owned()).unwrap_or_default();
        let mut style = Self::of_name(&name);
        if let Some(descriptor) = descriptor {
            let flags = descriptor.get::<u32>("Flags").unwrap_or(0);
            style.fixed |= flags & FIXED_PITCH != 0;
            style.italic |=
                flags & ITALIC != 0 || descriptor.get::<f32>("ItalicAngle").is_some_and(|angle| angle < -3.0);
            style.bold |=
                flags & FORCE_BOLD != 0 || descriptor.get::<f32>("FontWeight").is_some_and(|weight| weight >= 600.0);
        }
        style
    }

    fn of_name(name: &str) -> Self {
        let name = name.split_once('+').map_or(name, |(_, name)| name).to_ascii_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
        // The fonts of TeX: `cmbx10` is bold, `cmti10` is italic, `cmtt10` is a typewriter.
        let tex = |kinds: &[&str]| kinds.iter().any(|kind| name.starts_with(kind));
        Self {
            bold: has(&["bold", "black", "heavy", "-demi", "semibold"])
                || tex(&["cmbx", "cmb1", "sfbx", "cmssbx", "lmbx"]),
            italic: has(&["italic", "oblique", "-ita", "slanted"]) || tex(&["cmti", "cmsl", "sfti", "cmmi", "cmbxti"]),
            fixed: has(&["courier", "mono", "consol", "typewriter", "menlo", "fixed"])
                || tex(&["cmtt", "sftt", "lmtt"]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_the_look() {
        let look = |name: &str| {
            let style = FontStyle::of_name(name);
            [(style.bold, 'b'), (style.italic, 'i'), (style.fixed, 'f')]
                .iter()
                .filter(|(is, _)| *is)
                .map(|(_, c)| *c)
                .collect::<String>()
        };
        for (name, expected) in [
            ("Helvetica", ""),
            ("Helvetica-BoldOblique", "bi"),
            ("ABCDEF+CMBX12", "b"),
            ("ABCDEF+CMTI10", "i"),
            ("Courier", "f"),
            ("DejaVuSansMono-Bold", "bf"),
        ] {
            assert_eq!(look(name), expected, "{name}");
        }
    }
}
