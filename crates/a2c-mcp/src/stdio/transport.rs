//! MCP on the standard streams of a process.
//!
//! Lines of standard output become messages ([`super::message`]); what is no message is told to the server's log, and does
//! no harm. Messages become lines of standard input ([`LineWriter`]).
//!
//! A server that is owed too many answers is not listened to until it has read some of them; if it does not, the session
//! ends.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use a2c_process::{BEGINNING, LineReader, LineWriter, ReadLine, cut};
use a2c_protocol::config::EncodingErrors;
use a2c_secrets::Redactor;
use bytes::Bytes;
use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::AsyncRead;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};

use super::message::{self, Meaning};
use crate::large::{LARGE, MESSAGE_LIMIT};
use crate::log::{LogSource, ServerLog};
use crate::owed::OwedAnswers;

/// How many lines that are no MCP are warned of, how many are written down, and how much of each is shown.
const WARNINGS: u64 = 3;
const WRITTEN_DOWN: u64 = 50;
const SHOWN: usize = 200;

/// How long a server may leave too many answers unread. Many requests at once are no reason to end it.
const UNREAD: Duration = Duration::from_secs(3);

/// MCP with one process.
pub struct StdioTransport<R> {
    lines: LineReader<R>,
    writer: Option<LineWriter>,
    owed: OwedAnswers,
    /// By when some of the owed answers have to be read, if they are too many.
    due: Option<Instant>,
    /// A long line that is being read on a thread of its own.
    reading: Option<JoinHandle<(Bytes, Meaning)>>,
    /// What else came with the last message.
    waiting: VecDeque<ServerJsonRpcMessage>,
    bad_bytes: EncodingErrors,
    garbage: Garbage,
}

impl<R: AsyncRead + Send + Unpin> StdioTransport<R> {
    /// The transport of the server of this name. What it writes that is no MCP goes to `log`, without `secrets`.
    pub fn new(
        name: &str,
        stdout: R,
        writer: LineWriter,
        bad_bytes: EncodingErrors,
        log: Arc<ServerLog>,
        secrets: Redactor,
    ) -> Self {
        let garbage = Garbage { name: name.to_owned(), log, secrets, count: 0 };
        Self {
            lines: LineReader::new(stdout, MESSAGE_LIMIT),
            writer: Some(writer),
            owed: OwedAnswers::default(),
            due: None,
            reading: None,
            waiting: VecDeque::new(),
            bad_bytes,
            garbage,
        }
    }

    /// Waits while too many answers are owed; `false` if that lasts too long.
    async fn is_read(&mut self) -> bool {
        if !self.owed.too_many() {
            self.due = None;
            return true;
        }
        // Kept: a caller may stop waiting and call again at any time.
        let due = *self.due.get_or_insert_with(|| Instant::now() + UNREAD);
        let read = timeout_at(due, self.owed.bearable()).await.is_ok();
        if read {
            self.due = None;
        }
        read
    }

    fn give_up(&mut self) {
        let Some(writer) = self.writer.take() else { return };
        // Callers that wait to write fail at once, and what waits is freed.
        writer.close();
        self.garbage.log.remark("it asks and does not read its standard input");
        tracing::warn!(server = self.garbage.name, "the server asks and does not read its standard input");
    }

    fn take_in(&mut self, read: ReadLine) {
        match read {
            // It takes as long as the line is long, and other servers are not to wait for it.
            ReadLine::Whole(line) if line.len() > LARGE => {
                let bad_bytes = self.bad_bytes;
                self.reading = Some(tokio::task::spawn_blocking(move || {
                    let meaning = message::read(&line, bad_bytes);
                    (line, meaning)
                }));
            }
            ReadLine::Whole(line) => self.act(&line, message::read(&line, self.bad_bytes)),
            ReadLine::TooLong(beginning) => {
                self.act(&beginning, message::read_beginning(&beginning, MESSAGE_LIMIT));
            }
        }
    }

    /// Waits for the long line that is being read. A caller may stop waiting and call again at any time.
    async fn finish_reading(&mut self) {
        let Some(reading) = &mut self.reading else { return };
        let read = reading.await;
        self.reading = None;
        match read {
            Ok((line, meaning)) => self.act(&line, meaning),
            Err(error) => tracing::error!(server = self.garbage.name, %error, "a message could not be read"),
        }
    }

    fn act(&mut self, line: &[u8], meaning: Meaning) {
        match meaning {
            Meaning::Message(message) => self.waiting.push_back(*message),
            Meaning::Batch(all) => all.into_iter().for_each(|meaning| self.act(line, meaning)),
            Meaning::Answer(answer) => {
                // Reading must not wait for writing: a server that does neither would stand still for ever.
                tokio::spawn(self.send(*answer));
            }
            Meaning::Nothing => {}
            Meaning::Garbage => self.garbage.tell(line),
        }
    }
}

