//! Putting values into parameters: pure functions on JSON, once every value is known.
//!
//! Parameters become JSON, every text in it is taken apart, and the outcome is read back as parameters. A value is put
//! in as it is: what looks like a placeholder in it stays.

use std::collections::{BTreeMap, BTreeSet};

use a2c_secrets::SecretJson;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use zeroize::Zeroizing;

use super::error::Unresolved;
use super::placeholder::{TemplateSegment, segments};
use super::value::InputValue;

/// The parameters of a server as JSON.
pub(super) struct Parameters(SecretJson);

/// Everything that placeholders may stand for.
pub(super) struct Values<'a> {
    pub(super) inputs: &'a BTreeMap<String, InputValue>,
    pub(super) env: &'a dyn Fn(&str) -> Option<Zeroizing<String>>,
    pub(super) workspace_folder: &'a std::path::Path,
    pub(super) home: Option<&'a str>,
}

impl Parameters {
    /// Parameters as they are written.
    pub(super) fn of(parameters: &impl Serialize) -> Self {
        Self(serde_json::to_value(parameters).unwrap_or_default().into())
    }

    /// The inputs that they mention.
    pub(super) fn inputs(&self) -> BTreeSet<String> {
        self.mentioned(|segment| match segment {
            TemplateSegment::Input(id) => Some(id),
            _ => None,
        })
    }

    /// The environment variables that they mention.
    pub(super) fn variables(&self) -> BTreeSet<String> {
        self.mentioned(|segment| match segment {
            TemplateSegment::Env(variable) => Some(variable),
            _ => None,
        })
    }

    fn mentioned(&self, what: impl for<'a> Fn(TemplateSegment<'a>) -> Option<&'a str>) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        each_text(self.0.expose(), &mut |text| {
            found.extend(segments(text).into_iter().filter_map(&what).map(str::to_owned))
        });
        found
    }

    /// The parameters with every placeholder replaced.
    pub(super) fn filled<T: DeserializeOwned>(mut self, values: &Values<'_>) -> Result<T, Unresolved> {
        let mut typed = BTreeMap::new();
        values.put_into(self.0.expose_mut(), &mut Vec::new(), &mut typed)?;
        loop {
            // The error of the reader quotes what it read: it goes no further than this function.
            let error = match serde_path_to_error::deserialize::<_, T>(self.0.expose()) {
                Ok(parameters) => return Ok(parameters),
                Err(error) => error,
            };
            let field = error.path().to_string();
            let Some((path, id)) = typed.remove_entry(&field).map(|(_, found): (String, (Vec<Step>, String))| found)
            else {
                return Err(Unresolved::Parameters { field });
            };
            let Some(value) = at(self.0.expose_mut(), &path) else { return Err(Unresolved::Parameters { field }) };
            match value {
                // Where a text is needed, `8080` is as good as `"8080"`.
                Value::Number(_) | Value::Bool(_) => *value = Value::String(value.to_string()),
                other => return Err(Unresolved::Unfit { field, id, given: kind(other) }),
            }
        }
    }
}

/// A step from a JSON value to one inside of it.
#[derive(Clone)]
enum Step {
    Key(String),
    Index(usize),
}

/// Which inputs stand alone for a whole value, by the path of it in the words of errors.
type Typed = BTreeMap<String, (Vec<Step>, String)>;

