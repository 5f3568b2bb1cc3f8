//! Literal secrets in a file, and the inputs that replace them.

use a2c_protocol::config::{Input, McpServerConfig, McpTransport, SseParameters, StreamableParameters};
use url::Url;

use super::{Note, input_variable, is_taken};
use crate::config::ComputerConfig;

/// A secret that an input has replaced in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MovedSecret {
    /// The server that needs it.
    pub server: String,
    /// The environment variable, header or parameter that it is the value of.
    pub key: String,
    /// The input that replaces it.
    pub input: String,
    /// The environment variable that the Computer reads it from.
    pub variable: String,
}

/// Replaces every literal that looks like a secret by an input.
pub(super) fn move_out(config: &mut ComputerConfig) -> Vec<MovedSecret> {
    let mut moved = Vec::new();
    let ComputerConfig { inputs, servers } = config;
    for (name, server) in servers {
        for (key, value) in values(server).filter(|(key, value)| is_secret(key, value)) {
            let id = free_id(inputs, name, key);
            *value = match value.split_once(' ') {
                // The scheme of an Authorization header is no secret.
                Some((scheme @ ("Bearer" | "bearer" | "Basic" | "basic" | "token" | "Token"), _)) => {
                    format!("{scheme} ${{input:{id}}}")
                }
                _ => format!("${{input:{id}}}"),
            };
            let description = format!("{key} of the server {name}");
            inputs.push(Input::PromptString { id: id.clone(), description, default: None, password: Some(true) });
            let variable = input_variable(&id);
            moved.push(MovedSecret { server: name.clone(), key: key.to_owned(), input: id, variable });
        }
    }
    moved
}

/// Notes on literals in `env`, `headers` and `oauth` that look like secrets and stay in the file.
pub(crate) fn literal_secrets(config: &ComputerConfig) -> Vec<Note> {
    let mut config = config.clone();
    let moved = move_out(&mut config);
    let note = |MovedSecret { server, key, .. }| Note {
        server: Some(server),
        what: format!("the value of `{key}` looks like a secret and stays in the file"),
    };
    moved.into_iter().map(note).collect()
}

/// Notes on secrets in arguments, which every user of the machine can see, and in URLs, which are written to logs.
pub(crate) fn exposed_secrets(config: &ComputerConfig) -> Vec<Note> {
    let note = |name: &str, what: &str| Note { server: Some(name.to_owned()), what: what.to_owned() };
    let look = |(name, server): (&String, &McpServerConfig)| match &server.transport {
        McpTransport::Stdio(stdio) if has_secret_argument(&stdio.args) => Some(note(
            name,
            "`args` seem to hold a secret: every user of this machine can see arguments. If the server can take it \
             from its environment, write it into `env` as ${input:ID}",
        )),
        McpTransport::Streamable(StreamableParameters { url, .. }) | McpTransport::Sse(SseParameters { url, .. })
            if has_secret_part(url) =>
        {
            Some(note(name, "`url` seems to hold a secret: write ${input:ID} in its place and declare the input"))
        }
        _ => None,
    };
    config.servers.iter().filter_map(look).collect()
}

/// The values that may be secrets, with their names.
fn values(server: &mut McpServerConfig) -> impl Iterator<Item = (&str, &mut String)> {
    let (values, client_secret) = match &mut server.transport {
        McpTransport::Stdio(stdio) => (stdio.env.as_mut(), None),
        McpTransport::Streamable(http) => {
            (http.headers.as_mut(), http.oauth.as_mut().and_then(|oauth| oauth.client_secret.as_mut()))
        }
        McpTransport::Sse(sse) => (sse.headers.as_mut(), None),
    };
    let values = values.into_iter().flatten().map(|(key, value)| (key.as_str(), value));
    values.chain(client_secret.map(|secret| ("client_secret", secret)))
}

/// `server-key`, in letters and digits, with a number where that is taken.
fn free_id(inputs: &[Input], server: &str, key: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let id: String = format!("{server}-{key}").chars().map(letter).collect();
    let mut number = 1;
    let mut free = id.clone();
    while is_taken(inputs, &free) {
        number += 1;
        free = format!("{id}-{number}");
    }
    free
}

/// Parts of the names of secrets.
const PARTS: [&str; 10] =
    ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "AUTH", "CREDENTIAL", "COOKIE", "BEARER"];
/// Words of the names of secrets, as a whole word only.
const WORDS: [&str; 4] = ["PAT", "PWD", "PASS", "PW"];
/// Endings of names whose value only locates a secret.
const LOCATION_ENDINGS: [&str; 6] = ["_FILE", "_PATH", "_DIR", "_SOCK", "_URL", "_HOST"];
/// Prefixes of the keys of well-known services.
const PREFIXES: [&str; 10] =
    ["sk-", "ghp_", "gho_", "ghs_", "github_pat_", "glpat-", "xoxb-", "xoxp-", "AKIA", "Bearer "];

