//! Work on large messages, which must not keep the messages of others waiting.
//!
//! A message of some megabytes is unmasked, checked and routed in one piece, which takes tens of milliseconds. On a thread
//! of the runtime, every task behind it would wait that long, and with several such messages their sum. The runtime is
//! told, so that another thread goes on with the other tasks; the system divides the processor among them.

use tokio::runtime::{Handle, RuntimeFlavor};

/// From this size on a message is large, in bytes.
const LARGE: usize = 256 << 10;

/// Does the work on a message of this size.
pub(crate) fn without_delaying_others<T>(size: usize, work: impl FnOnce() -> T) -> T {
    let has_other_threads =
        || Handle::try_current().is_ok_and(|runtime| runtime.runtime_flavor() == RuntimeFlavor::MultiThread);
    if size >= LARGE && has_other_threads() { tokio::task::block_in_place(work) } else { work() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn other_tasks_go_on_while_a_large_message_is_handled() {
        let (tell, told) = std::sync::mpsc::channel();
        let handled = tokio::spawn(async move {
            let other = tokio::spawn(async move { tell.send(()).unwrap() });
            let told = without_delaying_others(LARGE, || told.recv_timeout(std::time::Duration::from_secs(20)));
            other.await.unwrap();
            told
        });
        assert_eq!(handled.await.unwrap(), Ok(()));
    }

    #[tokio::test]
    async fn a_runtime_with_one_thread_does_the_work_itself() {
        assert_eq!(without_delaying_others(LARGE, || 7), 7);
    }
}
