// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The variables of a condition, and how each is read from an event.

use std::borrow::Cow;
use std::collections::HashMap;

use cel::common::types::{
    CelBool, CelDouble, CelInt, CelList, CelMap, CelMapKey, CelNull, CelString, CelUInt,
};
use cel::common::value::Val;
use serde_json::Value;
use tenterhook_event::{Event, EventDetail, McpToolId, ToolCall, ToolCommand};

use crate::limits::{Budget, text_cost};

/// Every variable with its fields: what a condition may name.
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

/// Deepest JSON that is handed in whole.
const MAX_JSON_DEPTH: usize = 128;

/// A value of the expression language that borrows from the event.
pub(crate) type Boxed<'e> = Box<dyn Val + 'e>;

/// The way to one value: `tool`, `tool.class`, `tool.args.command`, …
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Path {
    variable: &'static str,
    fields: &'static [&'static str],
    rest: Vec<String>,
}

/// Something read from the event, not yet a value of the expression language.
enum Fact<'e> {
    Text(Cow<'e, str>),
    Flag(bool),
    Number(u64),
    Json(&'e Value),
    Texts(Vec<&'e str>),
    Mcp(&'e McpToolId),
}

// === impl Path ===

impl Path {
    /// A path that begins at a variable; none if there is no such variable.
    pub(crate) fn new(variable: &str, rest: Vec<String>) -> Option<Self> {
        let (variable, fields) = VARIABLES.iter().find(|(name, _)| *name == variable)?;
        Some(Self { variable, fields, rest })
    }

    /// The first field, if no event can have it.
    pub(crate) fn unknown_field(&self) -> Option<(&str, &'static [&'static str])> {
        let first = self.rest.first()?;
        (!self.fields.contains(&first.as_str())).then_some((first, self.fields))
    }

    /// Whether the event has a value here.
    pub(crate) fn is_in(&self, event: &Event) -> bool {
        self.rest.is_empty() || self.find(event).is_some()
    }

    /// The value, paid for from `budget`.
    pub(crate) fn read<'e>(&self, event: &'e Event, budget: &Budget) -> Option<Boxed<'e>> {
        if self.rest.is_empty() {
            let mut all = HashMap::with_capacity(self.fields.len());
            for name in self.fields {
                if let Some(found) = fact(event, self.variable, name) {
                    all.insert(key(name), found.into_val(budget)?);
                }
            }
            return Some(Box::new(CelMap::from(all)));
        }
        self.find(event)?.into_val(budget)
    }

    fn find<'e>(&self, event: &'e Event) -> Option<Fact<'e>> {
        let (first, rest) = self.rest.split_first()?;
        rest.iter().try_fold(fact(event, self.variable, first)?, |found, name| match found {
            Fact::Json(value) => value.as_object()?.get(name).map(Fact::Json),
            Fact::Mcp(mcp) => mcp_field(mcp, name).map(Fact::text),
            _ => None,
        })
    }
}

impl std::fmt::Display for Path {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.variable)?;
        self.rest.iter().try_for_each(|name| write!(f, ".{name}"))
    }
}

/// One field of one variable, if the event has it.
fn fact<'e>(event: &'e Event, variable: &str, name: &str) -> Option<Fact<'e>> {
    match variable {
        "event" => match name {
            "kind" => Some(Fact::text(event.event.name())),
            "native" => Some(Fact::text(&event.native_event)),
            "id" => Some(Fact::Text(event.id.to_string().into())),
            "ts" => Some(Fact::Text(event.ts.to_string().into())),
            "source" => Some(Fact::text(&event.source)),
            "session" => Fact::maybe(event.harness_session_id.as_deref()),
            "turn" => Fact::maybe(event.turn_id.as_deref()),
            "cwd" => Fact::maybe(event.cwd.as_deref()),
            "project" => Fact::maybe(event.project.as_deref()),
            _ => None,
        },
        "tool" if name == "use_id" => Fact::maybe(event.tool_use_id.as_deref()),
        "tool" => tool_fact(event.tool.as_ref()?, name),
        "agent" => Fact::maybe(match name {
            "model" => event.agent.model.as_deref(),
            "user" => event.agent.user.as_deref(),
            "id" => event.agent.id.as_deref(),
            "type" => event.agent.kind.as_deref(),
            "parent" => event.agent.parent.as_deref(),
            _ => None,
        }),
        "detail" => detail_fact(&event.detail, name),
        _ => None,
    }
}

