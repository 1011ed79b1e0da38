// SPDX-License-Identifier: Apache-2.0 OR MIT

//! MCP client for servers that communicate over standard input and output.
//!
//! [`McpConfig`] lists the servers and [`McpServerSet`] runs them. The model sees their tools under names of the form
//! `mcp__server__tool`.

mod config;
mod error;
mod rpc;
mod server;
mod server_process;
mod servers;

pub use config::{INHERITED_VARIABLES, McpConfig, McpServerSpec};
pub use error::{McpError, McpErrorKind};
pub use server::{McpServer, McpTimeouts, McpToolResult, ServerTool};
pub use servers::McpServerSet;

#[cfg(test)]
mod tests;
