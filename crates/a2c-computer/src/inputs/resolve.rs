//! Where the value of one input comes from, in the order that the configuration promises.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use a2c_protocol::config::Input;
use a2c_secrets::Redactor;
use tokio::time::Instant;
use zeroize::Zeroizing;

use super::command::{CommandError, InputProgram};
use super::error::Unresolved;
use super::question::InputQuestion;
use super::{InputValue, Inputs};
use crate::config::input_variable;

/// How long what a program printed is good for other servers.
const PRINTED_FOR: Duration = Duration::from_secs(300);

/// How long a failure is good for other servers: those that waited for the same program.
const FAILED_FOR: Duration = Duration::from_secs(5);

/// What earlier resolutions learned about one input.
#[derive(Default)]
pub(super) struct CachedInput {
    /// What the owner answered. That there was no answer is kept as well: a server that is restarted again and again
    /// must not ask again and again.
    answer: Option<Option<InputValue>>,
    printed: Option<Printed>,
}

impl CachedInput {
    pub(super) fn was_asked_in_vain(&self) -> bool {
        matches!(self.answer, Some(None))
    }
}

/// What the program of an input printed.
struct Printed {
    outcome: Result<InputValue, CommandError>,
    at: Instant,
    /// The servers that have it. One that comes again was restarted, maybe because the value is no longer good.
    taken_by: BTreeSet<String>,
}

impl Printed {
    fn good_for(&self, server: &str) -> bool {
        let limit = if self.outcome.is_ok() { PRINTED_FOR } else { FAILED_FOR };
        self.at.elapsed() < limit && !self.taken_by.contains(server)
    }
}

/// Whether a value can be picked.
pub(super) fn is_option(value: &InputValue, options: &[String]) -> bool {
    options.contains(&value.text())
}

impl Inputs {
    /// The input and its value, for a server.
    pub(super) async fn resolve(&self, id: &str, server: &str) -> Result<(Input, InputValue), Unresolved> {
        let input =
            self.state().declared.get(id).cloned().ok_or_else(|| Unresolved::Undeclared { id: id.to_owned() })?;
        let (value, source_name) = self.look_up(&input, server).await?;
        if let Input::PickString { id, description, options, .. } = &input
            && !is_option(&value, options)
        {
            let (id, description, options) = (id.clone(), description.clone(), options.clone());
            return Err(Unresolved::NotAnOption { id, description, source_name, options });
        }
        Ok((input, value))
    }

    async fn look_up(&self, input: &Input, server: &str) -> Result<(InputValue, &'static str), Unresolved> {
        if let Some(given) = self.given(input.id()) {
            return Ok(given);
        }
        let cached = Arc::clone(self.state().cached.entry(input.id().to_owned()).or_default());
        let mut cached = cached.lock().await;
        // The owner may have set a value while another server waited for an answer.
        if let Some(given) = self.given(input.id()) {
            return Ok(given);
        }
        if let Input::Command { id, description, command, args, shell } = input {
            let program = InputProgram { program: command, args: args.as_ref(), shell: shell.unwrap_or(false) };
            let printed = self.printed(&mut cached, &program, server).await;
            return match printed {
                Ok(value) => Ok((value, "its command")),
                Err(source) => Err(Unresolved::Command { id: id.clone(), description: description.clone(), source }),
            };
        }
        if let Some(kept) = self.kept(input).await {
            return Ok((kept, "the keyring"));
        }
        if let Some(answer) = self.answered(&mut cached, input).await {
            return Ok((answer, "the prompt"));
        }
        match input {
            Input::PromptString { default: Some(default), .. } | Input::PickString { default: Some(default), .. } => {
                Ok((default.as_str().into(), "its `default`"))
            }
            _ => Err(self.no_value(input)),
        }
    }

    /// A value set at run time, or in the environment.
    fn given(&self, id: &str) -> Option<(InputValue, &'static str)> {
        if let Some(value) = self.state().set.get(id) {
            return Some((value.clone(), "run time"));
        }
        self.0.sources.environment.get(&input_variable(id)).map(|value| (value.into(), "the environment"))
    }

    /// What the program prints, now or a short while ago.
    async fn printed(
        &self,
        cached: &mut CachedInput,
        program: &InputProgram<'_>,
        server: &str,
    ) -> Result<InputValue, CommandError> {
        if let Some(printed) = cached.printed.as_mut().filter(|printed| printed.good_for(server)) {
            printed.taken_by.insert(server.to_owned());
            return printed.outcome.clone();
        }
        cached.printed = None;
        let outcome = program.run(&self.0.processes, &self.known()).await.map(InputValue::from);
        let taken_by = BTreeSet::from([server.to_owned()]);
        cached.printed = Some(Printed { outcome: outcome.clone(), at: Instant::now(), taken_by });
        outcome
    }

    /// What the keyring keeps for a password. One that is missing or locked is as good as an empty one.
    async fn kept(&self, input: &Input) -> Option<InputValue> {
        let Input::PromptString { id, password: Some(true), .. } = input else { return None };
        match self.0.sources.keyring.as_ref()?.get(id).await {
            Ok(kept) => kept.map(InputValue::from),
            Err(error) => {
                tracing::debug!(input = id, error = &error as &dyn std::error::Error, "the keyring was not read");
                None
            }
        }
    }

    /// What the owner answers, now or earlier.
    async fn answered(&self, cached: &mut CachedInput, input: &Input) -> Option<InputValue> {
        if let Some(answer) = &cached.answer {
            return answer.clone();
        }
        let prompter = self.0.sources.prompter.as_ref()?;
        let question = InputQuestion::of(input)?;
        let _one_at_a_time = self.0.asking.lock().await;
        match prompter.ask(&question).await {
            Ok(answer) => cached.answer.insert(answer.map(InputValue::from)).clone(),
            Err(error) => {
                tracing::warn!(input = input.id(), error = &error as &dyn std::error::Error, "not asked");
                None
            }
        }
    }

    /// Values that are known by now, to be hidden from what a program says.
    fn known(&self) -> Redactor {
        let state = self.state();
        let mut values: Vec<Zeroizing<String>> = state.set.values().flat_map(InputValue::texts).collect();
        for cached in state.cached.values() {
            // One that is locked is being found out.
            let Ok(cached) = cached.try_lock() else { continue };
            let printed = cached.printed.as_ref().and_then(|printed| printed.outcome.as_ref().ok());
            values.extend(cached.answer.iter().flatten().chain(printed).flat_map(InputValue::texts));
        }
        values.extend(state.declared.keys().filter_map(|id| self.0.sources.environment.get(&input_variable(id))));
        Redactor::new(values)
    }

    /// Says all the ways to give a value.
    fn no_value(&self, input: &Input) -> Unresolved {
        let (description, password) = match input {
            Input::PromptString { description, password, .. } => (description, password.unwrap_or(false)),
            Input::PickString { description, .. } | Input::Command { description, .. } => (description, false),
        };
        let id = input.id();
        let mut ways = vec![format!("set the environment variable {}", input_variable(id))];
        if password && self.0.sources.keyring.is_some() {
            ways.push(format!("keep it in the keyring with `a2c computer secret set {id}`"));
        }
        ways.push(match self.0.sources.prompter {
            Some(_) => "answer the question and restart the server".to_owned(),
            None => "start the Computer on a terminal, where it can ask".to_owned(),
        });
        if !password {
            ways.push("write a `default`".to_owned());
        }
        let last = ways.pop().unwrap_or_default();
        let ways = format!("{}, or {last}", ways.join(", "));
        Unresolved::NoValue { id: id.to_owned(), description: description.clone(), ways }
    }
}
