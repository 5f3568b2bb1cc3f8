//! Whether every crate has a page in `docs/architecture`, and whether the modules that a page names exist.

use std::collections::BTreeSet;

/// A crate, its page and its modules.
pub(super) struct Documented {
    pub(super) name: String,
    /// The text of `docs/architecture/NAME.md`; absent where there is no such file.
    pub(super) page: Option<String>,
    /// The paths of its modules, such as `tools::gate`.
    pub(super) modules: BTreeSet<String>,
}

/// What is wrong with the pages of the crates. `overview` is the text of `docs/ARCHITECTURE.md`.
pub(super) fn check(overview: &str, crates: &[Documented]) -> Vec<String> {
    let mut mistakes = Vec::new();
    for Documented { name, page, modules } in crates {
        let path = format!("architecture/{name}.md");
        let Some(page) = page else {
            mistakes.push(format!("{name} has no page of architecture: write docs/{path}"));
            continue;
        };
        if !overview.contains(&format!("({path})")) {
            mistakes.push(format!("docs/ARCHITECTURE.md has no link to {path}"));
        }
        for module in named_modules(page).into_iter().filter(|module| !modules.contains(*module)) {
            mistakes.push(format!("docs/{path} names the module `{module}`, which {name} does not have"));
        }
    }
    mistakes
}

/// The names in backticks in the first column of every table whose first heading is `module`.
fn named_modules(page: &str) -> Vec<&str> {
    let mut named = Vec::new();
    let mut in_table = false;
    for line in page.lines() {
        let Some(cell) = line.strip_prefix('|').and_then(|row| row.split('|').next()) else {
            in_table = false;
            continue;
        };
        in_table |= cell.trim() == "module";
        if in_table {
            named.extend(cell.split('`').skip(1).step_by(2));
        }
    }
    named
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_one(overview: &str, page: Option<&str>, expected: &[&str]) {
        let modules = ["gate", "tools", "tools::gate"].map(str::to_owned).into();
        let one = Documented { name: "a".into(), page: page.map(str::to_owned), modules };
        assert_eq!(check(overview, &[one]), expected, "{overview:?} {page:?}");
    }

    #[test]
    fn every_crate_has_a_page_that_is_linked() {
        let link = "- [a](architecture/a.md): a crate";
        check_one(link, Some("# a"), &[]);
        check_one(link, None, &["a has no page of architecture: write docs/architecture/a.md"]);
        check_one(
            "- [ab](architecture/ab.md)",
            Some("# a"),
            &["docs/ARCHITECTURE.md has no link to architecture/a.md"],
        );
    }

    #[test]
    fn a_page_names_only_modules_that_exist() {
        let gone = "docs/architecture/a.md names the module `gone`, which a does not have";
        for (page, expected) in [
            ("| module | what |\n|---|---|\n| `gate`, `tools::gate` | rules of `gone` |", &[][..]),
            ("| module | what |\n|---|---|\n| `gate`, `gone` | rules |\n", &[gone]),
            ("| who | what |\n|---|---|\n| `gone` | another table |\n", &[]),
            ("| module | what |\n|---|---|\n\n| who | what |\n|---|---|\n| `gone` | the next table |\n", &[]),
        ] {
            check_one("(architecture/a.md)", Some(page), expected);
        }
    }
}
