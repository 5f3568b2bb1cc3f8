//! The grammar of placeholders: a text is literal segments and `${…}` that mean something. What means nothing stays text.

/// A part of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TemplateSegment<'a> {
    /// Stands for itself.
    Text(&'a str),
    /// `${input:ID}`.
    Input(&'a str),
    /// `${env:VAR}`.
    Env(&'a str),
    /// `${workspaceFolder}`.
    WorkspaceFolder,
    /// `${workspaceFolderBasename}`.
    WorkspaceFolderBasename,
    /// `${userHome}`.
    UserHome,
    /// `${/}` and `${pathSeparator}`.
    PathSeparator,
}

impl<'a> TemplateSegment<'a> {
    fn placeholder(inner: &'a str) -> Option<Self> {
        Some(match inner {
            "workspaceFolder" => Self::WorkspaceFolder,
            "workspaceFolderBasename" => Self::WorkspaceFolderBasename,
            "userHome" => Self::UserHome,
            "/" | "pathSeparator" => Self::PathSeparator,
            _ => match inner.split_once(':')? {
                ("input", id) => Self::Input(id),
                ("env", variable) => Self::Env(variable),
                _ => return None,
            },
        })
    }
}

/// The parts of a text, in order. Together they are the whole text.
pub(super) fn segments(text: &str) -> Vec<TemplateSegment<'_>> {
    let mut found = Vec::new();
    let mut literal = 0;
    let mut from = 0;
    while let Some(start) = text[from..].find("${").map(|at| from + at) {
        let Some(end) = text[start..].find('}').map(|at| start + at) else { break };
        // `${a ${input:b}`: the first one was never closed, and the second one counts.
        if let Some(nested) = text[start + 2..end].rfind("${") {
            from = start + 2 + nested;
            continue;
        }
        from = end + 1;
        if let Some(segment) = TemplateSegment::placeholder(&text[start + 2..end]) {
            if literal < start {
                found.push(TemplateSegment::Text(&text[literal..start]));
            }
            found.push(segment);
            literal = from;
        }
    }
    if literal < text.len() {
        found.push(TemplateSegment::Text(&text[literal..]));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use TemplateSegment::*;

    #[test]
    fn what_means_something_is_found_and_the_rest_is_text() {
        let check = |text: &str, expected: &[TemplateSegment<'_>]| assert_eq!(segments(text), expected, "{text}");
        check("", &[]);
        check("plain $x {y}", &[Text("plain $x {y}")]);
        check("${input:a-b}", &[Input("a-b")]);
        check("a ${input:b} c", &[Text("a "), Input("b"), Text(" c")]);
        check("${env:A}${env:B}", &[Env("A"), Env("B")]);
        check("${workspaceFolder}${/}x${pathSeparator}", &[WorkspaceFolder, PathSeparator, Text("x"), PathSeparator]);
        check("${workspaceFolderBasename}@${userHome}", &[WorkspaceFolderBasename, Text("@"), UserHome]);
        check("${file} ${input} ${HOME:-x}", &[Text("${file} ${input} ${HOME:-x}")]);
        check("${input:a", &[Text("${input:a")]);
        check("${x ${input:b}", &[Text("${x "), Input("b")]);
        check("$${input:b}}", &[Text("$"), Input("b"), Text("}")]);
        check("世${input:界}", &[Text("世"), Input("界")]);
    }
}
