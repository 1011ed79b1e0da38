// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What the agent can do. One file each; [`Toolbox`] is all of them.

mod args;
mod bash;
mod edit;
mod glob;
mod grep;
mod mcp;
mod process;
mod read;
pub(crate) mod task;
mod todo;
mod walk;
mod write;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::Value;

pub use mcp::of_servers;
pub use task::SubagentKind;

use crate::Cancel;
use crate::provider::ToolSpec;

/// A tool. It is only run once its call was told and nobody objected.
pub trait Tool: Send + Sync {
    /// What the model is told about it.
    fn spec(&self) -> ToolSpec;

    /// Runs it. It is dropped when the person says stop: nothing of it may be left behind then.
    fn run<'a>(&'a self, args: &'a Value, around: &'a Around) -> BoxFuture<'a, Result<Output, ToolFailed>>;
}

/// What a tool works in.
#[derive(Debug, Clone)]
pub struct Around {
    /// Where paths start.
    pub cwd: PathBuf,
    /// Says when to stop.
    pub cancel: Cancel,
}

/// What a tool returned.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Output {
    /// What the model reads.
    pub text: String,
    /// How it ended, if it is a program.
    pub exit_code: Option<i32>,
}

/// A tool that did not do what it was to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ToolFailed {
    /// What the model reads.
    pub message: String,
    /// How it ended, if it is a program.
    pub exit_code: Option<i32>,
}

/// Every tool of an agent, in the order in which the model is told about them.
#[derive(Clone, Default)]
pub struct Toolbox {
    tools: Vec<Arc<dyn Tool>>,
}

// === impl Toolbox ===

impl Toolbox {
    /// No tools.
    pub fn empty() -> Self {
        Self::default()
    }

    /// The agent's own tools. [`task`](SubagentKind) is not among them: it belongs to the session.
    pub fn own() -> Self {
        let tools: [Arc<dyn Tool>; 7] = [
            Arc::new(bash::Bash),
            Arc::new(read::Read),
            Arc::new(write::Write),
            Arc::new(edit::Edit),
            Arc::new(glob::Glob),
            Arc::new(grep::Grep),
            Arc::new(todo::TodoWrite),
        ];
        Self { tools: tools.into() }
    }

    /// Adds a tool; one of the same name gives way.
    pub fn add(&mut self, tool: Arc<dyn Tool>) {
        let name = tool.spec().name;
        self.tools.retain(|known| known.spec().name != name);
        self.tools.push(tool);
    }

    /// Keeps the tools with these names.
    pub fn keep(&mut self, names: &[String]) {
        self.tools.retain(|tool| names.contains(&tool.spec().name));
    }

    /// What the model is told.
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.tools.iter().map(|tool| tool.spec()).collect()
    }

    /// The tool of this name.
    pub fn find(&self, name: &str) -> Option<Arc<dyn Tool>> {
        self.tools.iter().find(|tool| tool.spec().name == name).cloned()
    }
}

// === impl Output ===

impl Output {
    /// Words.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), exit_code: None }
    }
}

// === impl ToolFailed ===

impl ToolFailed {
    /// Why.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), exit_code: None }
    }

    /// A file that cannot be worked with.
    fn file(path: &Path, error: &std::io::Error) -> Self {
        Self::new(format!("`{}`: {error}", path.display()))
    }
}

/// A spec from its parts; the properties are JSON.
fn spec(name: &str, description: &str, properties: &Value, required: &[&str]) -> ToolSpec {
    let schema = serde_json::json!({"type": "object", "properties": properties, "required": required});
    ToolSpec { name: name.to_owned(), description: description.to_owned(), schema }
}

/// The longest text that a tool gives the model, in letters.
const LONGEST: usize = 30_000;

/// A text no longer than that, which says so when it was cut.
fn bounded(text: String) -> String {
    if text.len() <= LONGEST || text.chars().count() <= LONGEST {
        return text;
    }
    let left = text.chars().count() - LONGEST;
    let kept: String = text.chars().take(LONGEST).collect();
    format!("{kept}\n… {left} more letters were left out")
}
