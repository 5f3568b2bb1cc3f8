//! The authentication of a running hub, which can be replaced.

use std::sync::{Arc, PoisonError, RwLock};

use super::{ApiKeyAuth, Authenticate};

/// Who may connect, and who may operate the hub, at this moment.
#[derive(Debug)]
pub(crate) struct CurrentAccess(RwLock<AccessRules>);

/// Who may connect, and who may operate the hub.
#[derive(Debug, Clone)]
pub(crate) struct AccessRules {
    pub(crate) clients: Arc<dyn Authenticate>,
    /// The keys of operators.
    pub(crate) operators: Option<ApiKeyAuth>,
}

impl CurrentAccess {
    pub(crate) fn new(rules: AccessRules) -> Arc<Self> {
        Arc::new(Self(RwLock::new(rules)))
    }

    pub(crate) fn clients(&self) -> Arc<dyn Authenticate> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clients.clone()
    }

    /// The keys of operators, and whether clients need no credential.
    pub(crate) fn operators(&self) -> (Option<ApiKeyAuth>, bool) {
        let rules = self.0.read().unwrap_or_else(PoisonError::into_inner);
        (rules.operators.clone(), rules.clients.is_open())
    }

    pub(crate) fn replace(&self, rules: AccessRules) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = rules;
    }
}
