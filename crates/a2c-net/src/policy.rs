//! Which kinds of addresses a caller allows.

use std::fmt;
use std::net::IpAddr;

use crate::AddressKind;

/// A set of kinds of addresses that may be connected to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct AddressPolicy(u16);

impl AddressPolicy {
    /// Nothing.
    pub const NONE: Self = Self(0);

    /// The Internet at large.
    pub const PUBLIC: Self = Self::NONE.and(AddressKind::Public);

    /// The Internet and private networks.
    pub const PRIVATE_NETWORKS: Self = Self::PUBLIC
        .and(AddressKind::Private)
        .and(AddressKind::UniqueLocal)
        .and(AddressKind::Shared)
        .and(AddressKind::Benchmarking);

    /// The Internet, private networks and this machine.
    pub const THIS_MACHINE: Self = Self::PRIVATE_NETWORKS.and(AddressKind::Loopback);

    /// Every address. For hosts that the owner chose, not for those that others name.
    pub const ANYWHERE: Self = Self(u16::MAX);

    /// Allows one more kind.
    pub const fn and(self, kind: AddressKind) -> Self {
        Self(self.0 | 1 << kind as u16)
    }

    /// Whether a kind is allowed.
    pub const fn allows_kind(self, kind: AddressKind) -> bool {
        self.0 & (1 << kind as u16) != 0
    }

    /// Whether an address is allowed.
    pub fn allows(self, address: IpAddr) -> bool {
        self.allows_kind(AddressKind::of(address))
    }

    /// The narrowest of [`PUBLIC`](Self::PUBLIC), [`PRIVATE_NETWORKS`](Self::PRIVATE_NETWORKS) and
    /// [`THIS_MACHINE`](Self::THIS_MACHINE) that holds an address; none for an address that no policy but
    /// [`ANYWHERE`](Self::ANYWHERE) holds.
    pub fn around(address: IpAddr) -> Option<Self> {
        let kind = AddressKind::of(address);
        [Self::PUBLIC, Self::PRIVATE_NETWORKS, Self::THIS_MACHINE].into_iter().find(|policy| policy.allows_kind(kind))
    }

    /// What either policy allows.
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl fmt::Debug for AddressPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kinds = AddressKind::ALL.into_iter().filter(|kind| self.allows_kind(*kind));
        f.debug_set().entries(kinds).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_allows_the_kinds_that_it_names() {
        let policy = AddressPolicy::PUBLIC.and(AddressKind::Loopback);
        for kind in AddressKind::ALL {
            assert!(!AddressPolicy::NONE.allows_kind(kind), "{kind}");
            assert!(AddressPolicy::ANYWHERE.allows_kind(kind), "{kind}");
            let named = matches!(kind, AddressKind::Public | AddressKind::Loopback);
            assert_eq!(policy.allows_kind(kind), named, "{kind}");
        }
        assert_eq!(format!("{policy:?}"), "{Public, Loopback}");
    }

    #[test]
    fn policies_around_an_address_are_no_wider_than_needed() {
        for (address, expected) in [
            ("93.184.216.34", Some(AddressPolicy::PUBLIC)),
            ("10.1.2.3", Some(AddressPolicy::PRIVATE_NETWORKS)),
            ("fd00::1", Some(AddressPolicy::PRIVATE_NETWORKS)),
            ("198.18.0.1", Some(AddressPolicy::PRIVATE_NETWORKS)),
            ("::1", Some(AddressPolicy::THIS_MACHINE)),
            ("::ffff:127.0.0.1", Some(AddressPolicy::THIS_MACHINE)),
            ("169.254.169.254", None),
            ("fd00:ec2::254", None),
            ("0.0.0.0", None),
        ] {
            assert_eq!(AddressPolicy::around(address.parse().unwrap()), expected, "{address}");
        }
    }
}
