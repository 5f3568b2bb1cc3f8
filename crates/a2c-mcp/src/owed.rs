//! Counts the answers to a server's requests that it has not read yet.
//!
//! Requests of ours wait for the server themselves; the answers to what it asks do not.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;

/// How many answers, and bytes of them, may wait for a server to read them before it is not listened to any more.
const ANSWERS_LIMIT: usize = 256;
const BYTES_LIMIT: usize = 1 << 20;

/// The answers that a server has asked for and has not read.
#[derive(Clone, Default)]
pub(super) struct UnreadAnswers(Arc<Sum>);

#[derive(Default)]
struct Sum {
    answers: AtomicUsize,
    bytes: AtomicUsize,
    less: Notify,
}

/// One of them, until it is written or dropped.
pub(super) struct UnreadAnswer {
    sum: Arc<Sum>,
    bytes: usize,
}

impl UnreadAnswers {
    pub(super) fn add(&self, bytes: usize) -> UnreadAnswer {
        self.0.answers.fetch_add(1, Ordering::Relaxed);
        self.0.bytes.fetch_add(bytes, Ordering::Relaxed);
        UnreadAnswer { sum: self.0.clone(), bytes }
    }

    pub(super) fn too_many(&self) -> bool {
        self.0.answers.load(Ordering::Relaxed) > ANSWERS_LIMIT || self.0.bytes.load(Ordering::Relaxed) > BYTES_LIMIT
    }

    /// Waits until they are not too many any more. Only one caller may wait.
    pub(super) async fn bearable(&self) {
        while self.too_many() {
            self.0.less.notified().await;
        }
    }
}

impl Drop for UnreadAnswer {
    fn drop(&mut self) {
        self.sum.answers.fetch_sub(1, Ordering::Relaxed);
        self.sum.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
        self.sum.less.notify_one();
    }
}
