//! Many sockets that send to each other from all threads, some of which go away in the middle of it.

use std::collections::HashMap;
use std::sync::Arc;

use futures_util::stream::SplitStream;
use futures_util::{SinkExt, StreamExt};
use tokio::net::TcpStream;
use tokio::sync::{Barrier, Notify};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;

use crate::support::{Server, within};

const CROWD: usize = 32;
const MESSAGES: usize = 300;

/// Reads until it is told to stop; who said how much. Whatever one says to another comes in order and without gaps.
async fn listen(mut stream: SplitStream<WebSocketStream<TcpStream>>, said: Arc<Notify>) -> HashMap<usize, usize> {
    let mut heard = HashMap::new();
    while let Some(Ok(Message::Text(text))) = stream.next().await {
        if text == "4stop" {
            return heard;
        }
        if text == "4said everything" {
            said.notify_one();
        }
        let Some(rest) = text.strip_prefix("4from ") else { continue };
        let mut words = rest.split(' ');
        let mut number = || words.next().unwrap().parse::<usize>().unwrap();
        let (from, n) = (number(), number());
        let due = heard.entry(from).or_insert(0);
        assert_eq!(n, *due, "from {from}");
        *due += 1;
    }
    panic!("the engine hung up");
}

/// One of the crowd: when all are there, sends to all others, with payloads of all sizes; leaves in the middle where it is
/// told to.
async fn member(
    server: Arc<Server>,
    me: usize,
    leaves: bool,
    meetings: [Arc<Barrier>; 2],
) -> Option<HashMap<usize, usize>> {
    let url = format!("ws://{}/?EIO=4&transport=websocket", server.address);
    let (socket, _) = tokio_tungstenite::client_async(url, server.connect().await).await.unwrap();
    let (mut sink, mut stream) = socket.split();
    sink.send(Message::text(format!("4name {me}"))).await.unwrap();
    while stream.next().await.unwrap().unwrap() != Message::text("4named") {}
    let said = Arc::new(Notify::new());
    let listening = tokio::spawn(listen(stream, said.clone()));
    let [begin, end] = meetings;
    begin.wait().await;
    let mut random = fastrand::Rng::with_seed(me as u64);
    for n in 0..MESSAGES {
        if leaves && n == MESSAGES / 2 {
            listening.abort();
            let _ = listening.await;
            return None;
        }
        let size = if random.u8(..) < 8 { random.usize(..20_000) } else { random.usize(..200) };
        let filling = "x".repeat(size);
        for whom in 0..CROWD {
            sink.feed(Message::text(format!("4to {whom} {n} {filling}"))).await.unwrap();
        }
        if random.bool() {
            sink.flush().await.unwrap();
        }
        if random.u8(..) < 40 {
            tokio::task::yield_now().await;
        }
    }
    // Everything this one said is handled when it hears this; when all have heard theirs, everything is.
    sink.send(Message::text("4echo said everything")).await.unwrap();
    said.notified().await;
    end.wait().await;
    sink.send(Message::text("4echo stop")).await.unwrap();
    Some(listening.await.unwrap())
}

async fn crowd(leaves: impl Fn(usize) -> bool) {
    let server = Arc::new(Server::start().await);
    let staying = (0..CROWD).filter(|n| !leaves(*n)).count();
    let meetings = [CROWD, staying].map(|n| Arc::new(Barrier::new(n)));
    let members: Vec<_> =
        (0..CROWD).map(|me| tokio::spawn(member(server.clone(), me, leaves(me), meetings.clone()))).collect();
    for (me, member) in members.into_iter().enumerate() {
        let heard = within("a member", member).await.unwrap();
        assert_eq!(heard.is_none(), leaves(me));
        let Some(heard) = heard else { continue };
        for from in (0..CROWD).filter(|from| !leaves(*from)) {
            assert_eq!(heard.get(&from), Some(&MESSAGES), "{me} from {from}");
        }
    }
    server.until_empty().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn all_sockets_receive_all_messages_in_order() {
    crowd(|_| false).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn sockets_that_leave_do_not_disturb_the_others() {
    crowd(|n| n % 3 == 0).await;
}
