// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Tools of MCP servers among the others.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::Value;

use super::{Around, Output, Tool, ToolFailed, bounded};
use crate::mcp::Servers;
use crate::provider::ToolSpec;

/// One tool of a server.
struct McpTool {
    servers: Arc<Servers>,
    spec: ToolSpec,
}

/// Every tool of these servers.
pub fn of_servers(servers: &Arc<Servers>) -> Vec<Arc<dyn Tool>> {
    let tool = |spec| Arc::new(McpTool { servers: Arc::clone(servers), spec }) as Arc<dyn Tool>;
    servers.tools().into_iter().map(tool).collect()
}

impl Tool for McpTool {
    fn spec(&self) -> ToolSpec {
        self.spec.clone()
    }

    fn run<'a>(&'a self, args: &'a Value, around: &'a Around) -> BoxFuture<'a, Result<Output, ToolFailed>> {
        Box::pin(async move {
            let told = self.servers.call(&self.spec.name, args, &around.cancel).await;
            match told {
                Ok(told) if told.is_error => Err(ToolFailed::new(bounded(told.content))),
                Ok(told) => Ok(Output::text(bounded(told.content))),
                Err(error) => Err(ToolFailed::new(error.to_string())),
            }
        })
    }
}
