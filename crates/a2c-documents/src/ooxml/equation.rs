//! Equations of Office as readable LaTeX. Symbols stay the characters that they are.

use a2c_document_model::UnreadableFile;

use crate::xml::{XmlEvent, XmlReader, XmlTag};

/// Reads the equation that began last, to its end.
pub(crate) fn read_equation(xml: &mut XmlReader<'_>) -> Result<String, UnreadableFile> {
    let read = sequence(xml)?;
    Ok(read.trim().to_owned())
}

/// What stands in the element that began last. The depth of XML bounds the recursion.
fn sequence(xml: &mut XmlReader<'_>) -> Result<String, UnreadableFile> {
    let (depth, mut written) = (xml.depth(), String::new());
    while let Some(event) = xml.within(depth)? {
        let XmlEvent::Start(tag) = event else { continue };
        match tag.name() {
            b"t" => {
                let text = xml.text()?;
                written.push_str(&text);
            }
            b"f" | b"rad" | b"nary" | b"d" | b"sSup" | b"sSub" | b"sSubSup" | b"sPre" | b"func" | b"limLow"
            | b"limUpp" | b"acc" | b"bar" | b"m" | b"eqArr" | b"groupChr" => {
                let shown = structure(xml, &tag)?;
                append(&mut written, &shown);
            }
            b"br" => written.push_str(" \\\\ "),
            name if name.ends_with(b"Pr") => xml.skip()?,
            // Runs, boxes, accepted changes: what is in them counts.
            b"delText" | b"del" | b"moveFrom" => xml.skip()?,
            _ => {}
        }
    }
    Ok(written)
}

/// A command needs a blank before letters that follow it.
fn append(written: &mut String, shown: &str) {
    let command_ends = written
        .rfind('\\')
        .is_some_and(|at| written.len() > at + 1 && written[at + 1..].chars().all(|c| c.is_ascii_alphabetic()));
    if command_ends && shown.starts_with(|c: char| c.is_ascii_alphabetic()) {
        written.push(' ');
    }
    written.push_str(shown);
}

/// The properties of a structure that change how it is shown.
#[derive(Default)]
struct Properties {
    character: Option<String>,
    begin: Option<String>,
    end: Option<String>,
    separator: Option<String>,
    kind: Option<String>,
    position: Option<String>,
    hides_degree: bool,
}

/// The parts of a structure by their names.
struct Arguments(Vec<(Vec<u8>, String)>);

impl Arguments {
    fn get(&self, name: &[u8]) -> &str {
        self.0.iter().find(|(found, _)| found == name).map_or("", |(_, text)| text.trim())
    }

    fn all<'a>(&'a self, name: &'a [u8]) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(found, _)| found == name).map(|(_, text)| text.trim())
    }
}

fn structure(xml: &mut XmlReader<'_>, tag: &XmlTag<'_>) -> Result<String, UnreadableFile> {
    let depth = xml.depth();
    let (mut properties, mut arguments) = (Properties::default(), Arguments(Vec::new()));
    while let Some(event) = xml.within(depth)? {
        let XmlEvent::Start(part) = event else { continue };
        match part.name() {
            b"ctrlPr" => xml.skip()?,
            name if name.ends_with(b"Pr") => properties = read_properties(xml)?,
            // The cells of a matrix stand in rows.
            b"mr" => {
                let row = row(xml)?;
                arguments.0.push((b"mr".to_vec(), row));
            }
            name => {
                let name = name.to_vec();
                let text = sequence(xml)?;
                arguments.0.push((name, text));
            }
        }
    }
    Ok(show(tag.name(), &properties, &arguments))
}

fn read_properties(xml: &mut XmlReader<'_>) -> Result<Properties, UnreadableFile> {
    let (depth, mut properties) = (xml.depth(), Properties::default());
    while let Some(event) = xml.within(depth)? {
        let XmlEvent::Start(tag) = event else { continue };
        let value = tag.attribute("val");
        match tag.name() {
            b"chr" => properties.character = Some(value.unwrap_or_default()),
            b"begChr" => properties.begin = Some(value.unwrap_or_default()),
            b"endChr" => properties.end = Some(value.unwrap_or_default()),
            b"sepChr" => properties.separator = Some(value.unwrap_or_default()),
            b"type" => properties.kind = value,
            b"pos" => properties.position = value,
            b"degHide" => properties.hides_degree = tag.is_on("val"),
            _ => {}
        }
    }
    Ok(properties)
}

