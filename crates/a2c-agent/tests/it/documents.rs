//! Documents, level by level, through a real hub.

use a2c_agent::protocol::uri::Format;
use a2c_agent::{DocumentError, PageContent, RenderedPage, RequestError};
use a2c_protocol::ErrorCode;
use futures_util::{StreamExt, TryStreamExt};
use serde_json::{Value, json};

use crate::office::{error, model, office, text};

/// A document whose name needs every kind of encoding.
const URI: &str = "dpe://com.example.docs/%E5%B9%B4%E6%8A%A5%2F100%25%20%3F";

#[tokio::test]
async fn each_level_is_asked_for_at_its_place_and_comes_as_its_structure() {
    let (_hub, agent, desk) = office().await;
    let mut asked = desk.answering(|_, payload| {
        let uri = payload["uri"].as_str().unwrap();
        if uri.contains("/pages/") {
            return model(&json!({"page_index": 3, "title": "p", "elements": [{"element_id": "e", "category": "text"}]}));
        }
        if uri.contains("/elements/") {
            return model(&json!({"element_id": "表/1", "category": "table", "content": {"rows": []}, "new": 1}));
        }
        model(&json!({"doc_ref": "年报/100% ?", "page_count": 12, "title": "T", "pages": [{"page_index": 5}], "page_total": 12}))
    });
    let mut sent = async || asked.recv().await.unwrap().1["uri"].as_str().unwrap().to_owned();

    let metadata = agent.read_document_metadata("desk", URI).await.unwrap();
    assert_eq!((metadata.page_count, metadata.title.as_deref()), (12, Some("T")));
    assert_eq!(sent().await, URI);

    let pages = agent.read_page_index("desk", URI, 5, 10).await.unwrap();
    assert_eq!((pages.pages[0].page_index, pages.page_total, pages.document.page_count), (5, Some(12), 12));
    assert_eq!(sent().await, format!("{URI}?depth=pages&offset=5&limit=10"));

    let PageContent::Elements(page) = agent.read_page("desk", URI, 3, Format::Json).await.unwrap() else { panic!() };
    assert_eq!(page.elements[0].element_id, "e");
    assert_eq!(sent().await, format!("{URI}/pages/3"));

    let element = agent.read_element("desk", URI, "表/1").await.unwrap();
    assert_eq!((element.element_id.as_str(), &element.extra["new"]), ("表/1", &json!(1)));
    assert_eq!(sent().await, format!("{URI}/elements/%E8%A1%A8%2F1"));

    // A query that a caller left on the URI is not part of the document's name.
    agent.read_document_metadata("desk", &format!("{URI}?format=markdown")).await.unwrap();
    assert_eq!(sent().await, URI);
}

#[tokio::test]
async fn a_rendered_page_is_text_with_its_title() {
    let (_hub, agent, mut desk) = office().await;
    let titled = json!({"contents": [
        {"uri": "u", "mimeType": "text/markdown", "text": "# One", "_meta": {"title": "概览"}},
        {"uri": "u", "mimeType": "image/png", "blob": "AA=="},
        {"uri": "u", "mimeType": "text/markdown", "text": "two"}
    ]});
    let page = json!({"page_index": 2, "title": "t", "elements": []});
    let rendered = |title: Option<&str>, text: &str| {
        PageContent::Rendered(RenderedPage { title: title.map(Into::into), page_index: 2, text: text.into() })
    };
    for (format, answer, expected) in [
        (Format::Markdown, titled, rendered(Some("概览"), "# One\n\ntwo")),
        (Format::Text, text("text/plain", "plain"), rendered(None, "plain")),
        // As the guide of the Finder shows a rendering.
        (
            Format::Markdown,
            model(&json!({"title": "t", "page_index": 2, "content_markdown": "# M"})),
            rendered(Some("t"), "# M"),
        ),
        // A server that does not render gives what it has.
        (Format::Text, model(&page), PageContent::Elements(serde_json::from_value(page.clone()).unwrap())),
    ] {
        let answer = async {
            let asked = desk.next().await;
            assert_eq!(asked.payload["uri"], format!("dpe://h/d/pages/2?format={}", format.name()));
            asked.answer(answer).await;
        };
        let (page, ()) = tokio::join!(agent.read_page("desk", "dpe://h/d", 2, format), answer);
        assert_eq!(page.unwrap(), expected);
    }
}

