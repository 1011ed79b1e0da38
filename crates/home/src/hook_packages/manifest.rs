// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The manifest of a hook package.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tenterhook_api::{HookPackageManifest, HookSample};
use tenterhook_document::{Problem, parse, read};
use tenterhook_event::{AgentIdentity, Event, EventDetail, ToolCall};

use crate::call_meta;
use tenterhook_error::Failure;

/// The `hook.yaml` of a hook package.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Purpose of the package, in a few words.
    pub title: String,
    /// Purpose of the package, in a few sentences.
    pub about: String,
    /// Language of its programs: `shell`, `python`, `javascript`, `config`.
    pub language: String,
    /// Search terms of the package.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Programs that must be installed.
    #[serde(default)]
    pub needs: Vec<String>,
    /// Hook entries, as in `tenterhook.yaml`.
    pub hooks: Value,
    /// Events to test the hooks with, and the expected results.
    #[serde(default)]
    pub samples: Vec<HookSample>,
}

impl Manifest {
    /// Parses the text of a `hook.yaml`. `name` is the file's name in messages.
    pub fn read(name: &str, text: &str) -> Result<Self, Box<Problem>> {
        let misfit = |spot, message| Box::new(Problem::new(name, spot, message));
        let tree = parse(text).map_err(|(spot, message)| misfit(spot, message))?;
        read(&tree).map_err(|found| misfit(found.spot, found.message))
    }
}

impl From<Manifest> for HookPackageManifest {
    fn from(manifest: Manifest) -> Self {
        let Manifest { title, about, language, tags, needs, hooks, samples } = manifest;
        let hooks = match hooks {
            Value::Array(hooks) => hooks,
            other => vec![other],
        };
        Self { title, about, language, tags, needs, hooks, samples }
    }
}

/// Creates the event that a sample describes.
pub fn sample_event(sample: &HookSample) -> Result<Event, Failure> {
    let meta = call_meta::mint()?;
    let mut event = Event::new(meta.id, meta.ts, "sample", sample.event, sample.event.name());
    event.harness_session_id = Some("sample".to_owned());
    (event.cwd, event.project) = (sample.cwd.clone(), sample.cwd.clone());
    event.tool = sample.tool.as_ref().map(|tool| ToolCall::new(&tool.name, tool.args.clone()));
    event.agent = AgentIdentity { model: sample.model.clone(), ..AgentIdentity::default() };
    if !sample.detail.is_null() {
        event.detail = serde_json::from_value::<EventDetail>(sample.detail.clone())
            .map_err(|error| Failure::user(format!("`detail` of a sample: {error}")))?;
    }
    Ok(event)
}
