//! Every rule about where values come from, seen from a server that is about to start.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use a2c_protocol::config::McpTransport;
use async_trait::async_trait;
use serde_json::{Value, json};
use tokio::sync::{Notify, Semaphore};
use zeroize::Zeroizing;

use super::*;

fn server(name: &str, parameters: &Value) -> McpServerConfig {
    let kind = if parameters.get("url").is_some() { "streamable" } else { "stdio" };
    serde_json::from_value(json!({"name": name, "type": kind, "server_parameters": parameters})).unwrap()
}

/// A server that mentions one input.
fn needs(id: &str) -> McpServerConfig {
    server("one", &json!({"command": "x", "args": [format!("${{input:{id}}}")]}))
}

fn argument(filled: &Filled) -> String {
    match &filled.transport {
        McpTransport::Stdio(stdio) => stdio.args[0].clone(),
        other => panic!("{other:?}"),
    }
}

fn declared(inputs: Value) -> Vec<Input> {
    serde_json::from_value(inputs).unwrap()
}

fn environment(variables: &[(&str, &str)]) -> Environment {
    Environment::Only(variables.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect())
}

fn sources(variables: &[(&str, &str)]) -> InputSources {
    InputSources { environment: environment(variables), ..InputSources::default() }
}

/// A keyring in memory; one without entries may be locked.
#[derive(Default)]
struct MemoryKeyring {
    kept: Mutex<BTreeMap<String, String>>,
    locked: bool,
}

#[async_trait]
impl SecretStore for MemoryKeyring {
    async fn get(&self, key: &str) -> Result<Option<Zeroizing<String>>, SecretStoreError> {
        match self.locked {
            true => Err(SecretStoreError::Refused { reason: "locked".into() }),
            false => Ok(self.kept.lock().unwrap().get(key).cloned().map(Zeroizing::new)),
        }
    }

    async fn set(&self, key: &str, secret: &str) -> Result<(), SecretStoreError> {
        self.kept.lock().unwrap().insert(key.to_owned(), secret.to_owned());
        Ok(())
    }

    async fn delete(&self, key: &str) -> Result<bool, SecretStoreError> {
        Ok(self.kept.lock().unwrap().remove(key).is_some())
    }
}

/// An owner who answers when let, and sees whether questions come one at a time.
struct Owner {
    answer: Option<&'static str>,
    asked: AtomicUsize,
    at_once: AtomicUsize,
    question_seen: Notify,
    may_answer: Semaphore,
}

impl Owner {
    fn who_says(answer: Option<&'static str>, times: usize) -> Arc<Self> {
        Arc::new(Self {
            answer,
            asked: AtomicUsize::new(0),
            at_once: AtomicUsize::new(0),
            question_seen: Notify::new(),
            may_answer: Semaphore::new(times),
        })
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

struct Asked<'a>(&'a Owner);

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        self.0.at_once.fetch_sub(1, Ordering::SeqCst);
    }
}

#[async_trait]
impl Prompter for Owner {
    async fn ask(&self, _: &InputQuestion) -> Result<Option<Zeroizing<String>>, PromptError> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        assert_eq!(self.at_once.fetch_add(1, Ordering::SeqCst), 0, "two questions at once");
        let _asked = Asked(self);
        self.question_seen.notify_one();
        self.may_answer.acquire().await.unwrap().forget();
        Ok(self.answer.map(|answer| Zeroizing::new(answer.to_owned())))
    }
}

const PASSWORD: &str =
    r#"[{"type": "promptString", "id": "key", "description": "Key of it", "password": true, "default": "by default"}]"#;

