//! Access without authentication.

use super::{AuthRefusal, Authenticate, Claim, Grant};

/// Admits every client without a credential and grants everything; only for a hub on a loopback address.
#[derive(Debug, Clone, Copy, Default)]
pub struct OpenAccess;

impl Authenticate for OpenAccess {
    fn authenticate(&self, _: &Claim<'_>) -> Result<Grant, AuthRefusal> {
        Ok(Grant::open())
    }

    fn kind(&self) -> &'static str {
        "none"
    }

    fn is_open(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::claim;
    use super::*;

    #[test]
    fn open_access_grants_everything() {
        let grant = OpenAccess.authenticate(&claim(&Default::default(), "")).unwrap();
        assert_eq!(grant, Grant::open());
    }
}
