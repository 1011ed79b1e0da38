// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What a kit says about itself.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tenterhook_document::{Problem, parse, read};
use tenterhook_event::{Agent, Decision, Detail, Event, EventKind, ToolCall};

use crate::Failure;
use crate::door;

/// The `hook.yaml` of a kit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// What it does, in a few words.
    pub title: String,
    /// What it does, in a few sentences.
    pub about: String,
    /// What it is written in: `shell`, `python`, `javascript`, `config`.
    pub language: String,
    /// Words to find it by.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Programs that have to be there.
    #[serde(default)]
    pub needs: Vec<String>,
    /// The entries, as in `tenterhook.yaml`.
    pub hooks: Value,
    /// Events to try it with, and what it should make of them.
    #[serde(default)]
    pub samples: Vec<Sample>,
}

/// An event to try a hook with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sample {
    /// What it shows.
    #[serde(default)]
    pub title: String,
    /// The kind of event.
    pub event: EventKind,
    /// The tool's name and arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<SampleTool>,
    /// What else the event carries.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub detail: Value,
    /// Where the agent works.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What the hook should decide.
    #[serde(default)]
    pub expect: Decision,
    /// The arguments it should make of them, if it changes some.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub input: Value,
}

/// A tool call of a sample.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SampleTool {
    name: String,
    #[serde(default)]
    args: Value,
}

impl Manifest {
    /// Reads the text of a `hook.yaml`.
    pub fn read(name: &str, text: &str) -> Result<Self, Box<Problem>> {
        let misfit = |spot, message| Box::new(Problem::new(name, spot, message));
        let tree = parse(text).map_err(|(spot, message)| misfit(spot, message))?;
        read(&tree).map_err(|found| misfit(found.spot, found.message))
    }
}

impl Sample {
    /// The event it stands for.
    pub fn event(&self) -> Result<Event, Failure> {
        let door = door::mint()?;
        let mut event = Event::new(door.id, door.ts, "sample", self.event, self.event.name());
        event.harness_session_id = Some("sample".to_owned());
        (event.cwd, event.project) = (self.cwd.clone(), self.cwd.clone());
        event.tool = self.tool.as_ref().map(|tool| ToolCall::new(&tool.name, tool.args.clone()));
        event.agent = Agent { model: self.model.clone(), ..Agent::default() };
        if !self.detail.is_null() {
            event.detail = serde_json::from_value::<Detail>(self.detail.clone())
                .map_err(|error| Failure::unusable(format!("`detail` of a sample: {error}")))?;
        }
        Ok(event)
    }
}
