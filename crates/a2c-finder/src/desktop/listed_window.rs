//! What a listed MCP resource says about a window.

use std::fmt;

use a2c_protocol::context::Resource;
use a2c_protocol::uri::{WindowUri, WindowUriError};
use serde_json::Value;

/// A `window://` resource as its server lists it, before anything is read.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedWindow {
    /// The identity, spelled as the server spells it, without a query or fragment.
    pub uri: String,
    /// How much it matters among the windows of its server, from 0 to 1.
    pub priority: f64,
    /// Whether it wants to be the only window of its server.
    pub fullscreen: bool,
    /// What the server got wrong, in the order of the fields above.
    pub warnings: Vec<WindowWarning>,
}

/// Something about a window that is worth a warning but no reason to refuse it.
///
/// The text is a clause that follows the name of the window. It never repeats a query: some carry secrets.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum WindowWarning {
    /// The listed URI has a query.
    QueryDropped,
    /// The listed URI has a fragment.
    FragmentDropped,
    /// `annotations.priority` is not in [0, 1].
    PriorityOutOfRange(f64),
    /// `annotations.audience` is given and does not name the assistant.
    NotForAssistant(Vec<String>),
    /// `_meta.fullscreen` is neither true nor false.
    FullscreenNotBool(&'static str),
    /// All that was read is binary: the window is not shown.
    OnlyBlobs,
    /// Some of what was read is binary and left out.
    BlobsLeftOut(usize),
}

impl fmt::Display for WindowWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::QueryDropped => f.write_str("has a query, which identifies nothing and is dropped"),
            Self::FragmentDropped => f.write_str("has a fragment, which identifies nothing and is dropped"),
            Self::PriorityOutOfRange(priority) => {
                write!(f, "has priority {priority}, which is not between 0 and 1 and counts as 0")
            }
            Self::NotForAssistant(audience) => {
                write!(f, "is for {audience:?} and not for the assistant; it is shown all the same")
            }
            Self::FullscreenNotBool(found) => {
                write!(f, "has `_meta.fullscreen` of type {found}, which counts as false")
            }
            Self::OnlyBlobs => f.write_str("has only binary contents and is not shown"),
            Self::BlobsLeftOut(count) => write!(f, "has {count} binary contents, which are left out"),
        }
    }
}

impl ListedWindow {
    /// Reads a listed resource; an error if its URI names no window.
    pub fn of(resource: &Resource) -> Result<Self, WindowUriError> {
        let dropped = WindowUri::parse(&resource.uri)?.dropped;
        let mut warnings = Vec::new();
        if dropped.query.is_some() {
            warnings.push(WindowWarning::QueryDropped);
        }
        if dropped.fragment.is_some() {
            warnings.push(WindowWarning::FragmentDropped);
        }

        let annotations = resource.annotations.as_ref();
        let declared = annotations.and_then(|annotations| annotations.priority).unwrap_or_default();
        let priority = in_range(declared).unwrap_or_else(|| {
            warnings.push(WindowWarning::PriorityOutOfRange(declared));
            0.0
        });
        let audience = annotations.and_then(|annotations| annotations.audience.as_ref());
        if let Some(audience) = audience.filter(|audience| !audience.iter().any(|who| who == "assistant")) {
            warnings.push(WindowWarning::NotForAssistant(audience.clone()));
        }
        let fullscreen = match resource.meta.as_ref().and_then(|meta| meta.get("fullscreen")) {
            None | Some(Value::Null) => false,
            Some(Value::Bool(fullscreen)) => *fullscreen,
            Some(other) => {
                warnings.push(WindowWarning::FullscreenNotBool(type_name(other)));
                false
            }
        };
        Ok(Self { uri: without_query(&resource.uri).to_owned(), priority, fullscreen, warnings })
    }
}

/// The part of a window's URI that identifies it, in the spelling of the server.
pub(super) fn without_query(uri: &str) -> &str {
    uri.find(['?', '#']).map_or(uri, |end| &uri[..end])
}

