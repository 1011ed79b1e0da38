// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Starts one MCP server, lists its tools and calls them.

use std::path::Path;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::config::McpServerSpec;
use super::error::{McpError, McpErrorKind};
use super::rpc::RpcClient;
use super::server_process::ServerProcess;
use crate::CancelToken;
use crate::provider::ToolSpec;

/// The protocol version that the client requests. The features that it uses are the same in all supported versions.
const PROTOCOL_VERSION: &str = "2025-06-18";
const SUPPORTED_VERSIONS: [&str; 4] = ["2024-11-05", "2025-03-26", PROTOCOL_VERSION, "2025-11-25"];
/// Maximum number of pages read from a tool list.
const MAX_TOOL_PAGES: usize = 100;
const MAX_TOOLS: usize = 1000;

/// Timeouts of requests to a server.
#[derive(Debug, Clone, Copy)]
pub struct McpTimeouts {
    /// Timeout of each request during startup.
    pub start: Duration,
    /// Timeout of a tool call.
    pub call: Duration,
}

/// A running server. Dropping it kills its process group.
#[derive(Debug)]
pub struct McpServer {
    name: String,
    rpc: RpcClient,
    tools: Vec<ServerTool>,
    limits: McpTimeouts,
}

/// A tool of an MCP server.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerTool {
    /// The tool's name on the server.
    pub own_name: String,
    /// Tool spec for the model, with the name `mcp__server__tool`.
    pub spec: ToolSpec,
}

/// Result of a tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpToolResult {
    /// Content as text.
    pub content: String,
    /// Whether the tool reported an error.
    pub is_error: bool,
}

impl Default for McpTimeouts {
    fn default() -> Self {
        Self { start: Duration::from_secs(30), call: Duration::from_mins(2) }
    }
}

// === impl McpServer ===

impl McpServer {
    /// Starts a server and lists its tools. `dir` is the agent's working directory.
    pub async fn start(
        name: &str,
        spec: &McpServerSpec,
        dir: &Path,
        limits: McpTimeouts,
        cancel: &CancelToken,
    ) -> Result<Self, McpError> {
        let started = async {
            let (process, streams) = ServerProcess::start(spec, dir)?;
            let rpc = RpcClient::new(process, streams);
            initialize(&rpc, limits.start, cancel).await?;
            let tools = list_tools(name, &rpc, limits.start, cancel).await?;
            Ok(Self { name: name.to_owned(), rpc, tools, limits })
        };
        started.await.map_err(|why: McpErrorKind| why.for_server(name))
    }

    /// Returns the name of the server.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the tools of the server.
    pub fn tools(&self) -> &[ServerTool] {
        &self.tools
    }

    /// Calls a tool by its name on the server. A failure of the tool itself is a result, not an error.
    pub async fn call(
        &self,
        tool: &str,
        args: &Value,
        cancel: &CancelToken,
    ) -> Result<McpToolResult, McpError> {
        let params = json!({"name": tool, "arguments": args});
        let result = self.rpc.request("tools/call", params, self.limits.call, cancel).await;
        result.map(|result| parse_tool_result(&result)).map_err(|why| why.for_server(&self.name))
    }

    /// Shuts the server down.
    pub async fn close(self) {
        self.rpc.close().await;
    }
}

async fn initialize(rpc: &RpcClient, limit: Duration, cancel: &CancelToken) -> Result<(), McpErrorKind> {
    let client = json!({"name": "tenterhook", "version": env!("CARGO_PKG_VERSION")});
    let params = json!({"protocolVersion": PROTOCOL_VERSION, "capabilities": {}, "clientInfo": client});
    let reply = rpc.request("initialize", params, limit, cancel).await?;
    match reply.get("protocolVersion").and_then(Value::as_str) {
        Some(version) if SUPPORTED_VERSIONS.contains(&version) => {
            rpc.notify("notifications/initialized", &json!({}));
            Ok(())
        }
        version => {
            let what = format!("unsupported protocol version `{}`", version.unwrap_or_default());
            Err(McpErrorKind::Unreadable { method: "initialize".to_owned(), what })
        }
    }
}

async fn list_tools(
    server: &str,
    rpc: &RpcClient,
    limit: Duration,
    cancel: &CancelToken,
) -> Result<Vec<ServerTool>, McpErrorKind> {
    const METHOD: &str = "tools/list";
    let unreadable =
        |what: &str| McpErrorKind::Unreadable { method: METHOD.to_owned(), what: what.to_owned() };
    let mut tools = Vec::new();
    let mut params = json!({});
    for _ in 0..MAX_TOOL_PAGES {
        let page = rpc.request(METHOD, params, limit, cancel).await?;
        let listed = page.get("tools").and_then(Value::as_array);
        let listed = listed.ok_or_else(|| unreadable("`tools` is not a list"))?;
        tools.extend(listed.iter().filter_map(|entry| parse_tool(server, entry)));
        if tools.len() > MAX_TOOLS {
            return Err(unreadable("too many tools"));
        }
        match page.get("nextCursor").and_then(Value::as_str) {
            None => return Ok(tools),
            Some(cursor) => params = json!({"cursor": cursor}),
        }
    }
    Err(unreadable("too many pages of tools"))
}

/// Parses an entry of the tool list. Entries without a name are ignored.
fn parse_tool(server: &str, entry: &Value) -> Option<ServerTool> {
    let own_name = entry.get("name")?.as_str()?.to_owned();
    let text = |key: &str| entry.get(key).and_then(Value::as_str).map(ToOwned::to_owned);
    let description = text("description").or_else(|| text("title")).unwrap_or_default();
    let schema = entry.get("inputSchema").filter(|schema| schema.is_object()).cloned();
    let schema = schema.unwrap_or_else(|| json!({"type": "object"}));
    let name = format!("mcp__{}__{}", sanitize_tool_name(server), sanitize_tool_name(&own_name));
    Some(ServerTool { own_name, spec: ToolSpec { name, description, schema } })
}

/// Replaces the characters that some models reject in tool names.
fn sanitize_tool_name(name: &str) -> String {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    name.chars().map(|c| if is_allowed(c) { c } else { '_' }).collect()
}

fn parse_tool_result(result: &Value) -> McpToolResult {
    let parts = result.get("content").and_then(Value::as_array).into_iter().flatten();
    let mut content: Vec<_> = parts.map(part_to_text).collect();
    if let (true, Some(structured)) = (content.is_empty(), result.get("structuredContent")) {
        content.push(structured.to_string());
    }
    let is_error = result.get("isError") == Some(&Value::Bool(true));
    McpToolResult { content: content.join("\n"), is_error }
}

/// Converts a part of a result to text. Content other than text is replaced by its type.
fn part_to_text(part: &Value) -> String {
    let text =
        |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let resource = part.get("resource").cloned().unwrap_or(Value::Object(Map::new()));
    match text(part, "type").as_str() {
        "text" => text(part, "text"),
        "resource" if resource.get("text").is_some() => text(&resource, "text"),
        "resource" => format!("[resource {}]", text(&resource, "uri")),
        "resource_link" => format!("[resource {}]", text(part, "uri")),
        kind => format!("[{kind} {}]", text(part, "mimeType")),
    }
}
