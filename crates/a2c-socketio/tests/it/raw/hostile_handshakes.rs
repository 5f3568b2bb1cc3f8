//! Servers that never get as far as a link.

use std::collections::HashMap;
use std::time::Duration;

use a2c_socketio::{Client, Options, SocketConnectError, Transport};
use tokio::io::AsyncWriteExt;

use super::script::{OPEN, Socket, answer, http, listen, read_head};

#[tokio::test]
async fn a_broken_polling_handshake_says_what_is_wrong() {
    let open = || answer("200 OK", OPEN);
    let ok = || answer("200 OK", "ok");
    let table = [
        (vec![answer("200 OK", "")], "an empty frame"),
        (vec![answer("200 OK", "<html>")], "unknown frame type '<'"),
        (vec![answer("200 OK", "0{}")], "an unreadable handshake: missing field `sid`"),
        (vec![answer("200 OK", "0[]")], "an unreadable handshake"),
        (vec![answer("200 OK", "6")], "did not begin with a handshake"),
        (vec![answer("200 OK", [b'0', 0xff])], "not UTF-8"),
        (vec![answer("200 OK", "0".repeat(3000))], "above the limit of 2000"),
        (vec![answer("500 Oops", "no")], "HTTP 500 Internal Server Error: no"),
        (vec![answer("301 Moved", "")], "HTTP 301 Moved Permanently"),
        (vec![b"SSH-2.0-x\r\n\r\n".to_vec()], "could not be reached"),
        (vec![open(), answer("413 Large", "")], "HTTP 413 Payload Too Large"),
        (vec![open(), ok(), answer("200 OK", "1")], "the server closed the link"),
        (vec![open(), ok(), answer("200 OK", "40")], "without a session id"),
        (vec![open(), ok(), answer("200 OK", "41")], "disconnected this client"),
        (vec![open(), ok(), answer("200 OK", "44\"no\"")], "refused the namespace: no"),
        (vec![open(), ok(), answer("200 OK", "44")], "refused the namespace: null"),
        (vec![open(), ok(), answer("200 OK", "44[1]")], "refused the namespace: [1]"),
        (vec![open(), ok(), answer("200 OK", "44{")], "a payload that is not JSON"),
        (vec![open(), ok(), answer("200 OK", r#"42["e"]"#.to_owned() + "\u{1e}42[\"e\"]")], "holds 1 events"),
    ];
    for (answers, expected) in table {
        let options = http(answers).await.max_message(1000).inbox_capacity(1);
        let error = Client::connect(options).await.unwrap_err().to_string();
        assert!(error.contains(expected), "{error}, not {expected}");
    }
}

#[tokio::test]
async fn a_body_without_end_is_not_read_to_its_end() {
    let (listener, options) = listen().await;
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_head(&mut stream).await;
        let head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
        stream.write_all(head).await.unwrap();
        while stream.write_all(b"4\r\n0000\r\n").await.is_ok() {}
    });
    let options = options.transport(Transport::Polling).max_message(1 << 20);
    let error = Client::connect(options).await.unwrap_err();
    assert!(error.to_string().contains("above the limit of 2097152"), "{error}");
}

#[tokio::test]
async fn a_refusal_without_end_is_cut() {
    let (listener, options) = listen().await;
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_head(&mut stream).await;
        stream.write_all(&answer("403 No", "")).await.unwrap();
        while stream.write_all(&[b'x'; 1024]).await.is_ok() {}
    });
    match Client::connect(options).await.unwrap_err() {
        SocketConnectError::Http(refusal) => {
            assert_eq!(refusal.status.as_u16(), 403);
            assert_eq!(refusal.body.len(), 64 << 10);
            assert!(refusal.to_string().len() < 300);
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_broken_websocket_handshake_says_what_is_wrong() {
    let upgraded = "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n";
    let table = [
        (answer("200 OK", "hello"), "HTTP 200 OK: hello"),
        (answer("503 Busy", ""), "HTTP 503 Service Unavailable"),
        (format!("{upgraded}\r\n").into_bytes(), "a wrong key"),
        (format!("{upgraded}sec-websocket-accept: AAAA\r\n\r\n").into_bytes(), "a wrong key"),
        (Vec::new(), "could not be reached"),
    ];
    for (bytes, expected) in table {
        let options = http(vec![bytes]).await.transport(Transport::Websocket);
        let error = Client::connect(options).await.unwrap_err().to_string();
        assert!(error.contains(expected), "{error}, not {expected}");
    }
}

#[tokio::test]
async fn a_server_that_says_nothing_is_given_up() {
    for transport in [Transport::Websocket, Transport::Polling] {
        let (listener, options) = listen().await;
        let timeout = Duration::from_millis(100);
        let options = options.transport(transport).connect_timeout(timeout);
        let error = Client::connect(options).await.unwrap_err();
        assert!(matches!(error, SocketConnectError::Timeout(limit) if limit == timeout));
        drop(listener);
    }
    // The same after the transport's handshake.
    let (listener, options) = listen().await;
    tokio::spawn(async move {
        let mut socket = Socket::accept(&listener).await;
        socket.send(OPEN).await;
        socket.drain().await;
    });
    let options = options.connect_timeout(Duration::from_millis(300));
    let error = Client::connect(options).await.unwrap_err();
    assert!(matches!(error, SocketConnectError::Timeout(_)), "{error:?}");
}

#[tokio::test]
async fn wrong_options_are_named_before_anything_is_sent() {
    let good = || Options::new("http://127.0.0.1:1");
    let table = [
        (Options::new("127.0.0.1:1"), "URL"),
        (Options::new("http://127.0.0.1:1/chat"), "Options::path"),
        (good().namespace("chat"), "a namespace starts with"),
        (good().namespace("/a,b"), "a namespace starts with"),
        (good().query("sid", "x"), "belong to the transport"),
        (good().header("a b", "x"), "a header"),
        (good().header("a", "x\n"), "a header"),
        (good().auth(HashMap::from([((), 1)])), "the auth payload"),
    ];
    for (options, expected) in table {
        match Client::connect(options).await.unwrap_err() {
            SocketConnectError::Options(mistake) => {
                assert!(mistake.to_string().contains(expected), "{mistake}, not {expected}");
            }
            other => panic!("{expected}: {other:?}"),
        }
    }
}