#[tokio::test]
async fn the_first_source_that_has_a_value_wins() {
    let declared: Vec<Input> = serde_json::from_str(PASSWORD).unwrap();
    let keyring = Arc::new(MemoryKeyring::default());
    let all = InputSources {
        keyring: Some(keyring.clone()),
        prompter: Some(Owner::who_says(Some("by prompt"), 1)),
        ..sources(&[("A2C_INPUT_KEY", "by environment")])
    };
    let check = async |sources: &InputSources, set: Option<&str>, expected: &str| {
        let inputs = Inputs::new(declared.clone(), sources.clone());
        set.iter().for_each(|value| inputs.set("key", *value).unwrap());
        let filled = inputs.fill(&needs("key")).await.unwrap();
        assert_eq!(argument(&filled), expected);
        assert_eq!(filled.secrets.redact(&format!("<{expected}>")), "<***>");
    };
    keyring.set("key", "by keyring").await.unwrap();
    check(&all, Some("at run time"), "at run time").await;
    check(&all, None, "by environment").await;
    let without_environment = InputSources { environment: environment(&[]), ..all };
    check(&without_environment, None, "by keyring").await;
    let locked = Some(Arc::new(MemoryKeyring { locked: true, ..MemoryKeyring::default() }) as Arc<dyn SecretStore>);
    check(&InputSources { keyring: locked, ..without_environment.clone() }, None, "by prompt").await;
    let without_prompter = InputSources { prompter: None, keyring: None, ..without_environment };
    check(&without_prompter, None, "by default").await;
}

#[tokio::test]
async fn only_passwords_are_looked_for_in_the_keyring() {
    let declared = declared(json!([{"type": "promptString", "id": "key", "default": "by default"}]));
    let keyring = Arc::new(MemoryKeyring::default());
    keyring.set("key", "by keyring").await.unwrap();
    let inputs = Inputs::new(declared, InputSources { keyring: Some(keyring), ..sources(&[]) });
    assert_eq!(argument(&inputs.fill(&needs("key")).await.unwrap()), "by default");
    assert!(matches!(inputs.keep("key", "x").await, Err(KeepError::NotAPassword { .. })));
    assert!(matches!(inputs.keep("other", "x").await, Err(KeepError::Unknown { .. })));
}

#[tokio::test]
async fn passwords_are_kept_and_removed() {
    let declared: Vec<Input> = serde_json::from_str(PASSWORD).unwrap();
    let inputs =
        Inputs::new(declared.clone(), InputSources { keyring: Some(Arc::<MemoryKeyring>::default()), ..sources(&[]) });
    inputs.keep("key", "kept").await.unwrap();
    assert_eq!(argument(&inputs.fill(&needs("key")).await.unwrap()), "kept");
    assert!(inputs.unkeep("key").await.unwrap());
    assert!(!inputs.unkeep("key").await.unwrap());
    assert_eq!(argument(&inputs.fill(&needs("key")).await.unwrap()), "by default");
    let without = Inputs::new(declared, sources(&[]));
    assert!(matches!(without.keep("key", "x").await, Err(KeepError::NoKeyring)));
}

#[tokio::test]
async fn what_has_no_value_says_how_to_give_one() {
    let inputs = declared(json!([
        {"type": "promptString", "id": "api-key", "description": "Key of the service", "password": true},
        {"type": "promptString", "id": "plain"},
        {"type": "pickString", "id": "size", "description": "How big", "options": ["s", "m"]},
        {"type": "pickString", "id": "odd", "options": ["s", "m"], "default": "xl"},
        {"type": "command", "id": "token", "description": "From the vault", "command": "no-such-program-here"},
    ]));
    let keyring: Arc<dyn SecretStore> = Arc::<MemoryKeyring>::default();
    let owner = Owner::who_says(None, 9);
    let variables = [("A2C_INPUT_SIZE", "s3cret")];
    let all = InputSources { keyring: Some(keyring), prompter: Some(owner), ..sources(&variables) };
    let check = async |sources: InputSources, id: &str, parts: &[&str]| {
        let told = Inputs::new(inputs.clone(), sources).fill(&needs(id)).await.unwrap_err().to_string();
        for part in parts {
            assert!(told.contains(part), "{part:?} not in {told:?}");
        }
        assert!(!told.contains("s3cret"), "{told:?}");
    };
    let everything =
        ["'api-key'", "Key of the service", "A2C_INPUT_API_KEY", "secret set api-key", "answer the question"];
    check(all.clone(), "api-key", &everything).await;
    check(sources(&[]), "plain", &["input 'plain' has no value", "A2C_INPUT_PLAIN", "terminal", "`default`"]).await;
    check(all.clone(), "size", &["'size' (How big)", "the environment", "s, m"]).await;
    check(all.clone(), "odd", &["'odd'", "its `default`", "s, m"]).await;
    check(all.clone(), "token", &["'token' (From the vault)", "no-such-program-here"]).await;
    check(all, "nope", &["'nope' is not declared"]).await;
}