#[tokio::test]
async fn a_bad_uri_is_refused_before_anything_is_sent() {
    let (_hub, agent, mut desk) = office().await;
    for bad in ["", "http://h/d", "dpe:///d", "dpe://h/a/b", "dpe://h/d/pages/x", "dpe://h/d?limit=0", "dpe://h/%ff"] {
        let outcome = agent.read_document_metadata("desk", bad).await;
        assert!(matches!(outcome, Err(DocumentError::Uri(_))), "{bad}: {outcome:?}");
    }
    for other in ["dpe://h", "dpe://h/d/pages/0", "dpe://h/d/elements/e"] {
        let outcome = agent.read_page_index("desk", other, 0, 1).await;
        assert!(matches!(outcome, Err(DocumentError::NotADocument { .. })), "{other}: {outcome:?}");
        let first = agent.all_pages("desk", other, Format::Json).next().await;
        assert!(matches!(first, Some(Err(DocumentError::NotADocument { .. }))), "{other}");
    }
    for limit in [0, 101] {
        let outcome = agent.read_page_index("desk", "dpe://h/d", 0, limit).await;
        assert!(matches!(outcome, Err(DocumentError::Uri(_))), "{limit}");
    }
    assert!(matches!(agent.read_element("desk", "dpe://h/d", "").await, Err(DocumentError::Uri(_))));
    let long = "x".repeat(10_000);
    assert!(matches!(agent.read_element("desk", "dpe://h/d", &long).await, Err(DocumentError::Uri(_))));
    desk.was_asked_nothing(&agent).await;
}

#[tokio::test]
async fn what_is_refused_and_what_is_not_of_the_model_is_told() {
    let (_hub, agent, mut desk) = office().await;
    for (code, field) in [(4201, "doc_ref"), (4202, "page_index"), (4203, "element_id"), (4014, "mcp_server_name")] {
        let refusal = error(code, field, 7);
        let answer = async { desk.next().await.refuse(&refusal).await };
        let (outcome, ()) = tokio::join!(agent.read_page("desk", "dpe://h/d", 9, Format::Text), answer);
        let Err(DocumentError::Request(RequestError::Refused(got))) = outcome else { panic!("{outcome:?}") };
        assert_eq!((got.code, &got.fields[field]), (ErrorCode::from_number(code), &json!(7)));
    }
    let blob = json!({"contents": [{"uri": "u", "blob": "AA=="}]});
    for (answer, said) in [
        (json!({"contents": []}), "no text"),
        (blob, "no text"),
        (model(&json!({"page_count": 1})), "doc_ref"),
        (text("application/json", "{"), "EOF"),
    ] {
        let answer = async { desk.next().await.answer(answer).await };
        let (outcome, ()) = tokio::join!(agent.read_document_metadata("desk", "dpe://h/d"), answer);
        let error = outcome.unwrap_err().to_string();
        assert!(error.contains("dpe://h/d") && error.contains(said), "{error}");
    }
}

fn page(index: u64) -> Value {
    model(&json!({"page_index": index, "elements": []}))
}

#[tokio::test]
async fn the_pages_of_a_document_come_in_order_however_they_are_answered() {
    let (_hub, agent, mut desk) = office().await;
    let read = async {
        let pages = agent.all_pages("desk", "dpe://h/d", Format::Json);
        pages.map_ok(|page| page.page_index()).try_collect::<Vec<_>>().await.unwrap()
    };
    let answer = async {
        desk.next().await.answer(model(&json!({"doc_ref": "d", "page_count": 7}))).await;
        // Five are asked for before any is answered: the one that is waited for, and four ahead.
        let mut first = Vec::new();
        for index in 0..5 {
            let asked = desk.next().await;
            assert_eq!(asked.payload["uri"], format!("dpe://h/d/pages/{index}"));
            first.push((index, asked));
        }
        desk.was_asked_nothing(&agent).await;
        for (index, asked) in first.into_iter().rev() {
            asked.answer(page(index)).await;
        }
        for index in [5, 6] {
            desk.next().await.answer(page(index)).await;
        }
    };
    let (pages, ()) = tokio::join!(read, answer);
    assert_eq!(pages, [0, 1, 2, 3, 4, 5, 6]);
    desk.was_asked_nothing(&agent).await;
}

#[tokio::test]
async fn an_error_ends_the_pages_of_a_document() {
    let (_hub, agent, desk) = office().await;
    let refusal = serde_json::to_value(error(4202, "page_count", 1)).unwrap();
    let _asked = desk.answering(move |_, payload| match payload["uri"].as_str().unwrap() {
        "dpe://h/d" => model(&json!({"doc_ref": "d", "page_count": 9})),
        "dpe://h/empty" => model(&json!({"doc_ref": "empty", "page_count": 0})),
        "dpe://h/d/pages/1" => refusal.clone(),
        _ => page(0),
    });
    let outcomes: Vec<_> = agent.all_pages("desk", "dpe://h/d", Format::Json).collect().await;
    assert_eq!(outcomes.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, false]);
    assert!(agent.all_pages("desk", "dpe://h/empty", Format::Json).next().await.is_none());
}
