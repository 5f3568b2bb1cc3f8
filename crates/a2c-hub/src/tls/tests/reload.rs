//! Other certificates while the hub runs.

use std::io;
use std::sync::{Arc, Mutex};

use a2c_pem::PemError;
use rustls::pki_types::CertificateDer;
use tracing_subscriber::fmt::MakeWriter;

use super::pki::{Ca, TlsFixture, age, params, write};
use super::{PATIENCE, TlsClient, TlsEchoServer, certificate_of, echo};
use crate::tls::file_stamps::FileStamps;
use crate::tls::{ServerTls, TlsConfigError};

/// What a piece of work logs on this thread.
pub(super) fn logged(work: impl FnOnce()) -> String {
    #[derive(Clone, Default)]
    struct CapturedLog(Arc<Mutex<Vec<u8>>>);
    impl io::Write for CapturedLog {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    impl<'a> MakeWriter<'a> for CapturedLog {
        type Writer = Self;
        fn make_writer(&'a self) -> Self {
            self.clone()
        }
    }
    let log = CapturedLog::default();
    let subscriber = tracing_subscriber::fmt().with_writer(log.clone()).with_ansi(false).finish();
    tracing::subscriber::with_default(subscriber, work);
    let bytes = log.0.lock().unwrap().clone();
    String::from_utf8(bytes).unwrap()
}

async fn served(ca: &Ca, listener: &TlsEchoServer) -> CertificateDer<'static> {
    certificate_of(&TlsClient::trusting(ca.der()).connect(listener.address).await.unwrap())
}

#[tokio::test]
async fn new_connections_get_the_new_certificate_and_old_ones_go_on() {
    let ca = Ca::new("ca");
    let (first, second) = (ca.server(), ca.server());
    let files = TlsFixture::new(&first, None);
    let tls = ServerTls::load(&files.config).unwrap();
    let listener = TlsEchoServer::start(tls.clone()).await;
    let mut old = TlsClient::trusting(ca.der()).connect(listener.address).await.unwrap();
    assert_eq!(certificate_of(&old), first.der());
    assert!(!tls.reload().unwrap(), "nothing has changed");

    files.put(&second);
    assert!(tls.reload().unwrap());
    assert_eq!(served(&ca, &listener).await, second.der());
    echo(&mut old).await.unwrap();
    assert!(!tls.reload().unwrap(), "nothing has changed since");
}

#[tokio::test]
async fn a_pair_that_does_not_fit_leaves_the_old_one_in_use() {
    let ca = Ca::new("ca");
    let (first, second) = (ca.server(), ca.server());
    let files = TlsFixture::new(&first, None);
    let tls = ServerTls::load(&files.config).unwrap();
    let listener = TlsEchoServer::start(tls.clone()).await;

    // Half of the new pair is there.
    write(&files.config.certificate, &second.certificate);
    assert!(matches!(tls.reload(), Err(TlsConfigError::File(PemError::Mismatch { .. }))));
    assert_eq!(served(&ca, &listener).await, first.der());
    // Half of a file is there.
    write(&files.config.key, &second.key[..second.key.len() / 2]);
    let error = tls.reload().unwrap_err().to_string();
    assert!(error.contains("hub.key"), "{error}");
    assert_eq!(served(&ca, &listener).await, first.der());
    // All is there.
    write(&files.config.key, &second.key);
    assert!(tls.reload().unwrap());
    assert_eq!(served(&ca, &listener).await, second.der());
}

#[test]
fn looking_at_the_files_tells_a_change_once() {
    let ca = Ca::new("ca");
    let (first, second) = (ca.server(), ca.server());
    let files = TlsFixture::new(&first, None);
    files.age();
    let tls = ServerTls::load(&files.config).unwrap();
    let look = || logged(|| tls.shared.reload_if_changed());
    assert_eq!(look(), "");

    write(&files.config.certificate, &second.certificate);
    files.age();
    let told = look();
    assert!(told.contains("ERROR") && told.contains("hub.crt") && told.contains("the old ones stay"), "{told}");
    assert_eq!(look(), "", "it was told before");

    write(&files.config.key, &second.key);
    files.age();
    let told = look();
    assert!(told.contains("INFO") && told.contains("hub.crt") && told.contains("reloaded"), "{told}");
    assert_eq!(look(), "");
}

