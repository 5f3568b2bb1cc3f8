//! A text with one problem, and what is to be told about it.

use a2c_computer::config::{ComputerConfig, Problem};

/// One problem: at this line, about this path, saying these.
#[track_caller]
pub(crate) fn wrong(text: &str, line: usize, path: &str, parts: &[&str]) {
    told(ComputerConfig::parse(text).expect_err(text).problems, line, path, parts);
}

#[track_caller]
pub(crate) fn wrong_toml(text: &str, line: usize, path: &str, parts: &[&str]) {
    told(ComputerConfig::parse_toml(text).expect_err(text).problems, line, path, parts);
}

#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "the problems end here")]
fn told(problems: Vec<Problem>, line: usize, path: &str, parts: &[&str]) {
    let [problem] = &*problems else { panic!("not one problem: {problems:#?}") };
    assert_eq!((problem.line, &*problem.path), (line, path), "{problem}");
    for part in parts {
        assert!(problem.what.contains(part), "{part:?} is not in: {problem}");
    }
    assert!(!problem.what.contains("s3cret") && !problem.what.contains('\n'), "{problem}");
}

/// A server with one more line, the third.
pub(crate) fn with(extra: &str) -> String {
    format!(
        "{{\"servers\": {{\"a\": {{\n\"type\": \"stdio\", \"server_parameters\": {{\"command\": \"x\"}},\n{extra}}}}}}}"
    )
}

/// Parameters on the second line.
pub(crate) fn parameters(kind: &str, parameters: &str) -> String {
    format!("{{\"servers\": {{\"a\": {{\"type\": \"{kind}\", \"server_parameters\":\n{{{parameters}}}}}}}}}")
}
