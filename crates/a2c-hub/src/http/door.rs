//! What a request is judged by before the engine sees it: where it comes from, which version it speaks, and how many
//! sessions its address has already.

use std::sync::Arc;
use std::time::Instant;

use a2c_protocol::version::{self, ERROR_CODE_HEADER, VERSION_QUERY, VersionRefusal};
use a2c_protocol::{ErrorBody, ErrorCode, PROTOCOL_VERSION};
use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;

use super::{json, origin, query_value};
use crate::limits::guests::{Count, Guests};
use crate::metrics::{Limit, Refusal};
use crate::switchboard::{GOING_AWAY, Switchboard};
use crate::wire::connection::Peer;

/// Who is let through.
pub(crate) struct Door {
    pub(crate) on_loopback: bool,
    pub(crate) allowed_hosts: Vec<String>,
    pub(crate) guests: Arc<Guests>,
    pub(crate) switchboard: Arc<Switchboard>,
}

impl Door {
    /// Judges a request, whose origin was judged, before the engine sees it.
    pub(crate) fn admit(&self, request: &mut Request) -> Result<(), Box<Response>> {
        let query = request.uri().query().unwrap_or_default();
        // Later requests of an open session are known by their sid and need not repeat the version.
        if query_value(query, "sid").is_some() {
            return Ok(());
        }
        if self.switchboard.is_ending() {
            let body = ErrorBody::new(ErrorCode::Internal, GOING_AWAY).with("retry_after", 1);
            return Err(json(StatusCode::SERVICE_UNAVAILABLE, &body).into());
        }
        let peer = request.extensions().get::<Peer>().cloned();
        let ledger = &self.switchboard.ledger;
        let refused = |refusal, why: &str| match &peer {
            Some(Peer { address, .. }) if self.guests.is_news(address.ip(), Instant::now()) => {
                ledger.refused(*address, refusal, why);
            }
            _ => ledger.turned_away(refusal),
        };
        if let Err(refusal) = version::check(PROTOCOL_VERSION, query_value(query, VERSION_QUERY).as_deref()) {
            refused(Refusal::Version, &refusal.to_string());
            return Err(mismatch(&refusal).into());
        }
        let Some(Peer { address, .. }) = &peer else { return Ok(()) };
        match self.guests.enter(address.ip(), Count::Session) {
            Ok(guest) => {
                request.extensions_mut().insert(Arc::new(guest));
                Ok(())
            }
            Err(crowded) => {
                tracing::warn!(%address, limit = crowded.limit, "too many sessions from one address");
                ledger.limit(Limit::ConnectionsPerAddress);
                refused(Refusal::Limit, &crowded.to_string());
                let body = ErrorBody::new(ErrorCode::LimitExceeded, crowded.to_string()).with("limit", crowded.limit);
                Err(json(StatusCode::TOO_MANY_REQUESTS, &body).into())
            }
        }
    }

    /// Refuses web pages of others.
    pub(crate) fn judge_origin(&self, request: &Request) -> Result<(), Box<Response>> {
        let text = |name| request.headers().get(name).and_then(|value: &HeaderValue| value.to_str().ok());
        let (host, origin) = (text(header::HOST), text(header::ORIGIN));
        origin::judge(self.on_loopback, &self.allowed_hosts, host, origin).map_err(|stranger| {
            let ledger = &self.switchboard.ledger;
            match request.extensions().get::<Peer>() {
                Some(Peer { address, .. }) if self.guests.is_news(address.ip(), Instant::now()) => {
                    let brief = |text: Option<&str>| text.map(|t| t[..t.floor_char_boundary(256)].to_owned());
                    tracing::warn!(host = brief(host), origin = brief(origin), "{stranger}");
                    ledger.refused(*address, Refusal::Origin, &stranger.to_string());
                }
                _ => ledger.turned_away(Refusal::Origin),
            }
            json(StatusCode::FORBIDDEN, &ErrorBody::new(ErrorCode::Forbidden, stranger.to_string())).into()
        })
    }
}

fn mismatch(refusal: &VersionRefusal) -> Response {
    tracing::debug!(%refusal, "handshake refused");
    let mut response = json(StatusCode::BAD_REQUEST, refusal);
    if matches!(refusal, VersionRefusal::Mismatch { .. }) {
        response.headers_mut().insert(HeaderName::from_static(ERROR_CODE_HEADER), refusal.code().into());
    }
    response
}
