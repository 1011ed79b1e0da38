// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The calls a rule is tried on, as they are written.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};
use tenterhook_event::EventKind;

/// Calls and what the rule has to say about each.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a map with `deny`, `ask` or `allow`")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(default))]
pub(crate) struct Examples {
    /// Calls the rule must deny.
    pub(crate) deny: Vec<Example>,
    /// Calls the rule must ask about.
    pub(crate) ask: Vec<Example>,
    /// Calls the rule must let pass.
    pub(crate) allow: Vec<Example>,
}

/// One call: a text is a shell command, anything else names its tool.
#[derive(Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(untagged))]
pub(crate) enum Example {
    /// A shell command.
    Command(String),
    /// Any tool call.
    Call(Box<ExampleCall>),
}

/// A tool call in an example, or another event.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a map with `tool` and `args`")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(default))]
pub(crate) struct ExampleCall {
    /// The harness's name of the tool.
    pub(crate) tool: Option<String>,
    /// Its arguments.
    pub(crate) args: serde_json::Value,
    /// The kind of event. Default: `pre-tool`; `prompt` if there is one.
    pub(crate) event: Option<EventKind>,
    /// What the person asked.
    pub(crate) prompt: Option<String>,
    /// The harness. Default: `claude-code`.
    pub(crate) source: Option<String>,
    /// Whether the harness has a tool that types into running processes and fires no hook.
    pub(crate) unhooked_stdin: bool,
    /// Where the agent works. Default: `/home/user/project`, which is also the project.
    pub(crate) cwd: Option<String>,
    /// Labels the session carries.
    pub(crate) labels: Vec<String>,
    /// Who runs the agent.
    pub(crate) user: Option<String>,
    /// Their groups.
    pub(crate) groups: Vec<String>,
}

impl<'de> Deserialize<'de> for Example {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextOrCall;

        impl<'de> Visitor<'de> for TextOrCall {
            type Value = Example;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a shell command, or a map with `tool` and `args`")
            }

            fn visit_str<E>(self, text: &str) -> Result<Example, E> {
                Ok(Example::Command(text.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Example, A::Error> {
                let call = ExampleCall::deserialize(de::value::MapAccessDeserializer::new(map))?;
                if call.tool.is_none() && call.event.is_none() && call.prompt.is_none() {
                    return Err(de::Error::custom("an example names a `tool`, an `event` or a `prompt`"));
                }
                Ok(Example::Call(Box::new(call)))
            }
        }

        deserializer.deserialize_any(TextOrCall)
    }
}