/// A priority in [0, 1], and never the negative zero, which would not equal the positive one when sorted.
pub(super) fn in_range(priority: f64) -> Option<f64> {
    (0.0..=1.0).contains(&priority).then_some(priority + 0.0)
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn listed(resource: Value) -> ListedWindow {
        ListedWindow::of(&serde_json::from_value(resource).unwrap()).unwrap()
    }

    #[test]
    fn what_is_missing_has_a_default_and_no_warning() {
        let plain = ListedWindow { uri: "window://h/a".into(), priority: 0.0, fullscreen: false, warnings: vec![] };
        for resource in [
            json!({"uri": "window://h/a"}),
            json!({"uri": "window://h/a", "annotations": {}, "_meta": {}}),
            json!({"uri": "window://h/a", "annotations": null, "_meta": null}),
            json!({"uri": "window://h/a", "annotations": {"priority": null, "audience": null}, "_meta": {"fullscreen": null}}),
            json!({"uri": "window://h/a", "annotations": {"lastModified": "yesterday"}}),
            json!({"uri": "window://h/a", "annotations": {"audience": ["user", "assistant"]}}),
        ] {
            assert_eq!(listed(resource.clone()), plain, "{resource}");
        }
    }

    #[test]
    fn the_uri_keeps_its_spelling_and_loses_its_query() {
        use WindowWarning::{FragmentDropped, QueryDropped};
        for (uri, identity, warnings) in [
            ("window://Com.Example/c%2fd", "window://Com.Example/c%2fd", vec![]),
            ("window://h/a/", "window://h/a/", vec![]),
            ("window://h/a?priority=1&fullscreen=true", "window://h/a", vec![QueryDropped]),
            ("window://h?", "window://h", vec![QueryDropped]),
            ("window://h/a#b?c", "window://h/a", vec![FragmentDropped]),
            ("window://h/a?b#c", "window://h/a", vec![QueryDropped, FragmentDropped]),
        ] {
            let window = listed(json!({"uri": uri}));
            assert_eq!((window.uri.as_str(), &window.warnings), (identity, &warnings), "{uri}");
            assert!(!window.fullscreen && window.priority == 0.0, "{uri}: a query carries no metadata");
        }
    }

    #[test]
    fn no_window_without_a_window_uri() {
        for uri in ["", "window://", "window:///a", "dpe://h/a", "http://h", "window://h/%zz", "window://h//a"] {
            let resource = serde_json::from_value(json!({"uri": uri})).unwrap();
            assert!(ListedWindow::of(&resource).is_err(), "{uri}");
        }
    }

    #[test]
    fn priorities_are_between_nought_and_one() {
        for (declared, priority, warns) in [
            (json!(0), 0.0, false),
            (json!(-0.0), 0.0, false),
            (json!(0.8), 0.8, false),
            (json!(1), 1.0, false),
            (json!(1.000001), 0.0, true),
            (json!(-0.1), 0.0, true),
            (json!(100), 0.0, true),
        ] {
            let window = listed(json!({"uri": "window://h", "annotations": {"priority": declared}}));
            assert!(window.priority == priority && window.priority.is_sign_positive(), "{declared}");
            let expected =
                if warns { vec![WindowWarning::PriorityOutOfRange(declared.as_f64().unwrap())] } else { vec![] };
            assert_eq!(window.warnings, expected, "{declared}");
        }
    }

    #[test]
    fn fullscreen_is_a_bool() {
        for (declared, fullscreen, found) in [
            (json!(true), true, None),
            (json!(false), false, None),
            (json!("true"), false, Some("string")),
            (json!(1), false, Some("number")),
            (json!([]), false, Some("array")),
            (json!({}), false, Some("object")),
        ] {
            let window = listed(json!({"uri": "window://h", "_meta": {"fullscreen": declared}}));
            assert_eq!(window.fullscreen, fullscreen, "{declared}");
            let expected: Vec<_> = found.map(WindowWarning::FullscreenNotBool).into_iter().collect();
            assert_eq!(window.warnings, expected, "{declared}");
        }
    }

    #[test]
    fn an_audience_without_the_assistant_is_worth_a_warning() {
        for audience in [vec![], vec!["user".to_owned()]] {
            let window = listed(json!({"uri": "window://h", "annotations": {"audience": audience}}));
            assert_eq!(window.warnings, [WindowWarning::NotForAssistant(audience)]);
        }
    }

    #[test]
    fn warnings_say_what_follows_and_no_secret() {
        let window = listed(json!({
            "uri": "window://h?token=s3cret", "annotations": {"priority": 7, "audience": ["user"]}, "_meta": {"fullscreen": "yes"},
        }));
        let said: Vec<String> = window.warnings.iter().map(ToString::to_string).collect();
        assert_eq!(
            said,
            [
                "has a query, which identifies nothing and is dropped",
                "has priority 7, which is not between 0 and 1 and counts as 0",
                "is for [\"user\"] and not for the assistant; it is shown all the same",
                "has `_meta.fullscreen` of type string, which counts as false",
            ]
        );
    }
}
