//! Parameters with every placeholder replaced, and what must not be seen of them.

use std::collections::BTreeMap;

use a2c_protocol::config::{Input, McpServerConfig, McpTransport, SseParameters, StreamableParameters};
use a2c_secrets::Redactor;
use serde::Serialize;
use serde::de::DeserializeOwned;
use zeroize::{Zeroize as _, Zeroizing};

use super::error::Unresolved;
use super::fill::{Parameters, Values};
use super::{InputValue, Inputs};
use crate::config::is_credential;

/// What every process of the user can see anyway. To hide it would make most messages unreadable.
const KNOWN_TO_ALL: [&str; 9] = ["HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TMPDIR", "USER", "USERPROFILE"];

/// Parameters with every placeholder replaced; wiped when dropped.
pub(crate) struct Filled {
    /// How the server is reached.
    pub(crate) transport: McpTransport,
    /// What came from elsewhere, every value of `env` and `headers`, and what a URL holds of the kind: hidden from logs.
    pub(crate) secrets: Redactor,
    /// Those of them that are credentials for sure, or by their name: hidden from results, too. There a time zone that
    /// happens to stand in `env` must stay readable.
    pub(crate) credentials: Redactor,
}

impl std::fmt::Debug for Filled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Filled")
    }
}

impl Drop for Filled {
    fn drop(&mut self) {
        match &mut self.transport {
            McpTransport::Stdio(stdio) => {
                stdio.command.zeroize();
                stdio.args.zeroize();
                stdio.cwd.zeroize();
                stdio.env.iter_mut().flat_map(BTreeMap::values_mut).for_each(String::zeroize);
            }
            McpTransport::Streamable(StreamableParameters { url, headers, oauth, .. }) => {
                url.zeroize();
                headers.iter_mut().flat_map(BTreeMap::values_mut).for_each(String::zeroize);
                oauth.iter_mut().for_each(|oauth| oauth.client_secret.zeroize());
            }
            McpTransport::Sse(SseParameters { url, headers, .. }) => {
                url.zeroize();
                headers.iter_mut().flat_map(BTreeMap::values_mut).for_each(String::zeroize);
            }
        }
    }
}

pub(super) async fn fill(inputs: &Inputs, server: &McpServerConfig) -> Result<Filled, Unresolved> {
    let name = &server.name;
    let mut found = Finding { inputs, server: name, values: Vec::new(), passwords: Vec::new() };
    let transport = match &server.transport {
        McpTransport::Stdio(parameters) => McpTransport::Stdio(found.fill(parameters).await?),
        McpTransport::Streamable(parameters) => McpTransport::Streamable(found.fill(parameters).await?),
        McpTransport::Sse(parameters) => McpTransport::Sse(found.fill(parameters).await?),
    };
    let (mut values, mut passwords) = (found.values, found.passwords);
    values.extend(written(&transport, |_, _| true));
    passwords.extend(written(&transport, is_credential));
    let environment = &inputs.0.sources.environment;
    let known: Vec<_> = KNOWN_TO_ALL.iter().filter_map(|variable| environment.get(variable)).collect();
    values.retain(|value| !known.contains(value));
    passwords.retain(|value| !known.contains(value));
    Ok(Filled { transport, secrets: Redactor::new(values), credentials: Redactor::new(passwords) })
}

/// Filling the parameters of one server.
struct Finding<'a> {
    inputs: &'a Inputs,
    server: &'a str,
    /// What is put in and must be hidden.
    values: Vec<Zeroizing<String>>,
    /// What of it is a credential.
    passwords: Vec<Zeroizing<String>>,
}

impl Finding<'_> {
    async fn fill<T: Serialize + DeserializeOwned>(&mut self, parameters: &T) -> Result<T, Unresolved> {
        let parameters = Parameters::of(parameters);
        let sources = &self.inputs.0.sources;
        let mut resolved: BTreeMap<String, InputValue> = BTreeMap::new();
        for id in parameters.inputs() {
            let (input, value) = self.inputs.resolve(&id, self.server).await?;
            // The options of a list are in the configuration, which the Agent may read.
            if !matches!(input, Input::PickString { .. }) {
                self.values.extend(value.texts());
            }
            if matches!(input, Input::PromptString { password: Some(true), .. } | Input::Command { .. }) {
                self.passwords.extend(value.texts());
            }
            resolved.insert(id, value);
        }
        self.values.extend(parameters.variables().iter().filter_map(|variable| sources.environment.get(variable)));
        let home = sources.environment.home();
        parameters.filled(&Values {
            inputs: &resolved,
            env: &|variable| sources.environment.get(variable),
            workspace_folder: &sources.workspace_folder,
            home: home.as_deref(),
        })
    }
}

/// The customary places of keys, in filled parameters. `of_env` says which variables count.
fn written(transport: &McpTransport, of_env: fn(&str, &str) -> bool) -> Vec<Zeroizing<String>> {
    let keep = |text: &str| Zeroizing::new(text.to_owned());
    match transport {
        McpTransport::Stdio(stdio) => {
            let env = stdio.env.iter().flatten().filter(|(key, value)| of_env(key, value));
            env.map(|(_, value)| keep(value)).collect()
        }
        McpTransport::Streamable(StreamableParameters { url, headers, .. })
        | McpTransport::Sse(SseParameters { url, headers, .. }) => {
            let headers = headers.iter().flat_map(BTreeMap::values);
            // `Bearer TOKEN`: an error message about the token may quote the token alone.
            let words = headers.flat_map(|value| {
                std::iter::once(value.as_str()).chain(value.split_whitespace().filter(|word| word.len() >= 8))
            });
            words.chain(secrets_of_url(url)).chain(client_secret(transport)).map(keep).collect()
        }
    }
}

/// The secret of the client by which the owner signs in.
fn client_secret(transport: &McpTransport) -> Option<&str> {
    let McpTransport::Streamable(StreamableParameters { oauth: Some(oauth), .. }) = transport else { return None };
    oauth.client_secret.as_deref()
}

/// The password and the values of the query.
fn secrets_of_url(url: &str) -> impl Iterator<Item = &str> {
    let (head, query) = url.split_once('?').unwrap_or((url, ""));
    let authority = head.split_once("://").map_or("", |(_, rest)| rest.split('/').next().unwrap_or_default());
    let user = authority.rsplit_once('@').map_or("", |(user, _)| user);
    let password = user.split_once(':').map_or(user, |(_, password)| password);
    let values = query.split('&').filter_map(|pair| pair.split_once('=')).map(|(_, value)| value);
    std::iter::once(password).chain(values)
}
