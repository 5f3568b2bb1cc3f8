//! The styles of an OpenDocument file, resolved along their parents.

use std::collections::HashMap;

use a2c_document_model::UnreadableFile;

use super::list_styles::{OpenListStyle, read_list_style};
use crate::limits::ReadLimits;
use crate::rich_text::{RunToggles, contents_level, heading_level, is_code_name, is_fixed_width};
use crate::xml::{XmlEvent, XmlReader, XmlTag};

/// The most styles that are read.
const STYLES: usize = 50_000;

/// How many styles may be based on each other in a row.
const CHAIN: usize = 16;

/// What a style is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum StyleFamily {
    Text,
    Paragraph,
    Table,
    DrawingPage,
}

impl StyleFamily {
    fn of_name(name: &str) -> Option<Self> {
        Some(match name {
            "text" => Self::Text,
            "paragraph" => Self::Paragraph,
            "table" => Self::Table,
            "drawing-page" => Self::DrawingPage,
            _ => return None,
        })
    }
}

/// A style with what it inherits.
#[derive(Debug, Clone, Default)]
pub(crate) struct OpenStyle {
    /// The level of a heading, from 1, by its name or by what it declares.
    pub(super) heading: Option<u8>,
    /// The level of an entry in a table of contents, from 0.
    pub(super) contents_level: Option<u8>,
    /// Whether its name says that it is for code.
    pub(super) code: bool,
    pub(super) run: RunToggles,
    pub(super) break_before: bool,
    pub(super) break_after: bool,
    /// Whether a line is drawn below.
    pub(super) rule_below: bool,
    /// The master page that begins with it.
    pub(crate) master: Option<String>,
    /// Whether a slide of this style is hidden.
    pub(crate) hidden: bool,
    parent: Option<String>,
}

impl OpenStyle {
    /// What the name of a style tells, as people see it.
    fn of_name(name: &str) -> Self {
        let name = name.to_lowercase();
        Self {
            heading: heading_level(&name),
            contents_level: contents_level(&name),
            code: is_code_name(&name) || name == "source text",
            ..Self::default()
        }
    }
}

/// The styles of a file.
#[derive(Debug, Clone, Default)]
pub(crate) struct OpenStyles {
    by_name: HashMap<(StyleFamily, String), OpenStyle>,
    lists: HashMap<String, OpenListStyle>,
    /// How headings are numbered.
    pub(super) outline: OpenListStyle,
    fixed_fonts: HashMap<String, bool>,
    /// Whether everything is in a font of fixed width, which then tells nothing.
    all_fixed_width: bool,
}