impl<R: AsyncRead + Send + Unpin> Transport<RoleClient> for StdioTransport<R> {
    type Error = io::Error;

    fn send(&mut self, message: ClientJsonRpcMessage) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let line = serde_json::to_vec(&message).map_err(io::Error::from);
        let writer = self.writer.clone();
        let is_answer = matches!(message, ClientJsonRpcMessage::Response(_) | ClientJsonRpcMessage::Error(_));
        // Counted from now on, not from when a caller waits for it.
        let waiting = self.owed.write(&message, line.as_ref().map_or(0, Vec::len));
        async move {
            let _waiting = waiting;
            let mut line = line?;
            line.push(b'\n');
            let writer = writer.ok_or_else(|| io::Error::new(io::ErrorKind::NotConnected, "it was hung up"))?;
            match writer.write(line).await {
                // The library would log an error for each of hundreds of answers to one whom we hung up on.
                Err(error) if is_answer && error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
                outcome => outcome,
            }
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            if !self.is_read().await {
                self.give_up();
                return None;
            }
            self.finish_reading().await;
            if let Some(message) = self.waiting.pop_front() {
                if self.owed.take_in(&message) {
                    return Some(message);
                }
                continue;
            }
            match self.lines.next().await {
                Ok(Some(read)) => self.take_in(read),
                Ok(None) => return None,
                Err(error) => {
                    tracing::warn!(server = self.garbage.name, %error, "cannot read what the server writes");
                    return None;
                }
            }
            // A flood of lines that mean nothing must leave others their turn.
            tokio::task::consume_budget().await;
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.writer = None;
        Ok(())
    }
}

/// What a server writes to standard output that is no MCP: banners, logs, errors.
struct Garbage {
    name: String,
    log: Arc<ServerLog>,
    secrets: Redactor,
    count: u64,
}

