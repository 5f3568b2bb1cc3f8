//! The Computer's end of the socket: it makes the file, accepts connections of its owner, and removes the file.

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use a2c_files::{FolderError, FolderLock, is_trusted_user, trusted_folder};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::about::About;
use super::session::{self, ControlSession};
use crate::handle::ComputerHandle;

/// How many connections there may be at the same time.
const CONNECTIONS: usize = 32;

/// The pause after a connection could not be accepted, as when there are too many files open.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Why there is no control socket.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BindError {
    /// Other users could put a socket of theirs into the folder, and pretend to be this Computer.
    #[error("cannot make a control socket that only its owner controls")]
    Folder(#[from] FolderError),
    /// Another Computer answers there.
    #[error("another Computer answers at {}: stop it, or choose another name, or another place with --control", .path.display())]
    Taken {
        /// Which socket.
        path: PathBuf,
    },
    /// It cannot be made.
    #[error("cannot make the control socket {}", .path.display())]
    Io {
        /// Which socket.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

/// A socket that exists and does not answer yet.
pub struct ControlSocket {
    listener: UnixListener,
    file: SocketFile,
}

/// Removed when it is dropped.
struct SocketFile(PathBuf);

impl Drop for SocketFile {
    fn drop(&mut self) {
        // Where it is gone already, nothing is left to do.
        let _ = fs::remove_file(&self.0);
    }
}

impl ControlSocket {
    /// Makes the socket. A dead socket is replaced.
    pub async fn bind(path: &Path) -> Result<Self, BindError> {
        let failed = |source| BindError::Io { path: path.to_owned(), source };
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        trusted_folder(folder)?;
        // One at a time, so that two Computers that start together do not both replace the same dead socket.
        let locked = folder.to_owned();
        let turn = tokio::task::spawn_blocking(move || FolderLock::wait(&locked)).await;
        let _turn = turn.map_err(io::Error::other).and_then(|turn| turn).map_err(failed)?;
        match UnixStream::connect(path).await {
            Ok(_) => return Err(BindError::Taken { path: path.to_owned() }),
            // Its queue of connections is full.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                return Err(BindError::Taken { path: path.to_owned() });
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                // A dead socket, or a file that is none: that one is not ours to replace.
                if !fs::symlink_metadata(path).map_err(failed)?.file_type().is_socket() {
                    return Err(failed(io::Error::new(io::ErrorKind::AlreadyExists, "there is another kind of file")));
                }
                fs::remove_file(path).map_err(failed)?;
            }
            Err(error) => return Err(failed(error)),
        }
        // Made under another name, so that it is never there with more rights than it should have.
        let made = folder.join(format!(".{}", std::process::id()));
        let _ = fs::remove_file(&made);
        let listener = UnixListener::bind(&made).map_err(failed)?;
        let file = SocketFile(made);
        fs::set_permissions(&file.0, fs::Permissions::from_mode(0o600)).map_err(failed)?;
        fs::rename(&file.0, path).map_err(failed)?;
        std::mem::forget(file);
        Ok(Self { listener, file: SocketFile(path.to_owned()) })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.file.0
    }

    /// Answers from now on, until the result is closed or dropped.
    pub fn serve(self, handle: ComputerHandle, about: About) -> Control {
        let stop = CancellationToken::new();
        let Self { listener, file } = self;
        let task = tokio::spawn(answer_all(listener, ControlSession { handle, about }, stop.clone()));
        Control { stop, task: Some(task), _file: file }
    }
}

/// A control socket that answers. Gone, file included, when it is dropped.
pub struct Control {
    stop: CancellationToken,
    task: Option<tokio::task::JoinHandle<()>>,
    _file: SocketFile,
}

impl Control {
    /// Stops answering, and waits until every connection is closed.
    pub async fn close(mut self) {
        self.stop.cancel();
        if let Some(task) = self.task.take() {
            let _ = task.await;
        }
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

async fn answer_all(listener: UnixListener, session: ControlSession, stop: CancellationToken) {
    let session = Arc::new(session);
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    let mut sessions = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            Some(_) = sessions.join_next() => continue,
            () = stop.cancelled() => break,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!(%error, "a connection to the control socket could not be accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        match stream.peer_cred() {
            Ok(peer) if is_trusted_user(peer.uid()) => {}
            Ok(peer) => {
                tracing::warn!(uid = peer.uid(), "refused a connection of another user to the control socket");
                continue;
            }
            Err(error) => {
                tracing::warn!(%error, "refused a connection of an unknown user to the control socket");
                continue;
            }
        }
        match places.clone().try_acquire_owned() {
            Ok(place) => {
                let session = session.clone();
                sessions.spawn(async move {
                    session.run(stream).await;
                    drop(place);
                });
            }
            Err(_) => {
                sessions.spawn(session::turn_away(stream));
            }
        }
    }
    // What runs for a connection ends with it.
    sessions.shutdown().await;
}
