//! Looking up names, without the addresses that a policy does not allow.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::{AddressPolicy, OffLimits};

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

/// The resolver of a client with a policy. The client connects to what was judged here: there is no second look-up
/// between the judgement and the connection.
pub(crate) struct PolicyResolver {
    pub(crate) policy: AddressPolicy,
    pub(crate) off_limits: Option<Arc<OffLimits>>,
}

impl Resolve for PolicyResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let (policy, off_limits) = (self.policy, self.off_limits.clone());
        Box::pin(async move {
            let name = name.as_str();
            let mut found = lookup(name, policy).await?;
            if let Some(off_limits) = off_limits {
                found.retain(|found| !off_limits.is_name_refused(name, found.ip()));
            }
            if found.is_empty() {
                return Err(LookupError::Refused.into());
            }
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}
