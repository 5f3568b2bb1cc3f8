//! Streamable HTTP: the MCP library's transport over an HTTP client of our own.

mod client;
mod large_answers;
mod transport;

use std::sync::Arc;
use std::time::Duration;

use ::http::header::AUTHORIZATION;
use a2c_protocol::config::StreamableParameters;
use rmcp::RoleClient;
use rmcp::transport::common::client_side_sse::ExponentialBackoff;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, Transport};

use crate::http::{self, Credentials, HttpSetupError};
use crate::large::MESSAGE_LIMIT;
use crate::oauth::TokenStore;
use crate::oauth::bearer::Bearer;
use client::{ClientSettings, StreamableClient};
use large_answers::LargeAnswers;
use transport::StreamableTransport;

/// How many requests may wait for the head of their answer at the same time. The library's own 16 are few for a busy
/// server that answers with plain JSON.
const IN_FLIGHT: usize = 256;

/// How often a stream that broke off is asked for again, after a second, two, four, …: a server that is not back by then
/// is gone.
const RETRIES: usize = 4;

/// The longest pause before an event stream that the server ended is asked for again.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Connects to the server of this name with its parameters, whose placeholders are filled in. Must be called within a
/// Tokio runtime; the first request is made when the first message is sent. With a store, the tokens of a sign-in are
/// sent and renewed, unless the owner's headers hold an `authorization` already. The error says what to change.
pub fn open(
    name: &str,
    parameters: &StreamableParameters,
    tokens: Option<Arc<dyn TokenStore>>,
) -> Result<impl Transport<RoleClient> + use<>, HttpSetupError> {
    let url = http::address(&parameters.url)?;
    let timeout = http::limit("timeout", parameters.timeout.seconds())?;
    let idle = http::limit("sse_read_timeout", parameters.sse_read_timeout.seconds())?;
    let headers = http::headers(parameters.headers.as_ref())?;
    let tokens = tokens.filter(|_| !headers.contains_key(AUTHORIZATION));
    let credentials = match &tokens {
        Some(_) => Credentials::SignIn { server: name.to_owned() },
        None => Credentials::Headers,
    };
    let large = LargeAnswers::default();
    let client = StreamableClient::new(ClientSettings {
        client: http::client(&url, headers, timeout)?,
        bearer: tokens.map(|store| Bearer::new(name, &url, store)),
        url,
        timeout,
        idle,
        ends_session: parameters.terminate_on_close,
        credentials,
        large: large.clone(),
    });
    let mut retries = ExponentialBackoff::default();
    retries.max_delay = Some(LONGEST_PAUSE);
    retries.max_times = Some(RETRIES);
    // The library shows its address in some messages, hence it gets none: the client knows it.
    let mut config = StreamableHttpClientTransportConfig::with_uri("")
        .max_concurrent_requests(IN_FLIGHT)
        .max_sse_event_size(MESSAGE_LIMIT);
    config.retry_config = Arc::new(retries);
    config.channel_buffer_capacity = IN_FLIGHT;
    Ok(StreamableTransport::new(StreamableHttpClientTransport::with_client(client, config), large))
}
