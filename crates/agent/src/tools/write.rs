// SPDX-License-Identifier: Apache-2.0 OR MIT

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use super::{AgentTool, ToolContext, ToolFailure, ToolOutput, arguments, tool_spec};
use crate::provider::ToolSpec;

/// The `Write` tool: writes a whole file.
pub(super) struct WriteTool;

impl AgentTool for WriteTool {
    fn spec(&self) -> ToolSpec {
        let properties = json!({
            "file_path": {"type": "string", "description": "Path of the file"},
            "content": {"type": "string", "description": "Complete new content"},
        });
        tool_spec(
            "Write",
            "Writes a file. Replaces an existing file.",
            &properties,
            &["file_path", "content"],
        )
    }

    fn run<'a>(
        &'a self,
        args: &'a Value,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolFailure>> {
        Box::pin(std::future::ready(run(args, context)))
    }
}

fn run(args: &Value, context: &ToolContext) -> Result<ToolOutput, ToolFailure> {
    let path = arguments::required_path(args, "file_path", context)?;
    let content = arguments::required_text(args, "content")?;
    let failed = |error: std::io::Error| ToolFailure::file(&path, &error);
    if let Some(dir) = path.parent() {
        std::fs::create_dir_all(dir).map_err(failed)?;
    }
    let existed = path.exists();
    std::fs::write(&path, content).map_err(failed)?;
    let done = if existed { "replaced" } else { "created" };
    Ok(ToolOutput::text(format!("{done} `{}`: {} lines", path.display(), content.lines().count())))
}
