// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Starts the MCP servers listed in a file, for one session.

use std::path::Path;
use std::sync::Arc;

use tenterhook_agent::CancelToken;
use tenterhook_agent::mcp::{McpConfig, McpServerSet, McpTimeouts};
use tenterhook_agent::tools::{Toolbox, mcp_tools};

use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::{WARN, tame};

/// Starts the servers and adds their tools. A server that fails to start is reported; the others are still used.
pub(super) async fn add_servers(
    tools: &mut Toolbox,
    context: &Context,
    file: &Path,
    cwd: &Path,
    cancel: &CancelToken,
) -> Result<(), CommandError> {
    let text = fs_err::read_to_string(file).map_err(|error| CommandError::user(error.to_string()))?;
    let variable = |name: &str| context.env.all.get(name).cloned();
    let config = McpConfig::read(&text, &variable).map_err(|why| {
        CommandError::user(format!("invalid MCP configuration `{}`: {why}", file.display()))
            .hint("expected {\"mcpServers\": {\"name\": {\"command\": …, \"args\": […]}}}")
    })?;
    let (servers, problems) = McpServerSet::start(&config, cwd, McpTimeouts::default(), cancel).await;
    for problem in problems {
        context.terminal.eprint(&format!("{WARN}warning{WARN:#}: {}\n", tame(&problem.to_string())))?;
    }
    for tool in mcp_tools(&Arc::new(servers)) {
        tools.add(tool);
    }
    Ok(())
}
