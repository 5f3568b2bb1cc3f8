//! Tokens in files that only their owner can read.

use std::fs;
use std::io;
use std::path::PathBuf;

use a2c_files::{is_private, replace};
use sha2::{Digest, Sha256};

use super::{TokenStore, TokenStoreError};

/// Keeps each secret in a file of its own, within one directory.
#[derive(Debug, Clone)]
pub struct FileStore {
    directory: PathBuf,
}

impl FileStore {
    /// A store in this directory, which is made when first needed.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into() }
    }

    /// The file of a key: a readable beginning, and a digest, since keys differ in characters that file names cannot.
    fn path(&self, key: &str) -> PathBuf {
        let readable: String = key.chars().take(32).map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        let digest: String = Sha256::digest(key).iter().take(12).map(|byte| format!("{byte:02x}")).collect();
        self.directory.join(format!("{readable}-{digest}.json"))
    }
}

impl TokenStore for FileStore {
    fn get(&self, key: &str) -> Result<Option<String>, TokenStoreError> {
        let path = self.path(key);
        let failed = |e: io::Error| TokenStoreError::new(format!("cannot read {}: {e}", path.display()));
        match fs::metadata(&path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(failed(e)),
            Ok(metadata) if !is_private(&metadata) => {
                let path = path.display();
                return Err(TokenStoreError::new(format!(
                    "{path} can be read by others: run chmod 600 on it, then sign in again"
                )));
            }
            Ok(_) => {}
        }
        fs::read_to_string(&path).map(Some).map_err(failed)
    }

    fn set(&self, key: &str, secret: &str) -> Result<(), TokenStoreError> {
        let path = self.path(key);
        replace(&path, secret.as_bytes())
            .map_err(|e| TokenStoreError::new(format!("cannot write {}: {e}", path.display())))
    }

    fn delete(&self, key: &str) -> Result<(), TokenStoreError> {
        let path = self.path(key);
        match fs::remove_file(&path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => {
                Err(TokenStoreError::new(format!("cannot remove {}: {e}", path.display())))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn a_secret_is_kept_replaced_and_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let store = FileStore::new(folder.path().join("deep/tokens"));
        assert_eq!(store.get("a").unwrap(), None);
        store.delete("a").unwrap();
        for secret in ["first", "second"] {
            store.set("a", secret).unwrap();
            store.set("b", "other").unwrap();
            assert_eq!(store.get("a").unwrap().as_deref(), Some(secret));
        }
        store.delete("a").unwrap();
        assert_eq!(store.get("a").unwrap(), None);
        assert_eq!(store.get("b").unwrap().as_deref(), Some("other"));
    }

    #[test]
    fn keys_that_look_alike_have_files_of_their_own() {
        let store = FileStore::new("/nowhere");
        let long = "x".repeat(300);
        let keys = ["a/b", "a-b", "a b", "../a", "", &long, &format!("{long}y")];
        let paths: std::collections::BTreeSet<_> = keys.iter().map(|key| store.path(key)).collect();
        assert_eq!(paths.len(), keys.len());
        assert!(paths.iter().all(|path| path.parent() == Some(Path::new("/nowhere"))));
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_can_read_it() {
        use std::os::unix::fs::PermissionsExt;

        let folder = tempfile::tempdir().unwrap();
        let store = FileStore::new(folder.path().join("tokens"));
        store.set("a", "s3cret").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&store.directory), 0o700);
        assert_eq!(mode(&store.path("a")), 0o600);
        assert_eq!(fs::read_dir(&store.directory).unwrap().count(), 1, "nothing is left over from writing");
        fs::set_permissions(store.path("a"), fs::Permissions::from_mode(0o644)).unwrap();
        let error = store.get("a").unwrap_err().to_string();
        assert!(error.contains("chmod 600") && !error.contains("s3cret"), "{error}");
    }
}
