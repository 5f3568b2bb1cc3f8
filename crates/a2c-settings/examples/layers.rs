//! Reads a settings file with mistakes in it, puts an environment variable over it, and shows the outcome.

#![expect(clippy::print_stdout, reason = "an example shows its result")]

use a2c_settings::{FileFormat, Layers, Overview, Report, SettingsDocument, integer};

const FILE: &str = r#"{
  // How many documents are rendered at the same time.
  "workers": 5000,
  "timout": 30,
  "cache": "yes"
}"#;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let environment = Some("8");

    let document = SettingsDocument::parse(FILE, FileFormat::Json).map_err(|problems| format!("{problems:?}"))?;
    let mut report = Report::new(document.text());
    let mut overview = Overview::default();
    if let Some(top) = document.root().object(&mut report) {
        top.only(&[&["workers", "timeout", "cache"]], &mut report);
        let workers = Layers {
            environment: environment.map(|text| integer::parse(text, 1..=64_u32)).transpose()?,
            file: top.get("workers").and_then(|field| field.clamped(1..=64, &mut report)),
            ..Layers::default()
        };
        overview.pick("workers", workers, 4);
        let cache = Layers { file: top.get("cache").and_then(|f| f.boolean(&mut report)), ..Layers::default() };
        overview.pick("cache", cache, true);
    }

    let findings = report.finish();
    for problem in &findings.problems {
        println!("error: settings.json:{problem}");
    }
    for warning in &findings.warnings {
        println!("warning: settings.json:{warning}");
    }
    for row in overview.rows() {
        println!("{:<8} {:<5} {}", row.name, row.shown, row.origin);
    }
    Ok(())
}
