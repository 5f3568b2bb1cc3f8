//! Environment variables as flags: each stands for the flag that it is named after.
//!
//! clap would end at the first variable that is wrong, and blame the flag. So it sees the command line only; then each
//! variable whose flag is not there is tried as that flag, on its own, and those that are good join the command line.

use std::collections::HashMap;
use std::env::var_os;
use std::error::Error as _;
use std::ffi::{OsStr, OsString};

use a2c_settings::Origin;
use clap::builder::Resettable;
use clap::error::{ContextKind, ContextValue};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args as _, Command, Error, FromArgMatches as _};

use super::flags::Flags;

/// A variable that cannot be used.
#[derive(Debug, Clone)]
pub(crate) struct WrongVariable {
    pub(crate) variable: String,
    /// The flag that it stands for, as clap names it.
    pub(crate) flag: String,
    /// What to write instead; never what is written.
    pub(crate) why: String,
}

/// All that was said with flags or their variables.
#[derive(Default)]
pub(crate) struct ParsedFlags {
    pub(crate) flags: Flags,
    /// By the names that clap has for the fields of `flags`.
    pub(crate) origins: HashMap<String, Origin>,
    pub(crate) wrong: Vec<WrongVariable>,
}

/// A flag that is read from the command line only, and whose help names its variable.
pub(crate) fn without_variable(argument: Arg) -> Arg {
    let Some(variable) = argument.get_env().map(|name| name.to_string_lossy().into_owned()) else { return argument };
    let short = argument.get_help().map(|help| format!("{help} [env: {variable}]"));
    let long = argument.get_long_help().map(|help| format!("{help}\n\n[env: {variable}]"));
    let argument = argument.env(Resettable::Reset);
    let argument = match short {
        Some(help) => argument.help(help),
        None => argument,
    };
    match long {
        Some(help) => argument.long_help(help),
        None => argument,
    }
}

/// Adds what the environment says to what the command line says.
pub(crate) fn complete(matches: &ArgMatches) -> Result<ParsedFlags, Error> {
    let named = Flags::augment_args(Command::new("a2c server").no_binary_name(true));
    let bare = named.clone().mut_args(without_variable);
    let mut said = ParsedFlags::default();
    let mut line = Vec::new();
    for argument in named.get_arguments() {
        let (id, Some(long)) = (argument.get_id().as_str(), argument.get_long()) else { continue };
        if matches.value_source(id) == Some(ValueSource::CommandLine) {
            said.origins.insert(id.to_owned(), Origin::Flag);
            match argument.get_action() {
                ArgAction::SetTrue => line.push(format!("--{long}").into()),
                _ => line.extend(matches.get_raw(id).into_iter().flatten().map(|value| as_flag(long, value))),
            }
        } else if let Some((variable, value)) = argument.get_env().and_then(|name| Some((name, value_of(name)?))) {
            let alone = as_flag(long, &value);
            match bare.clone().try_get_matches_from([&alone]) {
                Ok(_) => {
                    said.origins.insert(id.to_owned(), Origin::Environment);
                    line.push(alone);
                }
                Err(error) => said.wrong.push(WrongVariable {
                    variable: variable.to_string_lossy().into_owned(),
                    flag: id.to_owned(),
                    why: remedy(&error),
                }),
            }
        }
    }
    said.flags = Flags::from_arg_matches(&bare.try_get_matches_from(line)?)?;
    Ok(said)
}

/// An empty variable is how files for compose and the like say that there is none. An empty secret is a mistake that
/// must not pass for "no authentication".
fn value_of(variable: &OsStr) -> Option<OsString> {
    var_os(variable).filter(|value| !value.is_empty() || variable == "A2C_TOKEN")
}

fn as_flag(long: &str, value: &OsStr) -> OsString {
    let mut flag = OsString::from(format!("--{long}="));
    flag.push(value);
    flag
}

/// What clap has to say about a value, without the value.
fn remedy(error: &Error) -> String {
    if let Some(ContextValue::Strings(valid)) = error.get(ContextKind::ValidValue)
        && !valid.is_empty()
    {
        return format!("write one of {}", valid.join(", "));
    }
    error.source().map_or_else(|| "it cannot be used".to_owned(), ToString::to_string)
}
