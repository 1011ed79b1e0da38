// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Defines the variables of a condition and how each is read from an event.

use std::borrow::Cow;
use std::collections::HashMap;

use cel::common::types::{
    CelBool, CelDouble, CelInt, CelList, CelMap, CelMapKey, CelNull, CelString, CelUInt,
};
use cel::common::value::Val;
use serde_json::Value;
use tenterhook_event::{Event, EventDetail, McpToolId, ToolCall, ToolCommand};

use crate::limits::{Budget, text_cost};

/// All variables with their fields.
pub const VARIABLES: &[(&str, &[&str])] = &[
    ("event", &["kind", "native", "id", "ts", "source", "session", "turn", "cwd", "project"]),
    ("tool", &["name", "class", "args", "mcp", "use_id", "command", "paths", "urls"]),
    ("agent", &["model", "user", "id", "type", "parent"]),
    (
        "detail",
        &[
            "prompt",
            "response",
            "cause",
            "message",
            "error",
            "stop_hook_active",
            "tool_output",
            "model_request",
            "model_response",
            "duration_ms",
        ],
    ),
];

/// Maximum depth of JSON that is converted as a whole.
const MAX_JSON_DEPTH: usize = 128;

/// A value of the expression language that borrows from the event.
pub(crate) type BoxedValue<'e> = Box<dyn Val + 'e>;

/// A path to one value: `tool`, `tool.class`, `tool.args.command`, …
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EventPath {
    variable: &'static str,
    fields: &'static [&'static str],
    rest: Vec<String>,
}

/// A value of the event, not yet converted to the expression language.
enum EventValue<'e> {
    Text(Cow<'e, str>),
    Flag(bool),
    Number(u64),
    Json(&'e Value),
    Texts(Vec<&'e str>),
    Mcp(&'e McpToolId),
}

// === impl EventPath ===

impl EventPath {
    /// Creates a path that begins at a variable; `None` if there is no such variable.
    pub(crate) fn new(variable: &str, rest: Vec<String>) -> Option<Self> {
        let (variable, fields) = VARIABLES.iter().find(|(name, _)| *name == variable)?;
        Some(Self { variable, fields, rest })
    }

    /// Returns the first field of the path and the known fields, if the variable has no such field.
    pub(crate) fn unknown_field(&self) -> Option<(&str, &'static [&'static str])> {
        let first = self.rest.first()?;
        (!self.fields.contains(&first.as_str())).then_some((first, self.fields))
    }

    /// Whether the event has a value here.
    pub(crate) fn is_in(&self, event: &Event) -> bool {
        self.rest.is_empty() || self.find(event).is_some()
    }

    /// Reads the value and charges its cost to `budget`.
    pub(crate) fn read<'e>(&self, event: &'e Event, budget: &Budget) -> Option<BoxedValue<'e>> {
        if self.rest.is_empty() {
            let mut all = HashMap::with_capacity(self.fields.len());
            for name in self.fields {
                if let Some(found) = read_field(event, self.variable, name) {
                    all.insert(map_key(name), found.into_val(budget)?);
                }
            }
            return Some(Box::new(CelMap::from(all)));
        }
        self.find(event)?.into_val(budget)
    }

    fn find<'e>(&self, event: &'e Event) -> Option<EventValue<'e>> {
        let (first, rest) = self.rest.split_first()?;
        rest.iter().try_fold(read_field(event, self.variable, first)?, |found, name| match found {
            EventValue::Json(value) => value.as_object()?.get(name).map(EventValue::Json),
            EventValue::Mcp(mcp) => read_mcp_field(mcp, name).map(EventValue::text),
            _ => None,
        })
    }
}

impl std::fmt::Display for EventPath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.variable)?;
        self.rest.iter().try_for_each(|name| write!(f, ".{name}"))
    }
}

/// Reads one field of a variable, if the event has it.
fn read_field<'e>(event: &'e Event, variable: &str, name: &str) -> Option<EventValue<'e>> {
    match variable {
        "event" => match name {
            "kind" => Some(EventValue::text(event.event.name())),
            "native" => Some(EventValue::text(&event.native_event)),
            "id" => Some(EventValue::Text(event.id.to_string().into())),
            "ts" => Some(EventValue::Text(event.ts.to_string().into())),
            "source" => Some(EventValue::text(&event.source)),
            "session" => EventValue::maybe(event.harness_session_id.as_deref()),
            "turn" => EventValue::maybe(event.turn_id.as_deref()),
            "cwd" => EventValue::maybe(event.cwd.as_deref()),
            "project" => EventValue::maybe(event.project.as_deref()),
            _ => None,
        },
        "tool" if name == "use_id" => EventValue::maybe(event.tool_use_id.as_deref()),
        "tool" => read_tool_field(event.tool.as_ref()?, name),
        "agent" => EventValue::maybe(match name {
            "model" => event.agent.model.as_deref(),
            "user" => event.agent.user.as_deref(),
            "id" => event.agent.id.as_deref(),
            "type" => event.agent.kind.as_deref(),
            "parent" => event.agent.parent.as_deref(),
            _ => None,
        }),
        "detail" => read_detail_field(&event.detail, name),
        _ => None,
    }
}

