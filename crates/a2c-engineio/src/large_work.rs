//! Work on large messages, which must not keep the messages of others waiting.
//!
//! A message of some megabytes is unmasked, checked and routed in one piece, which takes tens of milliseconds. On a thread
//! of the runtime, every task behind it would wait that long, and with several such messages their sum. The runtime is
//! told, so that another thread goes on with the other tasks; the system divides the processor among them.
//!
//! Work of this kind makes copies: only so much of it is done at a time.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use tokio::runtime::{Handle, RuntimeFlavor};

/// From this size on a message is large, in bytes.
const LARGE: usize = 256 << 10;

/// The work on large messages of one engine.
#[derive(Debug)]
pub(crate) struct LargeWork {
    /// How many messages more may be worked on.
    free: Mutex<usize>,
    freed: Condvar,
}

impl Default for LargeWork {
    /// As much at a time as half of the processors can do: the others are for small messages.
    fn default() -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Self { free: Mutex::new((processors / 2).max(1)), freed: Condvar::new() }
    }
}

impl LargeWork {
    /// Does the work on a message of this size.
    pub(crate) fn run<T>(&self, size: usize, work: impl FnOnce() -> T) -> T {
        let has_other_threads =
            || Handle::try_current().is_ok_and(|runtime| runtime.runtime_flavor() == RuntimeFlavor::MultiThread);
        if size < LARGE || !has_other_threads() {
            return work();
        }
        tokio::task::block_in_place(|| {
            let _turn = self.turn();
            work()
        })
    }

    fn turn(&self) -> Turn<'_> {
        let free = self.freed.wait_while(self.free(), |free| *free == 0);
        *free.unwrap_or_else(PoisonError::into_inner) -= 1;
        Turn(self)
    }

    fn free(&self) -> MutexGuard<'_, usize> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A message that is worked on; the next one follows when this is dropped.
struct Turn<'a>(&'a LargeWork);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        *self.0.free() += 1;
        self.0.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn other_tasks_go_on_while_a_large_message_is_handled() {
        let (tell, told) = std::sync::mpsc::channel();
        let handled = tokio::spawn(async move {
            let other = tokio::spawn(async move { tell.send(()).unwrap() });
            let told = LargeWork::default().run(LARGE, || told.recv_timeout(Duration::from_secs(20)));
            other.await.unwrap();
            told
        });
        assert_eq!(handled.await.unwrap(), Ok(()));
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn only_so_many_are_worked_on_at_a_time() {
        let work = Arc::new(LargeWork { free: Mutex::new(1), freed: Condvar::new() });
        let (busy, done) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let tasks: Vec<_> = (0..50)
            .map(|_| {
                let (work, busy, done) = (work.clone(), busy.clone(), done.clone());
                tokio::spawn(async move {
                    work.run(LARGE, || {
                        assert_eq!(busy.fetch_add(1, Ordering::SeqCst), 0);
                        std::thread::yield_now();
                        busy.fetch_sub(1, Ordering::SeqCst);
                        done.fetch_add(1, Ordering::SeqCst);
                    });
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!((done.load(Ordering::SeqCst), *work.free()), (50, 1));
    }

    #[tokio::test]
    async fn a_runtime_with_one_thread_does_the_work_itself() {
        assert_eq!(LargeWork::default().run(LARGE, || 7), 7);
    }
}
