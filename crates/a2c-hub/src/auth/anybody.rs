//! No authentication.

use super::{Authenticate, Claim, Pass, Refused};

/// Lets everybody in, for everything; for loopback only.
#[derive(Debug, Clone, Copy, Default)]
pub struct Anybody;

impl Authenticate for Anybody {
    fn authenticate(&self, _: &Claim<'_>) -> Result<Pass, Refused> {
        Ok(Pass::anybody())
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
        let pass = Anybody.authenticate(&claim(&Default::default(), "")).unwrap();
        assert_eq!(pass, Pass::anybody());
    }
}
