//! Every connection takes a file descriptor: the hub takes as many as it may have.

/// Below this, a few thousand clients are too many.
#[cfg(unix)]
const FEW: u64 = 4096;

/// Raises the soft limit of open files to the hard one.
#[cfg(unix)]
pub(crate) fn raise() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let before = getrlimit(Resource::Nofile);
    let wanted = Rlimit { current: before.maximum, maximum: before.maximum };
    let limit = match setrlimit(Resource::Nofile, wanted) {
        Ok(()) => wanted.current,
        Err(error) => {
            tracing::debug!("cannot raise the limit of open files: {error}");
            before.current
        }
    };
    // No number means that there is no limit.
    tracing::debug!(before = before.current, now = limit, "limit of open files");
    if let Some(few) = limit.filter(|limit| *limit < FEW) {
        tracing::warn!(
            "only {few} files may be open, and each connection is one: raise the limit (ulimit -n, LimitNOFILE)"
        );
    }
}

/// There is no such limit here.
#[cfg(not(unix))]
pub(crate) fn raise() {}
