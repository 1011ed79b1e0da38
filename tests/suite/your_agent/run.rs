// SPDX-License-Identifier: Apache-2.0 OR MIT

use serde_json::{Value, json};
use tenterhook_client::{Client, Error, FiredEvent};

async fn run(
    client: &Client,
    tool: &str,
    args: Value,
    execute: impl Fn(&Value) -> String,
) -> Result<String, Error> {
    let fire = |event: &str, what: Value| FiredEvent::new(event, &what).session("s-1").source("my-agent");
    let said = client.fire(fire("PreToolUse", json!({"tool": tool, "args": args}))).await?;
    if said.blocked {
        return Ok(format!("not done: {}", said.reason.unwrap_or_default()));
    }
    let args = said.modified.and_then(|changed| changed.get("args").cloned()).unwrap_or(args);
    let output = execute(&args);
    let result = json!({"success": true, "output": output});
    client.fire(fire("PostToolUse", json!({"tool": tool, "args": args, "result": result}))).await?;
    Ok(output)
}
