// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Errors of MCP servers.

use std::time::Duration;

/// An error caused by one MCP server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("MCP server `{server}`: {kind}")]
pub struct McpError {
    /// Name of the server in the configuration.
    pub server: String,
    /// Kind and details of the error.
    pub kind: McpErrorKind,
}

/// Kind of an [`McpError`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum McpErrorKind {
    /// The configuration entry is invalid.
    #[error("{0}")]
    Config(String),
    /// The program could not be started.
    #[error("cannot start `{command}`: {error}")]
    Start {
        /// Program of the server.
        command: String,
        /// Error reported by the operating system.
        error: String,
    },
    /// The server exited before it replied.
    #[error("server exited ({how}) before it replied to `{method}`{stderr}")]
    Died {
        /// Method of the request.
        method: String,
        /// Exit status, if it is known.
        how: String,
        /// End of the server's error output, formatted as a suffix of the message; may be empty.
        stderr: String,
    },
    /// The server did not reply in time.
    #[error("no reply to `{method}` within {limit:?}{stderr}")]
    TimedOut {
        /// Method of the request.
        method: String,
        /// Timeout of the request.
        limit: Duration,
        /// End of the server's error output, formatted as a suffix of the message; may be empty.
        stderr: String,
    },
    /// The server replied with an error.
    #[error("server refused `{method}`: {message} (code {code})")]
    Refused {
        /// Method of the request.
        method: String,
        /// JSON-RPC error code.
        code: i64,
        /// Error message from the server.
        message: String,
    },
    /// The reply violates the protocol.
    #[error("invalid reply to `{method}`: {what}")]
    Unreadable {
        /// Method of the request.
        method: String,
        /// How the reply violates the protocol.
        what: String,
    },
    /// The server has no tool with this name.
    #[error("unknown tool `{0}`")]
    NoTool(String),
    /// The request was cancelled.
    #[error("cancelled")]
    Cancelled,
}

impl McpErrorKind {
    /// Turns this kind into an error of the named server.
    pub(super) fn for_server(self, server: &str) -> McpError {
        McpError { server: server.to_owned(), kind: self }
    }
}
