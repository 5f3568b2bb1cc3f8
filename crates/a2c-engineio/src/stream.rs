//! The byte stream of a connection: TCP, or any other stream.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};

/// A stream that reads and writes.
pub trait Duplex: AsyncRead + AsyncWrite + Send + Unpin + 'static {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin + 'static> Duplex for T {}

/// The stream of a connection, as the HTTP server gets it and as it is found again after the upgrade to a websocket.
pub enum Stream {
    /// Plain TCP, which needs no lock between its two directions.
    Tcp(TcpStream),
    /// Any other stream, such as TLS.
    Other(Box<dyn Duplex>),
}

impl Stream {
    /// A stream that is not plain TCP.
    pub fn other(stream: impl Duplex) -> Self {
        Self::Other(Box::new(stream))
    }

    pub(crate) fn split(self) -> (StreamReader, StreamWriter) {
        match self {
            Self::Tcp(stream) => {
                let (read, write) = stream.into_split();
                (StreamReader::Tcp(read), StreamWriter::Tcp(write))
            }
            Self::Other(stream) => {
                let (read, write) = tokio::io::split(stream);
                (StreamReader::Other(read), StreamWriter::Other(write))
            }
        }
    }
}

/// The reading half.
pub(crate) enum StreamReader {
    Tcp(OwnedReadHalf),
    Other(tokio::io::ReadHalf<Box<dyn Duplex>>),
}

/// The writing half.
pub(crate) enum StreamWriter {
    Tcp(OwnedWriteHalf),
    Other(tokio::io::WriteHalf<Box<dyn Duplex>>),
}

impl AsyncRead for StreamReader {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(half) => Pin::new(half).poll_read(cx, buffer),
            Self::Other(half) => Pin::new(half).poll_read(cx, buffer),
        }
    }
}

impl StreamWriter {
    pub(crate) fn poll_write(&mut self, cx: &mut Context<'_>, slices: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        match self {
            Self::Tcp(half) => Pin::new(half).poll_write_vectored(cx, slices),
            Self::Other(half) => Pin::new(half).poll_write_vectored(cx, slices),
        }
    }

    /// Flushes the buffer of the stream itself, which TLS has.
    pub(crate) fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Self::Tcp(_) => Poll::Ready(Ok(())),
            Self::Other(half) => Pin::new(half).poll_flush(cx),
        }
    }

    pub(crate) fn poll_shutdown(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Self::Tcp(half) => Pin::new(half).poll_shutdown(cx),
            Self::Other(half) => Pin::new(half).poll_shutdown(cx),
        }
    }

    /// Writes without waiting, on any task.
    pub(crate) fn try_write(&mut self, slices: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        match self {
            // Not polled: that would spend the cooperative budget of a task that does not own this stream.
            Self::Tcp(half) => match half.try_write_vectored(slices) {
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => Poll::Pending,
                outcome => Poll::Ready(outcome),
            },
            Self::Other(_) => self.poll_write(&mut Context::from_waker(std::task::Waker::noop()), slices),
        }
    }
}

impl AsyncRead for Stream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_read(cx, buffer),
            Self::Other(stream) => Pin::new(stream).poll_read(cx, buffer),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_write(cx, bytes),
            Self::Other(stream) => Pin::new(stream).poll_write(cx, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_flush(cx),
            Self::Other(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_shutdown(cx),
            Self::Other(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}
