// SPDX-License-Identifier: Apache-2.0 OR MIT

//! All servers of a configuration, and their tools by name.

use std::collections::BTreeMap;
use std::path::Path;

use futures_util::future::join_all;
use serde_json::Value;

use super::config::Config;
use super::error::{McpError, Why};
use super::server::{Limits, Server, Told};
use crate::Cancel;
use crate::provider::ToolSpec;

/// Servers that run. Dropping them ends them all.
#[derive(Debug, Default)]
pub struct Servers {
    servers: Vec<Server>,
    /// Where a tool is, by the name the model knows: which server, and the server's own name for it.
    tools: BTreeMap<String, (usize, String)>,
}

impl Servers {
    /// Starts them all side by side. One that cannot be started is told of, and keeps nobody else.
    pub async fn start(
        config: &Config,
        dir: &Path,
        limits: Limits,
        cancel: &Cancel,
    ) -> (Self, Vec<McpError>) {
        let starts = config.servers.iter();
        let starts = starts.map(|(name, spec)| Server::start(name, spec, dir, limits, cancel));
        let (mut servers, mut problems) = (Self::default(), config.problems.clone());
        for started in join_all(starts).await {
            match started {
                Ok(server) => servers.add(server, &mut problems),
                Err(problem) => problems.push(problem),
            }
        }
        (servers, problems)
    }

    fn add(&mut self, server: Server, problems: &mut Vec<McpError>) {
        let place = self.servers.len();
        for tool in server.tools() {
            let name = &tool.spec.name;
            if self.tools.contains_key(name) {
                let why = format!("there are two tools `{name}`; rename the server");
                problems.push(Why::Config(why).of(server.name()));
                continue;
            }
            self.tools.insert(name.clone(), (place, tool.own_name.clone()));
        }
        self.servers.push(server);
    }

    /// The tools, as a model is told about them.
    pub fn tools(&self) -> Vec<ToolSpec> {
        let tools = self.servers.iter().enumerate();
        let tools = tools.flat_map(|(place, server)| server.tools().iter().map(move |tool| (place, tool)));
        let told = |(place, tool): &(usize, &super::Tool)| {
            self.tools.get(&tool.spec.name) == Some(&(*place, tool.own_name.clone()))
        };
        tools.filter(told).map(|(_, tool)| tool.spec.clone()).collect()
    }

    /// Whether a tool of this name is here.
    pub fn has(&self, tool: &str) -> bool {
        self.tools.contains_key(tool)
    }

    /// Calls a tool by the name that the model knows.
    pub async fn call(&self, tool: &str, args: &Value, cancel: &Cancel) -> Result<Told, McpError> {
        let found = self.tools.get(tool).and_then(|(place, own)| Some((self.servers.get(*place)?, own)));
        if let Some((server, own_name)) = found {
            return server.call(own_name, args, cancel).await;
        }
        let server = tool.strip_prefix("mcp__").and_then(|rest| rest.split_once("__"));
        Err(Why::NoTool(tool.to_owned()).of(server.map_or("", |(server, _)| server)))
    }

    /// Ends them all in good order.
    pub async fn close(self) {
        join_all(self.servers.into_iter().map(Server::close)).await;
    }
}
