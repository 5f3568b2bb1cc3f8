//! What is said about files that cannot be used, or should not.

use super::pki::{Ca, TlsFixture, params, write};
use super::reload::logged;
use crate::tls::ServerTls;

#[test]
fn each_file_that_cannot_be_used_is_named() {
    for name in ["hub.crt", "hub.key", "clients.crt"] {
        let ca = Ca::new("ca");
        let files = TlsFixture::new(&ca.server(), Some(&ca));
        ServerTls::load(&files.config).unwrap();
        write(&files.path(name), "s3cret of another kind");
        let told = ServerTls::load(&files.config).err().expect("the files can be used").to_string();
        assert!(told.contains(name) && told.contains("PEM") && !told.contains("s3cret"), "{told}");
    }
}

#[test]
fn what_will_not_work_for_long_is_a_warning() {
    let ca = Ca::new("ca");
    let told = |years: [i32; 2]| {
        let mut params = params("hub", &["localhost"]);
        params.not_before = rcgen::date_time_ymd(years[0], 1, 1);
        params.not_after = rcgen::date_time_ymd(years[1], 1, 1);
        let files = TlsFixture::new(&ca.issue(&params), None);
        logged(|| drop(ServerTls::load(&files.config).unwrap()))
    };
    let expired = told([2000, 2001]);
    assert!(expired.contains("WARN") && expired.contains("hub.crt expired on 2001-01-01"), "{expired}");
    let early = told([2900, 2901]);
    assert!(early.contains("WARN") && early.contains("not valid before 2900-01-01"), "{early}");
    assert_eq!(told([2000, 2900]), "");
}

#[cfg(unix)]
#[test]
fn a_key_that_everybody_can_read_is_a_warning() {
    use std::os::unix::fs::PermissionsExt as _;
    let files = TlsFixture::new(&Ca::new("ca").server(), None);
    let told = |mode| {
        std::fs::set_permissions(&files.config.key, std::fs::Permissions::from_mode(mode)).unwrap();
        logged(|| drop(ServerTls::load(&files.config).unwrap()))
    };
    let open = told(0o644);
    assert!(open.contains("WARN") && open.contains("hub.key"), "{open}");
    assert_eq!(told(0o640), "");
}

#[test]
fn a_check_tells_of_every_file() {
    let ca = Ca::new("ca");
    let told = |change: &dyn Fn(&TlsFixture)| {
        let files = TlsFixture::new(&ca.server(), Some(&ca));
        change(&files);
        let check = files.config.check();
        assert_eq!(check.errors.is_empty(), ServerTls::load(&files.config).is_ok());
        check.errors.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(told(&|_| ()), [""; 0]);
    let all =
        told(&|files| ["hub.crt", "hub.key", "clients.crt"].iter().for_each(|name| write(&files.path(name), "x")));
    assert_eq!(all.len(), 3, "{all:?}");
    let swapped = told(&|files| {
        let [certificate, key] = ["hub.crt", "hub.key"].map(|name| std::fs::read_to_string(files.path(name)).unwrap());
        write(&files.path("hub.crt"), &key);
        write(&files.path("hub.key"), &certificate);
        write(&files.path("clients.crt"), "x");
    });
    assert!(swapped.len() == 2 && swapped[0].contains("swapped") && swapped[1].contains("clients.crt"), "{swapped:?}");
    let other = told(&|files| {
        write(&files.path("hub.key"), &ca.server().key);
        write(&files.path("clients.crt"), "x");
    });
    assert!(other.len() == 2 && other[0].contains("does not fit"), "{other:?}");
}
