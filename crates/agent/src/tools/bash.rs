// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use super::{
    AgentTool, ToolContext, ToolFailure, ToolOutput, arguments, command, tool_spec, truncate_output,
};
use crate::provider::ToolSpec;

/// Default timeout of a command.
const DEFAULT_TIMEOUT_MS: u64 = 120_000;
/// Maximum timeout that a command can set.
const MAX_TIMEOUT_MS: u64 = 600_000;

/// The `Bash` tool: runs a shell command.
pub(super) struct BashTool;

impl AgentTool for BashTool {
    fn spec(&self) -> ToolSpec {
        let about = "Runs a command with bash in the working directory. Background processes are killed when it exits.";
        let properties = json!({
            "command": {"type": "string", "description": "The command"},
            "timeout": {"type": "number", "description": "Timeout in milliseconds; default 120000, maximum 600000"},
            "description": {"type": "string", "description": "Purpose of the command in five words"},
        });
        tool_spec("Bash", about, &properties, &["command"])
    }

    fn run<'a>(
        &'a self,
        args: &'a Value,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolFailure>> {
        Box::pin(run(args, context))
    }
}

async fn run(args: &Value, context: &ToolContext) -> Result<ToolOutput, ToolFailure> {
    let command = arguments::required_text(args, "command")?;
    let limit =
        arguments::optional_number(args, "timeout")?.unwrap_or(DEFAULT_TIMEOUT_MS).clamp(1, MAX_TIMEOUT_MS);
    let ran =
        command::run_command(&["bash", "-c", command], &context.cwd, Duration::from_millis(limit)).await;
    let ran = ran.map_err(|error| ToolFailure::new(format!("cannot start bash: {error}")))?;
    let Some(ran) = ran else {
        return Err(ToolFailure::new(format!("timed out after {limit} ms; the command was killed")));
    };
    let text = truncate_output(ran.output);
    match ran.code {
        Some(0) => Ok(ToolOutput { text, exit_code: Some(0) }),
        code => {
            let how =
                code.map_or_else(|| "killed by a signal".to_owned(), |code| format!("exit code {code}"));
            let message = if text.trim().is_empty() { how } else { format!("{how}\n{text}") };
            Err(ToolFailure { message, exit_code: code })
        }
    }
}
