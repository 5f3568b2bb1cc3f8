//! From polling to a websocket, and the ways in which that fails.

use std::time::Duration;

use a2c_engineio::{CloseReason, Config};

use crate::support::{PATIENCE, Polling, RawWebsocket, Server, config, within};

/// A websocket that wants to take over, before its first word.
async fn half_open(server: &Server, sid: &str) -> RawWebsocket {
    RawWebsocket::upgrade(server, &format!("&sid={sid}")).await
}

#[tokio::test]
async fn what_waits_for_a_poll_goes_out_by_websocket() {
    let server = Server::start().await;
    let mut polling = Polling::open(&server).await;
    polling.echoes("admitted").await;
    let mut wire = half_open(&server, &polling.sid).await;
    wire.send("2probe").await;
    assert_eq!(wire.text().await, "3probe");
    // Polls are sent home, but still bring what there is.
    assert_eq!(polling.poll().await, (200, "6".into()));
    assert_eq!(polling.post("4count 20").await, 200);
    assert_eq!(polling.packet().await, "40");
    wire.send_together(["5".into(), "4echo last".into()]).await;
    let mut rest = Vec::new();
    while rest.last().is_none_or(|last| last != "4last") {
        rest.push(wire.text().await);
    }
    let expected: Vec<_> = (16..20).map(|n| format!("4{n}")).chain(["4last".into()]).collect();
    assert_eq!(rest, expected, "the first poll brought sixteen");
    // The old way is closed.
    assert_eq!(polling.post("4echo x").await, 400);
    wire.echoes("goes on").await;
    wire.vanish();
    assert_eq!(server.until_empty().await, [CloseReason::Broken]);
}

/// A proxy may let the handshake through and nothing after it: the session goes on by polling, undisturbed.
#[tokio::test]
async fn a_websocket_that_says_nothing_does_not_disturb_polling() {
    let server = Server::start().await;
    let mut polling = Polling::open(&server).await;
    polling.echoes("admitted").await;
    let silent = half_open(&server, &polling.sid).await;
    assert_eq!(polling.post("4stream 3").await, 200);
    for n in 0..3 {
        // Straight from the poll: not sent home in between.
        if let (200, payload) = polling.poll().await
            && payload.split('\x1e').any(|packet| packet == "4push 2")
        {
            assert!(n < 3, "{payload}");
            break;
        }
        assert!(n < 2, "sent home");
    }
    drop(silent);
    polling.echoes("goes on").await;
}

/// While a websocket takes over, polls are sent home, but not in a hurry: a client whose websocket is stuck would do
/// nothing but poll.
#[tokio::test]
async fn polls_during_a_probe_are_not_a_race() {
    let server = Server::start().await;
    let mut polling = Polling::open(&server).await;
    polling.echoes("admitted").await;
    let mut stuck = half_open(&server, &polling.sid).await;
    stuck.send("2probe").await;
    assert_eq!(stuck.text().await, "3probe");
    let mut polls = 0;
    let until = tokio::time::Instant::now() + Duration::from_secs(1);
    while tokio::time::Instant::now() < until {
        assert_eq!(polling.poll().await, (200, "6".into()));
        polls += 1;
    }
    assert!(polls <= 100, "{polls} polls in a second");
    drop(stuck);
    polling.echoes("goes on").await;
}

#[tokio::test]
async fn probes_that_fail_leave_the_session_as_it_was() {
    let server = Server::start().await;
    let mut polling = Polling::open(&server).await;
    polling.echoes("admitted").await;
    for words in
        [&["4echo x"][..], &["5"], &["2"], &["2probe", "4echo x"], &["2probe", "2probe"], &["2probe", "1"], &["x"]]
    {
        let mut failed = half_open(&server, &polling.sid).await;
        failed.send_together(words.iter().map(|word| (*word).to_owned())).await;
        // The end of the websocket, which is no end of the session.
        while failed.try_text().await.is_some() {}
        polling.echoes("goes on").await;
    }
    // Only one may try at a time; when it is gone, another one may.
    let mut first = half_open(&server, &polling.sid).await;
    first.send("2probe").await;
    assert_eq!(first.text().await, "3probe");
    let mut second = half_open(&server, &polling.sid).await;
    second.send("2probe").await;
    assert_eq!(second.try_text().await, None);
    first.vanish();
    let mut third = within("the first to be forgotten", async {
        loop {
            let mut third = half_open(&server, &polling.sid).await;
            third.send("2probe").await;
            if third.try_text().await.as_deref() == Some("3probe") {
                return third;
            }
        }
    })
    .await;
    third.send("5").await;
    third.echoes("took over").await;
}

#[tokio::test]
async fn a_probe_for_an_unknown_session_is_refused() {
    let server = Server::start().await;
    let url = format!("ws://{}/?EIO=4&transport=websocket&sid={}", server.address, "0".repeat(32));
    let refused = tokio_tungstenite::client_async(url, server.connect().await).await;
    assert!(refused.is_err());
    assert_eq!(server.engine.sessions(), 0);
}

/// A session that ends while a websocket is half-way in: the websocket ends too, soon, and the handler is called once.
#[tokio::test]
async fn a_session_that_ends_during_a_probe() {
    let server = Server::start().await;
    for (n, probe) in [false, true].into_iter().enumerate() {
        let mut polling = Polling::open(&server).await;
        let mut half = half_open(&server, &polling.sid).await;
        if probe {
            half.send("2probe").await;
            assert_eq!(half.text().await, "3probe");
        }
        assert_eq!(polling.post("1").await, 200);
        assert_eq!(half.try_text().await, None);
        assert_eq!(server.closed(n + 1).await[n], CloseReason::Left);
    }
    // And the engine can be closed without waiting for it.
    let polling = Polling::open(&server).await;
    let _half = half_open(&server, &polling.sid).await;
    within("the engine to close", server.engine.close()).await;
    server.until_empty().await;
}

/// The ping that was due on polling comes on the websocket, at its time.
#[tokio::test]
async fn the_heartbeat_goes_on_over_an_upgrade() {
    for (ping_interval, is_asked) in [(10 * PATIENCE, false), (Duration::from_secs(1), true)] {
        let server = Server::with(Config { ping_interval, ..config() }).await;
        let mut polling = Polling::open(&server).await;
        polling.echoes("admitted").await;
        let mut wire = half_open(&server, &polling.sid).await;
        wire.send("2probe").await;
        assert_eq!(wire.text().await, "3probe");
        wire.send("5").await;
        if is_asked {
            assert_eq!(wire.next().await.unwrap().to_text().unwrap(), "2");
            wire.send("3").await;
        }
        wire.send("4echo goes on").await;
        assert_eq!(wire.next().await.unwrap().to_text().unwrap(), "4goes on");
    }
}