pub(crate) fn is_secret(key: &str, value: &str) -> bool {
    let is_plain = ["", "true", "false", "yes", "no", "none", "0", "1"].contains(&value.to_ascii_lowercase().as_str());
    if is_plain || value.contains("${") {
        return false;
    }
    if PREFIXES.iter().any(|prefix| value.starts_with(prefix)) {
        return true;
    }
    has_password(value) || names_secret(key)
}

fn names_secret(key: &str) -> bool {
    let key = key.to_ascii_uppercase().replace('-', "_");
    let is_location = LOCATION_ENDINGS.iter().any(|ending| key.ends_with(ending));
    !is_location && (PARTS.iter().any(|part| key.contains(part)) || key.split('_').any(|word| WORDS.contains(&word)))
}

fn has_secret_argument(args: &[String]) -> bool {
    let begins = |arg: &String| PREFIXES.iter().any(|prefix| arg.starts_with(prefix));
    // `--api-key=VALUE`, and `-e KEY=VALUE` of container tools.
    let assigned = |arg: &String| arg.split_once('=').is_some_and(|(key, value)| is_secret(key, value));
    let follows = |pair: &[String]| {
        pair[0].starts_with("--")
            && !pair[0].contains('=')
            && !pair[1].starts_with('-')
            && is_secret(&pair[0], &pair[1])
    };
    args.iter().any(|arg| begins(arg) || assigned(arg) || has_password(arg)) || args.windows(2).any(follows)
}

/// Whether there is a `scheme://user:password@` in it, as in connection strings. Some of them are no URLs, such as those
/// with several hosts. A placeholder is no password.
fn has_password(text: &str) -> bool {
    let mut literal = String::new();
    let mut rest = text;
    while let Some((before, placeholder)) = rest.split_once("${") {
        literal.push_str(before);
        rest = placeholder.split_once('}').map_or("", |(_, after)| after);
    }
    literal.push_str(rest);
    literal.match_indices("://").any(|(at, slashes)| {
        let has_scheme = literal[..at].ends_with(|c: char| c.is_ascii_alphanumeric());
        let authority = literal[at + slashes.len()..].split(|c: char| "/?#\"'".contains(c) || c.is_whitespace()).next();
        let user = authority.and_then(|authority| authority.rsplit_once('@')).map_or("", |(user, _)| user);
        has_scheme && user.split_once(':').is_some_and(|(_, password)| !password.is_empty())
    })
}

fn has_secret_part(url: &str) -> bool {
    Url::parse(url)
        .is_ok_and(|url| url.password().is_some() || url.query_pairs().any(|(key, value)| is_secret(&key, &value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_known_by_their_names_and_their_beginnings() {
        for (key, value, expected) in [
            ("API_KEY", "abc", true),
            ("GITHUB_TOKEN", "abc", true),
            ("X-Auth", "abc", true),
            ("Authorization", "Bearer abc", true),
            ("DB_PASS", "abc", true),
            ("ANYTHING", "sk-abc", true),
            ("DATABASE_URL", "postgres://u:pw@h/db", true),
            ("DATABASE_URL", "postgres://h/db", false),
            ("API_KEY", "${input:k}", false),
            ("API_KEY", "Bearer ${env:K}", false),
            ("API_KEY", "", false),
            ("USE_AUTH", "true", false),
            ("SSH_AUTH_SOCK", "/run/x", false),
            ("PATH", "/bin", false),
            ("COMPASS", "n", false),
            ("TZ", "Europe/Berlin", false),
        ] {
            assert_eq!(is_secret(key, value), expected, "{key}={value}");
        }
    }

    #[test]
    fn arguments_and_urls_are_looked_at() {
        let args = |args: &[&str]| has_secret_argument(&args.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert!(
            args(&["--api-key", "abc"]) && args(&["--token=abc"]) && args(&["-e", "API_KEY=abc"]) && args(&["ghp_x"])
        );
        assert!(!args(&["--api-key", "--verbose"]) && !args(&["-y", "pkg", "--key-file", "--x"]));
        assert!(!args(&["--token", "${input:t}"]));
        for (arg, expected) in [
            ("postgres://u:pw@host/db", true),
            ("postgresql+asyncpg://u:pw@host:5432/db?sslmode=require", true),
            ("redis://:pw@host", true),
            ("mongodb://u:pw@a:1,b:2/db", true),
            ("--dsn=mysql://u:pw@host/db", true),
            ("host and postgres://${input:user}:pw@host/db", true),
            ("postgres://u:${input:pw}@host/db", false),
            ("postgres://${input:login}@host/db", false),
            ("postgres://u@host/db", false),
            ("postgres://u:@host/db", false),
            ("https://host:80/a@b", false),
            ("u:pw@host", false),
        ] {
            assert_eq!(args(&[arg]), expected, "{arg}");
        }
        assert!(has_secret_part("https://h/?api_key=abc") && has_secret_part("https://u:p@h/"));
        assert!(!has_secret_part("https://h/?q=abc") && !has_secret_part("https://h/?api_key=${input:k}"));
    }
}
