//! One connection to the control socket: requests are read and answered, one after the other.

use std::io;
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use zeroize::Zeroizing;

use super::operate::{self, Outcome};
use super::socket::About;
use super::wire::{MAX_LINE, Refusal, RefusalKind, Reply, Request};
use crate::handle::ComputerHandle;

/// How long somebody may take to ask, or to read an answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// What every connection is answered from.
pub(super) struct Session {
    pub(super) handle: ComputerHandle,
    pub(super) about: About,
}

/// The way back to who asks.
pub(super) struct Answers {
    writer: OwnedWriteHalf,
}

impl Session {
    /// Answers until the other end has nothing more to ask.
    pub(super) async fn run(&self, stream: UnixStream) {
        let (reader, writer) = stream.into_split();
        let (mut reader, mut answers) = (BufReader::new(reader), Answers { writer });
        loop {
            let line = match tokio::time::timeout(PATIENCE, next_line(&mut reader)).await {
                Ok(Ok(Line::Text(line))) => line,
                Ok(Ok(Line::TooLong)) => {
                    let refusal = bad_request(format!("a line is longer than {} MiB", MAX_LINE >> 20));
                    let _ = answers.send(&Reply::Error(refusal)).await;
                    return;
                }
                Ok(Ok(Line::End)) | Ok(Err(_)) | Err(_) => return,
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

    async fn answer(&self, request: Request, answers: &mut Answers) -> Reply {
        tracing::debug!(op = request.op(), "asked through the control socket");
        match operate::operate(&self.handle, &self.about, request, answers).await {
            Outcome::Done(value) => Reply::Ok(value),
            Outcome::Refused(refusal) => Reply::Error(refusal),
        }
    }
}

impl Answers {
    /// Sends what is not the end yet.
    pub(super) async fn line(&mut self, value: &impl Serialize) -> io::Result<()> {
        let value: Value = serde_json::to_value(value)?;
        self.send(&Reply::Line(value)).await
    }

    async fn send(&mut self, reply: &Reply) -> io::Result<()> {
        let mut text = serde_json::to_vec(reply)?;
        if text.len() > MAX_LINE {
            let message = format!("the answer of {} bytes is too long to be sent", text.len());
            text = serde_json::to_vec(&Reply::Error(Refusal { kind: RefusalKind::Failed, message }))?;
        }
        text.push(b'\n');
        let writing = tokio::time::timeout(PATIENCE, self.writer.write_all(&text)).await;
        writing.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
    }
}

/// Tells somebody to come back later.
pub(super) async fn turn_away(stream: UnixStream) {
    let (_, writer) = stream.into_split();
    let message = "too many are connected to this Computer at the same time: try again later".to_owned();
    let _ = Answers { writer }.send(&Reply::Error(Refusal { kind: RefusalKind::Busy, message })).await;
}

enum Line {
    /// Wiped, since it may hold a secret.
    Text(Zeroizing<Vec<u8>>),
    TooLong,
    End,
}

async fn next_line(reader: &mut BufReader<OwnedReadHalf>) -> io::Result<Line> {
    loop {
        let mut line = Zeroizing::new(Vec::new());
        let limit = MAX_LINE as u64 + 1;
        (&mut *reader).take(limit).read_until(b'\n', &mut line).await?;
        match line.last() {
            None => return Ok(Line::End),
            Some(_) if line.len() > MAX_LINE => return Ok(Line::TooLong),
            // Half a request is none.
            Some(last) if *last != b'\n' => return Ok(Line::End),
            Some(_) if line.trim_ascii().is_empty() => {}
            Some(_) => return Ok(Line::Text(line)),
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