#[tokio::test]
async fn a_value_that_cannot_be_is_refused_when_it_is_set() {
    let inputs =
        Inputs::new(declared(json!([{"type": "pickString", "id": "size", "options": ["1", "2"]}])), sources(&[]));
    assert!(matches!(inputs.set("other", "x"), Err(SetInputError::Unknown { .. })));
    assert!(matches!(inputs.set("size", "3"), Err(SetInputError::NotAnOption { .. })));
    inputs.set("size", json!(2)).unwrap();
    assert_eq!(argument(&inputs.fill(&needs("size")).await.unwrap()), "2");
}

#[tokio::test]
async fn servers_that_need_the_same_answer_wait_together() {
    let declared = declared(json!([{"type": "promptString", "id": "key"}, {"type": "promptString", "id": "other"}]));
    let owner = Owner::who_says(Some("answer"), 0);
    let inputs = Inputs::new(declared, InputSources { prompter: Some(owner.clone()), ..sources(&[]) });
    let fill = |id: &'static str| {
        let inputs = inputs.clone();
        tokio::spawn(async move { argument(&inputs.fill(&needs(id)).await.unwrap()) })
    };
    let waiting: Vec<_> = ["key", "other", "key", "other", "key"].map(fill).into();
    owner.question_seen.notified().await;
    owner.may_answer.add_permits(9);
    for one in waiting {
        assert_eq!(one.await.unwrap(), "answer");
    }
    assert_eq!(owner.asked(), 2);
    // Remembered until it is forgotten or declared in other words.
    assert_eq!(fill("key").await.unwrap(), "answer");
    assert_eq!(owner.asked(), 2);
    inputs.forget("key");
    assert_eq!(fill("key").await.unwrap(), "answer");
    assert_eq!(owner.asked(), 3);
}

#[tokio::test]
async fn a_question_without_an_answer_is_not_asked_again() {
    let owner = Owner::who_says(None, 9);
    let declared = declared(json!([{"type": "promptString", "id": "key"}]));
    let inputs = Inputs::new(declared, InputSources { prompter: Some(owner.clone()), ..sources(&[]) });
    for _ in 0..3 {
        assert!(inputs.fill(&needs("key")).await.is_err());
    }
    assert_eq!(owner.asked(), 1);
}

#[tokio::test]
async fn a_server_that_is_stopped_takes_its_question_along() {
    let owner = Owner::who_says(Some("answer"), 0);
    let declared = declared(json!([{"type": "promptString", "id": "key"}]));
    let inputs = Inputs::new(declared, InputSources { prompter: Some(owner.clone()), ..sources(&[]) });
    let stopped = tokio::spawn({
        let inputs = inputs.clone();
        async move { inputs.fill(&needs("key")).await.map(|_| ()) }
    });
    owner.question_seen.notified().await;
    stopped.abort();
    assert!(stopped.await.unwrap_err().is_cancelled());
    owner.may_answer.add_permits(1);
    assert_eq!(argument(&inputs.fill(&needs("key")).await.unwrap()), "answer");
    assert_eq!(owner.asked(), 2);
}

#[tokio::test]
async fn other_declarations_take_their_values_along() {
    let first = json!({"type": "promptString", "id": "key", "default": "a"});
    let inputs = Inputs::new(declared(json!([first])), sources(&[]));
    inputs.set("key", "set").unwrap();
    inputs.declare(declared(json!([{"type": "promptString", "id": "key", "default": "b"}])));
    assert_eq!(argument(&inputs.fill(&needs("key")).await.unwrap()), "set");
    inputs.declare(declared(json!([])));
    assert!(matches!(inputs.fill(&needs("key")).await, Err(Unresolved::Undeclared { .. })));
    inputs.declare(declared(json!([first])));
    assert_eq!(argument(&inputs.fill(&needs("key")).await.unwrap()), "a");
}

