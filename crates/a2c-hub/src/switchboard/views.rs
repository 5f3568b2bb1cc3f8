//! The views for operators: offices, members, calls and numbers.

use std::time::Instant;

use a2c_protocol::{Role, Version};
use serde::Serialize;

use super::{Mailbox, Switchboard};
use crate::metrics::Snapshot;

/// An office and its members.
#[derive(Debug, Serialize)]
pub(crate) struct OfficeView {
    pub(crate) office_id: String,
    pub(crate) agent: Option<String>,
    pub(crate) computers: Vec<String>,
}

/// A connection.
#[derive(Debug, Serialize)]
pub(crate) struct MemberView {
    pub(crate) sid: String,
    pub(crate) subject: String,
    pub(crate) address: String,
    pub(crate) a2c_version: Option<Version>,
    pub(crate) role: Option<Role>,
    pub(crate) name: Option<String>,
    pub(crate) office_id: Option<String>,
    pub(crate) connected_seconds: u64,
    pub(crate) calls_in_flight: usize,
    pub(crate) waiting_bytes: usize,
}

/// A call that waits for its answer.
#[derive(Debug, Serialize)]
pub(crate) struct CallView {
    pub(crate) office_id: String,
    pub(crate) agent: String,
    pub(crate) computer: String,
    pub(crate) req_id: Option<String>,
    pub(crate) request: &'static str,
    /// Known only with an audit log or a trace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tool: Option<String>,
    pub(crate) running_ms: u64,
    pub(crate) times_out_in_ms: u64,
}

impl<M: Mailbox> Switchboard<M> {
    pub(crate) fn office_views(&self) -> Vec<OfficeView> {
        let state = self.state();
        let name = |conn| state.offices.seat(conn).map(|seat| seat.name.to_string());
        let mut views: Vec<_> = state
            .offices
            .iter()
            .map(|(id, agent, computers)| {
                let mut computers: Vec<_> = computers.filter_map(name).collect();
                computers.sort_unstable();
                OfficeView { office_id: id.to_string(), agent: agent.and_then(name), computers }
            })
            .collect();
        drop(state);
        views.sort_unstable_by(|a, b| a.office_id.cmp(&b.office_id));
        views
    }

    /// All connections, or those in one office.
    pub(crate) fn member_views(&self, office: Option<&str>) -> Vec<MemberView> {
        let state = self.state();
        let mut views: Vec<_> = state
            .members
            .iter()
            .map(|(conn, member)| (member, state.offices.seat(*conn), state.calls.of(*conn)))
            .filter(|(_, seat, _)| office.is_none_or(|office| seat.is_some_and(|seat| &*seat.office == office)))
            .map(|(member, seat, calls_in_flight)| MemberView {
                sid: member.identity.sid.to_string(),
                subject: member.identity.subject.to_string(),
                address: member.identity.address.to_string(),
                a2c_version: member.version,
                role: member.role,
                name: seat.map(|seat| seat.name.to_string()),
                office_id: seat.map(|seat| seat.office.to_string()),
                connected_seconds: member.since.elapsed().as_secs(),
                calls_in_flight,
                waiting_bytes: member.mailbox.waiting(),
            })
            .collect();
        drop(state);
        views.sort_unstable_by(|a, b| (&a.office_id, &a.name, &a.sid).cmp(&(&b.office_id, &b.name, &b.sid)));
        views
    }

    pub(crate) fn call_views(&self, now: Instant) -> Vec<CallView> {
        let state = self.state();
        let mut views: Vec<_> = state
            .calls
            .iter()
            .filter_map(|call| {
                let agent = state.offices.seat(call.agent)?;
                Some(CallView {
                    office_id: agent.office.to_string(),
                    agent: agent.name.to_string(),
                    computer: state.offices.seat(call.computer)?.name.to_string(),
                    req_id: call.req_id.clone(),
                    request: call.telemetry.request(),
                    tool: call.telemetry.tool().map(str::to_owned),
                    running_ms: call.telemetry.age(now).as_millis() as u64,
                    times_out_in_ms: call.deadline.saturating_duration_since(now).as_millis() as u64,
                })
            })
            .collect();
        drop(state);
        views.sort_unstable_by_key(|call| std::cmp::Reverse(call.running_ms));
        views
    }

    /// Disconnects a member and tells it not to reconnect; returns whether the member exists.
    pub(crate) fn dismiss(&self, sid: &str) -> bool {
        let state = self.state();
        let found = state.members.values().find(|member| &*member.identity.sid == sid);
        found.inspect(|member| member.mailbox.dismiss()).is_some()
    }

    /// The present values of the gauges.
    pub(crate) fn snapshot(&self, connections: usize) -> Snapshot {
        let state = self.state();
        let agents = state.offices.seats().filter(|(_, seat)| seat.role == Role::Agent).count() as u64;
        let spans = self.telemetry.tracer.as_ref().map(crate::trace::Tracer::counts);
        Snapshot {
            connections: connections as u64,
            agents,
            computers: state.offices.seats().count() as u64 - agents,
            offices: state.offices.len() as u64,
            calls_in_flight: state.calls.len() as u64,
            audit_records_lost: self.telemetry.audit.as_ref().map_or(0, crate::audit::AuditLog::lost),
            spans_exported: spans.map_or(0, |spans| spans.exported),
            spans_dropped: spans.map_or(0, |spans| spans.dropped),
        }
    }
}