fn row(xml: &mut XmlReader<'_>) -> Result<String, UnreadableFile> {
    let (depth, mut cells) = (xml.depth(), Vec::new());
    while let Some(event) = xml.within(depth)? {
        if matches!(&event, XmlEvent::Start(tag) if tag.name() == b"e") {
            cells.push(sequence(xml)?.trim().to_owned());
        }
    }
    Ok(cells.join(" & "))
}

fn show(name: &[u8], properties: &Properties, arguments: &Arguments) -> String {
    let base = arguments.get(b"e");
    let (sub, sup) = (arguments.get(b"sub"), arguments.get(b"sup"));
    match name {
        b"f" => {
            let (above, below) = (arguments.get(b"num"), arguments.get(b"den"));
            match properties.kind.as_deref() {
                Some("lin" | "skw") => format!("{above}/{below}"),
                Some("noBar") => format!("\\binom{{{above}}}{{{below}}}"),
                _ => format!("\\frac{{{above}}}{{{below}}}"),
            }
        }
        b"rad" => match arguments.get(b"deg") {
            degree if degree.is_empty() || properties.hides_degree => format!("\\sqrt{{{base}}}"),
            degree => format!("\\sqrt[{degree}]{{{base}}}"),
        },
        b"nary" => {
            let sign = match properties.character.as_deref() {
                None | Some("∫") => "\\int",
                Some("∑") => "\\sum",
                Some("∏") => "\\prod",
                Some("∬") => "\\iint",
                Some("∮") => "\\oint",
                Some("⋃") => "\\bigcup",
                Some("⋂") => "\\bigcap",
                Some(other) => other,
            };
            format!("{sign}{}{} {base}", script('_', sub), script('^', sup))
        }
        b"d" => {
            let begin = properties.begin.as_deref().unwrap_or("(");
            let end = properties.end.as_deref().unwrap_or(")");
            let separator = properties.separator.as_deref().unwrap_or("|");
            format!("{begin}{}{end}", arguments.all(b"e").collect::<Vec<_>>().join(separator))
        }
        b"sSup" => format!("{}{}", grouped(base), script('^', sup)),
        b"sSub" => format!("{}{}", grouped(base), script('_', sub)),
        b"sSubSup" => format!("{}{}{}", grouped(base), script('_', sub), script('^', sup)),
        b"sPre" => format!("{{}}{}{}{base}", script('_', sub), script('^', sup)),
        b"func" => {
            let function = arguments.get(b"fName");
            let known = ["sin", "cos", "tan", "cot", "log", "ln", "lim", "max", "min", "exp", "det", "sup", "inf"];
            let sign = if known.contains(&function) { "\\" } else { "" };
            format!("{sign}{function} {base}")
        }
        b"limLow" => {
            let sign = if ["lim", "max", "min", "sup", "inf"].contains(&base) { "\\" } else { "" };
            format!("{sign}{base}{}", script('_', arguments.get(b"lim")))
        }
        b"limUpp" => format!("{base}{}", script('^', arguments.get(b"lim"))),
        b"acc" => {
            let accent = match properties.character.as_deref() {
                Some("\u{303}" | "~") => "tilde",
                Some("\u{305}" | "\u{304}" | "¯") => "bar",
                Some("\u{307}" | "˙") => "dot",
                Some("\u{308}" | "¨") => "ddot",
                Some("\u{20d7}" | "→") => "vec",
                _ => "hat",
            };
            format!("\\{accent}{{{base}}}")
        }
        b"bar" | b"groupChr" => {
            let below = properties.position.as_deref() != Some("top");
            let brace = name == b"groupChr";
            let command = match (brace, below) {
                (true, true) => "underbrace",
                (true, false) => "overbrace",
                (false, true) => "underline",
                (false, false) => "overline",
            };
            format!("\\{command}{{{base}}}")
        }
        b"m" => environment("matrix", &mut arguments.all(b"mr")),
        b"eqArr" => environment("aligned", &mut arguments.all(b"e")),
        _ => base.to_owned(),
    }
}

