//! One process at a time works on a file, or in a folder.

use std::fs::File;

use a2c_files::{LockError, lock_file};

#[test]
fn a_locked_file_is_in_use_until_it_is_closed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    let open = || File::options().append(true).create(true).open(&path).unwrap();
    let (first, second) = (open(), open());
    lock_file(&first, &path).unwrap();
    let refused = lock_file(&second, &path).unwrap_err();
    assert!(matches!(&refused, LockError::InUse { path: named } if *named == path));
    assert!(refused.to_string().contains("in use"), "{refused}");
    drop(first);
    lock_file(&second, &path).unwrap();
}

#[cfg(unix)]
#[test]
fn a_folder_has_one_turn_at_a_time() {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use a2c_files::FolderLock;

    let dir = tempfile::tempdir().unwrap();
    let inside = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..50 {
                    let turn = FolderLock::wait(dir.path()).unwrap();
                    assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                    std::thread::yield_now();
                    inside.fetch_sub(1, Ordering::SeqCst);
                    drop(turn);
                }
            });
        }
    });
}
