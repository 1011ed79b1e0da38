// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The agent's tools, one per file. [`Toolbox`] contains them.

mod arguments;
mod bash;
mod command;
mod edit;
mod glob;
mod grep;
mod mcp_tool;
mod read;
pub(crate) mod task;
mod todo;
mod walk;
mod write;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::Value;

pub use mcp_tool::mcp_tools;
pub use task::SubagentKind;

use crate::CancelToken;
use crate::provider::ToolSpec;

/// A tool of the agent. The session runs a tool only after hooks and rules have let the call through.
pub trait AgentTool: Send + Sync {
    /// Returns the name, description and schema for the model.
    fn spec(&self) -> ToolSpec;

    /// Runs the tool. The future is dropped when the turn is cancelled, and must then leave nothing running.
    fn run<'a>(
        &'a self,
        args: &'a Value,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolFailure>>;
}

/// Environment of a tool call.
#[derive(Debug, Clone)]
pub struct ToolContext {
    /// Working directory, against which relative paths are resolved.
    pub cwd: PathBuf,
    /// Cancels the tool call.
    pub cancel: CancelToken,
}

/// Output of a successful tool call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolOutput {
    /// Text for the model.
    pub text: String,
    /// Exit code, if the tool ran a program.
    pub exit_code: Option<i32>,
}

/// A failed tool call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ToolFailure {
    /// Error message for the model.
    pub message: String,
    /// Exit code, if the tool ran a program.
    pub exit_code: Option<i32>,
}

/// The tools of an agent, in the order in which the model sees them.
#[derive(Clone, Default)]
pub struct Toolbox {
    tools: Vec<Arc<dyn AgentTool>>,
}

// === impl Toolbox ===

impl Toolbox {
    /// Creates a toolbox without tools.
    pub fn empty() -> Self {
        Self::default()
    }

    /// Creates a toolbox with the built-in tools, except `Task`, which the session adds.
    pub fn builtin() -> Self {
        let tools: [Arc<dyn AgentTool>; 7] = [
            Arc::new(bash::BashTool),
            Arc::new(read::ReadTool),
            Arc::new(write::WriteTool),
            Arc::new(edit::EditTool),
            Arc::new(glob::GlobTool),
            Arc::new(grep::GrepTool),
            Arc::new(todo::TodoTool),
        ];
        Self { tools: tools.into() }
    }

    /// Adds a tool, replacing any tool with the same name.
    pub fn add(&mut self, tool: Arc<dyn AgentTool>) {
        let name = tool.spec().name;
        self.tools.retain(|known| known.spec().name != name);
        self.tools.push(tool);
    }

    /// Removes all tools except those with these names.
    pub fn retain_named(&mut self, names: &[String]) {
        self.tools.retain(|tool| names.contains(&tool.spec().name));
    }

    /// Returns the specs of all tools, for the model.
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.tools.iter().map(|tool| tool.spec()).collect()
    }

    /// Finds a tool by name.
    pub fn find(&self, name: &str) -> Option<Arc<dyn AgentTool>> {
        self.tools.iter().find(|tool| tool.spec().name == name).cloned()
    }
}

// === impl ToolOutput ===

impl ToolOutput {
    /// Creates an output without an exit code.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), exit_code: None }
    }
}

// === impl ToolFailure ===

impl ToolFailure {
    /// Creates a failure without an exit code.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), exit_code: None }
    }

    /// Creates a failure for an I/O error on a file.
    fn file(path: &Path, error: &std::io::Error) -> Self {
        Self::new(format!("`{}`: {error}", path.display()))
    }
}

/// Builds a tool spec. `properties` are the properties in the arguments' JSON Schema.
fn tool_spec(name: &str, description: &str, properties: &Value, required: &[&str]) -> ToolSpec {
    let schema = serde_json::json!({"type": "object", "properties": properties, "required": required});
    ToolSpec { name: name.to_owned(), description: description.to_owned(), schema }
}

/// Maximum length of a tool's output, in characters.
const MAX_OUTPUT_CHARS: usize = 30_000;

/// Truncates a string to [`MAX_OUTPUT_CHARS`] and appends how much was cut off.
fn truncate_output(text: String) -> String {
    if text.len() <= MAX_OUTPUT_CHARS || text.chars().count() <= MAX_OUTPUT_CHARS {
        return text;
    }
    let left = text.chars().count() - MAX_OUTPUT_CHARS;
    let kept: String = text.chars().take(MAX_OUTPUT_CHARS).collect();
    format!("{kept}\n… {left} more characters were left out")
}