fn environment(name: &str, rows: &mut dyn Iterator<Item = &str>) -> String {
    format!("\\begin{{{name}}} {} \\end{{{name}}}", rows.collect::<Vec<_>>().join(" \\\\ "))
}

fn script(sign: char, text: &str) -> String {
    match text.chars().count() {
        0 => String::new(),
        1 => format!("{sign}{text}"),
        _ => format!("{sign}{{{text}}}"),
    }
}

/// A base of several characters within braces, so that an exponent belongs to all of it.
fn grouped(base: &str) -> String {
    let alone = base.chars().count() == 1 || (base.starts_with('(') && base.ends_with(')'));
    if alone { base.to_owned() } else { format!("{{{base}}}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::ReadLimits;

    fn shown(inner: &str) -> String {
        let text = format!("<m:oMath>{inner}</m:oMath>");
        let limits = ReadLimits::default();
        let mut xml = XmlReader::new(text.as_bytes(), "p", &limits);
        xml.event().unwrap();
        read_equation(&mut xml).unwrap()
    }

    #[test]
    fn structures_become_latex() {
        let run = |text: &str| format!("<m:r><m:rPr/><w:rPr><w:b/></w:rPr><m:t>{text}</m:t></m:r>");
        let (a, b, n) = (run("a"), run("b"), run("n+1"));
        for (xml, expected) in [
            (format!("{a}{}", run("=")), "a=".to_owned()),
            (format!("<m:f><m:num>{a}</m:num><m:den>{b}</m:den></m:f>"), "\\frac{a}{b}".to_owned()),
            (format!("<m:sSup><m:e>{a}</m:e><m:sup>{n}</m:sup></m:sSup>"), "a^{n+1}".to_owned()),
            (format!("<m:sSubSup><m:e>{n}</m:e><m:sub>{a}</m:sub><m:sup>{b}</m:sup></m:sSubSup>"), "{n+1}_a^b".into()),
            (
                format!("<m:rad><m:radPr><m:degHide m:val=\"1\"/></m:radPr><m:deg/><m:e>{a}</m:e></m:rad>"),
                "\\sqrt{a}".into(),
            ),
            (
                format!(
                    "<m:nary><m:naryPr><m:chr m:val=\"∑\"/></m:naryPr><m:sub>{a}</m:sub><m:sup>{n}</m:sup><m:e>{b}</m:e></m:nary>"
                ),
                "\\sum_a^{n+1} b".into(),
            ),
            (
                format!(
                    "<m:d><m:dPr><m:begChr m:val=\"[\"/><m:endChr m:val=\"]\"/></m:dPr><m:e>{a}</m:e><m:e>{b}</m:e></m:d>"
                ),
                "[a|b]".into(),
            ),
            (format!("<m:func><m:fName>{}</m:fName><m:e>{a}</m:e></m:func>", run("sin")), "\\sin a".into()),
            (
                format!(
                    "<m:m><m:mr><m:e>{a}</m:e><m:e>{b}</m:e></m:mr><m:mr><m:e>{b}</m:e><m:e>{a}</m:e></m:mr></m:m>"
                ),
                "\\begin{matrix} a & b \\\\ b & a \\end{matrix}".into(),
            ),
        ] {
            assert_eq!(shown(&xml), expected, "{xml}");
        }
    }

    #[test]
    fn nesting_is_bounded_by_the_depth_of_xml() {
        let text = "<m:sSup><m:e>".repeat(200);
        let limits = ReadLimits::default();
        let mut xml = XmlReader::new(text.as_bytes(), "p", &limits);
        xml.event().unwrap();
        assert!(read_equation(&mut xml).is_err());
    }
}
