//! Looking up names, without the addresses that a policy does not allow.

use std::io;
use std::net::SocketAddr;

use crate::AddressPolicy;

/// Why a name leads nowhere.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LookupError {
    /// The resolver failed.
    #[error("the name cannot be looked up: {0}")]
    Resolver(#[from] io::Error),
    /// The policy allows none of the addresses behind the name.
    #[error("the name leads only to addresses that are off limits")]
    Refused,
}

/// The addresses behind a name that the policy allows; never an empty list.
pub async fn lookup(host: &str, policy: AddressPolicy) -> Result<Vec<SocketAddr>, LookupError> {
    let found = tokio::net::lookup_host((host, 0)).await?;
    let allowed: Vec<SocketAddr> = found.filter(|found| policy.allows(found.ip())).collect();
    if allowed.is_empty() { Err(LookupError::Refused) } else { Ok(allowed) }
}
