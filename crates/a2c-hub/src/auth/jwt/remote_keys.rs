//! The keys that an issuer publishes at a URL, which follow the issuer while the hub runs.
//!
//! One task fetches: when the present keys have reached their age, and at once when a token names a key that is not among
//! them. Any number of strangers can send such tokens, so these fetches have a pause between them, and all tokens that
//! come meanwhile wait for the same fetch or for none. A failed fetch changes nothing.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};

use tokio::sync::{Notify, watch};
use tokio_util::task::AbortOnDropHandle;

use super::key::JwtKey;
use super::key_fetch::{FetchedKeySet, KeyFetchError, KeyFetcher};
use crate::auth::Renewal;

/// How many clients may wait for a fetch; the hub refuses more of them at once.
const MAX_WAITING: usize = 1024;

/// Longer than it takes to judge a token.
const JUST_NOW: Duration = Duration::from_secs(1);

/// The shortest time between two log entries about failed fetches.
const LOG_INTERVAL: Duration = Duration::from_secs(60);

/// Where the keys of an issuer are, and how often the hub asks for them.
#[derive(Debug, Clone)]
pub struct RemoteKeysConfig {
    /// The URL of a JSON Web Key Set: https, or http on this machine.
    pub url: String,
    /// How long one fetch may take.
    pub timeout: Duration,
    /// The age at which keys are fetched again, where the server names none.
    pub default_age: Duration,
    /// The bounds on the age that the server names (`Cache-Control: max-age`). The hub repeats a failed fetch after the
    /// lower one.
    pub age_bounds: [Duration; 2],
    /// The shortest time between two fetches that tokens with unknown keys cause.
    pub unknown_key_pause: Duration,
}

impl RemoteKeysConfig {
    /// The defaults for a URL: 10 seconds for a fetch, an hour between two, or what the server says from a minute to a
    /// day, and half a minute between fetches because of unknown keys.
    pub fn at(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            timeout: Duration::from_secs(10),
            default_age: Duration::from_secs(3600),
            age_bounds: [Duration::from_secs(60), Duration::from_secs(24 * 3600)],
            unknown_key_pause: Duration::from_secs(30),
        }
    }

    /// How long fetched keys are used.
    fn age(&self, named: Option<Duration>) -> Duration {
        let [least, most] = self.age_bounds;
        named.unwrap_or(self.default_age).min(most).max(least)
    }
}

/// The keys that an issuer publishes at a URL. Cheap to clone; all clones share the keys. Fetching ends with the last of
/// them.
#[derive(Clone)]
pub struct RemoteKeys {
    state: Arc<RemoteState>,
    _task: Arc<AbortOnDropHandle<()>>,
}

struct RemoteState {
    config: RemoteKeysConfig,
    fetcher: KeyFetcher,
    keys: RwLock<Arc<[JwtKey]>>,
    pace: Mutex<FetchPace>,
    /// Tells the task that a fetch is wanted now.
    wanted: Notify,
    /// Changes after every fetch, also a failed one.
    fetched: watch::Sender<()>,
}

impl RemoteKeys {
    /// Fetches the keys, and again from then on as long as the result exists. Needs a Tokio runtime.
    ///
    /// # Errors
    /// When the URL is unusable, nothing can be fetched from it, or nothing that the hub can use.
    pub async fn fetch(config: RemoteKeysConfig) -> Result<Self, KeyFetchError> {
        let fetcher = KeyFetcher::new(&config.url, config.timeout)?;
        let first = fetcher.fetch().await?;
        let age = config.age(first.max_age);
        let state = Arc::new(RemoteState {
            pace: Mutex::new(FetchPace::new(config.unknown_key_pause)),
            config,
            fetcher,
            keys: RwLock::new(Arc::default()),
            wanted: Notify::new(),
            fetched: watch::Sender::new(()),
        });
        state.replace(first);
        let task = tokio::spawn(keep_fresh(state.clone(), age));
        Ok(Self { state, _task: Arc::new(AbortOnDropHandle::new(task)) })
    }

    /// The present keys.
    pub(super) fn keys(&self) -> Arc<[JwtKey]> {
        self.state.keys.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Asks for keys that are not among the present ones.
    pub(super) fn renewal(&self) -> Renewal {
        if self.state.fetched.receiver_count() >= MAX_WAITING {
            return Renewal::Later(self.state.config.unknown_key_pause);
        }
        // Before asking: the end of the fetch must not be missed.
        let mut fetched = self.state.fetched.subscribe();
        match self.state.pace().ask(Instant::now()) {
            FetchRequest::TooSoon(wait) => return Renewal::Later(wait),
            FetchRequest::Begin => self.state.wanted.notify_one(),
            FetchRequest::Underway => {}
            FetchRequest::JustEnded => return Renewal::Soon(Box::pin(std::future::ready(()))),
        }
        // An error: nobody fetches any more.
        Renewal::Soon(Box::pin(async move { drop(fetched.changed().await) }))
    }
}

impl fmt::Debug for RemoteKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RemoteKeys({}, {:?})", self.state.fetcher.place(), self.keys())
    }
}