#[cfg(unix)]
#[tokio::test]
async fn a_program_runs_once_for_servers_that_start_together_and_again_for_one_that_restarts() {
    let folder = tempfile::tempdir().unwrap();
    let line = format!("echo x >> {0}/runs; wc -l < {0}/runs | tr -d ' '", folder.path().display());
    let inputs = declared(json!([{"type": "command", "id": "key", "command": line, "shell": true}]));
    let inputs = Inputs::new(inputs, sources(&[]));
    let fill = async |name: &str| {
        argument(&inputs.fill(&server(name, &json!({"command": "x", "args": ["${input:key}"]}))).await.unwrap())
    };
    let (a, b) = tokio::join!(fill("a"), fill("b"));
    assert_eq!((a.as_str(), b.as_str()), ("1", "1"));
    assert_eq!(fill("a").await, "2", "a restarted server gets a fresh value");
    assert_eq!(fill("b").await, "2", "and what it got is good for the others");
    tokio::time::pause();
    tokio::time::advance(std::time::Duration::from_secs(301)).await;
    tokio::time::resume();
    assert_eq!(fill("c").await, "3", "an old value is used by no server");
    inputs.set("key", "set").unwrap();
    assert_eq!(fill("c").await, "set");
}

#[tokio::test]
async fn what_was_put_in_is_hidden_and_what_everybody_knows_is_not() {
    let declared = declared(json!([
        {"type": "promptString", "id": "key", "default": "k3y-value"},
        {"type": "pickString", "id": "region", "options": ["europe"], "default": "europe"},
    ]));
    let variables = [("HOME", "/home/me"), ("TOKEN", "t0ken-value")];
    let inputs = Inputs::new(declared, sources(&variables));
    let hide = async |parameters: Value, text: &str| {
        inputs.fill(&server("one", &parameters)).await.unwrap().secrets.redact(text)
    };
    let stdio = json!({"command": "x", "args": ["${input:key}", "${input:region}", "${env:TOKEN}", "${env:HOME}"],
        "env": {"A": "l1teral", "B": "true"}});
    let seen = hide(stdio, "k3y-value europe t0ken-value /home/me l1teral true").await;
    assert_eq!(seen, "*** europe *** /home/me *** true");
    let http = json!({"url": "https://me:p4ssword@host/mcp?key=qu3ry&n=1", "headers": {"Authorization": "Bearer h3ader-token"}});
    let seen = hide(http, "https://me:p4ssword@host/mcp?key=qu3ry: token h3ader-token is Bearer").await;
    assert_eq!(seen, "https://me:***@host/mcp?key=***: token *** is Bearer");
}

#[tokio::test]
async fn every_transport_is_filled() {
    let declared = declared(json!([{"type": "promptString", "id": "key", "default": "v"}]));
    let folder = std::path::PathBuf::from("/projects/demo");
    let inputs = Inputs::new(declared, InputSources { workspace_folder: folder, ..sources(&[("HOME", "/home/me")]) });
    let check = async |kind: &str, parameters: Value, expected: Value| {
        let server = json!({"name": "one", "type": kind, "server_parameters": parameters});
        let filled = inputs.fill(&serde_json::from_value(server).unwrap()).await.unwrap();
        let filled = serde_json::to_value(&filled.transport).unwrap();
        for (key, value) in expected.as_object().unwrap() {
            assert_eq!(filled["server_parameters"][key], *value, "{kind} {key}");
        }
    };
    let stdio = json!({"command": "${userHome}/x", "args": ["--k=${input:key}"], "cwd": "${workspaceFolder}",
        "env": {"K": "${input:key}", "N": "${workspaceFolderBasename}"}});
    let filled =
        json!({"command": "/home/me/x", "args": ["--k=v"], "cwd": "/projects/demo", "env": {"K": "v", "N": "demo"}});
    check("stdio", stdio, filled).await;
    for (kind, timeout) in [("streamable", json!("PT7S")), ("sse", json!(7.0))] {
        let given =
            json!({"url": "http://h/${input:key}", "headers": {"a": "Bearer ${input:key}"}, "timeout": timeout});
        check(kind, given, json!({"url": "http://h/v", "headers": {"a": "Bearer v"}, "timeout": timeout})).await;
    }
}

#[tokio::test]
async fn nothing_is_printed_by_accident() {
    let declared: Vec<Input> = serde_json::from_str(PASSWORD).unwrap();
    let inputs = Inputs::new(declared, sources(&[("A2C_INPUT_KEY", "s3cret")]));
    inputs.set("key", "s3cret").unwrap();
    let filled = inputs.fill(&needs("key")).await.unwrap();
    let printed = format!("{inputs:?} {filled:?} {:?} {:?}", filled.secrets, inputs.0.sources);
    assert!(!printed.contains("s3cret"), "{printed}");
}
