//! What is said about files that cannot be used.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};

use rcgen::KeyPair;
use rustls::crypto::ring;
use tempfile::TempDir;

use super::{authorities, identity};

/// A certificate that signed itself, and its key, in a folder of their own.
struct PemFixture {
    _dir: TempDir,
    certificate: PathBuf,
    key: PathBuf,
}

impl PemFixture {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let (certificate, key) = (dir.path().join("own.crt"), dir.path().join("own.key"));
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        std::fs::write(&certificate, made.cert.pem()).unwrap();
        std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
        Self { _dir: dir, certificate, key }
    }
}

/// Good files are spoilt; then reading fails and says these parts, never what is in the key.
fn check(spoil: impl FnOnce(&PemFixture), parts: &[&str]) {
    let files = PemFixture::new();
    let read = || identity(&files.certificate, &files.key, &ring::default_provider());
    assert_eq!(read().unwrap().cert, authorities(&files.certificate).unwrap());
    spoil(&files);
    let error = read().expect_err("the files can be used");
    let told = error.to_string();
    for part in parts {
        assert!(told.contains(part), "{part:?} is not in: {told}");
    }
    let key = std::fs::read_to_string(&files.key).unwrap_or_default();
    for line in key.lines().filter(|line| line.len() > 8 && !line.starts_with("-----")) {
        assert!(!told.contains(line) && !format!("{error:?}").contains(line), "{told}");
    }
}

fn write(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap();
}

#[test]
fn files_that_are_not_there() {
    check(
        |f| std::fs::remove_file(&f.certificate).unwrap(),
        &["cannot read the certificate", "own.crt", "No such file"],
    );
    check(|f| std::fs::remove_file(&f.key).unwrap(), &["cannot read the private key", "own.key", "No such file"]);
    let error = authorities(Path::new("/no/such/ca.pem")).unwrap_err().to_string();
    assert!(error.contains("cannot read the CA /no/such/ca.pem: No such file"), "{error}");
}

#[test]
fn files_that_hold_something_else() {
    check(|f| write(&f.certificate, ""), &["no certificate in", "own.crt", "BEGIN"]);
    check(|f| write(&f.key, "a secret of another kind"), &["no private key in", "own.key"]);
    check(|f| std::fs::rename(&f.key, &f.certificate).unwrap(), &["no certificate in", "own.crt"]);
    check(|f| write(&f.key, &std::fs::read_to_string(&f.certificate).unwrap()), &["no private key in", "own.key"]);
}

#[test]
fn files_that_are_damaged() {
    let section = |what: &str, text: &str| format!("-----BEGIN {what}-----\n{text}\n-----END {what}-----\n");
    let junk = section("CERTIFICATE", "AAAA");
    check(|f| write(&f.certificate, &junk), &["the certificate in", "own.crt", "cannot be used"]);
    let junk = section("PRIVATE KEY", "AAAA");
    check(|f| write(&f.key, &junk), &["the private key in", "own.key", "cannot be used"]);
    let junk = section("PRIVATE KEY", "!!!!!!!!!!!!");
    check(|f| write(&f.key, &junk), &["the private key in", "own.key", "damaged"]);
}

#[test]
fn files_that_are_cut_off() {
    let half = |path: &Path| {
        let text = std::fs::read_to_string(path).unwrap();
        write(path, &text[..text.len() / 2]);
    };
    check(|f| half(&f.certificate), &["own.crt", "cut off"]);
    check(|f| half(&f.key), &["own.key", "cut off"]);
}

#[test]
fn keys_that_need_a_passphrase() {
    let newer = "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n";
    let older = "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\nAAAA\n-----END RSA PRIVATE KEY-----\n";
    for text in [newer, older] {
        check(|f| write(&f.key, text), &["own.key", "encrypted", "openssl pkey"]);
    }
}

#[test]
fn keys_of_another_certificate() {
    let other = KeyPair::generate().unwrap().serialize_pem();
    check(|f| write(&f.key, &other), &["own.key", "does not fit the first certificate", "own.crt"]);
    // The CA before the certificate itself.
    let ca = rcgen::generate_simple_self_signed(["ca".to_owned()]).unwrap().cert.pem();
    let swapped =
        |f: &PemFixture| write(&f.certificate, &(ca.clone() + &std::fs::read_to_string(&f.certificate).unwrap()));
    check(swapped, &["does not fit the first certificate", "before those of its CA"]);
}

#[test]
fn one_file_for_everything() {
    let files = PemFixture::new();
    let both = [&files.key, &files.certificate].map(|path| std::fs::read_to_string(path).unwrap()).concat();
    write(&files.certificate, &both);
    identity(&files.certificate, &files.certificate, &ring::default_provider()).unwrap();
}
