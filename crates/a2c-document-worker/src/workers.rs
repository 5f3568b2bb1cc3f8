//! Workers as a caller sees them: a file and a question in, an answer out.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use a2c_document_model::{BlobPlace, ReadElement, ReadPage, RowWindow, UnreadableCode, UnreadableFile};
use a2c_documents::NotInDocument;
use a2c_process::{Frame, Launch, Processes};
use serde::de::DeserializeOwned;
use tokio::sync::Semaphore;

use crate::job::{DONE, DocumentJob, DocumentOutline, JobOrder};
use crate::running::{LostWorker, RunningWorker};

/// What workers may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerSettings {
    /// How many may run at the same time.
    pub count: usize,
    /// How many bytes of address space each may have. The program itself takes some tens of megabytes of it.
    pub memory: u64,
    /// How long one question may take.
    pub time: Duration,
}

impl Default for WorkerSettings {
    fn default() -> Self {
        Self { count: 2, memory: 384 << 20, time: Duration::from_secs(10) }
    }
}

/// Processes that read documents. They are started when they are needed, stay for the next question, and end with this
/// value.
pub struct DocumentWorkers {
    launch: Launch,
    settings: WorkerSettings,
    processes: Processes,
    slots: Semaphore,
    idle: Mutex<Vec<RunningWorker>>,
}

impl DocumentWorkers {
    /// Workers that are started by this launch, which has to lead to [`crate::run_worker`].
    pub fn new(launch: Launch, processes: Processes, settings: WorkerSettings) -> Self {
        let slots = Semaphore::new(settings.count.max(1));
        Self { launch, settings, processes, slots, idle: Mutex::default() }
    }

    /// What the directory of a file tells.
    pub async fn outline(&self, path: &Path) -> Result<DocumentOutline, NotInDocument> {
        self.read(path, DocumentJob::Outline).await
    }

    /// A page, with the first rows of its tables and the beginnings of its texts.
    pub async fn page(&self, path: &Path, page_index: usize) -> Result<ReadPage, NotInDocument> {
        self.read(path, DocumentJob::Page { page_index, head_only: false }).await
    }

    /// The beginning of a page: no more of the file is read than that takes.
    pub async fn page_head(&self, path: &Path, page_index: usize) -> Result<ReadPage, NotInDocument> {
        self.read(path, DocumentJob::Page { page_index, head_only: true }).await
    }

    /// An element with all there is of it, and these rows if it is a table.
    pub async fn element(
        &self,
        path: &Path,
        page_index: usize,
        element_id: &str,
        rows: RowWindow,
    ) -> Result<ReadElement, NotInDocument> {
        let RowWindow { offset, limit } = rows;
        self.read(path, DocumentJob::Element { page_index, element_id: element_id.to_owned(), offset, limit }).await
    }

    /// The bytes of a picture, or of what else an element names.
    pub async fn blob(&self, path: &Path, place: &BlobPlace) -> Result<Vec<u8>, NotInDocument> {
        self.ask(path, DocumentJob::Blob { place: place.clone() }).await
    }

    /// Ends the workers that have nothing to do.
    pub fn close_idle(&self) {
        drop(std::mem::take(&mut *self.idle()));
    }

    async fn read<T: DeserializeOwned>(&self, path: &Path, job: DocumentJob) -> Result<T, NotInDocument> {
        let answer = self.ask(path, job).await?;
        serde_json::from_slice(&answer).map_err(|error| unreadable(format!("its reader gave a wrong answer: {error}")))
    }

    /// The payload of the answer.
    async fn ask(&self, path: &Path, job: DocumentJob) -> Result<Vec<u8>, NotInDocument> {
        let order = serde_json::to_vec(&JobOrder { path: path.to_owned(), job });
        let order = order.map_err(|_| unreadable("its path is not UTF-8: rename the file".to_owned()))?;
        let question = Frame::line(order).map_err(|error| unreadable(error.to_string()))?;
        let _slot = self.slots.acquire().await.map_err(|error| unreadable(error.to_string()))?;
        loop {
            let worker = match self.take_idle(path) {
                Some(worker) => worker,
                None => RunningWorker::start(&self.processes, &self.launch, self.settings.memory)
                    .await
                    .map_err(|error| unreadable(format!("no reader can be started: {error}")))?,
            };
            let was_fresh = worker.is_fresh();
            match worker.ask(path, question.clone(), self.settings.time).await {
                Ok((worker, answer)) => {
                    self.idle().push(worker);
                    return outcome(&answer);
                }
                Err(LostWorker::TooSlow) => {
                    let message = format!("reading it takes longer than {} s", self.settings.time.as_secs());
                    return Err(UnreadableFile::new(UnreadableCode::Timeout, message).into());
                }
                Err(LostWorker::Ended(problem)) if was_fresh => return Err(problem.into()),
                // What it read before may have been the reason.
                Err(LostWorker::Ended(_)) => {}
            }
        }
    }

    /// The worker that has the file open, or else the one that has waited longest if there may be no more of them.
    fn take_idle(&self, path: &Path) -> Option<RunningWorker> {
        let mut idle = self.idle();
        if let Some(place) = idle.iter().position(|worker| worker.has_open(path)) {
            return Some(idle.remove(place));
        }
        // All that hold a slot have a worker, except this caller.
        let busy = self.settings.count.saturating_sub(self.slots.available_permits() + 1);
        (!idle.is_empty() && idle.len() + busy >= self.settings.count).then(|| idle.remove(0))
    }

    fn idle(&self) -> MutexGuard<'_, Vec<RunningWorker>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn outcome(answer: &Frame) -> Result<Vec<u8>, NotInDocument> {
    let payload = answer.payload().map(|payload| payload.to_vec()).unwrap_or_default();
    if answer.text() == DONE {
        return Ok(payload);
    }
    let problem: Option<NotInDocument> = serde_json::from_slice(&payload).ok();
    Err(problem.unwrap_or_else(|| unreadable("its reader gave a wrong answer".to_owned())))
}

fn unreadable(message: String) -> NotInDocument {
    UnreadableFile::new(UnreadableCode::Unreadable, message).into()
}
