//! Desktop and Finder show servers in the same order.

use a2c_finder::desktop::{Window, organize_desktop};
use a2c_finder::finder::{DocumentQuery, FinderIndex, ListedDocument, organize_finder};
use serde_json::json;

const SERVERS: [&str; 4] = ["beta", "alpha", "gamma", "delta"];

fn desktop(recent: &[&str]) -> Vec<String> {
    let window = |server: &str| Window {
        server: server.to_owned(),
        uri: format!("window://host/{server}"),
        priority: 0.0,
        fullscreen: false,
        contents: vec![json!({"text": server})],
    };
    let windows = SERVERS.map(window);
    let bodies = organize_desktop(&windows, None, recent);
    bodies.iter().filter_map(|shown| shown.rsplit('\n').next()).map(str::to_owned).collect()
}

fn finder(recent: &[&str]) -> Vec<String> {
    let mut index = FinderIndex::new();
    let mut documents = Vec::new();
    for server in SERVERS {
        let resource = json!({
            "uri": format!("dpe://host/{server}"),
            "_meta": {"file_uri": "file:///f", "file_type": "pdf", "page_count": 1},
        });
        let listed = ListedDocument::of(&serde_json::from_value(resource).unwrap(), server).unwrap();
        documents.push(listed.complete().unwrap());
    }
    documents.iter().for_each(|document| assert!(index.put(document)));
    let (page, total) = index.view().page(&DocumentQuery::default(), recent);
    let (reference, same_total) = organize_finder(&documents, &DocumentQuery::default(), recent);
    assert_eq!((page.iter().collect::<Vec<_>>(), total), (reference, same_total));
    page.into_iter().map(|document| document.server).collect()
}

#[test]
fn desktop_and_finder_order_servers_alike() {
    for (recent, expected) in [
        (&[][..], ["alpha", "beta", "delta", "gamma"]),
        (&["gamma"], ["gamma", "alpha", "beta", "delta"]),
        (&["delta", "unknown", "gamma", "delta"], ["delta", "gamma", "alpha", "beta"]),
    ] {
        assert_eq!(desktop(recent), expected, "Desktop after {recent:?}");
        assert_eq!(finder(recent), expected, "Finder after {recent:?}");
    }
}
