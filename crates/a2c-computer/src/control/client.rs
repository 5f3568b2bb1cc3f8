//! The owner's end of the socket.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use a2c_files::is_trusted_user;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use zeroize::Zeroizing;

use super::socket_folder;
use super::wire::{ControlRequest, Greeting, MAX_LINE, Refusal, Reply};

/// How long a Computer that runs takes at most to say who it is.
const GREETING: Duration = Duration::from_secs(5);

/// Why a running Computer did not do what was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ControlClientError {
    /// No Computer listens on the socket.
    #[error("no Computer answers at {}: is it running?", .path.display())]
    NotRunning {
        /// Where.
        path: PathBuf,
        /// What happened.
        source: io::Error,
    },
    /// The process that listens belongs to another user.
    #[error("the socket {} belongs to another user (uid {uid}): it is not asked", .path.display())]
    Stranger {
        /// Where.
        path: PathBuf,
        /// Who.
        uid: u32,
    },
    /// The Computer said no.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The connection broke.
    #[error("the connection to the Computer broke")]
    Io(#[from] io::Error),
    /// The Computer ended meanwhile.
    #[error("the Computer ended before it answered")]
    Ended,
    /// What came back cannot be understood.
    #[error("the answer cannot be understood: is the Computer of another version than this program?")]
    Garbled(#[source] serde_json::Error),
}

/// A connection to a running Computer.
pub struct ControlClient {
    stream: BufReader<UnixStream>,
}

/// A Computer that runs.
#[derive(Debug, Clone)]
pub struct Running {
    /// Its socket.
    pub socket: PathBuf,
    /// Who it is.
    pub greeting: Greeting,
}

/// The Computers of this user that run and have their socket in a folder.
pub async fn running(folder: &Path) -> Vec<Running> {
    let mut found = Vec::new();
    for socket in socket_folder::sockets(folder) {
        let greeting = async {
            let mut client = ControlClient::connect(&socket).await?;
            client.ask::<Greeting>(&ControlRequest::Hello).await
        };
        if let Ok(Ok(greeting)) = tokio::time::timeout(GREETING, greeting).await {
            found.push(Running { socket, greeting });
        }
    }
    found
}

impl ControlClient {
    /// Connects to the Computer at a socket.
    pub async fn connect(path: &Path) -> Result<Self, ControlClientError> {
        let stream = UnixStream::connect(path).await;
        let stream = stream.map_err(|source| ControlClientError::NotRunning { path: path.to_owned(), source })?;
        let uid = stream.peer_cred()?.uid();
        // We may be about to send a secret.
        if !is_trusted_user(uid) {
            return Err(ControlClientError::Stranger { path: path.to_owned(), uid });
        }
        Ok(Self { stream: BufReader::new(stream) })
    }

    /// Asks, and waits for the answer.
    pub async fn ask<T: DeserializeOwned>(&mut self, request: &ControlRequest) -> Result<T, ControlClientError> {
        self.listen(request, |_| {}).await
    }

    /// Asks, and hears what is said before the end.
    pub async fn listen<T: DeserializeOwned>(
        &mut self,
        request: &ControlRequest,
        mut on_line: impl FnMut(Value),
    ) -> Result<T, ControlClientError> {
        let mut line = Zeroizing::new(serde_json::to_vec(request).map_err(ControlClientError::Garbled)?);
        line.push(b'\n');
        self.stream.get_mut().write_all(&line).await?;
        loop {
            match self.reply().await? {
                Reply::Ok(value) => return serde_json::from_value(value).map_err(ControlClientError::Garbled),
                Reply::Error(refusal) => return Err(refusal.into()),
                Reply::Line(value) => on_line(value),
            }
        }
    }

    async fn reply(&mut self) -> Result<Reply, ControlClientError> {
        let mut line = Vec::new();
        (&mut self.stream).take(MAX_LINE as u64 + 1).read_until(b'\n', &mut line).await?;
        match line.last() {
            Some(b'\n') => serde_json::from_slice(&line).map_err(ControlClientError::Garbled),
            _ => Err(ControlClientError::Ended),
        }
    }
}
