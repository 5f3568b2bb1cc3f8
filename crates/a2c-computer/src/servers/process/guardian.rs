//! The Computer's side of its guardian: starts it, tells it which process groups there are, starts it again if it dies.
//!
//! Everybody tells the guardian through [`Guardian::watch`]; one task writes to it. The other side is [`super::guard()`].

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::family::{self, Family};
use super::guard::{CHARGE, READY};
use super::launch::INHERITED;

/// How long a guardian may take to be ready.
const START_LIMIT: Duration = Duration::from_secs(10);

/// How long it may take to look after everything when the Computer ends in order.
const FAREWELL: Duration = Duration::from_secs(10);

/// How long to wait before the next guardian is started, for one that does not stay alive.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// The program that ends a Computer's processes when the Computer itself is killed (`kill -9`) or crashes.
///
/// The program must call [`crate::guard`] and nothing else. It runs as long as the Computer, one for all of its servers.
/// Without one, a Computer that is killed leaves behind those processes of its MCP servers that do not end by themselves
/// when their standard input is closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuardianProgram {
    /// The program; usually the very program that runs the Computer.
    pub program: PathBuf,
    /// The arguments that make it the guardian.
    pub args: Vec<OsString>,
}

/// Why there is no guardian.
#[derive(Debug, thiserror::Error)]
pub enum GuardianError {
    /// The program does not start.
    #[error("cannot start the guardian '{}'", program.display())]
    Start {
        /// Which program.
        program: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The program started and did not do what a guardian does.
    #[error("'{}' is no guardian: it must call a2c_computer::guard()", program.display())]
    NotReady {
        /// Which program.
        program: PathBuf,
    },
}

/// A guardian that is kept alive.
pub(crate) struct Guardian {
    news: mpsc::UnboundedSender<News>,
    dismissed: CancellationToken,
}

#[derive(Debug, Clone, Copy)]
enum News {
    Came(u32),
    Went(u32),
}

/// A process group that the guardian knows of until this is dropped.
pub(crate) struct Watched {
    group: u32,
    news: mpsc::UnboundedSender<News>,
}

impl Drop for Watched {
    fn drop(&mut self) {
        let _ = self.news.send(News::Went(self.group));
    }
}

impl Guardian {
    /// Starts the guardian of a family and waits until it is on duty.
    pub(crate) async fn start(program: &GuardianProgram, family: &Family) -> Result<Self, GuardianError> {
        let family = family.marker().text().to_owned();
        let post = Post::take(program, &family).await?;
        let (news, heard) = mpsc::unbounded_channel();
        let dismissed = CancellationToken::new();
        let duty = Duty { program: program.clone(), family, groups: BTreeSet::new(), heard };
        tokio::spawn(duty.run(post, dismissed.clone()));
        Ok(Self { news, dismissed })
    }

    /// Tells the guardian of a process group.
    pub(crate) fn watch(&self, group: u32) -> Watched {
        let _ = self.news.send(News::Came(group));
        Watched { group, news: self.news.clone() }
    }

    /// Dismisses the guardian and waits until it has seen that nothing is left. Groups that are still watched are ended.
    pub(crate) async fn end(&self) {
        self.dismissed.cancel();
        // The task holds the receiver as long as it runs.
        self.news.closed().await;
    }
}

/// A running guardian process. It ends when its standard input does: it is never killed by us.
struct Post {
    process: Child,
    stdin: ChildStdin,
}

impl Post {
    async fn take(program: &GuardianProgram, family: &str) -> Result<Self, GuardianError> {
        let GuardianProgram { program, args } = program;
        let failed = |source| GuardianError::Start { program: program.clone(), source };
        let not_ready = || GuardianError::NotReady { program: program.clone() };
        let mut command = Command::new(program);
        // It outlives us by a moment: what we know is none of its business. It is no leader of a process group, so that
        // it can begin a session of its own.
        command.args(args).env_clear();
        let kept = INHERITED.into_iter().chain(["LD_LIBRARY_PATH", family::VARIABLE]);
        command.envs(kept.filter_map(|key| Some((key, std::env::var_os(key)?))));
        command.env(CHARGE, family);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().map_err(failed)?;
        let (Some(stdin), Some(stdout)) = (process.stdin.take(), process.stdout.take()) else {
            return Err(not_ready());
        };
        let greeting = async {
            let mut answer = String::new();
            BufReader::new(stdout.take(READY.len() as u64 + 1)).read_line(&mut answer).await?;
            io::Result::Ok(answer.trim_end() == READY)
        };
        match tokio::time::timeout(START_LIMIT, greeting).await {
            Ok(Ok(true)) => Ok(Self { process, stdin }),
            _ => {
                // It is something else, and need not end with its input.
                let _ = process.start_kill();
                Err(not_ready())
            }
        }
    }

    async fn tell(&mut self, news: News) -> io::Result<()> {
        let line = match news {
            News::Came(group) => format!("+ {group}\n"),
            News::Went(group) => format!("- {group}\n"),
        };
        self.stdin.write_all(line.as_bytes()).await
    }
}

/// What has to be known to start the next guardian.
struct Duty {
    program: GuardianProgram,
    family: String,
    groups: BTreeSet<u32>,
    heard: mpsc::UnboundedReceiver<News>,
}

impl Duty {
    /// Tells the guardian everything until it is dismissed, or there is nobody left to hear it from.
    async fn run(mut self, mut post: Post, dismissed: CancellationToken) {
        let mut since = Instant::now();
        loop {
            let heard = tokio::select! {
                biased;
                heard = self.heard.recv() => heard,
                ended = post.process.wait() => {
                    let status = ended.map_or_else(|error| error.to_string(), |status| status.to_string());
                    tracing::warn!(status, "the guardian is gone, starting another");
                    let pause = if since.elapsed() < LONGEST_PAUSE { FIRST_PAUSE } else { Duration::ZERO };
                    post = tokio::select! {
                        post = self.relieve(pause) => post,
                        () = dismissed.cancelled() => return,
                    };
                    since = Instant::now();
                    continue;
                }
                () = dismissed.cancelled() => break,
            };
            let Some(news) = heard else { break };
            self.note(news);
            // Where this fails the guardian is dying, and the next one is told everything.
            tokio::select! {
                _ = post.tell(news) => {}
                () = dismissed.cancelled() => break,
            }
        }
        let Post { mut process, stdin } = post;
        drop(stdin);
        if tokio::time::timeout(FAREWELL, process.wait()).await.is_err() {
            tracing::warn!("the guardian has not ended");
        }
    }

    fn note(&mut self, news: News) {
        match news {
            News::Came(group) => _ = self.groups.insert(group),
            News::Went(group) => _ = self.groups.remove(&group),
        }
    }

    /// The next guardian, who knows all the last one knew.
    async fn relieve(&mut self, mut pause: Duration) -> Post {
        loop {
            tokio::time::sleep(pause).await;
            let problem = match Post::take(&self.program, &self.family).await {
                Ok(mut post) => {
                    while let Ok(news) = self.heard.try_recv() {
                        self.note(news);
                    }
                    let mut told = Ok(());
                    for group in &self.groups {
                        told = told.and(post.tell(News::Came(*group)).await);
                    }
                    if told.is_ok() {
                        return post;
                    }
                    "it died at once".to_owned()
                }
                Err(error) => error.to_string(),
            };
            tracing::warn!(problem, "no guardian: a Computer that is killed would leave processes behind");
            pause = (pause * 2).clamp(FIRST_PAUSE, LONGEST_PAUSE);
        }
    }
}
