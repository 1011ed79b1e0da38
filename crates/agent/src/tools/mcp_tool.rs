// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Makes the tools of MCP servers available to the agent.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::Value;

use super::{AgentTool, ToolContext, ToolFailure, ToolOutput, truncate_output};
use crate::mcp::McpServerSet;
use crate::provider::ToolSpec;

/// A tool of an MCP server.
struct McpTool {
    servers: Arc<McpServerSet>,
    spec: ToolSpec,
}

/// Returns all tools of these servers.
pub fn mcp_tools(servers: &Arc<McpServerSet>) -> Vec<Arc<dyn AgentTool>> {
    let tool = |spec| Arc::new(McpTool { servers: Arc::clone(servers), spec }) as Arc<dyn AgentTool>;
    servers.tools().into_iter().map(tool).collect()
}

impl AgentTool for McpTool {
    fn spec(&self) -> ToolSpec {
        self.spec.clone()
    }

    fn run<'a>(
        &'a self,
        args: &'a Value,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolFailure>> {
        Box::pin(async move {
            let result = self.servers.call_tool(&self.spec.name, args, &context.cancel).await;
            match result {
                Ok(result) if result.is_error => Err(ToolFailure::new(truncate_output(result.content))),
                Ok(result) => Ok(ToolOutput::text(truncate_output(result.content))),
                Err(error) => Err(ToolFailure::new(error.to_string())),
            }
        })
    }
}
