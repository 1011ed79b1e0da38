// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Minimal MCP server for the demo; it serves one issue.

use std::io::{BufRead, Write};

use serde_json::{Value, json};

const ISSUE: &str = "#12 The cart's total is wrong if there are two of an item (open, by mira)";

/// Answers requests line by line until the end of the input.
pub(super) fn serve() -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let Ok(request) = serde_json::from_str::<Value>(&line?) else { continue };
        // A message without an id is a notification and gets no reply.
        let Some(id) = request.get("id").filter(|id| !id.is_null()) else { continue };
        let reply = match answer_request(&request) {
            Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            Err(error) => json!({"jsonrpc": "2.0", "id": id, "error": error}),
        };
        writeln!(out, "{reply}")?;
        out.flush()?;
    }
    Ok(())
}

fn answer_request(request: &Value) -> Result<Value, Value> {
    match request.get("method").and_then(Value::as_str).unwrap_or_default() {
        "initialize" => {
            let requested = request.pointer("/params/protocolVersion").cloned();
            Ok(json!({
                "protocolVersion": requested.unwrap_or_else(|| json!("2025-06-18")),
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "issues", "version": env!("CARGO_PKG_VERSION")},
            }))
        }
        "tools/list" => {
            let schema = json!({"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]});
            Ok(
                json!({"tools": [{"name": "get", "description": "Get an issue by its number", "inputSchema": schema}]}),
            )
        }
        "tools/call" => {
            let found = request.pointer("/params/arguments/number") == Some(&json!(12));
            let text = if found { ISSUE } else { "issue not found" };
            Ok(json!({"content": [{"type": "text", "text": text}], "isError": !found}))
        }
        "ping" => Ok(json!({})),
        other => Err(json!({"code": -32601, "message": format!("unknown method `{other}`")})),
    }
}
