//! One listener that a client for foreign URLs must not reach, whatever its policy allows.
//!
//! A program that serves others from this machine is reachable under many addresses: each of its own, and each name that
//! leads to one of them. So a listener on this machine is its port on every address of this machine. A listener elsewhere
//! is its name and its addresses; another name of the same address may be another site.

use std::collections::HashSet;
use std::net::{IpAddr, UdpSocket};
use std::sync::{Mutex, PoisonError};

use url::{Host, Url};

use crate::judge::{UrlRefusal, is_this_machine, literal_address};
use crate::{AddressKind, AddressPolicy, lookup};

/// The number of names that are remembered: they come from others.
const MAX_NAMES: usize = 1000;

/// A listener that is off limits.
#[derive(Debug)]
pub struct OffLimits {
    /// Its host, where that is a name.
    name: Option<String>,
    addresses: Vec<IpAddr>,
    port: Option<u16>,
    is_here: bool,
    /// Names of URLs with this port. The resolver of a client learns the name alone, and has to know which ones to judge.
    names: Mutex<HashSet<String>>,
}

impl OffLimits {
    /// The listener behind a URL. A name is looked up; one that leads nowhere at the moment is only compared.
    pub async fn listener_of(url: &Url) -> Self {
        let name = match url.host() {
            Some(Host::Domain(name)) => Some(plain_name(name)),
            _ => None,
        };
        let addresses: Vec<IpAddr> = match (&name, literal_address(url)) {
            (Some(name), _) => {
                let found = lookup(name, AddressPolicy::ANYWHERE).await.unwrap_or_default();
                found.iter().map(|found| found.ip().to_canonical()).collect()
            }
            (None, address) => address.iter().map(IpAddr::to_canonical).collect(),
        };
        let is_here = is_this_machine(url) || addresses.iter().copied().any(is_own);
        Self { name, addresses, port: url.port_or_known_default(), is_here, names: Mutex::default() }
    }

    /// Whether a URL shows by itself that it leads there. A name that does not is remembered for [`Self::is_name_refused`].
    pub(crate) fn judge(&self, url: &Url) -> Result<(), UrlRefusal> {
        if url.port_or_known_default() != self.port {
            return Ok(());
        }
        let leads_there = match (url.host(), literal_address(url)) {
            (Some(Host::Domain(name)), _) => {
                let name = plain_name(name);
                Some(&name) == self.name.as_ref() || (self.is_here && (name == "localhost" || !self.remember(name)))
            }
            (_, Some(address)) => self.addresses.contains(&address.to_canonical()) || self.is_refused(address),
            _ => false,
        };
        if leads_there { Err(UrlRefusal::OffLimits) } else { Ok(()) }
    }

    /// Whether an address behind a name is not to be connected to, because a URL has this name and the port.
    pub(crate) fn is_name_refused(&self, name: &str, address: IpAddr) -> bool {
        let is_judged = self.names.lock().unwrap_or_else(PoisonError::into_inner).contains(&plain_name(name));
        is_judged && self.is_refused(address)
    }

    fn is_refused(&self, address: IpAddr) -> bool {
        self.is_here && is_own(address)
    }

    /// `false` where no more names can be remembered.
    fn remember(&self, name: String) -> bool {
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        names.contains(&name) || (names.len() < MAX_NAMES && names.insert(name))
    }
}

/// A name as it is compared.
fn plain_name(name: &str) -> String {
    name.trim_end_matches('.').to_ascii_lowercase()
}

/// Whether an address is one of this machine. A socket can be bound to no other; nothing is sent.
fn is_own(address: IpAddr) -> bool {
    let address = address.to_canonical();
    AddressKind::of(address) == AddressKind::Loopback || UdpSocket::bind((address, 0)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn refused(listener: &str, url: &str) -> bool {
        let off_limits = OffLimits::listener_of(&listener.parse().unwrap()).await;
        off_limits.judge(&url.parse().unwrap()).is_err()
    }

    #[tokio::test]
    async fn a_listener_on_this_machine_is_its_port_on_every_own_address() {
        for listener in ["http://127.0.0.1:7420", "http://localhost:7420", "ws://[::1]:7420"] {
            for url in [
                "http://127.0.0.1:7420/metrics",
                "http://localhost:7420/",
                "http://LOCALHOST.:7420/",
                "http://127.9.9.9:7420/",
                "http://[::1]:7420/",
                "http://[::ffff:127.0.0.1]:7420/",
                "https://2130706433:7420/",
            ] {
                assert!(refused(listener, url).await, "{listener} {url}");
            }
            for url in
                ["http://127.0.0.1:7421/", "http://localhost/", "http://198.51.100.1:7420/", "http://other.test:7420/"]
            {
                assert!(!refused(listener, url).await, "{listener} {url}");
            }
        }
    }

    #[tokio::test]
    async fn a_listener_elsewhere_is_its_name_or_address() {
        for (listener, url, expected) in [
            ("https://hub.invalid", "https://hub.invalid/d", true),
            ("wss://HUB.invalid.", "https://hub.invalid:443/d", true),
            ("https://hub.invalid", "http://hub.invalid/d", false),
            ("https://hub.invalid", "https://docs.invalid/d", false),
            ("http://198.51.100.1:8080", "http://198.51.100.1:8080/d", true),
            ("http://198.51.100.1:8080", "http://[::ffff:198.51.100.1]:8080/d", true),
            ("http://198.51.100.1:8080", "http://198.51.100.2:8080/d", false),
            ("http://198.51.100.1:8080", "http://127.0.0.1:8080/d", false),
        ] {
            assert_eq!(refused(listener, url).await, expected, "{listener} {url}");
        }
    }

    #[tokio::test]
    async fn a_name_with_the_port_leads_to_no_own_address() {
        let off_limits = OffLimits::listener_of(&"http://127.0.0.1:7420".parse().unwrap()).await;
        let (own, other) = ("127.0.0.1".parse().unwrap(), "198.51.100.1".parse().unwrap());
        assert!(!off_limits.is_name_refused("rebound.test", own));
        off_limits.judge(&"http://rebound.test:7420/".parse().unwrap()).unwrap();
        assert!(off_limits.is_name_refused("Rebound.test", own) && !off_limits.is_name_refused("rebound.test", other));
        // Names come from others: their number is bounded, and one too many is refused.
        let names = (0..2 * MAX_NAMES).map(|n| format!("http://n{n}.test:7420/").parse().unwrap());
        assert_eq!(names.filter(|url| off_limits.judge(url).is_ok()).count(), MAX_NAMES - 1);
    }
}
