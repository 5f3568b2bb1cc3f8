//! `--dpe-resolver`: where documents are put for Agents that ask for their address.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use a2c_computer::dpe::{DpeResolver, HttpListener, HttpOptions, LocalDirectory, ObjectStore};
use anyhow::{Context as _, Result, bail};

/// What the flag says.
#[derive(Debug, PartialEq, Eq)]
enum Choice {
    None,
    Directory(PathBuf),
    Http(Option<SocketAddr>),
    /// Not looked at here: what is wrong with it is said without repeating it, for people put passwords there.
    Store(String),
}

/// Makes the resolver that the flag asks for.
pub(super) async fn open(text: &str) -> Result<Option<Arc<dyn DpeResolver>>> {
    match parse(text)? {
        Choice::None => Ok(None),
        Choice::Directory(path) => {
            let opened = LocalDirectory::open(&path);
            let directory = opened.with_context(|| {
                format!("cannot use the directory {} of --dpe-resolver: name one that you may write to", path.display())
            })?;
            Ok(Some(Arc::new(directory)))
        }
        Choice::Http(address) => {
            let mut options = HttpOptions::default();
            options.address = address.unwrap_or(options.address);
            let started = HttpListener::start(options).await;
            let listener =
                started.context("cannot listen where --dpe-resolver says: choose another address or port")?;
            tracing::info!(address = %listener.address(), "serving documents to Agents");
            Ok(Some(Arc::new(listener)))
        }
        Choice::Store(url) => {
            let store = ObjectStore::open(&url).context("cannot use the object store of --dpe-resolver")?;
            Ok(Some(Arc::new(store)))
        }
    }
}

fn parse(text: &str) -> Result<Choice> {
    let (kind, rest) = match text.split_once(':') {
        Some((kind, rest)) => (kind, Some(rest)),
        None => (text, None),
    };
    match (kind, rest) {
        ("none", None) => Ok(Choice::None),
        ("dir", Some(path)) if !path.is_empty() => Ok(Choice::Directory(path.into())),
        ("dir", _) => bail!("--dpe-resolver dir names no directory: write dir:PATH"),
        ("http", None) => Ok(Choice::Http(None)),
        ("http", Some(rest)) => Ok(Choice::Http(Some(address(rest)?))),
        ("store", Some(url)) if !url.is_empty() => Ok(Choice::Store(url.to_owned())),
        ("store", _) => {
            bail!("--dpe-resolver store names no store: write store:s3://BUCKET/PREFIX or store:file:///DIRECTORY")
        }
        ("s3" | "file", Some(_)) => {
            bail!("--dpe-resolver takes a URL of an object store after store: (store:{kind}://…)")
        }
        _ => bail!("--dpe-resolver is one of dir:PATH, http, http:ADDRESS:PORT, store:URL and none"),
    }
}

/// An IP address with a port, or without one: then any port that is free.
fn address(text: &str) -> Result<SocketAddr> {
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let parsed = text.parse().or_else(|_| bare.parse::<IpAddr>().map(|ip| SocketAddr::new(ip, 0)));
    let Ok(address) = parsed else {
        bail!("--dpe-resolver http listens on an IP address, such as http:127.0.0.1:8080: '{text}' is none");
    };
    if address.ip().is_unspecified() {
        bail!(
            "--dpe-resolver http:{text} would give Agents an address that leads nowhere: write the one under which they \
             reach this machine, such as http:192.0.2.7:8080"
        );
    }
    Ok(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_of_writing_it() {
        let at = |text: &str| Choice::Http(Some(text.parse().unwrap()));
        for (text, expected) in [
            ("none", Choice::None),
            ("dir:out", Choice::Directory("out".into())),
            ("dir:/a:b", Choice::Directory("/a:b".into())),
            ("http", Choice::Http(None)),
            ("http:127.0.0.1", at("127.0.0.1:0")),
            ("http:127.0.0.1:8080", at("127.0.0.1:8080")),
            ("http:::1", at("[::1]:0")),
            ("http:[::1]", at("[::1]:0")),
            ("http:[::1]:8080", at("[::1]:8080")),
            ("store:s3://bucket/p", Choice::Store("s3://bucket/p".into())),
        ] {
            assert_eq!(parse(text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn mistakes_name_their_remedy() {
        for (text, remedy) in [
            ("", "one of dir:PATH"),
            ("directory:/x", "one of dir:PATH"),
            ("none:x", "one of dir:PATH"),
            ("dir", "write dir:PATH"),
            ("dir:", "write dir:PATH"),
            ("http:", "http:127.0.0.1:8080"),
            ("http:localhost:1", "http:127.0.0.1:8080"),
            ("http://127.0.0.1:8080", "http:127.0.0.1:8080"),
            ("http:0.0.0.0:8080", "http:192.0.2.7:8080"),
            ("http:[::]:8080", "http:192.0.2.7:8080"),
            ("store", "store:s3://BUCKET/PREFIX"),
            ("s3://key:geheim@bucket", "after store:"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(remedy) && !error.contains("geheim"), "{text}: {error}");
        }
    }

    #[tokio::test]
    async fn what_cannot_be_used_is_said_without_its_secrets() {
        let error = open("store:s3://key:geheim@bucket").await.err().unwrap();
        let shown = format!("{error:#}");
        assert!(shown.contains("AWS_ACCESS_KEY_ID") && !shown.contains("geheim"), "{shown}");
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = open(&format!("dir:{}/x", file.path().display())).await.err().unwrap();
        assert!(format!("{error:#}").contains("you may write to"), "{error:#}");
        let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let error = open(&format!("http:{}", taken.local_addr().unwrap())).await.err().unwrap();
        assert!(format!("{error:#}").contains("another address or port"), "{error:#}");
    }

    #[tokio::test]
    async fn each_can_be_opened() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().display();
        assert!(open("none").await.unwrap().is_none());
        for text in
            [format!("dir:{path}/d"), "http".into(), format!("store:file://{path}/s"), "store:s3://bucket".into()]
        {
            assert!(open(&text).await.unwrap().is_some(), "{text}");
        }
    }
}
