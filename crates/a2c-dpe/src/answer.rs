//! Completes what a resolver answered with what is known of the document.

use a2c_protocol::context::{A2cResource, Resource};
use a2c_protocol::error::ResolutionFailure;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::error::GetDpeError;
use crate::read_answer::check_address;
use crate::resolver::{DpeContents, SourceDocument};

/// What the JSON of a document says of itself.
#[derive(Deserialize, Default)]
struct Head {
    #[serde(default)]
    title: Value,
    #[serde(default)]
    summary: Value,
}

/// Checks the address, and fills in what the resolver left out.
pub(crate) fn complete(mut answer: A2cResource, document: &SourceDocument) -> Result<A2cResource, GetDpeError> {
    check_address(&answer.uri).map_err(|bad| {
        let message = format!("the resolver of this Computer gave an address that {bad}");
        GetDpeError::failed(ResolutionFailure::ResolverReturnedInvalid, message)
    })?;
    let Resource { name, title, description, annotations, .. } = &document.resource;
    let mut meta = answer.meta.take().unwrap_or_default();
    // Without an etag of the server the state is named by the address, which may be a secret: it is not repeated.
    if !matches!(&document.contents, DpeContents::External(external) if external.etag.is_none()) {
        meta.entry("etag").or_insert_with(|| document.etag.clone().into());
    }
    match &document.contents {
        DpeContents::Inline(json) => {
            let head: Head = serde_json::from_slice(json).unwrap_or_default();
            let listed = Some(name).filter(|name| !name.is_empty()).or(title.as_ref());
            answer.name = answer.name.or_else(|| listed.cloned().or_else(|| text(head.title)));
            answer.description = answer.description.or_else(|| description.clone().or_else(|| text(head.summary)));
            // The Agent fetches the JSON, not the file that the document was made from.
            answer.mime_type = answer.mime_type.or_else(|| Some("application/json".into()));
            answer.size = answer.size.or(Some(json.len() as u64));
        }
        DpeContents::External(external) => {
            let listed = Some(name).filter(|name| !name.is_empty()).or(title.as_ref());
            answer.name = answer.name.or_else(|| listed.cloned());
            answer.description = answer.description.or_else(|| description.clone());
            answer.mime_type = answer.mime_type.or_else(|| external.mime_type.clone());
            answer.size = answer.size.or(external.size);
            if answer.uri == external.uri
                && let Some(expires_at) = &external.expires_at
            {
                meta.entry("expires_at").or_insert_with(|| expires_at.clone().into());
            }
        }
    }
    if answer.annotations.is_none() {
        answer.annotations = annotations.as_ref().and_then(|annotations| serde_json::to_value(annotations).ok());
    }
    answer.meta = Some(meta);
    Ok(answer)
}

/// When the address of an answer expires. `Err` if `expires_at` is no RFC 3339 time.
pub(crate) fn expiry(answer: &A2cResource) -> Result<Option<Timestamp>, ()> {
    match answer.meta.as_ref().and_then(|meta| meta.get("expires_at")) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => value.as_str().and_then(|text| text.parse().ok()).map(Some).ok_or(()),
    }
}

/// The `_meta` of an answer that expires.
pub(crate) fn expiring(at: Timestamp) -> Option<Map<String, Value>> {
    // Rounded down to whole seconds: the address lives at least as long as announced.
    let at = Timestamp::from_second(at.as_second()).unwrap_or(at);
    Some(Map::from_iter([("expires_at".to_owned(), at.to_string().into())]))
}

fn text(value: Value) -> Option<String> {
    match value {
        Value::String(text) if !text.is_empty() => Some(text),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing;

    #[test]
    fn what_is_left_out_is_filled_in() {
        let mut document = testing::inline("dpe://h/d", r#"{"title":"From JSON","summary":"S"}"#);
        let answer = complete(document.at("https://x.example/d"), &document).unwrap();
        assert_eq!(answer.name.as_deref(), Some("From JSON"));
        assert_eq!(answer.description.as_deref(), Some("S"));
        assert_eq!((answer.mime_type.as_deref(), answer.size), (Some("application/json"), Some(35)));
        assert_eq!(answer.meta.unwrap()["etag"], document.etag.as_str());

        document.resource =
            serde_json::from_value(json!({"uri": "dpe://h/d", "name": "listed", "annotations": {"priority": 0.5}}))
                .unwrap();
        let mut given = document.at("https://x.example/d");
        given.mime_type = Some("application/zip".into());
        given.meta = Some(Map::from_iter([("etag".to_owned(), json!("mine"))]));
        let answer = complete(given, &document).unwrap();
        assert_eq!(answer.name.as_deref(), Some("listed"));
        assert_eq!(answer.mime_type.as_deref(), Some("application/zip"));
        assert_eq!(answer.annotations, Some(json!({"priority": 0.5})));
        assert_eq!(answer.meta.unwrap()["etag"], "mine");
    }

    #[test]
    fn an_external_document_keeps_what_its_server_said() {
        let mut document = testing::external("dpe://h/d", "https://x.example/d");
        let DpeContents::External(external) = &mut document.contents else { panic!("not external") };
        external.expires_at = Some("2026-01-01T02:00:00+02:00".into());
        external.size = Some(7);
        let answer = complete(external.clone().answer(), &document).unwrap();
        assert_eq!(answer.size, Some(7));
        assert_eq!(expiry(&answer), Ok(Some("2026-01-01T00:00:00Z".parse().unwrap())));
    }

    #[test]
    fn an_unusable_address_is_the_resolvers_fault() {
        let document = testing::inline("dpe://h/d", "{}");
        for uri in ["", "relative", "data:,x", "http://", "https://x.example/\n"] {
            let error = complete(document.at(uri), &document).unwrap_err();
            let GetDpeError::Failed { category, .. } = error else { panic!("{error:?}") };
            assert_eq!(category, ResolutionFailure::ResolverReturnedInvalid, "{uri}");
        }
    }
}
