//! A folder for what other users must not replace.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use a2c_files::{FolderError, FolderFlaw, trusted_folder};

use crate::mode;

#[test]
fn a_folder_is_created_for_its_owner_alone() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("a2c");
    trusted_folder(&folder).unwrap();
    assert_eq!(mode(&folder), 0o700);
    trusted_folder(&folder).unwrap();
    let no_parent = trusted_folder(&dir.path().join("none/a2c"));
    assert!(matches!(no_parent, Err(FolderError::Io { .. })));
}

#[test]
fn a_folder_that_others_can_write_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let flaw = |name: &str| match trusted_folder(&dir.path().join(name)) {
        Ok(()) => None,
        Err(FolderError::Unsafe { flaw, .. }) => Some(flaw),
        Err(error) => panic!("{error}"),
    };
    let make = |name: &str, mode: u32| {
        fs::create_dir(dir.path().join(name)).unwrap();
        fs::set_permissions(dir.path().join(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    for (name, mode, expected) in [
        ("group", 0o770, Some(FolderFlaw::WritableByOthers)),
        ("all", 0o777, Some(FolderFlaw::WritableByOthers)),
        ("sticky", 0o1777, None),
        ("read", 0o755, None),
    ] {
        make(name, mode);
        assert_eq!(flaw(name), expected, "{name}");
    }
    fs::write(dir.path().join("file"), "").unwrap();
    assert_eq!(flaw("file"), Some(FolderFlaw::NotAFolder));
    for (link, target, expected) in [("bad", "all", Some(FolderFlaw::WritableByOthers)), ("good", "read", None)] {
        symlink(target, dir.path().join(link)).unwrap();
        assert_eq!(flaw(link), expected, "what {link} leads to counts");
    }
}

#[test]
fn a_folder_of_another_user_is_refused() {
    if a2c_files::own_user() != 0 {
        return eprintln!("skipped: only root can give a folder to another user");
    }
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("foreign");
    fs::create_dir(&folder).unwrap();
    std::os::unix::fs::chown(&folder, Some(65_534), None).unwrap();
    let refused = trusted_folder(&folder);
    assert!(matches!(refused, Err(FolderError::Unsafe { flaw: FolderFlaw::ForeignOwner, .. })));
    let link = dir.path().join("link");
    fs::create_dir(dir.path().join("own")).unwrap();
    symlink("own", &link).unwrap();
    std::os::unix::fs::lchown(&link, Some(65_534), None).unwrap();
    let refused = trusted_folder(&link);
    assert!(matches!(refused, Err(FolderError::Unsafe { flaw: FolderFlaw::NotAFolder, .. })));
}
