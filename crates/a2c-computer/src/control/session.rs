//! One connection to the control socket: requests are read and answered, one after the other.

use std::io;

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::OwnedReadHalf;
use zeroize::Zeroizing;

use super::about::About;
use super::answers::{Answers, PATIENCE};
use super::operate::{self, OperationOutcome};
use super::wire::{ControlRequest, MAX_LINE, Refusal, RefusalKind, Reply};
use crate::handle::ComputerHandle;

/// What every connection is answered from.
pub(super) struct ControlSession {
    pub(super) handle: ComputerHandle,
    pub(super) about: About,
}

impl ControlSession {
    /// Answers until the other end has nothing more to ask.
    pub(super) async fn run(&self, stream: UnixStream) {
        let (reader, writer) = stream.into_split();
        let (mut reader, mut answers) = (BufReader::new(reader), Answers::new(writer));
        loop {
            let line = match tokio::time::timeout(PATIENCE, next_line(&mut reader)).await {
                Ok(Ok(RequestLine::Text(line))) => line,
                Ok(Ok(RequestLine::TooLong)) => {
                    let refusal = bad_request(format!("a line is longer than {} MiB", MAX_LINE >> 20));
                    let _ = answers.send(&Reply::Error(refusal)).await;
                    return;
                }
                Ok(Ok(RequestLine::End)) | Ok(Err(_)) | Err(_) => return,
            };
            let reply = match serde_json::from_slice(&line) {
                Ok(request) => {
                    drop(line);
                    tokio::select! {
                        biased;
                        reply = self.answer(request, &mut answers) => reply,
                        () = hung_up(&mut reader) => return,
                    }
                }
                // What stands in the line is not repeated: it may hold a secret.
                Err(error) => {
                    let (line, column) = (error.line(), error.column());
                    Reply::Error(bad_request(format!("this is no request (line {line}, column {column})")))
                }
            };
            if answers.send(&reply).await.is_err() {
                return;
            }
        }
    }

    async fn answer(&self, request: ControlRequest, answers: &mut Answers) -> Reply {
        tracing::debug!(op = request.op(), "asked through the control socket");
        match operate::operate(&self.handle, &self.about, request, answers).await {
            OperationOutcome::Done(value) => Reply::Ok(value),
            OperationOutcome::Refused(refusal) => Reply::Error(refusal),
        }
    }
}

/// Tells a client to come back later.
pub(super) async fn turn_away(stream: UnixStream) {
    let (_, writer) = stream.into_split();
    let message = "too many are connected to this Computer at the same time: try again later".to_owned();
    let _ = Answers::new(writer).send(&Reply::Error(Refusal { kind: RefusalKind::Busy, message })).await;
}

/// What was read where a request was expected.
enum RequestLine {
    /// Wiped, since it may hold a secret.
    Text(Zeroizing<Vec<u8>>),
    TooLong,
    End,
}

async fn next_line(reader: &mut BufReader<OwnedReadHalf>) -> io::Result<RequestLine> {
    loop {
        let mut line = Zeroizing::new(Vec::new());
        let limit = MAX_LINE as u64 + 1;
        (&mut *reader).take(limit).read_until(b'\n', &mut line).await?;
        match line.last() {
            None => return Ok(RequestLine::End),
            Some(_) if line.len() > MAX_LINE => return Ok(RequestLine::TooLong),
            // Half a request is none.
            Some(last) if *last != b'\n' => return Ok(RequestLine::End),
            Some(_) if line.trim_ascii().is_empty() => {}
            Some(_) => return Ok(RequestLine::Text(line)),
        }
    }
}

/// Returns when the other end is gone; not while it asks the next thing already.
async fn hung_up(reader: &mut BufReader<OwnedReadHalf>) {
    match reader.fill_buf().await {
        Ok([]) | Err(_) => {}
        Ok(_) => std::future::pending().await,
    }
}

fn bad_request(message: String) -> Refusal {
    Refusal { kind: RefusalKind::BadRequest, message }
}
