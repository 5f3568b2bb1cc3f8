//! One worker that runs.

use std::path::{Path, PathBuf};
use std::time::Duration;

use a2c_document_model::{UnreadableCode, UnreadableFile};
use a2c_process::{
    Frame, FrameLimits, FrameReader, FrameWriter, Launch, NoSecrets, Processes, SpawnError, SpawnedWorker, WorkerEnd,
    WorkerLimit, WorkerLimits, WorkerProcess,
};
use tokio::process::ChildStdout;
use tokio::time::{Instant, timeout_at};

/// The largest answer: a picture, or an element with all its rows.
const ANSWER: FrameLimits = FrameLimits { line: 64, payload: 512 << 20 };

/// A worker, and the file that it has open.
pub(crate) struct RunningWorker {
    process: WorkerProcess,
    questions: FrameWriter,
    answers: FrameReader<ChildStdout>,
    path: Option<PathBuf>,
}

/// Why a worker gave no answer. It is gone.
pub(crate) enum LostWorker {
    /// It took too long.
    TooSlow,
    /// It ended.
    Ended(UnreadableFile),
}

impl RunningWorker {
    pub(crate) async fn start(processes: &Processes, launch: &Launch, memory: u64) -> Result<Self, SpawnError> {
        let limits = WorkerLimits { memory: Some(memory), ..WorkerLimits::default() };
        let spawned = processes.spawn_worker(launch, limits, NoSecrets, ()).await?;
        let SpawnedWorker { worker, stdin, stdout } = spawned;
        let answers = FrameReader::new(stdout, ANSWER);
        Ok(Self { process: worker, questions: stdin.into_frames(), answers, path: None })
    }

    /// Whether it has this file open.
    pub(crate) fn has_open(&self, path: &Path) -> bool {
        self.path.as_deref() == Some(path)
    }

    /// Whether it has not done anything yet.
    pub(crate) fn is_fresh(&self) -> bool {
        self.path.is_none()
    }

    /// Asks a question about a file. A worker that does not answer is ended.
    pub(crate) async fn ask(
        mut self,
        path: &Path,
        question: Frame,
        time: Duration,
    ) -> Result<(Self, Frame), LostWorker> {
        self.path = Some(path.to_owned());
        let deadline = Instant::now() + time;
        let asked = async {
            // A worker that has ended does not read either; why it ended is found out below.
            let _ = self.questions.clone().write(question, time).await;
            self.answers.next(|_| true).await
        };
        match timeout_at(deadline, asked).await {
            Ok(Ok(Some(answer))) => Ok((self, answer)),
            Ok(_) => Err(LostWorker::Ended(self.why_ended().await)),
            Err(_) => {
                drop(self);
                Err(LostWorker::TooSlow)
            }
        }
    }

    async fn why_ended(self) -> UnreadableFile {
        self.questions.close();
        let unreadable = |message: String| UnreadableFile::new(UnreadableCode::Unreadable, message);
        match self.process.finish().await {
            Ok(outcome) => match outcome.end {
                WorkerEnd::LimitReached(WorkerLimit::Memory) => {
                    UnreadableFile::too_large("reading it takes more memory than a reader may use")
                }
                WorkerEnd::Exited(status) if outcome.stderr.contains("overflowed its stack") => {
                    tracing::debug!(%status, stderr = outcome.stderr, "a reader of documents overflowed its stack");
                    UnreadableFile::too_large("it is nested too deeply to be read")
                }
                WorkerEnd::Exited(status) => {
                    tracing::debug!(%status, stderr = outcome.stderr, "a reader of documents ended");
                    unreadable(format!("its reader ended with {status}"))
                }
                WorkerEnd::LimitReached(limit) => unreadable(format!("its reader reached its limit of {limit}")),
                _ => unreadable("its reader ended".to_owned()),
            },
            Err(error) => unreadable(format!("its reader was lost: {error}")),
        }
    }
}
