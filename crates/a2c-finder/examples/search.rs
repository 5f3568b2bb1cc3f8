//! Searches an index of documents and shows the Desktop of two servers.

#![expect(clippy::print_stdout, reason = "an example shows its result")]

use a2c_finder::desktop::{Window, organize_desktop};
use a2c_finder::finder::{DocumentQuery, FinderIndex, ListedDocument};
use serde_json::json;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut index = FinderIndex::new();
    for (name, title, changed) in
        [("plan", "Plan for the year", "2026-01-02"), ("report", "Annual Report", "2026-02-01"), ("menu", "Menu", "")]
    {
        let resource = serde_json::from_value(json!({
            "uri": format!("dpe://library/{name}"),
            "title": title,
            "annotations": {"lastModified": changed},
            "_meta": {"file_uri": format!("file:///{name}.pdf"), "file_type": "pdf", "page_count": 3},
        }))?;
        if let Some(listed) = ListedDocument::of(&resource, "library") {
            index.put(&listed.complete()?);
        }
    }
    let query = DocumentQuery { keywords: vec!["report".into(), "YEAR".into()], ..DocumentQuery::default() };
    let (page, total) = index.view().page(&query, &["library"]);
    println!("{total} of {} documents:", index.len());
    for document in page {
        println!("  {} ({})", document.title, document.uri);
    }

    let window = |server: &str, name: &str, priority| Window {
        server: server.to_owned(),
        uri: format!("window://{server}/{name}"),
        priority,
        fullscreen: false,
        contents: vec![json!({"text": format!("This is {name}.")})],
    };
    let windows = [window("mail", "inbox", 0.2), window("mail", "draft", 0.9), window("clock", "time", 0.5)];
    println!("\nThe Desktop after a call to `mail`:");
    for rendered in organize_desktop(&windows, Some(2), &["mail"]) {
        println!("{rendered}\n");
    }
    Ok(())
}
