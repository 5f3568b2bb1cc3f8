//! What a credential permits: roles, offices, names, and for how long.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use a2c_hub::Hub;
use a2c_hub::auth::{AuthRefusal, Authenticate, Claim, Grant};
use a2c_protocol::Role;
use a2c_socketio::SocketConnectError;
use serde_json::json;

use crate::support::{Member, hub_with, until_empty, within};

/// Gives every client the same grant.
struct OneGrant(Grant);

impl Authenticate for OneGrant {
    fn authenticate(&self, _: &Claim<'_>) -> Result<Grant, AuthRefusal> {
        Ok(self.0.clone())
    }

    fn kind(&self) -> &'static str {
        "test"
    }
}

async fn hub_for(grant: Grant) -> Hub {
    hub_with(|config| config.auth = Arc::new(OneGrant(grant))).await
}

#[tokio::test]
async fn a_role_that_is_not_permitted_is_refused_at_connect_and_at_join() {
    let hub = hub_for(Grant::new("ci").only_roles([Role::Computer])).await;
    let claimed = Member::connect_with(Member::options(&hub).auth(json!({"role": "agent"}))).await;
    match claimed.err() {
        Some(SocketConnectError::Refused(refusal)) => {
            assert_eq!(refusal.message().unwrap(), "403 this credential does not permit the role agent");
        }
        other => panic!("{other:?}"),
    }
    let undecided = Member::connect(&hub).await;
    assert!(undecided.refused_join("agent", "a", "o").await.contains("the role agent"));
    assert_eq!(undecided.join("computer", "c", "o").await, (true, None));
}

#[tokio::test]
async fn offices_and_names_are_permitted_by_pattern() {
    let hub = hub_for(Grant::new("ci").only_offices(["ci-*"]).only_names(["runner-?"])).await;
    let member = Member::connect(&hub).await;
    assert!(member.refused_join("computer", "runner-1", "board").await.contains("office 'board'"));
    assert!(member.refused_join("computer", "desk", "ci-7").await.contains("the name 'desk'"));
    assert_eq!(member.join("computer", "runner-1", "ci-7").await, (true, None));
    // A move is a join: the old seat stays.
    assert!(member.refused_join("computer", "runner-1", "board").await.contains("office 'board'"));
    assert_eq!(member.roll("ci-7").await, ["computer runner-1"]);
}

#[tokio::test]
async fn a_connection_does_not_outlive_its_grant() {
    let hub = hub_for(Grant::new("guest").until(SystemTime::now() + Duration::from_millis(1500))).await;
    let mut member = Member::computer(&hub, "c", "o").await;
    within("the end of the pass", member.disconnected()).await;
    until_empty(&hub).await;
}