impl OpenStyles {
    /// Adds the styles of a part that come before its text; automatic styles of a page's header are wanted only for it.
    pub(crate) fn add(
        &mut self,
        bytes: &[u8],
        part: &str,
        with_automatic: bool,
        limits: &ReadLimits,
    ) -> Result<(), UnreadableFile> {
        let mut xml = XmlReader::new(bytes, part, limits);
        while let Some(event) = xml.within(0)? {
            let XmlEvent::Start(tag) = event else { continue };
            match tag.name() {
                b"automatic-styles" if !with_automatic => xml.skip()?,
                b"body" | b"master-styles" => break,
                b"style" if self.by_name.len() < STYLES => self.add_style(&tag, &mut xml)?,
                b"default-style" => {
                    let of_paragraphs = tag.attribute("family").as_deref() == Some("paragraph");
                    let style = self.read_style(&mut xml)?;
                    self.all_fixed_width |= of_paragraphs && style.run.code == Some(true);
                }
                b"list-style" if self.lists.len() < STYLES => {
                    let name = tag.attribute("name").unwrap_or_default();
                    let style = read_list_style(&mut xml)?;
                    self.lists.insert(name, style);
                }
                b"outline-style" => self.outline = read_list_style(&mut xml)?,
                b"font-face" => {
                    let font = tag.attribute("font-family").unwrap_or_default();
                    let fixed = tag.attribute("font-pitch").as_deref() == Some("fixed") || is_fixed_width(&font);
                    self.fixed_fonts.insert(tag.attribute("name").unwrap_or_default(), fixed);
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn add_style(&mut self, tag: &XmlTag<'_>, xml: &mut XmlReader<'_>) -> Result<(), UnreadableFile> {
        let family = tag.attribute("family").and_then(|family| StyleFamily::of_name(&family));
        let (Some(family), Some(name)) = (family, tag.attribute("name")) else { return xml.skip() };
        let shown = tag.attribute("display-name").unwrap_or_else(|| decoded_name(&name));
        let (named, declared) = (OpenStyle::of_name(&shown), self.read_style(xml)?);
        let style = OpenStyle {
            heading: named.heading.or_else(|| tag.number("default-outline-level")),
            contents_level: named.contents_level,
            code: named.code,
            parent: tag.attribute("parent-style-name"),
            master: tag.attribute("master-page-name").filter(|master| !master.is_empty()),
            ..declared
        };
        self.by_name.insert((family, name), style);
        Ok(())
    }

    fn read_style(&self, xml: &mut XmlReader<'_>) -> Result<OpenStyle, UnreadableFile> {
        let (depth, mut style) = (xml.depth(), OpenStyle::default());
        while let Some(event) = xml.within(depth)? {
            let XmlEvent::Start(tag) = event else { continue };
            let is = |name: &str, value: &str| tag.attribute(name).as_deref() == Some(value);
            match tag.name() {
                b"text-properties" => style.run = self.run_of(&tag),
                b"paragraph-properties" | b"table-properties" => {
                    style.break_before |= is("break-before", "page");
                    style.break_after |= is("break-after", "page");
                    style.rule_below |= tag.attribute("border-bottom").is_some_and(|line| line != "none");
                }
                b"drawing-page-properties" => style.hidden |= is("visibility", "hidden"),
                _ => {}
            }
        }
        Ok(style)
    }

    fn run_of(&self, tag: &XmlTag<'_>) -> RunToggles {
        let on = |name: &str| tag.attribute(name).map(|value| !matches!(value.as_str(), "none" | "normal" | "auto"));
        let named = tag
            .attribute("font-name")
            .and_then(|name| self.fixed_fonts.get(&name).copied().or_else(|| is_fixed_width(&name).then_some(true)));
        let code = named.or_else(|| tag.attribute("font-family").map(|font| is_fixed_width(&font)));
        RunToggles {
            bold: tag
                .attribute("font-weight")
                .map(|weight| weight != "normal" && weight.parse().is_ok_and(|n: u32| n > 500) || weight == "bold"),
            italic: on("font-style"),
            underline: on("text-underline-style"),
            strike: on("text-line-through-style"),
            code,
            hidden: tag.attribute("display").map(|display| display == "none"),
        }
    }

    /// The style of a name, with what it inherits.
    pub(crate) fn get(&self, family: StyleFamily, name: &str) -> OpenStyle {
        // Some programs use styles that they do not declare.
        if !name.is_empty() && !self.by_name.contains_key(&(family, name.to_owned())) {
            return OpenStyle::of_name(&decoded_name(name));
        }
        let mut resolved = OpenStyle::default();
        let mut next = Some(name.to_owned());
        for _ in 0..CHAIN {
            let Some(style) = next.take().and_then(|name| self.by_name.get(&(family, name))) else { break };
            resolved.heading = resolved.heading.or(style.heading);
            resolved.contents_level = resolved.contents_level.or(style.contents_level);
            resolved.code |= style.code;
            resolved.run = resolved.run.over(style.run);
            resolved.break_before |= style.break_before;
            resolved.break_after |= style.break_after;
            resolved.rule_below |= style.rule_below;
            resolved.hidden |= style.hidden;
            resolved.master = resolved.master.or_else(|| style.master.clone());
            next.clone_from(&style.parent);
        }
        if self.all_fixed_width {
            resolved.run.code = None;
        }
        resolved
    }

    /// The style of lists of a name.
    pub(super) fn list(&self, name: &str) -> Option<&OpenListStyle> {
        self.lists.get(name)
    }
}

/// The name of a style as people see it: `Heading_20_1` is `Heading 1`.
fn decoded_name(name: &str) -> String {
    let (mut written, mut rest) = (String::with_capacity(name.len()), name);
    while let Some((before, after)) = rest.split_once('_') {
        written.push_str(before);
        let code = after.split_once('_').and_then(|(hex, after)| {
            let code = u32::from_str_radix(hex, 16).ok().filter(|_| (1..=6).contains(&hex.len()))?;
            Some((char::from_u32(code)?, after))
        });
        match code {
            Some((c, after)) => {
                written.push(c);
                rest = after;
            }
            None => {
                written.push('_');
                rest = after;
            }
        }
    }
    written + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_inherit_and_circles_end() {
        let text = "<o><style:font-face style:name=\"F1\" style:font-pitch=\"fixed\"/><office:styles>\
            <style:style style:name=\"Heading_20_2\" style:family=\"paragraph\"/>\
            <style:style style:name=\"P1\" style:family=\"paragraph\" style:parent-style-name=\"Heading_20_2\" style:master-page-name=\"M\">\
            <style:paragraph-properties fo:break-before=\"page\"/><style:text-properties fo:font-weight=\"bold\" style:font-name=\"F1\"/></style:style>\
            <style:style style:name=\"A\" style:family=\"text\" style:parent-style-name=\"B\"/><style:style style:name=\"B\" style:family=\"text\" style:parent-style-name=\"A\"/>\
            </office:styles><office:automatic-styles><style:style style:name=\"T1\" style:family=\"text\"><style:text-properties fo:font-style=\"italic\"/></style:style></office:automatic-styles></o>";
        let mut styles = OpenStyles::default();
        styles.add(text.as_bytes(), "styles.xml", false, &ReadLimits::default()).unwrap();
        let style = styles.get(StyleFamily::Paragraph, "P1");
        assert_eq!((style.heading, style.run.bold, style.run.code), (Some(2), Some(true), Some(true)));
        assert_eq!((style.break_before, style.master.as_deref()), (true, Some("M")));
        assert_eq!(styles.get(StyleFamily::Text, "A").heading, None);
        assert_eq!(styles.get(StyleFamily::Text, "T1").run.italic, None);
        styles.add(text.as_bytes(), "styles.xml", true, &ReadLimits::default()).unwrap();
        assert_eq!(styles.get(StyleFamily::Text, "T1").run.italic, Some(true));
    }

    #[test]
    fn names_are_decoded() {
        for (name, expected) in
            [("Heading_20_1", "Heading 1"), ("_5f_a", "_a"), ("a_b", "a_b"), ("_zz_", "_zz_"), ("x_4e2d_", "x中")]
        {
            assert_eq!(decoded_name(name), expected);
        }
    }
}
