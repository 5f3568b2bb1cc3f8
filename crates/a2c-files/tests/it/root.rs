//! Nothing outside a root is opened.

use std::fs;
use std::io::Read as _;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use a2c_files::{OpenBeneathError, Root};

/// A root with a file inside, a secret outside, and links of every kind.
fn folders() -> (tempfile::TempDir, Root) {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    fs::create_dir_all(path("root/folder")).unwrap();
    fs::write(path("root/folder/file"), "inside").unwrap();
    fs::write(path("secret"), "outside").unwrap();
    symlink("folder/file", path("root/within")).unwrap();
    symlink("../secret", path("root/relative")).unwrap();
    symlink(path("secret"), path("root/absolute")).unwrap();
    symlink("..", path("root/up")).unwrap();
    symlink("/proc/self/root", path("root/magic")).unwrap();
    symlink("loop", path("root/loop")).unwrap();
    symlink(path("root"), path("link-to-root")).unwrap();
    let root = Root::open(&path("link-to-root")).unwrap();
    (dir, root)
}

#[derive(Debug, PartialEq)]
enum Opened {
    Text(String),
    Outside,
    NotAFile,
    Failed,
}

fn open(root: &Root, path: &str) -> Opened {
    match root.open_file(Path::new(path)) {
        Ok(mut file) => {
            let mut text = String::new();
            file.read_to_string(&mut text).unwrap();
            Opened::Text(text)
        }
        Err(OpenBeneathError::Outside { .. }) => Opened::Outside,
        Err(OpenBeneathError::NotAFile { .. }) => Opened::NotAFile,
        Err(_) => Opened::Failed,
    }
}

#[test]
fn only_files_beneath_the_root_are_opened() {
    let (dir, root) = folders();
    assert_eq!(root.path(), dir.path().canonicalize().unwrap().join("root"));
    rustix::fs::mknodat(
        rustix::fs::CWD,
        root.path().join("pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    let _socket = UnixListener::bind(root.path().join("socket")).unwrap();
    let absolute = dir.path().join("root/folder/file").display().to_string();
    for (path, expected) in [
        ("folder/file", Opened::Text("inside".into())),
        ("./folder/./file", Opened::Text("inside".into())),
        ("../secret", Opened::Outside),
        ("folder/../folder/file", Opened::Outside),
        (absolute.as_str(), Opened::Outside),
        ("relative", Opened::Outside),
        ("absolute", Opened::Outside),
        ("up/secret", Opened::Outside),
        ("folder", Opened::NotAFile),
        (".", Opened::NotAFile),
        ("pipe", Opened::NotAFile),
        ("socket", Opened::NotAFile),
        ("none", Opened::Failed),
        ("folder/file/deeper", Opened::Failed),
        ("loop", Opened::Failed),
        ("", Opened::NotAFile),
    ] {
        assert_eq!(open(&root, path), expected, "{path}");
    }
    assert!(!matches!(open(&root, "magic/etc/hostname"), Opened::Text(_)));
}

#[cfg(target_os = "linux")]
#[test]
fn a_link_that_stays_beneath_the_root_is_followed() {
    let (_dir, root) = folders();
    assert_eq!(open(&root, "within"), Opened::Text("inside".into()));
}

#[test]
fn a_root_stays_the_folder_that_was_opened() {
    let (dir, root) = folders();
    fs::rename(dir.path().join("root"), dir.path().join("moved")).unwrap();
    fs::create_dir_all(dir.path().join("root/folder")).unwrap();
    fs::write(dir.path().join("root/folder/file"), "another").unwrap();
    assert_eq!(open(&root, "folder/file"), Opened::Text("inside".into()));
}

#[test]
fn a_folder_that_becomes_a_link_meanwhile_opens_nothing_outside() {
    let (dir, root) = folders();
    let path = |name: &str| dir.path().join(name);
    fs::create_dir(path("outside")).unwrap();
    fs::write(path("outside/file"), "outside").unwrap();
    symlink(path("outside"), path("trap")).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                fs::rename(path("root/folder"), path("aside")).unwrap();
                fs::rename(path("trap"), path("root/folder")).unwrap();
                fs::rename(path("root/folder"), path("trap")).unwrap();
                fs::rename(path("aside"), path("root/folder")).unwrap();
            }
        });
        let mut inside = 0;
        for _ in 0..20_000 {
            match open(&root, "folder/file") {
                Opened::Text(text) if text == "inside" => inside += 1,
                Opened::Text(text) => panic!("opened {text}"),
                _ => {}
            }
        }
        done.store(true, Ordering::Relaxed);
        assert!(inside > 0);
    });
}
