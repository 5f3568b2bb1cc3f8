//! Cuts a URI at its delimiters, before anything is decoded.

use std::borrow::Cow;

use super::{Dropped, Flaw, MAX_URI_BYTES, percent};

/// The still encoded pieces of a URI of one known scheme.
#[derive(Debug)]
pub(super) struct Pieces<'a> {
    /// What stands between `//` and the path; may be empty.
    pub(super) authority: &'a str,
    /// Empty, or beginning with `/`.
    pub(super) path: &'a str,
    pub(super) query: Option<&'a str>,
    pub(super) fragment: Option<&'a str>,
}

/// Cuts `text` if its scheme is `scheme` (given in lower case).
pub(super) fn split<'a>(text: &'a str, scheme: &str) -> Result<Pieces<'a>, Flaw> {
    if text.len() > MAX_URI_BYTES {
        return Err(Flaw::TooLong);
    }
    let (_, rest) =
        text.split_once(':').filter(|(found, _)| found.eq_ignore_ascii_case(scheme)).ok_or(Flaw::WrongScheme)?;
    let (rest, fragment) = cut(rest, '#');
    let (rest, query) = cut(rest, '?');
    let rest = rest.strip_prefix("//").ok_or(Flaw::EmptyHost)?;
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    Ok(Pieces { authority, path, query, fragment })
}

fn cut(text: &str, delimiter: char) -> (&str, Option<&str>) {
    match text.split_once(delimiter) {
        Some((before, after)) => (before, Some(after)),
        None => (text, None),
    }
}

impl<'a> Pieces<'a> {
    /// The decoded segments of the path. One trailing slash is not a segment.
    pub(super) fn segments(&self) -> Result<Vec<Cow<'a, str>>, Flaw> {
        let Some(relative) = self.path.strip_prefix('/').filter(|rest| !rest.is_empty()) else {
            return Ok(Vec::new());
        };
        relative
            .strip_suffix('/')
            .unwrap_or(relative)
            .split('/')
            .map(|segment| match segment {
                "" => Err(Flaw::EmptySegment),
                _ => percent::decode(segment),
            })
            .collect()
    }

    /// What a form without query and fragment leaves out.
    pub(super) fn query_and_fragment(&self) -> Dropped {
        Dropped { query: self.query.map(str::to_owned), fragment: self.fragment.map(str::to_owned) }
    }
}

#[cfg(test)]
mod tests {
    use super::{Flaw, split};

    #[test]
    fn a_uri_is_cut_once_at_each_delimiter() {
        let pieces = split("DPE://h/a:b//c?x=?&y#f#g?", "dpe").expect("a dpe URI");
        assert_eq!(
            (pieces.authority, pieces.path, pieces.query, pieces.fragment),
            ("h", "/a:b//c", Some("x=?&y"), Some("f#g?"))
        );
    }

    #[test]
    fn segments_are_cut_before_they_are_decoded() {
        #[track_caller]
        fn check(path: &str, expected: Result<&[&str], Flaw>) {
            let text = format!("dpe://h{path}");
            let segments = split(&text, "dpe").expect("a dpe URI").segments();
            let expected = expected.map(|all| all.iter().map(|&one| one.into()).collect());
            assert_eq!(segments, expected, "{path:?}");
        }
        check("", Ok(&[]));
        check("/", Ok(&[]));
        check("/a", Ok(&["a"]));
        check("/a/", Ok(&["a"]));
        check("/a%2Fb/%2E%2E", Ok(&["a/b", ".."]));
        check("//", Err(Flaw::EmptySegment));
        check("//a", Err(Flaw::EmptySegment));
        check("/a//", Err(Flaw::EmptySegment));
        check("/a//b", Err(Flaw::EmptySegment));
        check("/a/%", Err(Flaw::PercentEncoding));
    }
}
