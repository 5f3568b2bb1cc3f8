//! Reads the header of the PROXY protocol from a connection, before anything else reads from it.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

use crate::proxy_header::{BEGIN_V1, MAX_V1, MAX_V2, MalformedHeader, SIGNATURE_V2, begins_header, parse_v1, parse_v2};

/// How long a header may take to arrive.
const HEADER_TIMEOUT: Duration = Duration::from_secs(5);

/// How long to wait for more bytes of what may become a header.
const MORE: Duration = Duration::from_millis(10);

/// Why a connection is closed because of its header.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProxyHeaderRefusal {
    #[error("a trusted proxy connected without the header of the PROXY protocol: configure it there (send-proxy)")]
    Missing,
    #[error(transparent)]
    Malformed(#[from] MalformedHeader),
    #[error("the header of the PROXY protocol is too long")]
    TooLong,
    #[error("the header of the PROXY protocol took too long")]
    Slow,
    #[error("the header of the PROXY protocol came from an address that is no trusted proxy")]
    Untrusted,
    /// The connection ended before its header did. Some proxies only look whether the port is open.
    #[error("the connection ended before the header of the PROXY protocol did: {0}")]
    Ended(#[from] io::Error),
}

/// Reads the header of a trusted proxy: the address of its client, or `None` where the connection is its own. Nothing
/// behind the header is read.
pub(crate) async fn read_header(stream: &mut TcpStream) -> Result<Option<SocketAddr>, ProxyHeaderRefusal> {
    timeout(HEADER_TIMEOUT, header(stream)).await.unwrap_or(Err(ProxyHeaderRefusal::Slow))
}

async fn header(stream: &mut TcpStream) -> Result<Option<SocketAddr>, ProxyHeaderRefusal> {
    // Every header is longer than this.
    let mut start = [0; SIGNATURE_V2.len()];
    stream.read_exact(&mut start).await?;
    if start == *SIGNATURE_V2 {
        let [command, family, high, low] = {
            let mut head = [0; 4];
            stream.read_exact(&mut head).await?;
            head
        };
        let length = usize::from(u16::from_be_bytes([high, low]));
        if length > MAX_V2 {
            return Err(ProxyHeaderRefusal::TooLong);
        }
        let mut rest = vec![0; length];
        stream.read_exact(&mut rest).await?;
        return Ok(parse_v2([command, family], &rest)?);
    }
    if !start.starts_with(BEGIN_V1) {
        return Err(ProxyHeaderRefusal::Missing);
    }
    let mut line = start.to_vec();
    // One byte at a time, since what follows the line belongs to the client.
    while line.last() != Some(&b'\n') {
        if line.len() == MAX_V1 {
            return Err(ProxyHeaderRefusal::TooLong);
        }
        line.push(stream.read_u8().await?);
    }
    Ok(parse_v1(&line)?)
}

/// Refuses the header of one who is no trusted proxy. Reads nothing.
pub(crate) async fn refuse_header(stream: &TcpStream) -> Result<(), ProxyHeaderRefusal> {
    let look = async {
        let mut start = [0; SIGNATURE_V2.len()];
        loop {
            let length = stream.peek(&mut start).await?;
            match begins_header(&start[..length]) {
                Some(true) => return Err(ProxyHeaderRefusal::Untrusted),
                None if length > 0 => sleep(MORE).await,
                _ => return Ok(()),
            }
        }
    };
    // One that sends too little to tell is for those who read next.
    timeout(HEADER_TIMEOUT, look).await.unwrap_or(Ok(()))
}
