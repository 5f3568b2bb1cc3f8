//! The handshake policy: the origin, the protocol version and the number of sessions per address, checked before the
//! engine sees a request.

use std::sync::Arc;

use a2c_protocol::version::{self, ERROR_CODE_HEADER, VERSION_QUERY, VersionRefusal};
use a2c_protocol::{ErrorBody, ErrorCode, PROTOCOL_VERSION};
use axum::extract::Request;
use axum::http::{HeaderName, StatusCode, header};
use axum::response::Response;

use super::{json, origin};
use crate::limits::address_limits::{AddressLimits, SlotKind};
use crate::metrics::{LimitKind, RefusalReason};
use crate::query::query_value;
use crate::switchboard::SHUTTING_DOWN;
use crate::wire::HubSwitchboard;
use crate::wire::connection::RemotePeer;

/// Decides which requests reach the engine.
pub(crate) struct HandshakePolicy {
    pub(crate) on_loopback: bool,
    pub(crate) allowed_hosts: Vec<String>,
    pub(crate) address_limits: Arc<AddressLimits>,
    pub(crate) switchboard: Arc<HubSwitchboard>,
}

impl HandshakePolicy {
    /// Checks a request whose origin was checked.
    pub(crate) fn admit(&self, request: &mut Request) -> Result<(), Box<Response>> {
        let query = request.uri().query().unwrap_or_default();
        // Later requests of an open session carry its sid and need not repeat the version.
        if query_value(query, "sid").is_some() {
            return Ok(());
        }
        if self.switchboard.is_shutting_down() {
            let body = ErrorBody::new(ErrorCode::Internal, SHUTTING_DOWN).with("retry_after", 1);
            return Err(json(StatusCode::SERVICE_UNAVAILABLE, &body).into());
        }
        let peer = request.extensions().get::<RemotePeer>().cloned();
        let telemetry = &self.switchboard.telemetry;
        let refused = |refusal, why: &str| self.refused(peer.as_ref(), refusal, why);
        if let Err(refusal) = version::check(PROTOCOL_VERSION, query_value(query, VERSION_QUERY).as_deref()) {
            refused(RefusalReason::Version, &refusal.to_string());
            return Err(mismatch(&refusal).into());
        }
        let Some(RemotePeer { address, .. }) = &peer else { return Ok(()) };
        match self.address_limits.acquire(address.ip(), SlotKind::Session) {
            Ok(slot) => {
                request.extensions_mut().insert(Arc::new(slot));
                Ok(())
            }
            Err(refusal) => {
                telemetry.count_limit(LimitKind::ConnectionsPerAddress);
                refused(RefusalReason::Limit, &refusal.to_string());
                let body = ErrorBody::new(ErrorCode::LimitExceeded, refusal.to_string()).with("limit", refusal.limit);
                Err(json(StatusCode::TOO_MANY_REQUESTS, &body).into())
            }
        }
    }

    fn refused(&self, peer: Option<&RemotePeer>, reason: RefusalReason, why: &str) {
        let telemetry = &self.switchboard.telemetry;
        match peer {
            Some(peer) => telemetry.refused(&self.address_limits, peer.address, reason, why),
            None => telemetry.count_refusal(reason),
        }
    }

    /// Refuses web pages of another origin.
    pub(crate) fn judge_origin(&self, request: &Request) -> Result<(), Box<Response>> {
        // Bytes that are no text, and several values, are no name of this hub either.
        let text = |name| {
            let values = request.headers().get_all(name).iter();
            values
                .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
                .reduce(|all, next| all + "," + &next)
        };
        let (host, origin) = (text(header::HOST), text(header::ORIGIN));
        let (host, origin) = (host.as_deref(), origin.as_deref());
        origin::judge(self.on_loopback, &self.allowed_hosts, host, origin).map_err(|refusal| {
            let brief = |text: Option<&str>| text.map(|t| t[..t.floor_char_boundary(256)].to_owned());
            let why = format!("{refusal} (Host: {:?}, Origin: {:?})", brief(host), brief(origin));
            self.refused(request.extensions().get(), RefusalReason::Origin, &why);
            json(StatusCode::FORBIDDEN, &ErrorBody::new(ErrorCode::Forbidden, refusal.to_string())).into()
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
