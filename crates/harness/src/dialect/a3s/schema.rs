// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What each event of the hook design carries, and what of it a hook may change. The design leaves some
//! of them open; `docs/spec/sdk-events.md` says the same for people.

use serde_json::{Map, Value};
use tenterhook_event::EventKind as Kind;

/// One event of the design.
#[derive(Debug)]
pub struct EventShape {
    /// What we call it.
    pub kind: Kind,
    /// What the design calls it, or would.
    pub name: &'static str,
    /// What it carries, beside what every event does.
    pub fields: &'static [Field],
    /// What a hook may change.
    pub modified: &'static [Field],
}

/// One field.
#[derive(Debug)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub shape: Shape,
    /// Whether it is always there.
    pub needed: bool,
}

/// What a field holds.
#[derive(Debug)]
pub enum Shape {
    /// A text.
    Text,
    /// A number.
    Number,
    /// Yes or no.
    Flag,
    /// An object of any shape.
    Object,
    /// A list of texts.
    Texts,
    /// An object with these fields, and others.
    Fields(&'static [Field]),
    /// A list of objects with these fields, and others.
    List(&'static [Field]),
}

const fn needed(name: &'static str, shape: Shape) -> Field {
    Field { name, shape, needed: true }
}

const fn maybe(name: &'static str, shape: Shape) -> Field {
    Field { name, shape, needed: false }
}

/// What every event has.
pub const EVERY: &[Field] = &[
    needed("eventType", Shape::Text),
    needed("sessionId", Shape::Text),
    needed("timestamp", Shape::Number),
    needed("metadata", Shape::Object),
];

const USAGE: &[Field] = &[
    maybe("input_tokens", Shape::Number),
    maybe("output_tokens", Shape::Number),
    maybe("total_tokens", Shape::Number),
    maybe("cache_read_tokens", Shape::Number),
    maybe("cache_write_tokens", Shape::Number),
];
const MODEL: &[Field] = &[
    needed("name", Shape::Text),
    maybe("provider", Shape::Text),
    maybe("temperature", Shape::Number),
    maybe("maxTokens", Shape::Number),
];
const CALL: &[Field] = &[maybe("id", Shape::Text), needed("name", Shape::Text), maybe("args", Shape::Object)];
const AROUND: &[Field] = &[
    maybe("workingDirectory", Shape::Text),
    maybe("recentTools", Shape::Texts),
    maybe("tokenUsage", Shape::Fields(USAGE)),
];
const RESULT: &[Field] = &[
    needed("success", Shape::Flag),
    needed("output", Shape::Text),
    maybe("exitCode", Shape::Number),
    maybe("duration", Shape::Number),
];
const RESPONSE: &[Field] = &[
    needed("text", Shape::Text),
    maybe("toolCalls", Shape::List(CALL)),
    maybe("usage", Shape::Fields(USAGE)),
    maybe("duration", Shape::Number),
];

const TOOL: Field = needed("tool", Shape::Text);
const ARGS: Field = needed("args", Shape::Object);
const CONTEXT: Field = maybe("context", Shape::Fields(AROUND));
const REASON: Field = maybe("reason", Shape::Text);
const USED: Field = maybe("usage", Shape::Fields(USAGE));
const ACTIVE: Field = maybe("stopHookActive", Shape::Flag);
const ANSWER: Field = maybe("response", Shape::Text);
const AGENT_ID: Field = maybe("agentId", Shape::Text);
const AGENT_TYPE: Field = maybe("agentType", Shape::Text);
const SAYS: Field = maybe("context", Shape::Text);
const NEW_ARGS: &[Field] = &[ARGS];

const fn event(
    kind: Kind,
    name: &'static str,
    fields: &'static [Field],
    modified: &'static [Field],
) -> EventShape {
    EventShape { kind, name, fields, modified }
}

/// The thirteen events of the design, and five more that harnesses have.
pub const EVENTS: &[EventShape] = &[
    event(
        Kind::SessionStart,
        "SessionStart",
        &[needed("source", Shape::Text), CONTEXT, maybe("model", Shape::Fields(MODEL))],
        &[SAYS],
    ),
    event(Kind::SessionEnd, "SessionEnd", &[needed("reason", Shape::Text), CONTEXT], &[]),
    event(
        Kind::PreModel,
        "GenerateStart",
        &[
            needed("prompt", Shape::Text),
            maybe("systemPrompt", Shape::Text),
            maybe("model", Shape::Fields(MODEL)),
            maybe("tools", Shape::Texts),
        ],
        &[
            maybe("prompt", Shape::Text),
            maybe("systemPrompt", Shape::Text),
            maybe("model", Shape::Fields(MODEL)),
            maybe("tools", Shape::Texts),
            SAYS,
        ],
    ),
    event(
        Kind::PostModel,
        "GenerateEnd",
        &[
            needed("prompt", Shape::Text),
            maybe("model", Shape::Fields(MODEL)),
            needed("response", Shape::Fields(RESPONSE)),
        ],
        &[needed(
            "response",
            Shape::Fields(&[maybe("text", Shape::Text), maybe("toolCalls", Shape::List(CALL))]),
        )],
    ),
    event(Kind::PreTool, "PreToolUse", &[TOOL, ARGS, CONTEXT], NEW_ARGS),
    event(
        Kind::PostTool,
        "PostToolUse",
        &[TOOL, ARGS, CONTEXT, needed("result", Shape::Fields(RESULT))],
        &[maybe("result", Shape::Fields(&[needed("output", Shape::Text)])), SAYS],
    ),
    event(
        Kind::ToolError,
        "ToolError",
        &[
            TOOL,
            ARGS,
            CONTEXT,
            needed("error", Shape::Text),
            maybe("attempt", Shape::Number),
            maybe("duration", Shape::Number),
        ],
        &[],
    ),
    event(Kind::PermissionRequest, "PermissionRequest", &[TOOL, ARGS, CONTEXT, REASON], NEW_ARGS),
    event(Kind::PermissionGranted, "PermissionGranted", &[TOOL, ARGS, CONTEXT, REASON], &[]),
    event(Kind::PermissionDenied, "PermissionDenied", &[TOOL, ARGS, CONTEXT, REASON], &[]),
    event(
        Kind::PreCompact,
        "PreCompact",
        &[needed("trigger", Shape::Text), maybe("customInstructions", Shape::Text), USED],
        &[],
    ),
    event(
        Kind::PostCompact,
        "PostCompact",
        &[needed("trigger", Shape::Text), maybe("summary", Shape::Text), USED],
        &[],
    ),
    event(
        Kind::ContextWarning,
        "ContextWarning",
        &[
            USED,
            maybe("maxTokens", Shape::Number),
            maybe("threshold", Shape::Number),
            maybe("message", Shape::Text),
        ],
        &[],
    ),
    event(Kind::Prompt, "UserPromptSubmit", &[needed("prompt", Shape::Text), CONTEXT], &[SAYS]),
    event(Kind::Stop, "Stop", &[ANSWER, ACTIVE], &[]),
    event(Kind::SubagentStart, "SubagentStart", &[AGENT_ID, AGENT_TYPE], &[]),
    event(Kind::SubagentStop, "SubagentStop", &[AGENT_ID, AGENT_TYPE, ANSWER, ACTIVE], &[]),
    event(
        Kind::Notification,
        "Notification",
        &[maybe("message", Shape::Text), maybe("type", Shape::Text)],
        &[],
    ),
];

/// The row of a kind; there is none for kinds that the design has no use for.
pub fn of(kind: Kind) -> Option<&'static EventShape> {
    EVENTS.iter().find(|event| event.kind == kind)
}

/// The row of a name: the design's or ours.
pub fn named(name: &str) -> Option<&'static EventShape> {
    EVENTS.iter().find(|event| event.name == name || event.kind.name() == name)
}

