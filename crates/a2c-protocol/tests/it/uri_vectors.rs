//! Runs the URI vectors that implementations in other languages can run too (see `vectors/README.md`).

use a2c_protocol::uri::{
    DpeDocumentUri, DpeDocumentUriError, DpeLevel, DpeUri, DpeUriError, Dropped, ParsedUri, WindowUri,
};
use serde_json::{Map, Value, json};
use std::collections::HashSet;

/// What one reading of a text comes to, in the terms of the vector files.
enum Reading {
    Ok { ok: Value, canonical: String },
    Error(Value),
}

/// Runs every vector of a file, and reads each canonical text again.
fn check(file: &str, read: impl Fn(&Value, &str) -> Reading) {
    let path = format!("{}/vectors/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let vectors: Vec<Value> = serde_json::from_str(&text).expect("a list of vectors");
    assert!(!vectors.is_empty(), "{path} has no vectors");

    let mut names = HashSet::new();
    for vector in &vectors {
        let name = vector["name"].as_str().expect("a name");
        assert!(names.insert(name), "{file}: the name {name:?} is used twice");
        let input = vector["input"].as_str().expect("an input");
        match read(vector, input) {
            Reading::Error(error) => {
                assert_eq!(Some(&error), vector.get("error"), "{file}: {name}");
                assert!(vector.get("ok").is_none(), "{file}: {name} is both");
            }
            Reading::Ok { ok, canonical } => {
                assert_eq!(Some(&ok), vector.get("ok"), "{file}: {name}");
                assert_eq!(vector["canonical"], *canonical, "{file}: {name}");
                let Reading::Ok { ok: again, canonical: twice } = read(vector, &canonical) else {
                    panic!("{file}: {name}: the canonical text is refused");
                };
                let mut undropped = ok;
                undropped.as_object_mut().expect("an object").remove("dropped");
                assert_eq!(again, undropped, "{file}: {name}: canonical");
                assert_eq!(twice, canonical, "{file}: {name}: canonical");
            }
        }
    }
}

fn put_dropped(ok: &mut Map<String, Value>, dropped: Dropped) {
    let mut found = Map::new();
    found.extend(dropped.query.map(|query| ("query".into(), query.into())));
    found.extend(dropped.fragment.map(|text| ("fragment".into(), text.into())));
    if !found.is_empty() {
        ok.insert("dropped".into(), found.into());
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        other => panic!("{other} is no object"),
    }
}

fn read_window(_: &Value, input: &str) -> Reading {
    match WindowUri::parse(input) {
        Err(error) => Reading::Error(json!({ "flaw": error.flaw.name() })),
        Ok(ParsedUri { uri, dropped }) => {
            let mut ok = object(json!({ "host": uri.host().as_str(), "segments": uri.segments() }));
            put_dropped(&mut ok, dropped);
            Reading::Ok { ok: ok.into(), canonical: uri.to_string() }
        }
    }
}

fn read_dpe(vector: &Value, input: &str) -> Reading {
    match vector["form"].as_str() {
        Some("finder") => read_finder(input),
        Some("document") => read_document(DpeDocumentUri::parse(input)),
        Some("document_strict") => {
            read_document(DpeDocumentUri::parse_strict(input).map(|uri| ParsedUri { uri, dropped: Dropped::default() }))
        }
        other => panic!("unknown form {other:?}"),
    }
}

fn read_finder(input: &str) -> Reading {
    let ParsedUri { uri, dropped } = match DpeUri::parse(input) {
        Ok(parsed) => parsed,
        Err(error) => {
            let mut found = object(json!({ "code": DpeUriError::CODE, "flaw": error.flaw().name() }));
            found.extend(error.rule().map(|rule| ("rule".into(), rule.number().into())));
            return Reading::Error(found.into());
        }
    };
    let mut ok = object(json!({ "host": uri.host().as_str(), "level": uri.level().number() }));
    ok.extend(uri.doc_ref().map(|doc_ref| ("doc_ref".into(), doc_ref.into())));
    match uri.level() {
        DpeLevel::Page { index, .. } => ok.extend([("page_index".into(), (*index).into())]),
        DpeLevel::Element { id, .. } => ok.extend([("element_id".into(), id.as_str().into())]),
        DpeLevel::Catalogue | DpeLevel::Document { .. } => {}
    }
    let given = uri.query();
    let mut query = Map::new();
    query.extend(given.format.map(|format| ("format".into(), format.name().into())));
    query.extend(given.depth.map(|depth| ("depth".into(), depth.name().into())));
    query.extend(given.offset.map(|offset| ("offset".into(), offset.into())));
    query.extend(given.limit.map(|limit| ("limit".into(), limit.into())));
    query.extend(given.categories.as_ref().map(|categories| {
        let names: Vec<&str> = categories.iter().map(|category| category.name()).collect();
        ("categories".into(), names.into())
    }));
    if !query.is_empty() {
        ok.insert("query".into(), query.into());
    }
    put_dropped(&mut ok, dropped);
    Reading::Ok { ok: ok.into(), canonical: uri.to_string() }
}

fn read_document(outcome: Result<ParsedUri<DpeDocumentUri>, DpeDocumentUriError>) -> Reading {
    match outcome {
        Err(error) => Reading::Error(json!({ "code": DpeDocumentUriError::CODE, "reason": error.reason() })),
        Ok(ParsedUri { uri, dropped }) => {
            let mut ok = object(json!({
                "host": uri.host().as_str(),
                "segments": uri.segments(),
                "doc_ref": uri.doc_ref(),
            }));
            put_dropped(&mut ok, dropped);
            Reading::Ok { ok: ok.into(), canonical: uri.to_string() }
        }
    }
}

#[test]
fn window_vectors() {
    check("window-uri.json", read_window);
}

#[test]
fn dpe_vectors() {
    check("dpe-uri.json", read_dpe);
}
