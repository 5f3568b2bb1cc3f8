//! The names in certificates, honest and other.

use proptest::prelude::*;
use rcgen::{CertificateParams, DistinguishedName, DnType, DnValue, SanType};
use rustls::pki_types::CertificateDer;

use super::pki::{Ca, params};
use crate::tls::subject;

fn check(params: &CertificateParams, expected: Option<&str>) {
    let made = Ca::new("ca").issue(params);
    assert_eq!(subject::of(&made.der()).as_deref(), expected);
}

/// Without a common name.
fn nameless(names: Vec<SanType>) -> CertificateParams {
    let mut params = params("", &[]);
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::OrganizationName, "an organisation");
    params.subject_alt_names = names;
    params
}

#[test]
fn the_common_name_comes_first() {
    check(&params("desk", &["desk.example"]), Some("desk"));
    check(&params("书桌 7", &[]), Some("书桌 7"));
    for value in [
        DnValue::PrintableString("desk".try_into().unwrap()),
        DnValue::TeletexString("desk".try_into().unwrap()),
        DnValue::BmpString("desk".try_into().unwrap()),
    ] {
        let mut params = params("", &[]);
        params.distinguished_name.push(DnType::CommonName, value);
        check(&params, Some("desk"));
    }
}

#[test]
fn then_the_first_alternative_name_that_is_one() {
    let dns = || SanType::DnsName("desk.example".try_into().unwrap());
    let uri = || SanType::URI("spiffe://example/desk".try_into().unwrap());
    let mail = || SanType::Rfc822Name("desk@example".try_into().unwrap());
    let address = || SanType::IpAddress([127, 0, 0, 1].into());
    check(&nameless(vec![dns(), uri(), mail()]), Some("desk.example"));
    check(&nameless(vec![uri(), dns()]), Some("spiffe://example/desk"));
    check(&nameless(vec![address(), mail()]), Some("desk@example"));
    check(&nameless(vec![address()]), None);
    check(&nameless(Vec::new()), None);
}

#[test]
fn a_name_that_could_mislead_is_none() {
    let long = "x".repeat(257);
    for name in ["", "  ", "desk\nadmin", "desk\0.example", "\u{9b}31m", &long] {
        check(&params(name, &[]), None);
        check(&params(name, &["desk.example"]), Some("desk.example"));
    }
    check(&params(&"x".repeat(256), &[]), Some("x".repeat(256).as_str()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn no_bytes_make_it_panic(noise in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = subject::of(&CertificateDer::from(noise));
    }

    #[test]
    fn no_damage_makes_it_panic(damage in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..6)) {
        static CERTIFICATE: std::sync::LazyLock<Vec<u8>> =
            std::sync::LazyLock::new(|| Ca::new("ca").issue(&params("desk", &["a.example", "b.example"])).der().to_vec());
        let mut bytes = CERTIFICATE.clone();
        for (index, value) in damage {
            let at = index.index(bytes.len());
            bytes[at] = value;
        }
        let damaged = CertificateDer::from(bytes);
        if let Some(name) = subject::of(&damaged) {
            prop_assert!(name.len() <= 256 && !name.contains(char::is_control));
        }
        let _ = subject::validity(&damaged).map(|(from, to)| format!("{from} {to}"));
    }
}