/// What does not fit, if something does not. Fields that nobody knows are nobody's mistake.
pub(super) fn misfit(fields: &[Field], found: &Map<String, Value>, at: &str) -> Option<String> {
    fields.iter().find_map(|field| {
        let name = if at.is_empty() { field.name.to_owned() } else { format!("{at}.{}", field.name) };
        match found.get(field.name).filter(|value| !value.is_null()) {
            None => {
                field.needed.then(|| format!("`{name}` is missing; it should be {}", field.shape.words()))
            }
            Some(value) => field.shape.misfit(value, &name),
        }
    })
}

/// The same where every field has to be known: what is not would be lost in silence.
pub(super) fn misfit_strictly(fields: &[Field], found: &Map<String, Value>, what: &str) -> Option<String> {
    let unknown = found.keys().find(|key| fields.iter().all(|field| field.name != *key));
    if let Some(key) = unknown {
        let known: Vec<_> = fields.iter().map(|field| format!("`{}`", field.name)).collect();
        return Some(match known.as_slice() {
            [] => format!("`{what}` means nothing here"),
            known => format!("`{what}.{key}` means nothing here; known: {}", known.join(", ")),
        });
    }
    misfit(fields, found, what)
}

impl Shape {
    fn words(&self) -> &'static str {
        match self {
            Self::Text => "a text",
            Self::Number => "a number",
            Self::Flag => "true or false",
            Self::Object | Self::Fields(_) => "an object",
            Self::Texts => "a list of texts",
            Self::List(_) => "a list of objects",
        }
    }

    fn misfit(&self, value: &Value, name: &str) -> Option<String> {
        let wrong = || Some(format!("`{name}` should be {}", self.words()));
        let fits = match (self, value) {
            (Self::Fields(fields), Value::Object(found)) => return misfit(fields, found, name),
            (Self::List(fields), Value::Array(items)) => {
                return items.iter().find_map(|item| match item {
                    Value::Object(found) => misfit(fields, found, name),
                    _ => wrong(),
                });
            }
            (Self::Texts, Value::Array(items)) => items.iter().all(Value::is_string),
            (Self::Text, value) => value.is_string(),
            (Self::Number, value) => value.is_number(),
            (Self::Flag, value) => value.is_boolean(),
            (Self::Object, value) => value.is_object(),
            _ => false,
        };
        if fits { None } else { wrong() }
    }
}
