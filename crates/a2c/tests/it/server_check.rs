//! `a2c server --check` tells everything that is wrong at once, and says ok only where a hub would start.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use a2c_testbed::Peer;
use rcgen::{CertificateParams, KeyPair};
use rustix::process::{Pid, Signal, kill_process};

use crate::program::hub_files::{Folder, rows};
use crate::program::{Ran, a2c, ran, run};

/// The errors of a run, without the word in front of them.
fn errors(checked: &Ran) -> Vec<&str> {
    checked.stderr.lines().filter_map(|line| line.strip_prefix("error: ")).collect()
}

#[track_caller]
fn has(lines: &[&str], parts: &[&str]) {
    let found = lines.iter().filter(|line| parts.iter().all(|part| line.contains(part))).count();
    assert_eq!(found, 1, "{parts:?} in {lines:#?}");
}

#[test]
fn every_mistake_in_the_file_is_told_together_with_what_follows_from_the_rest() {
    let folder = Folder::new(&[(
        "hub.toml",
        "lisen = \"127.0.0.1:1\"\ndrain = \"long\"\nallow_hosts = [\"https://x/\"]\n\
         [tsl]\ncert = \"x\"\n[limits]\nmax_calls = 0\n[log]\nlevel = \"loud\"\n[audit]\nfile = \"nowhere/audit\"\n\
         [auth]\nkind = \"jwt\"\n[traces]\nratio = 7\n",
    )]);
    let checked = folder.check(&["--ping-interval", "7"], &[]);
    let told = errors(&checked);
    has(&told, &["hub.toml:1:1: lisen: ", "did you mean `listen`?"]);
    has(&told, &["hub.toml:2:", "drain"]);
    has(&told, &["hub.toml:4:2: tsl: ", "`tls`"]);
    has(&told, &["hub.toml:7:", "limits.max_calls", "from 1 to"]);
    has(&told, &["hub.toml:9:", "log.level", "loud", "debug"]);
    has(&told, &["hub.toml:15:", "traces.ratio", "from 0 to 1"]);
    has(&told, &["allow_hosts: 'https://x/' is no host name"]);
    has(&told, &["audit.file", "nowhere"]);
    has(&told, &["--auth jwt needs a key"]);
    assert_eq!((told.len(), checked.code), (9, Some(1)), "{}", checked.stderr);

    // What was said and cannot be used is not shown as if it were not set.
    let shown = rows(&checked.stdout);
    assert_eq!(shown["drain"], ("(unusable)", "file"));
    assert_eq!(shown["log.level"], ("(unusable)", "file"));
    assert_eq!(shown["ping_interval"], ("7", "flag"));
    assert_eq!(shown["listen"], ("127.0.0.1:7420", "default"));
    assert_eq!(rows(&folder.check(&["--drain", "4"], &[]).stdout)["drain"], ("4", "flag"));

    // A hub that is to start says the same.
    let file = folder.path("hub.toml");
    let started = run(&["server", "--config", file.to_str().unwrap()]);
    for error in told.iter().filter(|error| !error.contains("--auth jwt")) {
        assert!(started.stderr.contains(error), "{error:?} is not in: {}", started.stderr);
    }
}

#[test]
fn a_file_that_is_no_toml_is_told_with_all_its_lines_and_nothing_is_guessed_from_it() {
    let folder = Folder::new(&[("hub.toml", "[auth\ntoken = \"s3cret\"\n\ndrain = = 3\n")]);
    let checked = folder.check(&["--auth", "jwt"], &[("A2C_HUB_DRAIN", "s3cret")]);
    let told = errors(&checked);
    has(&told, &["hub.toml:1:"]);
    has(&told, &["hub.toml:4:"]);
    has(&told, &["A2C_HUB_DRAIN: "]);
    assert_eq!((told.len(), checked.stdout.as_str()), (3, ""), "{}", checked.stderr);
    assert!(!checked.stderr.contains("s3cret"), "{}", checked.stderr);
}

#[test]
fn every_variable_that_is_wrong_is_named() {
    let folder = Folder::new(&[("hub.toml", "drain = 3\n[auth]\nkind = \"none\"\n")]);
    let environment = [
        ("A2C_LISTEN", "17999"),
        ("A2C_HUB_DRAIN", "long"),
        ("A2C_HUB_AUTH", "password"),
        ("A2C_HUB_AUDIT_VALUES", "perhaps"),
        ("A2C_HUB_JOINS_PER_MINUTE", "-1"),
        ("A2C_HUB_TRACE_RATIO", "2"),
        ("A2C_HUB_ALLOW_HOSTS", "a.example,b/c"),
        ("A2C_HUB_PING_TIMEOUT", "0"),
    ];
    // A flag beats its variable, also a wrong one.
    let checked = folder.check(&["--ping-timeout", "4"], &environment);
    let told = errors(&checked);
    has(&told, &["A2C_LISTEN: ", "127.0.0.1:7420"]);
    has(&told, &["A2C_HUB_DRAIN: write a whole number from 0 to 86400"]);
    has(&told, &["A2C_HUB_AUTH: write one of none, token, jwt, mtls"]);
    has(&told, &["A2C_HUB_AUDIT_VALUES: "]);
    has(&told, &["A2C_HUB_JOINS_PER_MINUTE: ", "`off`"]);
    has(&told, &["A2C_HUB_TRACE_RATIO: ", "from 0 to 1"]);
    has(&told, &["A2C_HUB_ALLOW_HOSTS: 'b/c' is no host name"]);
    assert_eq!((told.len(), checked.code), (7, Some(1)), "{}", checked.stderr);
    let shown = rows(&checked.stdout);
    assert_eq!(shown["drain"], ("(unusable)", "environment"));
    assert_eq!(shown["ping_timeout"], ("4", "flag"));
}