impl RemoteState {
    fn pace(&self) -> MutexGuard<'_, FetchPace> {
        self.pace.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the keys of a fetch, and tells those that are new.
    fn replace(&self, FetchedKeySet { set, .. }: FetchedKeySet) {
        let (url, overview) = (self.fetcher.place(), set.overview());
        set.skipped().iter().for_each(|skipped| tracing::debug!(url, "{skipped}"));
        let mut keys = self.keys.write().unwrap_or_else(PoisonError::into_inner);
        let now: Arc<[JwtKey]> = set.into_keys().into();
        let names = |keys: &[JwtKey]| keys.iter().map(|key| key.id().map(str::to_owned)).collect::<Vec<_>>();
        if names(&keys) == names(&now) {
            tracing::debug!(url, "the keys of the issuer are the same as before");
        } else {
            tracing::info!(url, keys = %overview, "the keys of the issuer");
        }
        *keys = now;
    }
}

/// Fetches keys whenever they are due or wanted.
async fn keep_fresh(state: Arc<RemoteState>, mut age: Duration) {
    let mut failures = FailureLog::default();
    loop {
        tokio::select! {
            () = tokio::time::sleep(age) => {}
            () = state.wanted.notified() => {}
        }
        state.pace().is_fetching = true;
        let url = state.fetcher.place();
        age = match state.fetcher.fetch().await {
            Ok(fetched) => {
                let age = state.config.age(fetched.max_age);
                state.replace(fetched);
                if failures.end() {
                    tracing::info!(url, "the keys of the issuer can be fetched again");
                }
                age
            }
            Err(error) => {
                if failures.should_log(Instant::now()) {
                    tracing::warn!(url, %error, "the keys of the issuer cannot be fetched; the old ones stay");
                }
                state.config.age_bounds[0]
            }
        };
        state.pace().end(Instant::now());
        state.fetched.send_replace(());
    }
}

/// When tokens with unknown keys cause a fetch. Pure.
#[derive(Debug)]
struct FetchPace {
    pause: Duration,
    is_fetching: bool,
    /// When an unknown key last caused a fetch.
    last: Option<Instant>,
    /// When a fetch last ended.
    ended: Option<Instant>,
}

/// What becomes of the wish for a fetch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FetchRequest {
    /// A fetch has to begin.
    Begin,
    /// A fetch is under way.
    Underway,
    /// A fetch has just ended: a token may have been judged with the keys before it.
    JustEnded,
    /// The last one was a moment ago; the next one may begin after this time.
    TooSoon(Duration),
}

impl FetchPace {
    fn new(pause: Duration) -> Self {
        Self { pause, is_fetching: false, last: None, ended: None }
    }

    fn ask(&mut self, now: Instant) -> FetchRequest {
        if self.is_fetching {
            return FetchRequest::Underway;
        }
        let is_within =
            |moment: Option<Instant>, time| moment.is_some_and(|moment| now.saturating_duration_since(moment) < time);
        if is_within(self.ended, JUST_NOW) {
            return FetchRequest::JustEnded;
        }
        let wait = self.last.and_then(|last| (last + self.pause).checked_duration_since(now));
        if let Some(wait) = wait.filter(|wait| !wait.is_zero()) {
            return FetchRequest::TooSoon(wait);
        }
        self.last = Some(now);
        self.is_fetching = true;
        FetchRequest::Begin
    }

    fn end(&mut self, now: Instant) {
        self.is_fetching = false;
        self.ended = Some(now);
    }
}

/// Which failures are logged: the first one, and one a minute while they go on.
#[derive(Debug, Default)]
struct FailureLog {
    logged: Option<Instant>,
}

impl FailureLog {
    fn should_log(&mut self, now: Instant) -> bool {
        let should_log = self.logged.is_none_or(|at| now.saturating_duration_since(at) >= LOG_INTERVAL);
        if should_log {
            self.logged = Some(now);
        }
        should_log
    }

    /// Whether there were failures before this success.
    fn end(&mut self) -> bool {
        self.logged.take().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn unknown_keys_cause_a_fetch_and_then_none_for_a_while() {
        let (mut pace, start) = (FetchPace::new(30 * SECOND), Instant::now());
        assert_eq!(pace.ask(start), FetchRequest::Begin);
        for _ in 0..1000 {
            assert_eq!(pace.ask(start + SECOND), FetchRequest::Underway);
        }
        pace.end(start + SECOND);
        assert_eq!(pace.ask(start + SECOND), FetchRequest::JustEnded);
        for after in [2, 10, 29] {
            assert_eq!(pace.ask(start + after * SECOND), FetchRequest::TooSoon((30 - after) * SECOND));
        }
        assert_eq!(pace.ask(start + 30 * SECOND), FetchRequest::Begin);
        // A fetch that is due anyway serves those who wait, and takes nothing from the next ones.
        pace.is_fetching = true;
        assert_eq!(pace.ask(start + 61 * SECOND), FetchRequest::Underway);
        pace.end(start + 61 * SECOND);
        assert_eq!(pace.ask(start + 62 * SECOND), FetchRequest::Begin);
    }

    #[test]
    fn the_age_that_a_server_names_has_bounds() {
        let config = RemoteKeysConfig::at("https://login.example.org/jwks");
        for (named, expected) in
            [(None, 3600), (Some(0), 60), (Some(59), 60), (Some(600), 600), (Some(u64::MAX), 86_400)]
        {
            assert_eq!(config.age(named.map(Duration::from_secs)), Duration::from_secs(expected), "{named:?}");
        }
    }

    #[test]
    fn failures_are_logged_once_a_minute() {
        let (mut log, start) = (FailureLog::default(), Instant::now());
        assert!(!log.end());
        assert!(log.should_log(start) && !log.should_log(start + 30 * SECOND) && log.should_log(start + 60 * SECOND));
        assert!(log.end() && !log.end());
        assert!(log.should_log(start + 61 * SECOND));
    }
}
