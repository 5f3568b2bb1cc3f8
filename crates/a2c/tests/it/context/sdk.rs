//! The Agent SDK with a real Computer: documents level by level, streams to their end, and an office that is followed.

use std::sync::Arc;

use a2c_agent::protocol::context::GetFinderRet;
use a2c_agent::protocol::uri::Format;
use a2c_agent::{FinderQuery, FollowOptions, Follower, PageContent, async_trait};
use futures_util::{StreamExt as _, TryStreamExt as _};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::library::{document, server_with};
use crate::in_process::{TestOffice, sample, within};

const HANDBOOK: &str = "dpe://a2c.sample/handbook";

#[tokio::test]
async fn a_document_is_read_level_by_level() {
    let office = TestOffice::new(&json!({"sample": sample()})).await;
    let agent = &office.agent;
    let found = agent.finder("desk", FinderQuery::default().with_keywords(["HAND"])).await.unwrap();
    assert_eq!((found.total_count, found.documents[0].uri.as_str()), (1, HANDBOOK));
    let metadata = agent.read_document_metadata("desk", HANDBOOK).await.unwrap();
    assert_eq!(metadata.page_count, 3);
    let pages = agent.read_page_index("desk", HANDBOOK, 0, 20).await.unwrap();
    assert_eq!(pages.pages.len(), 3);
    let PageContent::Elements(page) = agent.read_page("desk", HANDBOOK, 1, Format::Json).await.unwrap() else {
        panic!("JSON was asked for")
    };
    let element = agent.read_element("desk", HANDBOOK, &page.elements[0].element_id).await.unwrap();
    assert_eq!(element.content["text"], "The Desktop");
    let titles: Vec<_> = agent
        .all_pages("desk", HANDBOOK, Format::Markdown)
        .map_ok(|page| page.title().map(ToOwned::to_owned))
        .try_collect()
        .await
        .unwrap();
    assert_eq!(titles.iter().flatten().collect::<Vec<_>>(), ["What this is", "The Desktop", "The whole of it"]);
    office.end().await;
}

#[tokio::test]
async fn streams_go_through_all_pages() {
    let documents: Vec<Value> = (0..250)
        .map(|n| document(&format!("dpe://docs/{n}"), &format!("D{n}"), &format!("2026-01-01T00:00:00.{n:03}Z")))
        .collect();
    let office = TestOffice::new(&json!({"docs": server_with(&json!({"page": 60, "resources": documents}))})).await;
    let found: Vec<_> = office.agent.all_documents("desk", FinderQuery::default()).try_collect().await.unwrap();
    let titles: Vec<_> = found.iter().map(|document| document.title.clone()).collect();
    assert_eq!(titles, (0..250).rev().map(|n| format!("D{n}")).collect::<Vec<_>>());
    let listed = office.agent.all_resources("desk", "docs").collect::<Vec<_>>().await;
    assert_eq!(listed.into_iter().map(|resource| resource.unwrap().name).next_back().as_deref(), Some("D249"));
    office.end().await;
}

/// Tells what it is told.
struct ChannelFollower(mpsc::UnboundedSender<String>);

#[async_trait]
impl Follower for ChannelFollower {
    async fn desktop_changed(&self, computer: &str, windows: &[String]) {
        let _ = self.0.send(format!("{computer}: {}", windows.join("|")));
    }

    async fn finder_changed(&self, computer: &str, finder: &GetFinderRet) {
        let _ = self.0.send(format!("{computer}: {} documents", finder.total_count));
    }

    async fn computer_left(&self, computer: &str) {
        let _ = self.0.send(format!("{computer} left"));
    }
}

#[tokio::test]
async fn an_office_is_followed() {
    let office = TestOffice::new(&json!({"sample": sample()})).await;
    let (tell, mut told) = mpsc::unbounded_channel();
    let following = office.agent.follow(Arc::new(ChannelFollower(tell)), FollowOptions::default()).await.unwrap();
    let mut until = async |wanted: &str| {
        while !within(told.recv()).await.expect("it is followed").contains(wanted) {}
    };
    until("desk: 1 documents").await;
    office.text("note", json!({"text": "milk"})).await;
    until("desk: window://a2c.sample/note\n\nmilk").await;
    assert_eq!(following.desktop("desk").unwrap()[..], ["window://a2c.sample/note\n\nmilk"]);
    office.handle().disable("sample").await.unwrap();
    until("desk: 0 documents").await;
    let TestOffice { computer, .. } = office;
    computer.stop().await;
    until("desk left").await;
    assert_eq!(following.computers(), [""; 0]);
    following.stop().await;
}
