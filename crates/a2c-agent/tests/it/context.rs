//! Desktop, Finder and resources, through a real hub.

use a2c_agent::{DesktopQuery, FinderQuery, PagingError, RequestError};
use a2c_protocol::{ErrorCode, event};
use futures_util::{StreamExt, TryStreamExt};
use serde_json::{Value, json};

use crate::office::{error, office, text, within};

/// What was asked, without what every request has.
fn own(payload: &Value) -> Value {
    let mut own = payload.clone();
    for common in ["agent", "req_id", "computer"] {
        assert!(own.as_object_mut().unwrap().remove(common).is_some(), "{common} is missing in {payload}");
    }
    own
}

#[tokio::test]
async fn a_desktop_is_asked_for_as_wanted() {
    let (_hub, agent, mut desk) = office().await;
    for (query, expected) in [
        (DesktopQuery::default(), json!({})),
        (DesktopQuery::default().with_size(-3), json!({"desktop_size": -3})),
        (
            DesktopQuery::default().with_size(2).with_window("window://h/a%2Fb"),
            json!({"desktop_size": 2, "window": "window://h/a%2Fb"}),
        ),
    ] {
        let answer = async {
            let asked = desk.asked(event::GET_DESKTOP).await;
            assert_eq!(own(&asked.payload), expected);
            asked.answer(json!({"desktops": ["window://h/a\n\n你好"]})).await;
        };
        let (windows, ()) = tokio::join!(agent.desktop("desk", query), answer);
        assert_eq!(windows.unwrap(), ["window://h/a\n\n你好"]);
    }
}

fn summary(name: &str) -> Value {
    json!({"doc_ref": name, "uri": format!("dpe://h/{name}"), "file_uri": "file:///f", "file_type": "pdf",
           "title": name, "page_count": 1, "server": "s"})
}

#[tokio::test]
async fn a_finder_is_asked_for_as_wanted() {
    let (_hub, agent, mut desk) = office().await;
    let all = FinderQuery::default().with_keywords(["年报", "b"]).with_file_type("xlsx").with_offset(40).with_limit(7);
    for (query, expected) in [
        (FinderQuery::default(), json!({"offset": 0, "limit": 20})),
        (all, json!({"keywords": ["年报", "b"], "file_type": "xlsx", "offset": 40, "limit": 7})),
    ] {
        let answer = async {
            let asked = desk.asked(event::GET_FINDER).await;
            assert_eq!(own(&asked.payload), expected);
            asked.answer(json!({"documents": [summary("x")], "total_count": 41})).await;
        };
        let (found, ()) = tokio::join!(agent.finder("desk", query), answer);
        let found = found.unwrap();
        assert_eq!((found.documents[0].title.as_str(), found.total_count), ("x", 41));
    }
}

#[tokio::test]
async fn all_documents_come_page_by_page() {
    let (_hub, agent, desk) = office().await;
    let mut asked = desk.answering(|_, payload| {
        let (offset, limit) = (payload["offset"].as_u64().unwrap(), payload["limit"].as_u64().unwrap());
        let page: Vec<Value> = (offset..(offset + limit).min(7)).map(|n| summary(&n.to_string())).collect();
        json!({"documents": page, "total_count": 7})
    });
    let query = FinderQuery::default().with_offset(1).with_limit(3).with_keywords(["k"]);
    let documents: Vec<_> = agent.all_documents("desk", query).map_ok(|d| d.doc_ref).try_collect().await.unwrap();
    assert_eq!(documents, ["1", "2", "3", "4", "5", "6"]);
    for offset in [1, 4] {
        let (_, payload) = asked.recv().await.unwrap();
        assert_eq!(own(&payload), json!({"keywords": ["k"], "offset": offset, "limit": 3}));
    }
    assert!(asked.try_recv().is_err(), "the count says where the end is");
}

#[tokio::test]
async fn resources_are_read_page_by_page_and_keep_all_their_fields() {
    let (_hub, agent, desk) = office().await;
    let mut asked = desk.answering(|_, payload| match payload.get("cursor").and_then(Value::as_str) {
        None => json!({"resources": [{"uri": "window://h", "name": "w", "icons": [1]}], "next_cursor": "2"}),
        Some("2") => json!({"resources": [], "next_cursor": "3"}),
        Some("3") => json!({"resources": [{"uri": "x:y", "name": "x"}]}),
        other => panic!("{other:?}"),
    });
    let page = agent.resources("desk", "s", Some("3")).await.unwrap();
    assert_eq!((page.resources[0].uri.as_str(), page.next_cursor), ("x:y", None));
    assert_eq!(own(&asked.recv().await.unwrap().1), json!({"mcp_server": "s", "cursor": "3"}));

    let all: Vec<_> = agent.all_resources("desk", "s").try_collect().await.unwrap();
    assert_eq!(all.iter().map(|r| r.uri.as_str()).collect::<Vec<_>>(), ["window://h", "x:y"]);
    assert_eq!(all[0].extra["icons"], json!([1]));
    assert_eq!(own(&asked.recv().await.unwrap().1), json!({"mcp_server": "s"}));
}

