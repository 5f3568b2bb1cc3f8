//! What settings are called: in the file, and as flags.

use a2c_settings::{Origin, spelling};

/// Every key of the file with its table, and the flag that says the same where there is one.
const NAMES: &[(&str, &str)] = &[
    ("listen", "listen"),
    ("allow_hosts", "allow_host"),
    ("trusted_proxies", "trusted_proxy"),
    ("forwarded_header", "forwarded_header"),
    ("proxy_protocol", "proxy_protocol"),
    ("ping_interval", "ping_interval"),
    ("ping_timeout", "ping_timeout"),
    ("call_timeout", "call_timeout"),
    ("drain", "drain"),
    ("auth.kind", "auth"),
    ("auth.token", "token"),
    ("auth.token_file", "token_file"),
    ("auth.tokens", ""),
    ("auth.jwt_secret_file", "jwt_secret_file"),
    ("auth.jwt_public_key", "jwt_public_key"),
    ("auth.jwt_jwks_file", "jwt_jwks_file"),
    ("auth.jwt_jwks_url", "jwt_jwks_url"),
    ("auth.jwt_issuer", "jwt_issuer"),
    ("auth.jwt_audience", "jwt_audience"),
    ("auth.jwt_leeway", "jwt_leeway"),
    ("tls.cert", "tls_cert"),
    ("tls.key", "tls_key"),
    ("tls.client_ca", "client_ca"),
    ("tls.reload", "tls_reload"),
    ("limits.max_payload", "max_payload"),
    ("limits.max_attachments", "max_attachments"),
    ("limits.max_calls", "max_calls"),
    ("limits.max_backlog", "max_backlog"),
    ("limits.max_memory", "max_memory"),
    ("limits.connections_per_address", "connections_per_address"),
    ("limits.requests_per_second", "requests_per_second"),
    ("limits.joins_per_minute", "joins_per_minute"),
    ("limits.failed_connects_per_minute", "failed_connects_per_minute"),
    ("limits.deliveries_per_second", "deliveries_per_second"),
    ("audit.file", "audit"),
    ("audit.values", "audit_values"),
    ("traces.endpoint", "otlp_endpoint"),
    ("traces.headers", ""),
    ("traces.ratio", "trace_ratio"),
    ("admin.token", ""),
    ("admin.token_file", "admin_token_file"),
    ("log.level", "log"),
    ("log.format", "log_format"),
];

/// The flag for a key of the file, as clap names it.
pub(crate) fn flag(name: &str) -> &'static str {
    NAMES.iter().find(|(key, _)| *key == name).map_or("", |(_, flag)| flag)
}

/// A setting by the name that its source has for it: a flag, a variable or a key.
pub(crate) fn as_given(name: &str, origin: Origin) -> String {
    match origin {
        Origin::Flag => format!("--{}", flag(name).replace('_', "-")),
        Origin::Environment => match name {
            "auth.token" => "A2C_TOKEN".to_owned(),
            "auth.jwt_secret" => "A2C_JWT_SECRET".to_owned(),
            "admin.token" => "A2C_ADMIN_TOKEN".to_owned(),
            "listen" => "A2C_LISTEN".to_owned(),
            "allow_hosts" => "A2C_HUB_ALLOW_HOSTS".to_owned(),
            "trusted_proxies" => "A2C_HUB_TRUSTED_PROXIES".to_owned(),
            _ => format!("A2C_HUB_{}", flag(name).to_uppercase()),
        },
        Origin::File | Origin::Default => name.to_owned(),
    }
}

/// The row of a setting in the table of `--check`: keys for the same setting share one row.
pub(crate) fn row(name: &str) -> &str {
    match name {
        "auth.token" | "auth.token_file" => "auth.tokens",
        "auth.jwt_secret" => "auth.jwt_secret_file",
        "admin.token_file" => "admin.token",
        _ if name.starts_with("traces.headers.") => "traces.headers",
        // An element of a list.
        _ => name.split_once('[').map_or(name, |(list, _)| list),
    }
}

/// The key, with its table, that a flag stands for.
pub(crate) fn key_of_flag(flag: &str) -> &'static str {
    NAMES.iter().find(|(_, known)| *known == flag).map_or("", |(name, _)| name)
}

