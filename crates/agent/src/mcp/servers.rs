// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The running servers of a configuration, and their tools by name.

use std::collections::BTreeMap;
use std::path::Path;

use futures_util::future::join_all;
use serde_json::Value;

use super::config::McpConfig;
use super::error::{McpError, McpErrorKind};
use super::server::{McpServer, McpTimeouts, McpToolResult};
use crate::CancelToken;
use crate::provider::ToolSpec;

/// The running servers. Dropping the set kills them all.
#[derive(Debug, Default)]
pub struct McpServerSet {
    servers: Vec<McpServer>,
    /// Server index and tool name on the server, by the name that the model sees.
    tools: BTreeMap<String, (usize, String)>,
}

impl McpServerSet {
    /// Starts all servers in parallel. A server that fails to start is reported and does not affect the other
    /// servers.
    pub async fn start(
        config: &McpConfig,
        dir: &Path,
        limits: McpTimeouts,
        cancel: &CancelToken,
    ) -> (Self, Vec<McpError>) {
        let starts = config.servers.iter();
        let starts = starts.map(|(name, spec)| McpServer::start(name, spec, dir, limits, cancel));
        let (mut servers, mut problems) = (Self::default(), config.problems.clone());
        for started in join_all(starts).await {
            match started {
                Ok(server) => servers.add(server, &mut problems),
                Err(problem) => problems.push(problem),
            }
        }
        (servers, problems)
    }

    fn add(&mut self, server: McpServer, problems: &mut Vec<McpError>) {
        let index = self.servers.len();
        for tool in server.tools() {
            let name = &tool.spec.name;
            if self.tools.contains_key(name) {
                let why = format!("duplicate tool name `{name}`; rename the server");
                problems.push(McpErrorKind::Config(why).for_server(server.name()));
                continue;
            }
            self.tools.insert(name.clone(), (index, tool.own_name.clone()));
        }
        self.servers.push(server);
    }

    /// Returns the specs of all tools, for the model.
    pub fn tools(&self) -> Vec<ToolSpec> {
        let tools = self.servers.iter().enumerate();
        let tools = tools.flat_map(|(index, server)| server.tools().iter().map(move |tool| (index, tool)));
        let is_listed = |(index, tool): &(usize, &super::ServerTool)| {
            self.tools.get(&tool.spec.name) == Some(&(*index, tool.own_name.clone()))
        };
        tools.filter(is_listed).map(|(_, tool)| tool.spec.clone()).collect()
    }

    /// Returns whether a server has a tool with this name.
    pub fn has_tool(&self, tool: &str) -> bool {
        self.tools.contains_key(tool)
    }

    /// Calls a tool by the name that the model sees.
    pub async fn call_tool(
        &self,
        tool: &str,
        args: &Value,
        cancel: &CancelToken,
    ) -> Result<McpToolResult, McpError> {
        let found = self.tools.get(tool).and_then(|(index, own)| Some((self.servers.get(*index)?, own)));
        if let Some((server, own_name)) = found {
            return server.call(own_name, args, cancel).await;
        }
        let server = tool.strip_prefix("mcp__").and_then(|rest| rest.split_once("__"));
        Err(McpErrorKind::NoTool(tool.to_owned()).for_server(server.map_or("", |(server, _)| server)))
    }

    /// Shuts all servers down.
    pub async fn close(self) {
        join_all(self.servers.into_iter().map(McpServer::close)).await;
    }
}