#[test]
fn an_empty_variable_is_not_set_unless_it_is_a_secret() {
    let folder = Folder::new(&[("hub.toml", "drain = 3\n[auth]\nkind = \"none\"\n")]);
    let names =
        ["A2C_LISTEN", "A2C_HUB_DRAIN", "A2C_HUB_AUTH", "A2C_HUB_TLS_CERT", "A2C_HUB_AUDIT", "A2C_HUB_CLIENT_CA"];
    let more = ["A2C_HUB_ALLOW_HOSTS", "A2C_HUB_AUDIT_VALUES", "A2C_HUB_JWT_PUBLIC_KEY", "A2C_OTLP_HEADERS"];
    let log = ["A2C_LOG", "A2C_LOG_FORMAT"];
    let empty: Vec<(&str, &str)> = names.into_iter().chain(more).chain(log).map(|name| (name, "")).collect();
    let shown = folder.check(&[], &empty).ok();
    let plain = folder.check(&[], &[]).ok();
    assert_eq!(shown, plain);
    ran(a2c(&["server", "--check"]).env("A2C_HUB_CONFIG", "").output().unwrap()).ok();
    for (name, args) in [("A2C_TOKEN", ["--auth", "token"]), ("A2C_JWT_SECRET", ["--auth", "jwt"])] {
        let told = format!("{name} is empty");
        folder.check(&args, &[(name, "")]).fails_saying(&[&told]);
    }
    folder.check(&[], &[("A2C_ADMIN_TOKEN", "")]).fails_saying(&["A2C_ADMIN_TOKEN is empty"]);
}

#[test]
fn every_file_that_cannot_be_used_is_told() {
    let folder = Folder::new(&[
        ("one", "0123456789abcdef"),
        ("same", "0123456789abcdef\n"),
        ("empty", ""),
        ("text", "s3cret of another kind"),
        (
            "hub.toml",
            "[[auth.tokens]]\nlabel = \"a\"\ntoken_file = \"one\"\n[[auth.tokens]]\ntoken_file = \"same\"\n\
             [[auth.tokens]]\nlabel = \"c\"\ntoken_file = \"nowhere\"\n[[auth.tokens]]\nlabel = \"a\"\n\
             token_file = \"empty\"\n[[auth.tokens]]\nlabel = \"e\"\n[admin]\ntoken_file = \"gone\"\n\
             [tls]\ncert = \"text\"\nkey = \"gone.key\"\nclient_ca = \"gone.ca\"\n",
        ),
    ]);
    let checked = folder.check(&[], &[]);
    let told = errors(&checked);
    has(&told, &["auth.tokens[0] 'a'", "auth.tokens[1]", "are the same token"]);
    has(&told, &["auth.tokens[2] 'c': token_file: cannot read", "nowhere"]);
    has(&told, &["auth.tokens[3] 'a'", "another token with the label 'a'"]);
    has(&told, &["auth.tokens[3] 'a': token_file is empty"]);
    has(&told, &["auth.tokens[4] 'e' needs token or token_file"]);
    has(&told, &["no certificate in", "text"]);
    has(&told, &["cannot read the private key", "gone.key"]);
    has(&told, &["cannot read the CA", "gone.ca"]);
    has(&told, &["admin.token_file: cannot read"]);
    assert_eq!(told.len(), 9, "{}", checked.stderr);
    assert!(!checked.stderr.contains("s3cret") && !checked.stderr.contains("0123456789"), "{}", checked.stderr);

    let keys = ["--auth", "jwt", "--jwt-public-key", "nokey", "--jwt-public-key", "text", "--jwt-secret-file", "empty"];
    let checked = folder.check(&keys, &[]);
    let told = errors(&checked);
    has(&told, &["auth.jwt_public_key: cannot read nokey"]);
    has(&told, &["auth.jwt_public_key: text is no RSA"]);
    has(&told, &["--jwt-secret-file is empty"]);
}

#[test]
fn an_address_without_an_address_is_answered_with_one() {
    for text in ["17999", ":17999", "hub.example.org:1", "localhost"] {
        run(&["server", "--check", "--listen", text]).fails_saying(&["127.0.0.1:7420"]);
    }
    let shown = run(&["server", "--check", "--listen", "localhost:17999"]).ok();
    assert_eq!(rows(&shown)["listen"], ("127.0.0.1:17999", "flag"));
}