fn read_tool_field<'e>(tool: &'e ToolCall, name: &str) -> Option<EventValue<'e>> {
    match name {
        "name" => Some(EventValue::text(&tool.name)),
        "class" => Some(EventValue::text(tool.class.name())),
        "args" => Some(EventValue::Json(&tool.args)),
        "mcp" => tool.mcp.as_ref().map(EventValue::Mcp),
        "command" => tool.commands().into_iter().next().map(|command| match command {
            ToolCommand::Text(text) => EventValue::text(text),
            ToolCommand::Argv(words) => EventValue::Text(words.join(" ").into()),
        }),
        "paths" => Some(EventValue::Texts(tool.paths())),
        "urls" => Some(EventValue::Texts(tool.urls())),
        _ => None,
    }
}

fn read_detail_field<'e>(detail: &'e EventDetail, name: &str) -> Option<EventValue<'e>> {
    match name {
        "prompt" => EventValue::maybe(detail.prompt.as_deref()),
        "response" => EventValue::maybe(detail.response.as_deref()),
        "cause" => EventValue::maybe(detail.cause.as_deref()),
        "message" => EventValue::maybe(detail.message.as_deref()),
        "error" => EventValue::maybe(detail.error.as_deref()),
        "stop_hook_active" => detail.stop_hook_active.map(EventValue::Flag),
        "tool_output" => detail.tool_output.as_ref().map(EventValue::Json),
        "model_request" => detail.model_request.as_ref().map(EventValue::Json),
        "model_response" => detail.model_response.as_ref().map(EventValue::Json),
        "duration_ms" => detail.duration_ms.map(EventValue::Number),
        _ => None,
    }
}

fn read_mcp_field<'e>(mcp: &'e McpToolId, name: &str) -> Option<&'e str> {
    match name {
        "server" => Some(&mcp.server),
        "tool" => Some(&mcp.tool),
        _ => None,
    }
}

// === impl EventValue ===

impl<'e> EventValue<'e> {
    fn text(text: &'e str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }

    fn maybe(text: Option<&'e str>) -> Option<Self> {
        text.map(Self::text)
    }

    fn into_val(self, budget: &Budget) -> Option<BoxedValue<'e>> {
        Some(match self {
            Self::Text(text) => {
                budget.spend(text_cost(text.len()))?;
                Box::new(CelString::from(text))
            }
            Self::Flag(flag) => Box::new(CelBool::from(flag)),
            Self::Number(number) => unsigned(number),
            Self::Json(value) => from_json(value, budget, MAX_JSON_DEPTH)?,
            Self::Texts(texts) => {
                let cost = texts.iter().map(|text| text_cost(text.len())).sum();
                budget.spend(cost)?;
                Box::new(CelList::from(texts.into_iter().map(borrowed_text).collect::<Vec<_>>()))
            }
            Self::Mcp(mcp) => {
                let fields = [("server", &mcp.server), ("tool", &mcp.tool)];
                let fields = fields.map(|(name, text)| (map_key(name), borrowed_text(text)));
                Box::new(CelMap::from(HashMap::from(fields)))
            }
        })
    }
}

/// Converts JSON. Strings are borrowed; only maps and lists are built.
fn from_json<'e>(value: &'e Value, budget: &Budget, depth: usize) -> Option<BoxedValue<'e>> {
    let Some(depth) = depth.checked_sub(1) else {
        // No parser produces JSON of this depth. The whole budget is spent, so that an error is reported.
        return budget.spend(usize::MAX).and(None);
    };
    budget.spend(value.as_str().map_or(1, |text| text_cost(text.len())))?;
    Some(match value {
        Value::Null => Box::new(CelNull),
        Value::Bool(flag) => Box::new(CelBool::from(*flag)),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => Box::new(CelInt::from(number)),
            (None, Some(number)) => unsigned(number),
            (None, None) => Box::new(CelDouble::from(number.as_f64()?)),
        },
        Value::String(text) => borrowed_text(text),
        Value::Array(items) => {
            let items = items.iter().map(|item| from_json(item, budget, depth));
            Box::new(CelList::from(items.collect::<Option<Vec<_>>>()?))
        }
        Value::Object(fields) => {
            let fields =
                fields.iter().map(|(name, item)| Some((map_key(name), from_json(item, budget, depth)?)));
            Box::new(CelMap::from(fields.collect::<Option<HashMap<_, _>>>()?))
        }
    })
}

fn borrowed_text(text: &str) -> BoxedValue<'_> {
    Box::new(CelString::from(text))
}

fn map_key(name: &str) -> CelMapKey<'_> {
    CelMapKey::String(CelString::from(name))
}

/// Converts to an `int` if possible, because number literals in expressions are of this type.
fn unsigned<'e>(number: u64) -> BoxedValue<'e> {
    match i64::try_from(number) {
        Ok(number) => Box::new(CelInt::from(number)),
        Err(_) => Box::new(CelUInt::from(number)),
    }
}
