// SPDX-License-Identifier: Apache-2.0 OR MIT

//! One server: greeted, asked for its tools, and then called.

use std::path::Path;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::config::ServerSpec;
use super::error::{McpError, Why};
use super::process::Process;
use super::rpc::Rpc;
use crate::Cancel;
use crate::provider::ToolSpec;

/// The version of the protocol we ask for, and those that will do: what we use is the same in all.
const VERSION: &str = "2025-06-18";
const VERSIONS: [&str; 4] = ["2024-11-05", "2025-03-26", VERSION, "2025-11-25"];
/// Where a list of tools has to end.
const MOST_PAGES: usize = 100;
const MOST_TOOLS: usize = 1000;

/// How long a server is waited for.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// For each answer while it starts.
    pub start: Duration,
    /// For a tool.
    pub call: Duration,
}

/// A server that runs. Dropping it ends it, and everything it started.
#[derive(Debug)]
pub struct Server {
    name: String,
    rpc: Rpc,
    tools: Vec<Tool>,
    limits: Limits,
}

/// A tool of a server.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// As the server calls it.
    pub own_name: String,
    /// As the model is told about it: `mcp__server__tool`.
    pub spec: ToolSpec,
}

/// What a tool returned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// In words.
    pub content: String,
    /// Whether it failed.
    pub is_error: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self { start: Duration::from_secs(30), call: Duration::from_mins(2) }
    }
}

// === impl Server ===

impl Server {
    /// Starts a server and asks for its tools. `dir` is where the agent works.
    pub async fn start(
        name: &str,
        spec: &ServerSpec,
        dir: &Path,
        limits: Limits,
        cancel: &Cancel,
    ) -> Result<Self, McpError> {
        let started = async {
            let (process, streams) = Process::start(spec, dir)?;
            let rpc = Rpc::new(process, streams);
            greet(&rpc, limits.start, cancel).await?;
            let tools = tools(name, &rpc, limits.start, cancel).await?;
            Ok(Self { name: name.to_owned(), rpc, tools, limits })
        };
        started.await.map_err(|why: Why| why.of(name))
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its tools.
    pub fn tools(&self) -> &[Tool] {
        &self.tools
    }

    /// Calls a tool by the server's own name for it. A tool that failed is an answer, not an error.
    pub async fn call(&self, tool: &str, args: &Value, cancel: &Cancel) -> Result<Told, McpError> {
        let params = json!({"name": tool, "arguments": args});
        let result = self.rpc.ask("tools/call", params, self.limits.call, cancel).await;
        result.map(|result| told(&result)).map_err(|why| why.of(&self.name))
    }

    /// Ends it in good order.
    pub async fn close(self) {
        self.rpc.close().await;
    }
}

async fn greet(rpc: &Rpc, limit: Duration, cancel: &Cancel) -> Result<(), Why> {
    let client = json!({"name": "tenterhook", "version": env!("CARGO_PKG_VERSION")});
    let hello = json!({"protocolVersion": VERSION, "capabilities": {}, "clientInfo": client});
    let welcome = rpc.ask("initialize", hello, limit, cancel).await?;
    match welcome.get("protocolVersion").and_then(Value::as_str) {
        Some(version) if VERSIONS.contains(&version) => {
            rpc.tell("notifications/initialized", &json!({}));
            Ok(())
        }
        version => {
            let what = format!("version `{}` of the protocol is not known", version.unwrap_or_default());
            Err(Why::Unreadable { method: "initialize".to_owned(), what })
        }
    }
}

async fn tools(server: &str, rpc: &Rpc, limit: Duration, cancel: &Cancel) -> Result<Vec<Tool>, Why> {
    const METHOD: &str = "tools/list";
    let unreadable = |what: &str| Why::Unreadable { method: METHOD.to_owned(), what: what.to_owned() };
    let mut tools = Vec::new();
    let mut params = json!({});
    for _ in 0..MOST_PAGES {
        let page = rpc.ask(METHOD, params, limit, cancel).await?;
        let listed = page.get("tools").and_then(Value::as_array);
        let listed = listed.ok_or_else(|| unreadable("it has no list of `tools`"))?;
        tools.extend(listed.iter().filter_map(|entry| tool(server, entry)));
        if tools.len() > MOST_TOOLS {
            return Err(unreadable("there are more tools than any model can use"));
        }
        match page.get("nextCursor").and_then(Value::as_str) {
            None => return Ok(tools),
            Some(cursor) => params = json!({"cursor": cursor}),
        }
    }
    Err(unreadable("the list of tools does not end"))
}

/// A tool as the server lists it; one without a name is none.
fn tool(server: &str, entry: &Value) -> Option<Tool> {
    let own_name = entry.get("name")?.as_str()?.to_owned();
    let text = |key: &str| entry.get(key).and_then(Value::as_str).map(ToOwned::to_owned);
    let description = text("description").or_else(|| text("title")).unwrap_or_default();
    let schema = entry.get("inputSchema").filter(|schema| schema.is_object()).cloned();
    let schema = schema.unwrap_or_else(|| json!({"type": "object"}));
    let name = format!("mcp__{}__{}", plain(server), plain(&own_name));
    Some(Tool { own_name, spec: ToolSpec { name, description, schema } })
}

/// With the letters only that every model accepts in a name.
fn plain(name: &str) -> String {
    let allowed = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    name.chars().map(|letter| if allowed(letter) { letter } else { '_' }).collect()
}

fn told(result: &Value) -> Told {
    let parts = result.get("content").and_then(Value::as_array).into_iter().flatten();
    let mut content: Vec<_> = parts.map(words).collect();
    if let (true, Some(structured)) = (content.is_empty(), result.get("structuredContent")) {
        content.push(structured.to_string());
    }
    let is_error = result.get("isError") == Some(&Value::Bool(true));
    Told { content: content.join("\n"), is_error }
}

/// One part of a result in words: what is no text is named, not carried.
fn words(part: &Value) -> String {
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