/// The keys, each with its table, that a flag stands for.
pub(crate) fn keys_of_flag(flag: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    NAMES.iter().filter(move |(_, known)| *known == flag).map(|(name, _)| split(name))
}

/// The keys of a table; at the top of the file, the tables too.
pub(crate) fn keys_of_table(table: &str) -> Vec<&'static str> {
    let mut keys = Vec::new();
    for (of, key) in NAMES.iter().map(|(name, _)| split(name)) {
        if of == table {
            keys.push(key);
        } else if table.is_empty() && !keys.contains(&of) {
            keys.push(of);
        }
    }
    keys
}

/// What to tell about a key that its table does not have: the key that was meant, here or in another table.
pub(crate) fn unknown_key(key: &str, known: &[&str]) -> String {
    let plain = key.replace('-', "_").to_lowercase();
    let of_flag = keys_of_flag(&plain).map(|(_, name)| name).find(|name| known.contains(name));
    if let Some(name) = of_flag.or_else(|| spelling::nearest(&plain, known.iter().copied())) {
        return format!("unknown key: did you mean `{name}`?");
    }
    let place = |table: &str| if table.is_empty() { "the top of the file".to_owned() } else { format!("[{table}]") };
    let elsewhere: Vec<String> = match keys_of_flag(&plain).next() {
        Some((table, name)) => vec![format!("`{name}` under {}", place(table))],
        None => tables_with(&plain).map(|table| format!("`{plain}` under {}", place(table))).collect(),
    };
    if elsewhere.is_empty() {
        return format!("unknown key: {}", spelling::remedy(key, known.iter().copied()));
    }
    format!("unknown key here: write {}", elsewhere.join(" or "))
}

/// The tables that have this key.
fn tables_with(key: &str) -> impl Iterator<Item = &'static str> {
    NAMES.iter().map(|(name, _)| split(name)).filter(move |(_, known)| *known == key).map(|(table, _)| table)
}

/// A name as table and key; at the top there is no table.
fn split(name: &'static str) -> (&'static str, &'static str) {
    name.split_once('.').unwrap_or(("", name))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::server::reading::parse;

    #[derive(clap::Parser)]
    struct Cli {
        #[command(flatten)]
        flags: crate::server::flags::Flags,
    }

    #[test]
    fn every_flag_has_a_key_and_the_other_way_round() {
        let command = Cli::command();
        let flags: Vec<&str> = command.get_arguments().map(|argument| argument.get_id().as_str()).collect();
        for flag in &flags {
            let is_of_the_run = ["config", "check", "help"].contains(flag);
            assert!(is_of_the_run || keys_of_flag(flag).count() == 1, "{flag} is not in the list");
        }
        for (name, flag) in NAMES {
            let is_global = ["", "log", "log_format"].contains(flag);
            assert!(is_global || flags.contains(flag), "{name}: there is no flag {flag}");
        }
    }

    #[test]
    fn a_variable_is_called_after_its_flag() {
        let command = Cli::command();
        let variable = |id: &str| command.get_arguments().find(|argument| argument.get_id() == id)?.get_env();
        for name in ["auth.token", "auth.token_file", "auth.jwt_secret_file", "auth.jwt_jwks_url", "admin.token_file"] {
            let told = as_given(name, Origin::Environment);
            assert_eq!(variable(flag(name)), Some(std::ffi::OsStr::new(&told)), "{name}");
        }
        assert_eq!(as_given("auth.token_file", Origin::Flag), "--token-file");
    }

    #[test]
    fn every_name_is_a_key_of_the_file_and_the_other_way_round() {
        let complaint = |table: &str, line: &str| {
            let header = if table.is_empty() { String::new() } else { format!("[{table}]\n") };
            parse(&format!("{header}{line}")).problems.remove(0).what
        };
        for (table, key) in NAMES.iter().map(|(name, _)| split(name)) {
            // No setting is a list of booleans.
            let what = complaint(table, &format!("{key} = [true]"));
            assert!(!what.contains("unknown key"), "{table} {key}: {what}");
        }
        for table in ["auth", "tls", "limits", "audit", "traces", "admin", "log"] {
            let what = complaint(table, "zzz = 1");
            let keys = what.split('`').skip(1).step_by(2);
            let known: Vec<&str> = keys.inspect(|key| assert!(tables_with(key).any(|t| t == table), "{key}")).collect();
            assert!(known.len() > 1, "{what}");
        }
    }
}
