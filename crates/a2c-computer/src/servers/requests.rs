//! Requests to one server by its name: a server that is being started is waited for, and no answer holds its secrets.

use std::time::Duration;

use a2c_mcp::{
    CallFailure, CallLimits, Connection, ExpectedAnswer, RedactModel as _, ResourcePage, ToolAnswer, ToolCall,
};
use serde_json::Value;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::server::Server;

impl Server {
    /// Runs a tool. A server that is being started is waited for.
    pub(crate) async fn call(
        &self,
        call: ToolCall<'_>,
        limit: Duration,
        cancel: &CancellationToken,
    ) -> Result<ToolAnswer, CallFailure> {
        let deadline = Instant::now() + limit;
        let connection = tokio::select! {
            connection = self.connected() => connection.ok_or(CallFailure::NotRunning)?,
            () = sleep_until(deadline) => return Err(CallFailure::Timeout),
            () = cancel.cancelled() => return Err(CallFailure::Cancelled),
        };
        let limits = CallLimits { deadline, idle: self.record.context.limits.idle };
        let answer = connection.call_tool(call, limits, cancel).await;
        let credentials = self.credentials();
        match answer {
            Ok(ToolAnswer::Large(mut result)) => {
                // It takes as long as the result is long.
                let redacted = tokio::task::spawn_blocking(move || {
                    result.redact(&credentials);
                    result
                });
                let lost = CallFailure::UnexpectedAnswer(ExpectedAnswer::ToolResult);
                redacted.await.map(ToolAnswer::Large).map_err(|_| lost)
            }
            answer => answer.map_err(|failure| failure.redacted(&credentials)),
        }
    }

    /// One page of its list. A server that is being started is waited for.
    pub(crate) async fn list_resources(
        &self,
        cursor: Option<String>,
        limit: Duration,
    ) -> Result<ResourcePage, CallFailure> {
        let deadline = Instant::now() + limit;
        let listed = self.connection_until(deadline).await?.list_resources(cursor, deadline).await;
        let credentials = self.credentials();
        let mut page = listed.map_err(|failure| failure.redacted(&credentials))?;
        page.resources.iter_mut().for_each(|resource| credentials.redact_resource(resource));
        page.next_cursor = page.next_cursor.map(|cursor| credentials.redact(&cursor));
        Ok(page)
    }

    /// The contents of a resource. A server that is being started is waited for.
    pub(crate) async fn read(&self, uri: &str, limit: Duration) -> Result<Vec<Value>, CallFailure> {
        let deadline = Instant::now() + limit;
        let connection = self.connection_until(deadline).await?;
        self.read_on(&connection, uri, deadline).await
    }

    /// The contents of a resource of a server that runs; one that does not is not waited for.
    pub(crate) async fn read_now(&self, uri: &str, deadline: Instant) -> Result<Vec<Value>, CallFailure> {
        let connection = self.connection().ok_or(CallFailure::NotRunning)?;
        self.read_on(&connection, uri, deadline).await
    }

    async fn read_on(&self, connection: &Connection, uri: &str, deadline: Instant) -> Result<Vec<Value>, CallFailure> {
        let read = connection.read_resource(uri, deadline).await;
        let credentials = self.credentials();
        let mut contents = read.map_err(|failure| failure.redacted(&credentials))?;
        contents.iter_mut().for_each(|content| credentials.redact_json(content));
        Ok(contents)
    }

    async fn connection_until(&self, deadline: Instant) -> Result<Connection, CallFailure> {
        match tokio::time::timeout_at(deadline, self.connected()).await {
            Ok(connection) => connection.ok_or(CallFailure::NotRunning),
            Err(_) => Err(CallFailure::Timeout),
        }
    }

    /// The connection, as soon as it is there; `None` where it will not be soon.
    async fn connected(&self) -> Option<Connection> {
        let mut status = self.supervisor.watch();
        loop {
            if let Some(connection) = self.connection() {
                return Some(connection);
            }
            status.mark_unchanged();
            if !self.supervisor.is_starting() || status.changed().await.is_err() {
                // It may have connected since the first look.
                return self.connection();
            }
        }
    }
}
