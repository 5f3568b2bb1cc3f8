//! No event is lost in the instant after CONNECT, whatever the neighbours do.

use std::sync::atomic::{AtomicBool, Ordering};

use a2c_hub::Hub;
use futures_util::{StreamExt, stream};

use crate::support::{RawClient, hub, until_empty};

const CLIENTS: usize = 3_000;
const AT_ONCE: usize = 200;

/// Reads CONNECT and writes the join in the same breath; gives what comes back first.
async fn joins_at_once(hub: &Hub, n: usize) -> String {
    let mut client = RawClient::open(hub).await;
    client.send("40/smcp,").await;
    client.welcomed().await;
    let join = format!(r#"["server:join_office",{{"role":"computer","name":"{n}","office_id":"{n}"}}]"#);
    client.send(format!("42/smcp,0{join}")).await;
    client.text().await
}

/// Does not even wait for CONNECT to come back: both packets are on their way together.
async fn joins_before_the_welcome(hub: &Hub, n: usize) -> String {
    let mut client = RawClient::open(hub).await;
    let join = format!(r#"["server:join_office",{{"role":"computer","name":"{n}","office_id":"{n}"}}]"#);
    client.send_together(["40/smcp,".to_owned(), format!("42/smcp,0{join}")]).await;
    client.welcomed().await;
    client.text().await
}

/// Comes, misbehaves, goes; again and again until the test is over.
async fn hostile_neighbour(hub: &Hub, over: &AtomicBool) {
    for text in ["garbage", "40/smcp,{]", "42/smcp,[\"x\"]", "451-/smcp,[\"x\"]", "40/other,", "41", "2", ""]
        .into_iter()
        .cycle()
    {
        if over.load(Ordering::Relaxed) {
            return;
        }
        let mut client = RawClient::open(hub).await;
        client.send(text).await;
        client.vanish();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn thousands_of_immediate_joins_are_all_answered() {
    let hub = hub().await;
    let over = AtomicBool::new(false);
    let neighbours = stream::iter(0..4).for_each_concurrent(None, |_| hostile_neighbour(&hub, &over));
    let clients = async {
        let early = stream::iter(0..CLIENTS / 2).map(|n| joins_at_once(&hub, n)).buffer_unordered(AT_ONCE);
        let answered = early.all(async |answer| answer == "43/smcp,0[true,null]").await;
        assert!(answered, "a join after CONNECT was lost");
        let earlier = stream::iter(CLIENTS / 2..CLIENTS).map(|n| joins_before_the_welcome(&hub, n));
        let answered = earlier.buffer_unordered(AT_ONCE).all(async |answer| answer == "43/smcp,0[true,null]").await;
        assert!(answered, "a join right behind CONNECT was lost");
        over.store(true, Ordering::Relaxed);
    };
    tokio::join!(clients, neighbours);
    until_empty(&hub).await;
}
