// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Why a server, or one of its tools, cannot be used.

use std::time::Duration;

/// What went wrong, and with which server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("MCP server `{server}`: {why}")]
pub struct McpError {
    /// The server, as the configuration names it.
    pub server: String,
    /// What went wrong.
    pub why: Why,
}

/// What went wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    /// Its entry in the configuration cannot be used.
    #[error("{0}")]
    Config(String),
    /// It could not be started.
    #[error("`{command}` could not be started: {error}")]
    Start {
        /// The program.
        command: String,
        /// What the system says.
        error: String,
    },
    /// It is gone.
    #[error("it ended ({how}) before it answered `{method}`{said}")]
    Died {
        /// What it was asked.
        method: String,
        /// How it ended, as far as known.
        how: String,
        /// Its last words, with an introduction; empty if there are none.
        said: String,
    },
    /// It did not answer in time.
    #[error("no answer to `{method}` within {limit:?}{said}")]
    TimedOut {
        /// What it was asked.
        method: String,
        /// How long it was waited for.
        limit: Duration,
        /// Its last words, with an introduction; empty if there are none.
        said: String,
    },
    /// It answered with an error.
    #[error("it refused `{method}`: {message} (code {code})")]
    Refused {
        /// What it was asked.
        method: String,
        /// The code of the error.
        code: i64,
        /// What it says.
        message: String,
    },
    /// Its answer is not what the protocol says.
    #[error("its answer to `{method}` cannot be used: {what}")]
    Unreadable {
        /// What it was asked.
        method: String,
        /// What is wrong.
        what: String,
    },
    /// It has no such tool.
    #[error("it has no tool `{0}`")]
    NoTool(String),
    /// The person said stop.
    #[error("cancelled")]
    Cancelled,
}

impl Why {
    /// With the server it happened to.
    pub(super) fn of(self, server: &str) -> McpError {
        McpError { server: server.to_owned(), why: self }
    }
}