impl Garbage {
    fn tell(&mut self, line: &[u8]) {
        self.count += 1;
        let count = self.count;
        // A flood of it must not wash everything else out of the log.
        if count > WRITTEN_DOWN && !count.is_power_of_two() {
            return;
        }
        let line = String::from_utf8_lossy(&line[..line.len().min(BEGINNING)]);
        let text = self.log.push(LogSource::Stdout, line.trim(), &self.secrets);
        if count > WRITTEN_DOWN {
            let remark = format!("{count} lines on standard output were no MCP messages so far");
            self.log.push(LogSource::A2c, &remark, &self.secrets);
        }
        if count <= WARNINGS {
            let line = cut(&text, SHOWN);
            tracing::warn!(server = self.name, line, "the server writes to standard output what is no MCP message");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rmcp::model::{ClientRequest, PingRequest, RequestId};
    use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};

    struct Server {
        stdout: DuplexStream,
        stdin: BufReader<DuplexStream>,
        log: Arc<ServerLog>,
    }

    fn stage(secret: &str) -> (StdioTransport<DuplexStream>, Server) {
        let (stdout, read) = tokio::io::duplex(1 << 20);
        let (write, stdin) = tokio::io::duplex(1 << 20);
        let log = Arc::new(ServerLog::new());
        let secrets = Redactor::new([secret]);
        let transport =
            StdioTransport::new("s", read, LineWriter::new(write), EncodingErrors::Strict, log.clone(), secrets);
        (transport, Server { stdout, stdin: BufReader::new(stdin), log })
    }

    fn error_id(message: Option<ServerJsonRpcMessage>) -> (Option<RequestId>, String) {
        match message {
            Some(ServerJsonRpcMessage::Error(error)) => (error.id, error.error.message.into_owned()),
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test]
    async fn garbage_is_written_down_without_secrets_and_skipped() {
        let (mut transport, mut server) = stage("TopS3cret");
        let mut text = "Listening, password TopS3cret\n".to_owned();
        text.push_str(&"noise\n".repeat(1000));
        text.push_str("[{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}},{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}]\n");
        server.stdout.write_all(text.as_bytes()).await.unwrap();
        for id in 1..=2 {
            match transport.receive().await {
                Some(ServerJsonRpcMessage::Response(response)) => assert_eq!(response.id, RequestId::Number(id)),
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(transport.garbage.count, 1001);
        let log = server.log.tail(usize::MAX);
        assert_eq!((&*log[0].text, log[0].source), ("Listening, password ***", LogSource::Stdout));
        assert!(log.len() < 70, "{}", log.len());
        drop(server.stdout);
        assert!(transport.receive().await.is_none());
    }

    #[tokio::test]
    async fn an_answer_that_is_too_long_fails_by_name_and_the_next_is_read() {
        let (mut transport, server) = stage("");
        let mut stdout = server.stdout;
        let writer = tokio::spawn(async move {
            stdout.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{\"x\":\"").await.unwrap();
            let chunk = vec![b'x'; 1 << 20];
            for _ in 0..=MESSAGE_LIMIT >> 20 {
                stdout.write_all(&chunk).await.unwrap();
            }
            stdout.write_all(b"\"}}\n{\"jsonrpc\":\"2.0\",\"id\":6,\"result\":{}}\n").await.unwrap();
        });
        let (id, message) = error_id(transport.receive().await);
        assert_eq!(id, Some(RequestId::Number(5)));
        assert!(message.contains(&MESSAGE_LIMIT.to_string()), "{message}");
        assert!(matches!(transport.receive().await, Some(ServerJsonRpcMessage::Response(_))));
        writer.await.unwrap();
    }

    #[tokio::test]
    async fn requests_that_make_no_sense_are_answered() {
        let (mut transport, mut server) = stage("");
        server.stdout.write_all(b"{\"jsonrpc\":\"0\",\"id\":9,\"method\":\"m\"}\n").await.unwrap();
        let mut line = String::new();
        tokio::select! {
            none = transport.receive() => panic!("{none:?}"),
            _ = server.stdin.read_line(&mut line) => {}
        }
        assert!(line.contains("\"id\":9") && line.contains("error"), "{line}");
    }

    #[tokio::test]
    async fn many_requests_at_once_are_answered_to_one_who_reads() {
        let (mut transport, mut server) = stage("");
        let nonsense = vec![r#"{"jsonrpc":"0","id":9,"method":"m"}"#; 1000].join(",");
        server.stdout.write_all(format!("[{nonsense}]\n").as_bytes()).await.unwrap();
        server.stdout.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n").await.unwrap();
        let reading = tokio::spawn(async move {
            for _ in 0..1000 {
                assert!(server.stdin.read_line(&mut String::new()).await.unwrap() > 0);
            }
        });
        assert!(matches!(transport.receive().await, Some(ServerJsonRpcMessage::Response(_))));
        reading.await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn our_own_requests_are_not_held_against_a_server() {
        let (stdin, _unread) = tokio::io::duplex(16);
        let (mut stdout, read) = tokio::io::duplex(1 << 16);
        let (log, none) = (Arc::new(ServerLog::new()), Redactor::default());
        let mut transport =
            StdioTransport::new("s", read, LineWriter::new(stdin), EncodingErrors::Strict, log.clone(), none);
        let ping = ClientRequest::PingRequest(PingRequest::default());
        for id in 0..1000 {
            tokio::spawn(transport.send(ClientJsonRpcMessage::request(ping.clone(), RequestId::Number(id))));
        }
        stdout.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n").await.unwrap();
        assert!(transport.receive().await.is_some());
        let nonsense = "{\"jsonrpc\":\"0\",\"id\":9,\"method\":\"m\"}\n".repeat(300);
        stdout.write_all(nonsense.as_bytes()).await.unwrap();
        assert!(transport.receive().await.is_none());
        assert_eq!(&*log.tail(1)[0].text, "it asks and does not read its standard input");
        assert!(transport.send(ClientJsonRpcMessage::request(ping, RequestId::Number(1))).await.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_is_not_read_while_it_is_owed_too_many_answers() {
        let (mut transport, mut server) = stage("");
        let initialized = serde_json::json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        transport.send(serde_json::from_value(initialized).unwrap()).await.unwrap();
        let pings: String =
            (0..2000).map(|id| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n")).collect();
        server.stdout.write_all(pings.as_bytes()).await.unwrap();
        // Every request that was handed over may be held by the library until it is answered.
        let mut held = VecDeque::new();
        let mut answered = 0;
        while answered < 1000 {
            let handed_over = tokio::time::timeout(UNREAD / 2, transport.receive()).await;
            match handed_over {
                Ok(Some(ServerJsonRpcMessage::Request(request))) => held.push_back(request.id),
                Ok(other) => panic!("{other:?}"),
                Err(_) => {
                    assert_eq!(held.len(), 257);
                    let pong = serde_json::json!({"jsonrpc": "2.0", "id": held.pop_front().unwrap(), "result": {}});
                    transport.send(serde_json::from_value(pong).unwrap()).await.unwrap();
                    answered += 1;
                }
            }
        }
    }

    #[tokio::test]
    async fn closing_closes_the_standard_input() {
        let (mut transport, mut server) = stage("");
        let ping =
            ClientJsonRpcMessage::request(ClientRequest::PingRequest(PingRequest::default()), RequestId::Number(1));
        transport.send(ping.clone()).await.unwrap();
        transport.close().await.unwrap();
        let mut text = String::new();
        tokio::io::AsyncReadExt::read_to_string(&mut server.stdin, &mut text).await.unwrap();
        assert!(text.ends_with("}\n") && text.lines().count() == 1, "{text}");
        assert_eq!(transport.send(ping).await.unwrap_err().kind(), io::ErrorKind::NotConnected);
    }
}