#[test]
fn a_file_that_was_just_written_may_change_without_looking_different() {
    let files = TlsFixture::new(&Ca::new("ca").server(), None);
    let looks = || FileStamps::of(&files.config);
    assert!(looks().differs_from(&looks()));
    files.age();
    assert!(!looks().differs_from(&looks()));
    let before = looks();
    std::fs::remove_file(&files.config.key).unwrap();
    assert!(before.differs_from(&looks()));
}

/// Kubernetes swaps a link to a folder, certbot the links to the files.
#[cfg(unix)]
#[tokio::test]
async fn swapped_links_are_seen_by_the_watch() {
    use std::os::unix::fs::symlink;
    let ca = Ca::new("ca");
    let mut files = TlsFixture::new(&ca.server(), None);
    let versions = [ca.server(), ca.server(), ca.server()];
    for (number, pair) in versions.iter().enumerate() {
        let dir = files.path(&number.to_string());
        std::fs::create_dir(&dir).unwrap();
        for (name, text) in [("tls.crt", &pair.certificate), ("tls.key", &pair.key)] {
            write(&dir.join(name), text);
            // All alike but for what is in them.
            age(&dir.join(name));
        }
    }
    for name in ["tls.crt", "tls.key"] {
        symlink(files.path("data").join(name), files.path(name)).unwrap();
    }
    files.config.certificate = files.path("tls.crt");
    files.config.key = files.path("tls.key");
    let point_to = |number: usize| {
        let fresh = files.path("fresh");
        symlink(files.path(&number.to_string()), &fresh).unwrap();
        std::fs::rename(fresh, files.path("data")).unwrap();
    };

    point_to(0);
    let tls = ServerTls::load(&files.config).unwrap();
    let watch = tokio::spawn(tls.watch());
    let listener = TlsEchoServer::start(tls).await;
    assert_eq!(served(&ca, &listener).await, versions[0].der());
    for (number, pair) in versions.iter().enumerate().skip(1) {
        point_to(number);
        let arrives = async { while served(&ca, &listener).await != pair.der() {} };
        tokio::time::timeout(PATIENCE, arrives).await.expect("the new certificate does not come into use");
    }
    watch.abort();
}

#[tokio::test]
async fn other_client_cas_take_effect_too() {
    let (ca, other) = (Ca::new("ca"), Ca::new("other"));
    let files = TlsFixture::new(&ca.server(), Some(&ca));
    let tls = ServerTls::load(&files.config).unwrap();
    let mut listener = TlsEchoServer::start(tls.clone()).await;
    let (desk, stranger) = (ca.issue(&params("desk", &[])), other.issue(&params("stranger", &[])));
    let asks = async |pair, listener: &mut TlsEchoServer| {
        if let Ok(mut stream) = TlsClient::trusting(ca.der()).showing(pair).connect(listener.address).await {
            // Whether it is heard is what the listener says.
            let _ = echo(&mut stream).await;
        }
        listener.outcome().await.ok().flatten()
    };
    assert_eq!(asks(&desk, &mut listener).await.as_deref(), Some("desk"));
    assert_eq!(asks(&stranger, &mut listener).await, None);
    write(&files.path("clients.crt"), &other.pem());
    assert!(tls.reload().unwrap());
    assert_eq!(asks(&desk, &mut listener).await, None);
    assert_eq!(asks(&stranger, &mut listener).await.as_deref(), Some("stranger"));
}

#[tokio::test]
async fn the_watch_ends_with_what_it_watches() {
    let files = TlsFixture::new(&Ca::new("ca").server(), None);
    let tls = ServerTls::load(&files.config).unwrap();
    let watch = tokio::spawn(tls.watch());
    drop(tls);
    tokio::time::timeout(PATIENCE, watch).await.unwrap().unwrap();
}
