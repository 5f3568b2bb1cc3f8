//! Placeholders in server parameters: `${input:ID}` and `${env:VAR}`.

use std::collections::BTreeMap;

use a2c_protocol::config::{Input, REDACTED, StdioParameters};

/// A placeholder without a value. The message names the input, never a value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unresolved {
    /// No value was given.
    #[error("input '{id}' ({description}) has no value: set the environment variable {variable}")]
    NoValue {
        /// Which input.
        id: String,
        /// What it is for.
        description: String,
        /// Where a value is looked for.
        variable: String,
    },
    /// The configuration does not declare it.
    #[error("input '{id}' is not declared: add it to `inputs`")]
    Undeclared {
        /// Which input.
        id: String,
    },
    /// The environment variable is not set.
    #[error("environment variable {variable} is not set")]
    NoVariable {
        /// Which variable.
        variable: String,
    },
}

/// Parameters with every placeholder replaced, and what must not be seen of them.
pub(crate) struct Filled {
    /// What the process gets.
    pub(crate) stdio: StdioParameters,
    /// Values that came from elsewhere, and every value of `env`.
    pub(crate) secrets: Secrets,
}

/// Values that are hidden wherever they turn up.
#[derive(Clone, Default)]
pub(crate) struct Secrets(Vec<String>);

impl Secrets {
    /// Shorter values are too likely to be part of ordinary words.
    const SHORTEST: usize = 4;

    fn new(values: impl IntoIterator<Item = String>) -> Self {
        let mut values: Vec<_> = values.into_iter().filter(|value| value.len() >= Self::SHORTEST).collect();
        // The longest first: a secret may be part of another.
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        Self(values)
    }

    /// The text without them.
    pub(crate) fn hide(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| text.replace(secret, REDACTED))
    }
}

/// Where values come from.
pub(crate) struct Sources<'a> {
    /// The inputs the configuration declares.
    pub(crate) inputs: &'a [Input],
    /// The environment.
    pub(crate) env: &'a dyn Fn(&str) -> Option<String>,
}

impl Sources<'_> {
    /// The parameters with every placeholder replaced.
    pub(crate) fn fill(&self, stdio: &StdioParameters) -> Result<Filled, Unresolved> {
        let env = match &stdio.env {
            Some(env) => {
                Some(env.iter().map(|(k, v)| Ok((k.clone(), self.text(v)?))).collect::<Result<BTreeMap<_, _>, _>>()?)
            }
            None => None,
        };
        let filled = StdioParameters {
            command: self.text(&stdio.command)?,
            args: stdio.args.iter().map(|a| self.text(a)).collect::<Result<_, _>>()?,
            env,
            cwd: stdio.cwd.as_deref().map(|cwd| self.text(cwd)).transpose()?,
            ..stdio.clone()
        };
        let given = self.inputs.iter().filter_map(|input| self.input(input.id()).ok());
        let secrets = Secrets::new(given.chain(filled.env.iter().flatten().map(|(_, value)| value.clone())));
        Ok(Filled { stdio: filled, secrets })
    }

    /// One text with every placeholder replaced; anything else in `${…}` stays as it is.
    fn text(&self, text: &str) -> Result<String, Unresolved> {
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(start) = rest.find("${") {
            let Some(length) = rest[start..].find('}') else { break };
            let inner = &rest[start + 2..start + length];
            filled.push_str(&rest[..start]);
            match inner.split_once(':') {
                Some(("input", id)) => filled.push_str(&self.input(id)?),
                Some(("env", variable)) => filled.push_str(
                    &(self.env)(variable).ok_or_else(|| Unresolved::NoVariable { variable: variable.to_owned() })?,
                ),
                _ => filled.push_str(&rest[start..=start + length]),
            }
            rest = &rest[start + length + 1..];
        }
        filled.push_str(rest);
        Ok(filled)
    }

    fn input(&self, id: &str) -> Result<String, Unresolved> {
        let input =
            self.inputs.iter().find(|i| i.id() == id).ok_or_else(|| Unresolved::Undeclared { id: id.into() })?;
        let variable = variable_of(id);
        if let Some(value) = (self.env)(&variable) {
            return Ok(value);
        }
        let (default, description) = match input {
            Input::PromptString { default, description, .. } | Input::PickString { default, description, .. } => {
                (default.clone(), description)
            }
            Input::Command { description, .. } => (None, description),
        };
        default.ok_or_else(|| Unresolved::NoValue { id: id.into(), description: description.clone(), variable })
    }
}

/// The environment variable of an input: `api-key` is looked for in `A2C_INPUT_API_KEY`.
fn variable_of(id: &str) -> String {
    let id: String = id.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect();
    format!("A2C_INPUT_{id}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_from_elsewhere_is_hidden() {
        let stdio: StdioParameters =
            serde_json::from_str(r#"{"command": "x", "env": {"A": "s3cret", "B": "${env:K}", "C": "no"}}"#).unwrap();
        let sources = Sources { inputs: &[], env: &|_| Some("s3cret-longer".into()) };
        let filled = sources.fill(&stdio).unwrap();
        assert_eq!(filled.secrets.hide("no: s3cret-longer, s3cret"), "no: ***, ***");
    }

    #[test]
    fn placeholders_are_replaced_or_named() {
        let inputs: Vec<Input> = serde_json::from_str(
            r#"[{"type": "promptString", "id": "api-key", "description": "Key of the service"},
                {"type": "pickString", "id": "size", "description": "Size", "options": ["s", "m"], "default": "m"}]"#,
        )
        .unwrap();
        let env = |name: &str| (name == "A2C_INPUT_API_KEY" || name == "HOME").then(|| "v".to_owned());
        let sources = Sources { inputs: &inputs, env: &env };
        let check = |text: &str, expected: &str| assert_eq!(sources.text(text).as_deref(), Ok(expected), "{text}");
        check("plain", "plain");
        check("${input:api-key}", "v");
        check("a ${input:size} b ${env:HOME}/x", "a m b v/x");
        check("${workspaceFolder} $x ${open", "${workspaceFolder} $x ${open");
        assert!(matches!(sources.text("${input:nope}"), Err(Unresolved::Undeclared { .. })));
        assert!(matches!(sources.text("${env:NOPE}"), Err(Unresolved::NoVariable { .. })));
        let empty = Sources { inputs: &inputs, env: &|_| None };
        let missing = empty.text("${input:api-key}").unwrap_err().to_string();
        assert!(
            missing.contains("api-key")
                && missing.contains("Key of the service")
                && missing.contains("A2C_INPUT_API_KEY")
        );
    }
}
