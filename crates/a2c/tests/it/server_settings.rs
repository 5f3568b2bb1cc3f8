//! What `a2c server` makes of flags, environment and file, seen through `--check` and `--help`.

use rcgen::{CertificateParams, KeyPair};

use crate::program::hub_files::{Folder, rows};
use crate::program::{a2c, ran, run};

#[test]
fn a_flag_beats_the_environment_beats_the_file_beats_the_default() {
    let folder = Folder::new(&[(
        "hub.toml",
        "listen = \"127.0.0.1:3\"\ndrain = 3\nallow_hosts = [\"c.example\"]\n[auth]\nkind = \"none\"\n\
         [limits]\njoins_per_minute = 3\n[audit]\nvalues = true\nfile = \"audit\"\n[log]\nlevel = \"warn\"\n",
    )]);
    let environment = [
        ("A2C_LISTEN", "127.0.0.1:2"),
        ("A2C_HUB_DRAIN", "2"),
        ("A2C_HUB_ALLOW_HOSTS", "b.example,bb.example"),
        ("A2C_HUB_JOINS_PER_MINUTE", "off"),
        ("A2C_HUB_AUDIT_VALUES", "false"),
        ("A2C_LOG", "error"),
    ];
    let flags = ["--listen", "127.0.0.1:1", "--drain", "1", "--allow-host", "a.example", "--joins-per-minute", "1"];
    let flags = [&flags[..], &["--audit-values", "--log", "debug"]].concat();
    let by_flag = folder.check(&flags, &environment).ok();
    let by_environment = folder.check(&[], &environment).ok();
    let by_file = folder.check(&[], &[]).ok();
    let by_default = run(&["server", "--check", "--auth", "none"]).ok();
    for (name, expected) in [
        ("listen", ["127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3", "127.0.0.1:7420"]),
        ("drain", ["1", "2", "3", "10"]),
        ("allow_hosts", ["a.example", "b.example, bb.example", "c.example", "-"]),
        ("limits.joins_per_minute", ["1", "off", "3", "off"]),
        ("audit.values", ["true", "false", "true", "false"]),
        ("log.level", ["debug", "error", "warn", "info"]),
    ] {
        let found = [&by_flag, &by_environment, &by_file, &by_default].map(|shown| rows(shown)[name]);
        let [flag, environment, file, default] = expected;
        let expected = [(flag, "flag"), (environment, "environment"), (file, "file"), (default, "default")];
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn the_file_can_be_named_by_the_environment_and_says_how_to_log() {
    let folder = Folder::new(&[("hub.toml", "[auth]\nkind = \"jwt\"\n[log]\nformat = \"json\"\n")]);
    let failed = ran(a2c(&["server"]).env("A2C_HUB_CONFIG", folder.path("hub.toml")).output().unwrap());
    let last: serde_json::Value = serde_json::from_str(failed.stderr.lines().last().unwrap()).unwrap();
    assert!(last["message"].as_str().unwrap().contains("--jwt-public-key"), "{last}");
    let file = folder.path("hub.toml");
    run(&["server", "--log-format", "text", "--config", file.to_str().unwrap()]).fails_saying(&["a2c: --auth jwt"]);
}

#[test]
fn what_is_wrong_with_the_file_is_told_with_its_line() {
    let check = |text: &str, parts: &[&str]| {
        let folder = Folder::new(&[("hub.toml", text)]);
        let failed = folder.check(&[], &[]);
        assert!(!failed.stderr.contains("s3cret") && !failed.stdout.contains("s3cret"), "{}", failed.stderr);
        failed.fails_saying(parts);
    };
    check("\n[limits]\nmax_payloud = 1\n", &["hub.toml:3:1: limits.max_payloud: ", "did you mean `max_payload`?"]);
    check("token = \"s3cret\"", &["hub.toml:1:1: token: ", "[auth]"]);
    check("drain = \"s3cret\"", &["hub.toml:1:", "drain"]);
    check("[auth]\ntokens = \"s3cret\"", &["hub.toml:2:", "tokens"]);
    check("[auth\n", &["hub.toml:1:"]);
    check("[log]\nlevel = \"loud\"", &["log.level", "loud", "debug"]);
    run(&["server", "--config", "/nonexistent.toml"]).fails_saying(&["/nonexistent.toml", "No such file"]);
}

#[test]
fn a_check_tells_everything_that_is_wrong_at_once_and_listens_on_nothing() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    run(&["server", "--check", "--listen", &address, "--auth", "none"]).ok();

    let folder = Folder::new(&[("hub.toml", "listen = \"0.0.0.0:7420\"\n[auth]\nkind = \"none\"\n")]);
    let all = ["--client-ca", "ca.crt", "--audit-values", "--otlp-endpoint", "ftp://collector"];
    folder.check(&all, &[("A2C_ADMIN_TOKEN", "short")]).fails_saying(&[
        "refusing to listen on 0.0.0.0:7420 without authentication",
        "A2C_TOKEN",
        "--client-ca (tls.client_ca) needs TLS",
        "cannot read the CA ca.crt",
        "warning: --audit-values (audit.values) does nothing",
        "traces.endpoint (--otlp-endpoint) ftp://collector: ",
        "A2C_ADMIN_TOKEN has 5 characters",
    ]);
}

/// The private key was thrown away.
const RSA: &str = "-----BEGIN PUBLIC KEY-----
MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAuktj4r+ICzQdj0B6v1Qf
jixCBQeyVJKE5cDVrsF8fpJa98g3z4aPO3LMPqao4T0Ddge76mxno790B4pyCv+k
LZJ5pHrcjqsXaWtDxtH46g63BXemJAEGv2TBkuEaapyH08dGdfVXe0RYrnUyKl8m
yzMW7FwahlvT6c3/5/IKvLPO8UnnjFLBE7ABFb+3nnn0wS6hv55hcyWZ33KUgSnO
7S0sZS4s9c7DNAoy3BolPzyhlSmOscypgxsR7w3F94XQY+hm8PLOw7z2e6+ubqwy
upCdkzLQ9XjEaeAlq5S8mDBbd1rz9aJijYQmtihCjEyGwKgAWOaXO6JHObMvErlw
uwIDAQAB
-----END PUBLIC KEY-----
";

#[test]
fn contradictions_and_unusable_files_are_named() {
    let ed25519 = KeyPair::generate_for(&rcgen::PKCS_ED25519).unwrap();
    let p256 = KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).unwrap();
    let certificate = CertificateParams::new(["localhost".to_owned()]).unwrap().self_signed(&p256).unwrap();
    let folder = Folder::new(&[
        ("hub.toml", ""),
        ("token", "0123456789abcdef\n"),
        ("empty", " \n"),
        ("short", "0123456789"),
        ("secret", "0123456789abcdef0123456789abcdef\n"),
        ("public.pem", &ed25519.public_key_pem()),
        ("private.pem", &ed25519.serialize_pem()),
        ("rsa.pem", RSA),
        ("p256.pem", &p256.public_key_pem()),
        ("p384.pem", &KeyPair::generate_for(&rcgen::PKCS_ECDSA_P384_SHA384).unwrap().public_key_pem()),
        (
            "keys.json",
            r#"{"keys": [{"kty": "OKP", "crv": "Ed25519", "x": "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc"}]}"#,
        ),
        ("secrets.json", r#"{"keys": [{"kty": "oct", "k": "c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0"}]}"#),
        ("hub.crt", &certificate.pem()),
        ("hub.key", &p256.serialize_pem()),
        ("other.key", &ed25519.serialize_pem()),
    ]);
    let none = &[][..];
    let token = &[("A2C_TOKEN", "0123456789abcdef")][..];
    let jwt_secret = &[("A2C_JWT_SECRET", "0123456789abcdef0123456789abcdef")][..];
    for (args, environment) in [
        (&["--token-file", "token"][..], none),
        (&["--token-file", "token"], token),
        (&["--jwt-public-key", "public.pem", "--jwt-audience", "a2c"], none),
        (&["--jwt-public-key", "public.pem", "--jwt-secret-file", "secret"], none),
        (&["--jwt-public-key", "public.pem", "--jwt-public-key", "rsa.pem", "--jwt-public-key", "p256.pem"], none),
        (&["--jwt-jwks-file", "keys.json", "--jwt-issuer", "x"], none),
        (&["--jwt-jwks-file", "keys.json", "--jwt-public-key", "p256.pem"], none),
        (&["--jwt-secret-file", "secret"], jwt_secret),
        (&["--auth", "jwt"], jwt_secret),
        (&["--tls-cert", "hub.crt", "--tls-key", "hub.key", "--client-ca", "hub.crt"], none),
        (&["--otlp-endpoint", "http://127.0.0.1:4318", "--trace-ratio", "0.5"], &[("A2C_OTLP_HEADERS", "key=value")]),
        (&["--audit", "audit.jsonl", "--audit-values"], none),
        (&["--trusted-proxy", "10.0.0.0/8", "--proxy-protocol"], none),
        (&["--trusted-proxy", "10.0.0.0/8"], &[("A2C_HUB_PROXY_PROTOCOL", "true")]),
        (&["--proxy-protocol=false"], none),
    ] {
        let checked = folder.check(args, environment);
        assert_eq!(checked.code, Some(0), "{args:?} {environment:?}: {}", checked.stderr);
    }
    assert!(!folder.path("audit.jsonl").exists(), "a check makes nothing");
    for (args, environment, parts) in [
        (&["--token-file", "token", "--token", "x"][..], none, &["--token and --token-file are both set"][..]),
        (&["--token-file", "nowhere"], none, &["--token-file: cannot read nowhere", "No such file"]),
        (&["--token-file", "empty"], none, &["--token-file is empty"]),
        (&[], &[("A2C_TOKEN", "")], &["A2C_TOKEN is empty"]),
        (&["--auth", "token"], none, &["--auth token needs a token", "A2C_TOKEN"]),
        (&["--auth", "jwt"], none, &["--auth jwt needs a key", "--jwt-public-key"]),
        (&["--jwt-issuer", "x"], none, &["--auth jwt needs a key"]),
        (&["--auth", "mtls"], none, &["--auth mtls needs", "--client-ca"]),
        (
            &["--jwt-secret-file", "secret"],
            token,
            &["(A2C_TOKEN)", "(--jwt-secret-file)", "--auth token or --auth jwt"],
        ),
        (&["--jwt-secret-file", "short"], none, &["--jwt-secret-file: ", "10 bytes", "32"]),
        (&["--jwt-secret-file", "public.pem"], none, &["--jwt-secret-file: ", "PEM"]),
        (
            &["--jwt-public-key", "private.pem"],
            none,
            &["private.pem is an Ed25519 private key", "openssl pkey -in private.pem -pubout -out public.pem"],
        ),
        (&["--jwt-public-key", "hub.key"], none, &["hub.key is a P-256 private key"]),
        (&["--jwt-public-key", "p384.pem"], none, &["p384.pem", "RSA", "Ed25519", "P-256"]),
        (&["--jwt-jwks-file", "secrets.json"], none, &["--jwt-jwks-file: secrets.json: ", "it is a secret", "RS256"]),
        (&["--jwt-jwks-file", "rsa.pem"], none, &["--jwt-jwks-file: rsa.pem: it is no JSON Web Key Set"]),
        (&["--jwt-jwks-file", "nowhere"], none, &["--jwt-jwks-file: cannot read nowhere", "No such file"]),
        (
            &["--jwt-jwks-url", "http://login.example.org/jwks?key=s3cret"],
            none,
            &["--jwt-jwks-url: cannot take keys from http://login.example.org/jwks: ", "write https://"],
        ),
        (&["--jwt-jwks-file", "keys.json"], token, &["(A2C_TOKEN)", "(--jwt-jwks-file)", "--auth jwt"]),
        (&["--jwt-public-key", "token"], none, &["token", "BEGIN PUBLIC KEY"]),
        (&["--jwt-public-key", "nowhere"], none, &["auth.jwt_public_key", "nowhere", "No such file"]),
        (&["--tls-cert", "hub.crt"], none, &["(tls.cert) needs", "--tls-key"]),
        (&["--tls-key", "hub.key"], none, &["(tls.key) needs", "--tls-cert"]),
        (&["--tls-cert", "hub.crt", "--tls-key", "other.key"], none, &["tls: ", "other.key"]),
        (
            &["--tls-cert", "hub.key", "--tls-key", "hub.crt"],
            none,
            &["swapped: hub.key holds a private key, and hub.crt a certificate"],
        ),
        (&["--tls-cert", "token", "--tls-key", "hub.key"], none, &["tls: ", "token"]),
        (&["--tls-cert", "hub.crt", "--tls-key", "hub.key", "--client-ca", "token"], none, &["tls: ", "token"]),
        (&["--audit", "nowhere/audit.jsonl"], none, &["audit.file", "nowhere", "No such file"]),
        (&["--audit", "token"], none, &["audit.file", "token does not end with a whole audit record"]),
        (&["--allow-host", "https://x/"], none, &["--allow-host: 'https://x/' is no host name", "hub.example.org"]),
        (&["--proxy-protocol"], none, &["--proxy-protocol (proxy_protocol) needs the proxies", "--trusted-proxy"]),
        (
            &["--proxy-protocol", "--trusted-proxy", "x", "--forwarded-header", "forwarded"],
            none,
            &["--trusted-proxy: \"x\" is neither", "warning: --forwarded-header (forwarded_header) does nothing"],
        ),
        (&["--audit", "."], none, &["audit.file", "directory"]),
        (&["--otlp-endpoint", "http://me:s3cret@h?k=s3cret"], none, &["traces.endpoint (--otlp-endpoint) ***@h: "]),
        (&["--otlp-endpoint", "http://h"], &[("A2C_OTLP_HEADERS", "s3cret")], &["A2C_OTLP_HEADERS", "NAME=VALUE"]),
        (&["--admin-token-file", "empty"], none, &["--admin-token-file is empty"]),
    ] {
        let checked = folder.check(args, environment);
        assert_eq!(checked.code, Some(1), "{args:?} {environment:?}: {}", checked.stderr);
        assert!(!checked.stderr.contains("s3cret") && !checked.stdout.contains("s3cret"), "{}", checked.stderr);
        checked.fails_saying(parts);
    }
}

#[test]
fn no_secret_is_shown_and_those_that_others_can_read_are_told() {
    let secret = "s3cret-s3cret-s3cret-s3cret-s3cret";
    let folder = Folder::new(&[
        ("token", &format!("{secret}-2")),
        ("admin", secret),
        (
            "hub.toml",
            &format!(
                "[auth]\ntoken = \"{secret}\"\n[[auth.tokens]]\nlabel = \"robots\"\ntoken_file = \"token\"\n\
                 [admin]\ntoken_file = \"admin\"\n[traces]\nendpoint = \"http://127.0.0.1:4318\"\n\
                 headers = {{ api-key = \"{secret}\" }}\n"
            ),
        ),
    ]);
    let checked = folder.check(&[], &[]);
    assert_eq!((checked.code, checked.stderr.as_str()), (Some(0), "ok\n"));
    let shown = rows(&checked.stdout);
    assert!(!checked.stdout.contains("s3cret"), "{}", checked.stdout);
    let token = folder.path("token");
    assert_eq!(shown["auth.tokens"], (&*format!("***, robots=*** in {}", token.display()), "file"));
    assert_eq!(shown["traces.headers"], ("api-key=***", "file"));

    for name in ["token", "admin", "hub.toml"] {
        folder.chmod(name, 0o644);
    }
    let checked = folder.check(&[], &[]);
    for name in ["token", "admin", "hub.toml"] {
        let path = folder.path(name);
        assert!(checked.stderr.contains(&format!("chmod o-r {}", path.display())), "{name}: {}", checked.stderr);
    }
    assert!(!checked.stderr.contains("s3cret"), "{}", checked.stderr);
    checked.ok();
}

#[test]
fn help_is_a_document() {
    let (short, long) = (run(&["server", "-h"]).ok(), run(&["server", "--help"]).ok());
    for heading in ["Network:", "Authentication:", "TLS:", "Limits ", "Audit and traces:", "Administration:"] {
        assert!(short.contains(&format!("\n{heading}")) && long.contains(&format!("\n{heading}")), "{heading}");
    }
    for part in ["Prints `ready", "\nWhere settings come from:", "\nSecrets:", "\nSignals:", "\nExamples:"] {
        assert!(long.contains(part) && !short.contains(part), "{part}");
    }
    assert!(
        short.contains("A flag beats the environment, which beats the file") && short.contains("a2c server --help")
    );
    for variable in ["A2C_LISTEN", "A2C_HUB_DRAIN", "A2C_TOKEN", "A2C_HUB_ADMIN_TOKEN_FILE"] {
        let told = format!("[env: {variable}]");
        assert!(short.contains(&told) && long.contains(&told), "{variable}");
    }
    assert!(short.lines().count() < long.lines().count() / 2);
    // No example has a secret on the command line.
    assert!(!long.split("\nExamples:").nth(1).unwrap().contains("--token "), "{long}");
}

#[test]
fn the_defaults_in_the_help_are_the_defaults() {
    let help = run(&["server", "--help"]).ok();
    let checked = run(&["server", "--check"]).ok();
    let defaults: Vec<&str> = rows(&checked).into_values().map(|(value, _)| value).collect();
    let told: Vec<&str> = help.split("[default: ").skip(1).filter_map(|rest| rest.split(']').next()).collect();
    assert!(told.len() >= 15, "{told:?}");
    for value in told {
        assert!(defaults.contains(&value), "{value} is the default of nothing");
    }
}

#[test]
fn the_examples_of_the_guide_are_good_as_they_stand() {
    let guide = std::fs::read_to_string(a2c_testbed::workspace_root().join("docs/hub.md")).unwrap();
    let examples: Vec<&str> = guide.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    let (example, others) = examples.split_first().unwrap();
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(["hub.example.org".to_owned()]).unwrap().self_signed(&key).unwrap();
    let issuer = KeyPair::generate_for(&rcgen::PKCS_ED25519).unwrap();
    let folder = Folder::new(&[
        ("cert.pem", &certificate.pem()),
        ("key.pem", &key.serialize_pem()),
        ("client-ca.pem", &certificate.pem()),
        (
            "jwks.json",
            r#"{"keys": [{"kty": "OKP", "crv": "Ed25519", "x": "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc"}]}"#,
        ),
        ("issuer.pem", &issuer.public_key_pem()),
        ("jwt-secret", "0123456789abcdef0123456789abcdef"),
        ("token", "0123456789abcdef"),
        ("robots.token", "0123456789abcdef"),
        ("admin.token", "fedcba9876543210"),
    ]);
    // Where a hub that is installed has its files.
    let at_home = |text: &str| {
        let place = |path: &str| text.replace(path, &format!("{}/", folder.0.path().display()));
        place("/etc/a2c/").replace("/var/log/a2c/", &format!("{}/", folder.0.path().display()))
    };
    let check = |text: &str| {
        std::fs::write(folder.path("hub.toml"), at_home(text)).unwrap();
        folder.chmod("hub.toml", 0o600);
        let checked = folder.check(&[], &[]);
        assert_eq!((checked.code, checked.stderr.as_str()), (Some(0), "ok\n"), "{text}");
        checked.stdout
    };
    for other in others {
        check(other);
    }
    let shown = check(example);
    // It names every setting there is, so it also shows what they are called.
    for name in rows(&shown).into_keys() {
        let key = name.rsplit('.').next().unwrap();
        assert!(example.contains(&format!("{key} = ")) || example.contains(&format!("{name}]")), "{name}");
    }
    // What is commented out are settings, too.
    let uncommented: String = example
        .lines()
        .map(|line| match line.strip_prefix("#") {
            Some(rest) if rest.starts_with(|c: char| c.is_ascii_lowercase() || c == '[') => format!("{rest}\n"),
            _ => format!("{line}\n"),
        })
        .collect();
    assert_ne!(uncommented, **example);
    std::fs::write(folder.path("hub.toml"), at_home(&uncommented)).unwrap();
    let everything = folder.check(&[], &[]);
    assert!(!everything.stderr.contains("unknown key") && !everything.stdout.is_empty(), "{}", everything.stderr);
}