fn tool_fact<'e>(tool: &'e ToolCall, name: &str) -> Option<Fact<'e>> {
    match name {
        "name" => Some(Fact::text(&tool.name)),
        "class" => Some(Fact::text(tool.class.name())),
        "args" => Some(Fact::Json(&tool.args)),
        "mcp" => tool.mcp.as_ref().map(Fact::Mcp),
        "command" => tool.commands().into_iter().next().map(|command| match command {
            ToolCommand::Text(text) => Fact::text(text),
            ToolCommand::Argv(words) => Fact::Text(words.join(" ").into()),
        }),
        "paths" => Some(Fact::Texts(tool.paths())),
        "urls" => Some(Fact::Texts(tool.urls())),
        _ => None,
    }
}

fn detail_fact<'e>(detail: &'e EventDetail, name: &str) -> Option<Fact<'e>> {
    match name {
        "prompt" => Fact::maybe(detail.prompt.as_deref()),
        "response" => Fact::maybe(detail.response.as_deref()),
        "cause" => Fact::maybe(detail.cause.as_deref()),
        "message" => Fact::maybe(detail.message.as_deref()),
        "error" => Fact::maybe(detail.error.as_deref()),
        "stop_hook_active" => detail.stop_hook_active.map(Fact::Flag),
        "tool_output" => detail.tool_output.as_ref().map(Fact::Json),
        "model_request" => detail.model_request.as_ref().map(Fact::Json),
        "model_response" => detail.model_response.as_ref().map(Fact::Json),
        "duration_ms" => detail.duration_ms.map(Fact::Number),
        _ => None,
    }
}

fn mcp_field<'e>(mcp: &'e McpToolId, name: &str) -> Option<&'e str> {
    match name {
        "server" => Some(&mcp.server),
        "tool" => Some(&mcp.tool),
        _ => None,
    }
}

// === impl Fact ===

impl<'e> Fact<'e> {
    fn text(text: &'e str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }

    fn maybe(text: Option<&'e str>) -> Option<Self> {
        text.map(Self::text)
    }

    fn into_val(self, budget: &Budget) -> Option<Boxed<'e>> {
        Some(match self {
            Self::Text(text) => {
                budget.spend(text_cost(text.len()))?;
                Box::new(CelString::from(text))
            }
            Self::Flag(flag) => Box::new(CelBool::from(flag)),
            Self::Number(number) => whole(number),
            Self::Json(value) => from_json(value, budget, MAX_JSON_DEPTH)?,
            Self::Texts(texts) => {
                let cost = texts.iter().map(|text| text_cost(text.len())).sum();
                budget.spend(cost)?;
                Box::new(CelList::from(texts.into_iter().map(borrowed).collect::<Vec<_>>()))
            }
            Self::Mcp(mcp) => {
                let fields = [("server", &mcp.server), ("tool", &mcp.tool)];
                let fields = fields.map(|(name, text)| (key(name), borrowed(text)));
                Box::new(CelMap::from(HashMap::from(fields)))
            }
        })
    }
}

/// Texts stay where they are: only the shape around them is built.
fn from_json<'e>(value: &'e Value, budget: &Budget, depth: usize) -> Option<Boxed<'e>> {
    let Some(depth) = depth.checked_sub(1) else {
        // Deeper than any parser of ours reads; spend everything so that it is reported.
        return budget.spend(usize::MAX).and(None);
    };
    budget.spend(value.as_str().map_or(1, |text| text_cost(text.len())))?;
    Some(match value {
        Value::Null => Box::new(CelNull),
        Value::Bool(flag) => Box::new(CelBool::from(*flag)),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => Box::new(CelInt::from(number)),
            (None, Some(number)) => whole(number),
            (None, None) => Box::new(CelDouble::from(number.as_f64()?)),
        },
        Value::String(text) => borrowed(text),
        Value::Array(items) => {
            let items = items.iter().map(|item| from_json(item, budget, depth));
            Box::new(CelList::from(items.collect::<Option<Vec<_>>>()?))
        }
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, item)| Some((key(name), from_json(item, budget, depth)?)));
            Box::new(CelMap::from(fields.collect::<Option<HashMap<_, _>>>()?))
        }
    })
}

fn borrowed(text: &str) -> Boxed<'_> {
    Box::new(CelString::from(text))
}

fn key(name: &str) -> CelMapKey<'_> {
    CelMapKey::String(CelString::from(name))
}

/// An `int` where it fits: that is what a number written in an expression is.
fn whole<'e>(number: u64) -> Boxed<'e> {
    match i64::try_from(number) {
        Ok(number) => Box::new(CelInt::from(number)),
        Err(_) => Box::new(CelUInt::from(number)),
    }
}