impl Values<'_> {
    fn put_into(&self, value: &mut Value, path: &mut Vec<Step>, typed: &mut Typed) -> Result<(), Unresolved> {
        match value {
            Value::String(text) => {
                let found = segments(text);
                if let [TemplateSegment::Input(id)] = found[..] {
                    typed.insert(spelt(path), (path.clone(), id.to_owned()));
                    *value = self.input(id)?.json();
                } else if found.iter().any(|segment| !matches!(segment, TemplateSegment::Text(_))) {
                    let filled = self.text(&found)?;
                    *value = Value::String(filled);
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    path.push(Step::Index(index));
                    self.put_into(item, path, typed)?;
                    path.pop();
                }
            }
            Value::Object(fields) => {
                for (key, field) in fields {
                    path.push(Step::Key(key.clone()));
                    self.put_into(field, path, typed)?;
                    path.pop();
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
        Ok(())
    }

    /// Joined in one allocation: a text that grows leaves copies of secrets behind.
    fn text(&self, segments: &[TemplateSegment<'_>]) -> Result<String, Unresolved> {
        let texts = segments.iter().map(|segment| self.segment(*segment)).collect::<Result<Vec<_>, _>>()?;
        let mut joined = String::with_capacity(texts.iter().map(|text| text.len()).sum());
        texts.iter().for_each(|text| joined.push_str(text));
        Ok(joined)
    }

    fn segment(&self, segment: TemplateSegment<'_>) -> Result<Zeroizing<String>, Unresolved> {
        let folder = self.workspace_folder;
        let text = match segment {
            TemplateSegment::Input(id) => return Ok(self.input(id)?.text()),
            TemplateSegment::Env(variable) => {
                return (self.env)(variable).ok_or_else(|| Unresolved::NoVariable { variable: variable.to_owned() });
            }
            TemplateSegment::Text(text) => text,
            TemplateSegment::WorkspaceFolder => folder.to_str().ok_or(Unresolved::FolderNotText)?,
            // A root has no name; its path says as much.
            TemplateSegment::WorkspaceFolderBasename => {
                folder.file_name().unwrap_or(folder.as_os_str()).to_str().ok_or(Unresolved::FolderNotText)?
            }
            TemplateSegment::UserHome => self.home.ok_or(Unresolved::NoHome)?,
            TemplateSegment::PathSeparator => std::path::MAIN_SEPARATOR_STR,
        };
        Ok(Zeroizing::new(text.to_owned()))
    }

    fn input(&self, id: &str) -> Result<&InputValue, Unresolved> {
        self.inputs.get(id).ok_or_else(|| Unresolved::Undeclared { id: id.to_owned() })
    }
}

fn each_text(value: &Value, found: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) => found(text),
        Value::Array(items) => items.iter().for_each(|item| each_text(item, found)),
        Value::Object(fields) => fields.values().for_each(|field| each_text(field, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A path as the reader of JSON spells it: `args[0]`, `env.KEY`.
fn spelt(path: &[Step]) -> String {
    let mut text = String::new();
    for step in path {
        match step {
            Step::Key(key) if text.is_empty() => text.push_str(key),
            Step::Key(key) => text.extend([".", key]),
            Step::Index(index) => text.push_str(&format!("[{index}]")),
        }
    }
    text
}

fn at<'a>(value: &'a mut Value, path: &[Step]) -> Option<&'a mut Value> {
    path.iter().try_fold(value, |value, step| match step {
        Step::Key(key) => value.get_mut(key),
        Step::Index(index) => value.get_mut(index),
    })
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;
    use serde_json::json;

    /// Parameters of every type that a field may have.
    #[derive(Debug, Serialize, Deserialize)]
    struct Sample {
        text: String,
        list: Vec<String>,
        map: BTreeMap<String, String>,
        any: Value,
        #[serde(skip_serializing_if = "Option::is_none")]
        number: Option<f64>,
    }

    fn fill(parameters: &Value) -> Result<Value, Unresolved> {
        let inputs = [
            ("word", json!("s3cret")),
            ("nested", json!("${env:NAME} ${input:word}")),
            ("port", json!(8080)),
            ("on", json!(true)),
            ("list", json!(["s3cret"])),
        ];
        let inputs = inputs.into_iter().map(|(id, value)| (id.to_owned(), value.into())).collect();
        let values = Values {
            inputs: &inputs,
            env: &|name| (name == "NAME").then(|| Zeroizing::new("value".to_owned())),
            workspace_folder: std::path::Path::new("/work space/project"),
            home: Some("/home/me"),
        };
        let filled: Sample = Parameters(parameters.clone().into()).filled(&values)?;
        Ok(serde_json::to_value(filled).unwrap())
    }

    fn sample(key: &str, value: Value) -> Value {
        let mut sample = json!({"text": "", "list": [], "map": {}, "any": null});
        sample[key] = value;
        sample
    }

    #[test]
    fn placeholders_are_replaced_by_their_values() {
        let check = |key: &str, given: Value, expected: Value| {
            assert_eq!(fill(&sample(key, given.clone())).unwrap()[key], expected, "{key}: {given}");
        };
        check("text", json!("plain"), json!("plain"));
        check("text", json!("${input:word}"), json!("s3cret"));
        check("text", json!("a ${input:word} b ${env:NAME}"), json!("a s3cret b value"));
        check("text", json!("${input:nested}"), json!("${env:NAME} ${input:word}"));
        check("text", json!("x${input:nested}"), json!("x${env:NAME} ${input:word}"));
        check("text", json!("${workspaceFolder}/x"), json!("/work space/project/x"));
        check("text", json!("${workspaceFolderBasename}"), json!("project"));
        check("text", json!("${userHome}${/}a${pathSeparator}b"), json!("/home/me/a/b"));
        check("text", json!("${file} ${unknown:x} ${input:open"), json!("${file} ${unknown:x} ${input:open"));
        check("list", json!(["a", "${input:word}"]), json!(["a", "s3cret"]));
        check("map", json!({"${input:word}": "${input:word}"}), json!({"${input:word}": "s3cret"}));
        check("any", json!("${input:port}"), json!(8080));
        check("any", json!("${input:on}"), json!(true));
        check("any", json!("${input:list}"), json!(["s3cret"]));
        check("any", json!("x${input:port}"), json!("x8080"));
        check("number", json!("${input:port}"), json!(8080.0));
        check("text", json!("${input:port}"), json!("8080"));
        check("map", json!({"PORT": "${input:port}", "ON": "${input:on}"}), json!({"PORT": "8080", "ON": "true"}));
    }

    #[test]
    fn what_does_not_fit_is_named_and_not_quoted() {
        let check = |key: &str, given: Value, parts: &[&str]| {
            let error = fill(&sample(key, given)).unwrap_err();
            let told = format!("{error} {error:?}");
            for part in parts {
                assert!(told.contains(part), "{part:?} not in {told:?}");
            }
            assert!(!told.contains("s3cret"), "{told:?}");
        };
        check("text", json!("${input:list}"), &["server_parameters.text", "'list'", "a list"]);
        check("list", json!(["a", "${input:list}"]), &["server_parameters.list[1]", "'list'"]);
        check("map", json!({"A": "${input:list}"}), &["server_parameters.map.A", "'list'"]);
        check("number", json!("${input:word}"), &["server_parameters.number", "'word'", "a text"]);
        check("number", json!("1${input:word}"), &["server_parameters.number"]);
        check("text", json!("${env:NOPE}"), &["environment variable NOPE"]);
    }

    #[test]
    fn what_is_mentioned_is_found_everywhere() {
        let parameters =
            Parameters(json!({"a": ["${input:x} ${env:E}"], "b": {"${input:key}": "-${input:y}-${input:x}"}}).into());
        assert_eq!(parameters.inputs(), ["x".to_owned(), "y".to_owned()].into());
        assert_eq!(parameters.variables(), ["E".to_owned()].into());
    }
}
