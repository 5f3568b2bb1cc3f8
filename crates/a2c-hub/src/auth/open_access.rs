//! No authentication.

use super::{AuthRefusal, Authenticate, Claim, Grant};

/// Lets everybody in, for everything; for loopback only.
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
    fn everybody_is_let_in() {
        let grant = OpenAccess.authenticate(&claim(&Default::default(), "")).unwrap();
        assert_eq!(grant, Grant::open());
    }
}