#[test]
fn what_does_nothing_is_told() {
    for (args, part) in [
        (&["--audit-values"][..], "--audit-values (audit.values) does nothing: there is no --audit"),
        (&["--trace-ratio", "0.5"], "--trace-ratio (traces.ratio) does nothing: there is no --otlp-endpoint"),
        (&["--token", "0123456789abcdef", "--auth", "none"], "a token is set but not used: --auth (auth.kind) is none"),
        (&["--listen", "0.0.0.0:1"], "set --tls-cert and --tls-key (tls.cert, tls.key)"),
    ] {
        let checked = run(&[&["server", "--check"], args].concat());
        assert!(checked.stderr.starts_with("warning: ") && checked.stderr.contains(part), "{}", checked.stderr);
        checked.ok();
    }
}

/// Runs a hub: after a line a signal, after another one the end. The whole log.
fn log_of(args: &[&str], signal: Option<(&str, Signal)>, last: &str) -> String {
    let mut hub = a2c(&[&["server"], args].concat()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let pid = Pid::from_child(&hub);
    let mut log = String::new();
    for line in BufReader::new(hub.stderr.take().unwrap()).lines() {
        let line = line.unwrap();
        if let Some((_, signal)) = signal.filter(|(part, _)| line.contains(part)) {
            kill_process(pid, signal).unwrap();
        }
        if line.contains(last) {
            kill_process(pid, Signal::TERM).unwrap();
        }
        log.push_str(&line);
        log.push('\n');
    }
    assert!(hub.wait().unwrap().success(), "{log}");
    log
}

#[test]
fn a_token_that_was_made_up_beyond_loopback_does_not_suggest_to_need_none() {
    let log = log_of(&["--listen", "0.0.0.0:0"], None, "made up a token");
    assert!(log.contains("--token-file") && !log.contains("--auth none"), "{log}");
    let log = log_of(&["--listen", "127.0.0.1:0"], None, "made up a token");
    assert!(log.contains("--auth none"), "{log}");
    assert!(log.trim_end().ends_with("hub stopped"), "{log}");
}

/// A hub whose certificate holds between two years.
fn certificate(years: [i32; 2]) -> Folder {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(["localhost".to_owned()]).unwrap();
    params.not_before = rcgen::date_time_ymd(years[0], 1, 1);
    params.not_after = rcgen::date_time_ymd(years[1], 1, 1);
    let made = params.self_signed(&key).unwrap();
    let settings = "listen = \"127.0.0.1:0\"\n[auth]\nkind = \"none\"\n[tls]\ncert = \"crt\"\nkey = \"key\"\n";
    Folder::new(&[("crt", &made.pem()), ("key", &key.serialize_pem()), ("hub.toml", settings)])
}

#[test]
fn a_certificate_out_of_its_time_is_told_once() {
    for (years, part) in [([2000, 2001], "expired on 2001-01-01"), ([2900, 2901], "is not valid before 2900-01-01")] {
        let folder = certificate(years);
        let checked = folder.check(&[], &[]);
        assert_eq!(checked.stderr.matches(part).count(), 1, "{}", checked.stderr);
        assert!(checked.stderr.starts_with("warning: "), "{}", checked.stderr);
        checked.ok();

        let file = folder.path("hub.toml");
        // Read a second time, the files say nothing new.
        let log =
            log_of(&["--config", file.to_str().unwrap()], Some(("hub listening", Signal::HUP)), "TLS files read again");
        assert_eq!(log.matches(part).count(), 1, "{log}");
        assert!(log.trim_end().ends_with("hub stopped"), "{log}");
    }
    let good = certificate([2000, 2900]).check(&[], &[]);
    assert_eq!((good.code, good.stderr.as_str()), (Some(0), "ok\n"));
}

#[test]
fn an_audit_log_can_be_checked_while_a_hub_writes_to_it() {
    let folder = Folder::new(&[("hub.toml", "[auth]\nkind = \"none\"\n[audit]\nfile = \"audit.jsonl\"\n")]);
    let file = folder.path("hub.toml");
    let start = || Peer::ready(a2c(&["server", "--listen", "127.0.0.1:0", "--config", file.to_str().unwrap()]));
    let mut hub = start();
    folder.check(&[], &[]).ok();
    assert!(hub.terminate().success());
    folder.check(&[], &[]).ok();

    // What a crash left is no reason not to start.
    let log = folder.path("audit.jsonl");
    let mut text = std::fs::read_to_string(&log).unwrap();
    text.push_str("{\"seq\":");
    std::fs::write(&log, &text).unwrap();
    folder.check(&[], &[]).ok();
    assert_eq!(std::fs::read_to_string(&log).unwrap(), text, "a check changes nothing");
    assert!(start().terminate().success());

    std::fs::write(&log, "notes of another program\n").unwrap();
    folder.check(&[], &[]).fails_saying(&["audit.file: ", "does not end with a whole audit record"]);
}
