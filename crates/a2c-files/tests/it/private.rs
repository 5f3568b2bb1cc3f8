//! What this crate creates is for its owner; what exists is left as it is.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

use a2c_files::{create_private_folder, is_private, private_options};

use crate::mode;

#[test]
fn new_folders_are_private_and_existing_ones_keep_their_mode() {
    let dir = tempfile::tempdir().unwrap();
    let open = dir.path().join("open");
    fs::create_dir(&open).unwrap();
    fs::set_permissions(&open, Permissions::from_mode(0o755)).unwrap();
    create_private_folder(&open.join("a/b")).unwrap();
    create_private_folder(&open.join("a/b")).unwrap();
    assert_eq!(mode(&open), 0o755);
    assert_eq!(mode(&open.join("a")), 0o700);
    assert_eq!(mode(&open.join("a/b")), 0o700);
    fs::write(dir.path().join("file"), "").unwrap();
    create_private_folder(&dir.path().join("file")).unwrap_err();
    create_private_folder(&dir.path().join("file/below")).unwrap_err();
}

#[test]
fn many_may_create_the_same_folder() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("a/b/c/d");
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| create_private_folder(&folder).unwrap());
        }
    });
    assert!(folder.is_dir());
}

#[test]
fn a_file_is_private_when_only_its_owner_has_rights() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    private_options().write(true).create_new(true).open(&path).unwrap();
    assert_eq!(mode(&path), 0o600);
    for (mode, private) in [(0o600, true), (0o400, true), (0o700, true), (0o640, false), (0o604, false), (0o620, false)]
    {
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        assert_eq!(is_private(&fs::metadata(&path).unwrap()), private, "{mode:o}");
    }
}
