//! What is refused, with its code and its fields, as the Agent sees it.

use serde_json::{Value, json};

use super::library::{document, server_with, window};
use crate::in_process::{TestOffice, sample, stdio};

#[tokio::test]
async fn refusals_have_their_codes_and_fields() {
    let missing = |code: i64, extra: Value| {
        let mut data = extra;
        data["code"] = code.into();
        json!({"error": {"code": -32002, "message": "no such thing", "data": data}})
    };
    let says = json!({
        "resources": [document("dpe://a/d", "D", "2026-01-01"), window("demo://broken", json!({"error": {"code": -32603, "message": "it broke"}}))],
        "reads": {
            "dpe://a/nowhere": missing(4201, json!({"doc_ref": "nowhere"})),
            "dpe://a/d/pages/9": missing(4202, json!({"page_index": 9, "page_count": 2})),
            "dpe://a/d/elements/x": missing(4203, json!({"element_id": "x"})),
        },
    });
    let time = stdio(a2c_testbed::python(), &["-m", "mcp_server_time", "--local-timezone", "Europe/Berlin"]);
    let office = TestOffice::new(&json!({"a": server_with(&says), "time": time, "sample": sample()})).await;
    let check = async |event: &str, fields: Value, code: i64, field: &str, value: Value| {
        let error = office.refused(event, fields.clone()).await;
        assert_eq!((error.code.number(), error.fields.get(field)), (code, Some(&value)), "{event} {fields}: {error:?}");
    };
    let read = async |uri: &str, code: i64, field: &str, value: Value| {
        check("client:read_resource", json!({ "uri": uri }), code, field, value).await;
    };
    read("dpe://a/nowhere", 4201, "doc_ref", json!("nowhere")).await;
    read("dpe://a/d/pages/9", 4202, "page_count", json!(2)).await;
    read("dpe://a/d/pages/7", 4202, "page_index", json!(7)).await;
    read("dpe://a/d/elements/x", 4203, "element_id", json!("x")).await;
    read("dpe://a/d/chapters/1", 4204, "rule", json!(3)).await;
    read("dpe://a/d?limit=0", 4204, "rule", json!(7)).await;
    read("dpe://missing/d", 4014, "mcp_server_name", json!("missing")).await;
    read("demo://missing", 404, "uri", json!("demo://missing")).await;
    read("demo://broken", 500, "uri", json!("demo://broken")).await;
    check("client:read_resource", json!({"uri": "x:y", "mcp_server": "?"}), 404, "mcp_server_name", json!("?")).await;
    check("client:read_resource", json!({"uri": "x:y", "mcp_server": "time"}), 4015, "capability", json!("resources"))
        .await;
    check("client:get_resources", json!({"mcp_server": "?"}), 404, "mcp_server_name", json!("?")).await;
    check("client:get_resources", json!({"mcp_server": "time"}), 4015, "mcp_server_name", json!("time")).await;
    check("client:get_dpe", json!({"uri": "dpe://a/d"}), 4011, "uri", json!("dpe://a/d")).await;
    check("client:get_dpe", json!({"uri": "dpe://a"}), 4012, "uri", json!("dpe://a")).await;
    check("client:get_dpe", json!({"uri": ""}), 4012, "uri", json!("")).await;
    for (event, fields) in [
        ("client:get_desktop", json!({"desktop_size": "many"})),
        ("client:get_resources", json!({})),
        ("client:read_resource", json!({"uri": ""})),
        ("client:get_dpe", json!({"uri": "dpe://a/d", "timeout": 0})),
    ] {
        assert_eq!(office.refused(event, fields.clone()).await.code.number(), 400, "{event} {fields}");
    }
    office.end().await;
}

#[tokio::test]
async fn a_refusal_repeats_the_key_of_its_request() {
    let office = TestOffice::new(&json!({"sample": sample()})).await;
    for (event, fields) in [
        // Events of other implementations, which this Computer does not answer.
        ("client:get_skills", json!({})),
        ("client:get_skill", json!({"name": "greet"})),
        ("client:get_blob", json!({"blob_handle": "h"})),
        // Malformed, and refused later.
        ("client:get_desktop", json!({"desktop_size": "many"})),
        ("client:tool_call", json!({"tool_name": 7})),
        ("client:get_resources", json!({"mcp_server": "?"})),
        ("client:get_dpe", json!({"uri": ""})),
    ] {
        let mut fields = fields;
        fields["req_id"] = json!("key-1");
        let error = office.refused(event, fields).await;
        assert_eq!(error.fields.get("req_id"), Some(&json!("key-1")), "{event}: {error:?}");
    }
    office.end().await;
}
