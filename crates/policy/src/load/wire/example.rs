// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Examples of a rule, as they are written in a rule file.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};
use tenterhook_event::EventKind;

/// Example calls, each with the verdict that the rule must have.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a map with `deny`, `ask` or `allow`")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(default, rename = "Examples"))]
pub(crate) struct RuleExamples {
    /// Calls that the rule must deny.
    pub(crate) deny: Vec<RuleExample>,
    /// Calls that the rule must ask about.
    pub(crate) ask: Vec<RuleExample>,
    /// Calls that the rule must not deny or ask about.
    pub(crate) allow: Vec<RuleExample>,
}

/// One call: a string is a shell command, a map names the tool.
#[derive(Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(untagged, rename = "Example"))]
pub(crate) enum RuleExample {
    /// A shell command.
    Command(String),
    /// Any tool call.
    Call(Box<ExampleCall>),
}

/// A tool call or another event in an example.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a map with `tool` and `args`")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(default))]
pub(crate) struct ExampleCall {
    /// Name of the tool in the harness.
    pub(crate) tool: Option<String>,
    /// Arguments of the tool.
    pub(crate) args: serde_json::Value,
    /// Kind of event. Default: `pre-tool`; `prompt` if a prompt is given.
    pub(crate) event: Option<EventKind>,
    /// The user's prompt.
    pub(crate) prompt: Option<String>,
    /// The harness. Default: `claude-code`.
    pub(crate) source: Option<String>,
    /// Whether the harness has a tool that types into running processes without firing a hook.
    pub(crate) unhooked_stdin: bool,
    /// Working directory of the agent. Default: `/home/user/project`, which is also the project.
    pub(crate) cwd: Option<String>,
    /// Labels of the session.
    pub(crate) labels: Vec<String>,
    /// Account that runs the agent.
    pub(crate) user: Option<String>,
    /// Groups of that account.
    pub(crate) groups: Vec<String>,
}

impl<'de> Deserialize<'de> for RuleExample {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextOrCall;

        impl<'de> Visitor<'de> for TextOrCall {
            type Value = RuleExample;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a shell command, or a map with `tool` and `args`")
            }

            fn visit_str<E>(self, text: &str) -> Result<RuleExample, E> {
                Ok(RuleExample::Command(text.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<RuleExample, A::Error> {
                let call = ExampleCall::deserialize(de::value::MapAccessDeserializer::new(map))?;
                if call.tool.is_none() && call.event.is_none() && call.prompt.is_none() {
                    return Err(de::Error::custom("an example needs a `tool`, an `event` or a `prompt`"));
                }
                Ok(RuleExample::Call(Box::new(call)))
            }
        }

        deserializer.deserialize_any(TextOrCall)
    }
}
