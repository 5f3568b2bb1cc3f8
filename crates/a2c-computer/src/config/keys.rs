//! The keys of a configuration file: the reader takes no others, and the schema has the same.

/// The top of a file in our shape.
pub(super) const FILE: &[&str] = &["$schema", "inputs", "servers"];
/// Which server, and of which kind.
pub(super) const SERVER: &[&str] = &["name", "type"];
/// The parameters of the transport, unless they are beside the other keys of the server.
pub(super) const PARAMETERS: &[&str] = &["server_parameters"];
/// What the owner allows and forbids.
pub(super) const RULES: &[&str] = &["disabled", "forbidden_tools", "tool_meta", "default_tool_meta", "vrl"];
/// What other hosts forbid, in their own keys.
pub(super) const HOST_RULES: &[&str] = &["enabled", "disabledTools", "excludeTools", "disabled_tools"];
/// Where other hosts list the allowed tools, which is not supported here.
pub(super) const ALLOW_LISTS: &[&str] = &["includeTools", "enabledTools", "enabled_tools", "allowedTools", "tools"];
/// The parameters that are misspelt most often.
pub(super) const COMMON: &[&str] = &["command", "args", "env", "url", "headers"];
/// The metadata of a tool.
pub(super) const TOOL_META: &[&str] = &["auto_apply", "alias", "tags", "ret_object_mapper"];
/// A child process.
pub(super) const STDIO: &[&str] = &["command", "args", "env", "cwd", "encoding", "encoding_error_handler"];
/// Streamable HTTP.
pub(super) const STREAMABLE: &[&str] =
    &["url", "headers", "timeout", "sse_read_timeout", "terminate_on_close", "oauth"];
/// Signing in to a streamable server.
pub(super) const OAUTH: &[&str] =
    &["client_id", "client_secret", "client_metadata_url", "issuer", "scopes", "callback_port"];
/// The same in the spelling of other hosts.
pub(super) const HOST_OAUTH: &[&str] = &["clientId", "clientSecret", "callbackPort"];
/// The older HTTP.
pub(super) const SSE: &[&str] = &["url", "headers", "timeout", "sse_read_timeout"];
/// An input that is typed in.
pub(super) const PROMPT_STRING: &[&str] = &["type", "id", "description", "default", "password"];
/// An input that is picked.
pub(super) const PICK_STRING: &[&str] = &["type", "id", "description", "options", "default"];
/// An input that a program prints.
pub(super) const COMMAND: &[&str] = &["type", "id", "description", "command", "args", "shell"];
