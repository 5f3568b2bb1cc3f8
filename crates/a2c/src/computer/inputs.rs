//! `a2c computer input` and `secret`: values that do not stand in the configuration. Never on the command line, where
//! others could see them.

use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use a2c_computer::config::ComputerConfig;
use a2c_computer::control::wire::{ControlRequest, Greeting};
use a2c_computer::inputs::{InputQuestion, InputSources, Inputs, OsKeyring, Prompter as _};
use a2c_protocol::config::Input;
use anyhow::{Context as _, Result, bail};
use clap::{Args, Subcommand};
use serde_json::Value;
use zeroize::Zeroizing;

use super::find::WhichArgs;
use crate::output;
use crate::terminal::Terminal;

/// Give a running Computer the values of inputs.
#[derive(Args)]
pub(crate) struct InputArgs {
    #[command(subcommand)]
    command: InputCommand,
}

#[derive(Subcommand)]
enum InputCommand {
    /// Give an input its value until the Computer ends; servers that wait for it start.
    ///
    /// The value is asked for on the terminal, where passwords are not shown, or read from standard input.
    Set {
        /// The input.
        id: String,

        #[command(flatten)]
        which: WhichArgs,
    },
}

pub(crate) async fn input(args: &InputArgs) -> Result<ExitCode> {
    let InputCommand::Set { id, which } = &args.command;
    let declared: Vec<Input> = which.ask(&ControlRequest::Inputs).await?;
    let Some(input) = declared.iter().find(|input| input.id() == id) else {
        let ids: Vec<_> = declared.iter().map(Input::id).collect();
        bail!("there is no input '{id}'; the configuration declares: {}", ids.join(", "));
    };
    let value = value_of(&question(input)).await?;
    let mut value = Value::String(std::mem::take(&mut *Zeroizing::new(value.to_string())));
    let outcome = which.ask::<Vec<String>>(&ControlRequest::SetInput { id: id.clone(), value: value.take() }).await;
    let running = outcome?;
    output::note(&format!("input '{id}' has its value until the Computer ends"));
    if !running.is_empty() {
        let names = running.join(" ");
        output::note(&format!("these run without it until they are started again: a2c computer restart {names}"));
    }
    Ok(ExitCode::SUCCESS)
}

/// Keep passwords of inputs in the keyring of this system, where Computers look for them.
#[derive(Args)]
pub(crate) struct SecretArgs {
    #[command(subcommand)]
    command: SecretCommand,
}

#[derive(Subcommand)]
enum SecretCommand {
    /// Keep the password of an input.
    ///
    /// It is asked for on the terminal, where it is not shown, or read from standard input.
    Set {
        /// The input.
        id: String,

        /// The configuration that declares it; without this, the one of the Computer that runs.
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,

        #[command(flatten)]
        which: WhichArgs,
    },
    /// Remove the password of an input.
    Rm {
        /// The input.
        id: String,
    },
}

pub(crate) async fn secret(args: &SecretArgs) -> Result<ExitCode> {
    match &args.command {
        SecretCommand::Set { id, config, which } => {
            let file = match config {
                Some(file) => file.clone(),
                None => {
                    let greeting: Greeting = which.ask(&ControlRequest::Hello).await.context("give --config FILE")?;
                    greeting.config.context("this Computer was not started with a file: give --config FILE")?.into()
                }
            };
            let inputs = keyring(ComputerConfig::load(&file)?.inputs);
            let mut question = InputQuestion::new(id);
            question.password = true;
            inputs.keep(id, &value_of(&question).await?).await?;
            output::note(&format!("the keyring has '{id}'; servers get it when they start next"));
        }
        SecretCommand::Rm { id } => match keyring(Vec::new()).unkeep(id).await? {
            true => output::note(&format!("the keyring does not have '{id}' any more")),
            false => output::note(&format!("the keyring has no '{id}'")),
        },
    }
    Ok(ExitCode::SUCCESS)
}

fn keyring(declared: Vec<Input>) -> Inputs {
    Inputs::new(declared, InputSources { keyring: Some(Arc::new(OsKeyring::new())), ..InputSources::default() })
}

fn question(input: &Input) -> InputQuestion {
    let mut question = InputQuestion::new(input.id());
    match input {
        Input::PromptString { description, password, .. } => {
            question.description.clone_from(description);
            question.password = *password == Some(true);
        }
        Input::PickString { description, options, .. } => {
            question.description.clone_from(description);
            question.options.clone_from(options);
        }
        // What a program prints may well be a secret.
        Input::Command { description, .. } => {
            question.description.clone_from(description);
            question.password = true;
        }
    }
    question
}

/// Asks on the terminal, or reads what is piped in, without the line's end.
async fn value_of(question: &InputQuestion) -> Result<Zeroizing<String>> {
    if std::io::stdin().is_terminal() {
        let terminal = Terminal::open().context("there is no terminal to ask on: give the value on standard input")?;
        return terminal.ask(question).await?.context("no value was given");
    }
    let text = Zeroizing::new(std::io::read_to_string(std::io::stdin()).context("cannot read standard input")?);
    let value = text.strip_suffix('\n').unwrap_or(&text);
    let value = value.strip_suffix('\r').unwrap_or(value);
    if value.is_empty() {
        bail!("standard input is empty: no value was given");
    }
    Ok(Zeroizing::new(value.to_owned()))
}
