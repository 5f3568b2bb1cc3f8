//! The resolver of a client with a policy: names lead to no address that the client must not reach.

use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::lookup::{LookupError, lookup};
use crate::off_limits::OffLimits;
use crate::policy::AddressPolicy;

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