#[tokio::test]
async fn a_list_that_repeats_itself_or_breaks_off_ends_with_an_error() {
    let (_hub, agent, desk) = office().await;
    let _asked = desk.answering(|_, payload| match (payload["mcp_server"].as_str(), payload.get("cursor")) {
        (Some("gone"), Some(_)) => serde_json::to_value(error(404, "mcp_server_name", "gone")).unwrap(),
        _ => json!({"resources": [{"uri": "x:y"}], "next_cursor": "again"}),
    });
    let ends = |server| {
        let mut list = agent.all_resources("desk", server);
        async move {
            let mut read = 0;
            loop {
                match list.next().await {
                    Some(Ok(_)) => read += 1,
                    Some(Err(error)) => break (read, error, list.next().await.is_none()),
                    None => panic!("it ended well"),
                }
            }
        }
    };
    let (read, repeats, is_over) = within(ends("round")).await;
    assert!(matches!(repeats, PagingError::Repeats { pages: 2 }), "{repeats:?}");
    assert_eq!((read, is_over), (2, true));
    let (read, refused, is_over) = within(ends("gone")).await;
    assert!(
        matches!(&refused, PagingError::Request(RequestError::Refused(e)) if e.fields["mcp_server_name"] == "gone"),
        "{refused:?}"
    );
    assert_eq!((read, is_over), (1, true));
}

#[tokio::test]
async fn a_resource_is_read_from_any_server_that_lists_it_or_from_one() {
    let (_hub, agent, mut desk) = office().await;
    let answer = async {
        let asked = desk.asked(event::READ_RESOURCE).await;
        assert_eq!(own(&asked.payload), json!({"uri": "x:y"}));
        asked.answer(text("text/plain", "1")).await;
        let asked = desk.asked(event::READ_RESOURCE).await;
        assert_eq!(own(&asked.payload), json!({"uri": "x:y", "mcp_server": "s"}));
        asked.answer(text("text/plain", "2")).await;
    };
    let ask = async {
        assert_eq!(agent.read_resource("desk", "x:y").await.unwrap()[0]["text"], "1");
        assert_eq!(agent.read_resource_from("desk", "s", "x:y").await.unwrap()[0]["text"], "2");
    };
    tokio::join!(ask, answer);
}

#[tokio::test]
async fn refusals_arrive_with_their_fields() {
    let (_hub, agent, mut desk) = office().await;
    for (code, field) in [
        (404, "mcp_server_name"),
        (404, "uri"),
        (4014, "mcp_server_name"),
        (4015, "capability"),
        (4201, "doc_ref"),
        (4202, "page_index"),
        (4203, "element_id"),
        (4204, "uri"),
    ] {
        let refusal = error(code, field, "f");
        let answer = async { desk.next().await.refuse(&refusal).await };
        let (outcome, ()) = tokio::join!(agent.resources("desk", "s", None), answer);
        let Err(RequestError::Refused(got)) = outcome else { panic!("{code}: {outcome:?}") };
        assert_eq!((got.code.number(), &got.fields[field]), (code, &json!("f")));
    }
    let absent = agent.desktop("absent", DesktopQuery::default()).await;
    assert!(
        matches!(absent, Err(RequestError::Refused(e)) if e.code == ErrorCode::NotFound && e.fields["computer"] == "absent")
    );
}

#[tokio::test]
async fn an_answer_to_another_question_is_refused() {
    let (_hub, agent, desk) = office().await;
    let _asked = desk.answering(|event, _| match event {
        event::GET_DESKTOP => json!({"desktops": [], "req_id": "other"}),
        event::GET_FINDER => json!({"documents": [], "total_count": 0, "req_id": "other"}),
        event::GET_RESOURCES => json!({"resources": [], "req_id": "other"}),
        _ => json!({"contents": [], "req_id": "other"}),
    });
    let wrong = |error: RequestError| assert!(matches!(&error, RequestError::WrongShape(_)), "{error:?}");
    wrong(agent.desktop("desk", DesktopQuery::default()).await.unwrap_err());
    wrong(agent.finder("desk", FinderQuery::default()).await.unwrap_err());
    wrong(agent.resources("desk", "s", None).await.unwrap_err());
    wrong(agent.read_resource("desk", "x:y").await.unwrap_err());
}
