//! What the command line of `a2c server` says, and which of it came from the environment instead.

use std::collections::HashMap;

use a2c_settings::Origin;
use clap::error::Error;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, FromArgMatches};

use super::environment::{self, ParsedFlags, WrongVariable};
use super::flags::Flags;
use super::help;
use crate::logging::LogFormat;

/// What the command line and the environment say.
#[derive(Clone, Default)]
pub(crate) struct GivenSettings {
    pub(crate) flags: Flags,
    pub(crate) log: Option<String>,
    pub(crate) log_format: Option<LogFormat>,
    /// By the names that clap has for the fields of `flags`.
    pub(crate) origins: HashMap<String, Origin>,
    /// Variables that cannot be used.
    pub(crate) wrong: Vec<WrongVariable>,
}

impl GivenSettings {
    /// Where a flag's value comes from.
    pub(crate) fn origin(&self, id: &str) -> Origin {
        self.origins.get(id).copied().unwrap_or(Origin::Flag)
    }
}

impl Args for GivenSettings {
    fn augment_args(command: Command) -> Command {
        let command = Flags::augment_args(command).mut_args(environment::without_variable);
        command.after_help(help::SHORT).after_long_help(help::LONG)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for GivenSettings {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let ParsedFlags { flags, mut origins, wrong } = environment::complete(matches)?;
        // Options of the whole program, which are there unless only this command is parsed.
        let log = matches.try_get_one("log").ok().flatten().cloned();
        let log_format = matches.try_get_one("log_format").ok().flatten().copied();
        for id in ["log", "log_format"] {
            let is_there = matches.try_contains_id(id).unwrap_or_default();
            if is_there && matches.value_source(id) == Some(ValueSource::EnvVariable) {
                origins.insert(id.to_owned(), Origin::Environment);
            }
        }
        Ok(Self { flags, log, log_format, origins, wrong })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
