//! The views for operators: offices, members, calls and numbers.

use std::time::Instant;

use a2c_protocol::{Role, Version};
use serde::Serialize;

use super::office_room::CallContext;
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
        let directory = self.directory();
        let name = |conn| directory.seats.seat(conn).map(|seat| seat.name.to_string());
        let mut views: Vec<_> = directory
            .seats
            .iter()
            .map(|(id, agent, computers)| {
                let mut computers: Vec<_> = computers.filter_map(name).collect();
                computers.sort_unstable();
                OfficeView { office_id: id.to_string(), agent: agent.and_then(name), computers }
            })
            .collect();
        drop(directory);
        views.sort_unstable_by(|a, b| a.office_id.cmp(&b.office_id));
        views
    }

    /// All connections, or those in one office.
    pub(crate) fn member_views(&self, office: Option<&str>) -> Vec<MemberView> {
        let members: Vec<_> = self.directory().members.values().cloned().collect();
        let mut views: Vec<_> = members
            .iter()
            .map(|member| (member, member.seat()))
            .filter(|(_, taken)| {
                office.is_none_or(|office| taken.as_ref().is_some_and(|taken| &*taken.seated.seat.office == office))
            })
            .map(|(member, taken)| {
                let seat = taken.as_ref().map(|taken| &taken.seated.seat);
                MemberView {
                    sid: member.identity.sid.to_string(),
                    subject: member.identity.subject.to_string(),
                    address: member.identity.address.to_string(),
                    a2c_version: member.version,
                    role: member.role(),
                    name: seat.map(|seat| seat.name.to_string()),
                    office_id: seat.map(|seat| seat.office.to_string()),
                    connected_seconds: member.since.elapsed().as_secs(),
                    calls_in_flight: taken.as_ref().map_or(0, |taken| taken.room.state().calls.of(member.conn)),
                    waiting_bytes: member.mailbox.waiting(),
                }
            })
            .collect();
        views.sort_unstable_by(|a, b| (&a.office_id, &a.name, &a.sid).cmp(&(&b.office_id, &b.name, &b.sid)));
        views
    }

    pub(crate) fn call_views(&self, now: Instant) -> Vec<CallView> {
        let rooms: Vec<_> = self.directory().rooms.values().cloned().collect();
        let mut views = Vec::new();
        for room in rooms {
            views.extend(room.state().calls.iter().map(|call| {
                let CallContext { agent, computer, telemetry, .. } = &call.context;
                CallView {
                    office_id: agent.seat.office.to_string(),
                    agent: agent.seat.name.to_string(),
                    computer: computer.seat.name.to_string(),
                    req_id: call.req_id.clone(),
                    request: telemetry.request(),
                    tool: telemetry.tool().map(str::to_owned),
                    running_ms: telemetry.age(now).as_millis() as u64,
                    times_out_in_ms: call.deadline.saturating_duration_since(now).as_millis() as u64,
                }
            }));
        }
        views.sort_unstable_by_key(|call| std::cmp::Reverse(call.running_ms));
        views
    }

    /// Disconnects a member and tells it not to reconnect; returns whether the member exists.
    pub(crate) fn dismiss(&self, sid: &str) -> bool {
        let directory = self.directory();
        let found = directory.members.values().find(|member| &*member.identity.sid == sid);
        found.inspect(|member| member.mailbox.dismiss()).is_some()
    }

    /// The present values of the gauges.
    pub(crate) fn snapshot(&self, connections: usize) -> Snapshot {
        let directory = self.directory();
        let agents = directory.seats.seats().filter(|(_, seat)| seat.role == Role::Agent).count() as u64;
        let spans = self.telemetry.tracer.as_ref().map(crate::trace::Tracer::counts);
        Snapshot {
            connections: connections as u64,
            agents,
            computers: directory.seats.seats().count() as u64 - agents,
            offices: directory.seats.len() as u64,
            calls_in_flight: self.calls_in_flight() as u64,
            audit_records_lost: self.telemetry.audit.as_ref().map_or(0, crate::audit::AuditLog::lost),
            spans_exported: spans.map_or(0, |spans| spans.exported),
            spans_dropped: spans.map_or(0, |spans| spans.dropped),
        }
    }
}
