// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Tools of other programs: MCP servers that are talked to over their standard input and output.
//!
//! [`Config`] says which there are, [`Servers`] runs them, and each of their tools has a name of the
//! form `mcp__server__tool`.

mod config;
mod error;
mod process;
mod rpc;
mod server;
mod servers;

pub use config::{Config, INHERITED, ServerSpec};
pub use error::{McpError, Why};
pub use server::{Limits, Server, Told, Tool};
pub use servers::Servers;

#[cfg(test)]
mod tests;
