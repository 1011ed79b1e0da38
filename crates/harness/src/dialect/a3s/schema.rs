// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Lists the fields of each event in the A3S hook design, and the fields that a hook may change. Where the design
//! does not specify fields, this table defines them. `docs/spec/sdk-events.md` documents the same table.

use serde_json::{Map, Value};
use tenterhook_event::EventKind as Kind;

/// One event of the design.
#[derive(Debug)]
pub struct EventShape {
    /// Tenterhook's event kind.
    pub kind: Kind,
    /// Name of the event in the design, or a name in the same style.
    pub name: &'static str,
    /// Fields in addition to [`COMMON_FIELDS`].
    pub fields: &'static [FieldSpec],
    /// Fields that a hook may change.
    pub modified: &'static [FieldSpec],
}

/// One field of an event.
#[derive(Debug)]
pub struct FieldSpec {
    /// Name of the field.
    pub name: &'static str,
    /// Type of the field.
    pub shape: FieldShape,
    /// Whether the field is required.
    pub needed: bool,
}

/// Type of a field.
#[derive(Debug)]
pub enum FieldShape {
    /// A JSON string.
    Text,
    /// A JSON number.
    Number,
    /// `true` or `false`.
    Flag,
    /// An object with any fields.
    Object,
    /// A list of strings.
    Texts,
    /// An object with at least these fields.
    Fields(&'static [FieldSpec]),
    /// A list of objects with at least these fields.
    List(&'static [FieldSpec]),
}

const fn required(name: &'static str, shape: FieldShape) -> FieldSpec {
    FieldSpec { name, shape, needed: true }
}

const fn optional(name: &'static str, shape: FieldShape) -> FieldSpec {
    FieldSpec { name, shape, needed: false }
}

/// Fields that every event has.
pub const COMMON_FIELDS: &[FieldSpec] = &[
    required("eventType", FieldShape::Text),
    required("sessionId", FieldShape::Text),
    required("timestamp", FieldShape::Number),
    required("metadata", FieldShape::Object),
];

const USAGE: &[FieldSpec] = &[
    optional("input_tokens", FieldShape::Number),
    optional("output_tokens", FieldShape::Number),
    optional("total_tokens", FieldShape::Number),
    optional("cache_read_tokens", FieldShape::Number),
    optional("cache_write_tokens", FieldShape::Number),
];
const MODEL: &[FieldSpec] = &[
    required("name", FieldShape::Text),
    optional("provider", FieldShape::Text),
    optional("temperature", FieldShape::Number),
    optional("maxTokens", FieldShape::Number),
];
const CALL: &[FieldSpec] = &[
    optional("id", FieldShape::Text),
    required("name", FieldShape::Text),
    optional("args", FieldShape::Object),
];
const CALL_CONTEXT: &[FieldSpec] = &[
    optional("workingDirectory", FieldShape::Text),
    optional("recentTools", FieldShape::Texts),
    optional("tokenUsage", FieldShape::Fields(USAGE)),
];
const RESULT: &[FieldSpec] = &[
    required("success", FieldShape::Flag),
    required("output", FieldShape::Text),
    optional("exitCode", FieldShape::Number),
    optional("duration", FieldShape::Number),
];
const RESPONSE: &[FieldSpec] = &[
    required("text", FieldShape::Text),
    optional("toolCalls", FieldShape::List(CALL)),
    optional("usage", FieldShape::Fields(USAGE)),
    optional("duration", FieldShape::Number),
];

const TOOL: FieldSpec = required("tool", FieldShape::Text);
const ARGS: FieldSpec = required("args", FieldShape::Object);
const CONTEXT: FieldSpec = optional("context", FieldShape::Fields(CALL_CONTEXT));
const REASON: FieldSpec = optional("reason", FieldShape::Text);
const USAGE_FIELD: FieldSpec = optional("usage", FieldShape::Fields(USAGE));
const STOP_HOOK_ACTIVE: FieldSpec = optional("stopHookActive", FieldShape::Flag);
const ANSWER: FieldSpec = optional("response", FieldShape::Text);
const AGENT_ID: FieldSpec = optional("agentId", FieldShape::Text);
const AGENT_TYPE: FieldSpec = optional("agentType", FieldShape::Text);
const ADDED_CONTEXT: FieldSpec = optional("context", FieldShape::Text);
const NEW_ARGS: &[FieldSpec] = &[ARGS];

const fn event(
    kind: Kind,
    name: &'static str,
    fields: &'static [FieldSpec],
    modified: &'static [FieldSpec],
) -> EventShape {
    EventShape { kind, name, fields, modified }
}

/// The thirteen events of the design, and five further events that some harnesses fire.
pub const EVENTS: &[EventShape] = &[
    event(
        Kind::SessionStart,
        "SessionStart",
        &[required("source", FieldShape::Text), CONTEXT, optional("model", FieldShape::Fields(MODEL))],
        &[ADDED_CONTEXT],
    ),
    event(Kind::SessionEnd, "SessionEnd", &[required("reason", FieldShape::Text), CONTEXT], &[]),
    event(
        Kind::PreModel,
        "GenerateStart",
        &[
            required("prompt", FieldShape::Text),
            optional("systemPrompt", FieldShape::Text),
            optional("model", FieldShape::Fields(MODEL)),
            optional("tools", FieldShape::Texts),
        ],
        &[
            optional("prompt", FieldShape::Text),
            optional("systemPrompt", FieldShape::Text),
            optional("model", FieldShape::Fields(MODEL)),
            optional("tools", FieldShape::Texts),
            ADDED_CONTEXT,
        ],
    ),
    event(
        Kind::PostModel,
        "GenerateEnd",
        &[
            required("prompt", FieldShape::Text),
            optional("model", FieldShape::Fields(MODEL)),
            required("response", FieldShape::Fields(RESPONSE)),
        ],
        &[required(
            "response",
            FieldShape::Fields(&[
                optional("text", FieldShape::Text),
                optional("toolCalls", FieldShape::List(CALL)),
            ]),
        )],
    ),
    event(Kind::PreTool, "PreToolUse", &[TOOL, ARGS, CONTEXT], NEW_ARGS),
    event(
        Kind::PostTool,
        "PostToolUse",
        &[TOOL, ARGS, CONTEXT, required("result", FieldShape::Fields(RESULT))],
        &[optional("result", FieldShape::Fields(&[required("output", FieldShape::Text)])), ADDED_CONTEXT],
    ),
    event(
        Kind::ToolError,
        "ToolError",
        &[
            TOOL,
            ARGS,
            CONTEXT,
            required("error", FieldShape::Text),
            optional("attempt", FieldShape::Number),
            optional("duration", FieldShape::Number),
        ],
        &[],
    ),
    event(Kind::PermissionRequest, "PermissionRequest", &[TOOL, ARGS, CONTEXT, REASON], NEW_ARGS),
    event(Kind::PermissionGranted, "PermissionGranted", &[TOOL, ARGS, CONTEXT, REASON], &[]),
    event(Kind::PermissionDenied, "PermissionDenied", &[TOOL, ARGS, CONTEXT, REASON], &[]),
    event(
        Kind::PreCompact,
        "PreCompact",
        &[
            required("trigger", FieldShape::Text),
            optional("customInstructions", FieldShape::Text),
            USAGE_FIELD,
        ],
        &[],
    ),
    event(
        Kind::PostCompact,
        "PostCompact",
        &[required("trigger", FieldShape::Text), optional("summary", FieldShape::Text), USAGE_FIELD],
        &[],
    ),
    event(
        Kind::ContextWarning,
        "ContextWarning",
        &[
            USAGE_FIELD,
            optional("maxTokens", FieldShape::Number),
            optional("threshold", FieldShape::Number),
            optional("message", FieldShape::Text),
        ],
        &[],
    ),
    event(
        Kind::Prompt,
        "UserPromptSubmit",
        &[required("prompt", FieldShape::Text), CONTEXT],
        &[ADDED_CONTEXT],
    ),
    event(Kind::Stop, "Stop", &[ANSWER, STOP_HOOK_ACTIVE], &[]),
    event(Kind::SubagentStart, "SubagentStart", &[AGENT_ID, AGENT_TYPE], &[]),
    event(Kind::SubagentStop, "SubagentStop", &[AGENT_ID, AGENT_TYPE, ANSWER, STOP_HOOK_ACTIVE], &[]),
    event(
        Kind::Notification,
        "Notification",
        &[optional("message", FieldShape::Text), optional("type", FieldShape::Text)],
        &[],
    ),
];

/// Returns the event for a kind; `None` if the design has no such event.
pub fn shape_of_kind(kind: Kind) -> Option<&'static EventShape> {
    EVENTS.iter().find(|event| event.kind == kind)
}

/// Returns the event with this name, which may be the design's name or Tenterhook's.
pub fn shape_by_name(name: &str) -> Option<&'static EventShape> {
    EVENTS.iter().find(|event| event.name == name || event.kind.name() == name)
}

/// Returns the first missing or mistyped field. Unknown fields are allowed.
pub(super) fn find_mismatch(fields: &[FieldSpec], found: &Map<String, Value>, at: &str) -> Option<String> {
    fields.iter().find_map(|field| {
        let name = if at.is_empty() { field.name.to_owned() } else { format!("{at}.{}", field.name) };
        match found.get(field.name).filter(|value| !value.is_null()) {
            None => field.needed.then(|| format!("`{name}` is missing; expected {}", field.shape.describe())),
            Some(value) => field.shape.find_mismatch(value, &name),
        }
    })
}

/// Returns the first missing or mistyped field like [`find_mismatch`], but also rejects unknown fields, because they
/// would be ignored silently.
pub(super) fn find_strict_mismatch(
    fields: &[FieldSpec],
    found: &Map<String, Value>,
    what: &str,
) -> Option<String> {
    let unknown = found.keys().find(|key| fields.iter().all(|field| field.name != *key));
    if let Some(key) = unknown {
        let known: Vec<_> = fields.iter().map(|field| format!("`{}`", field.name)).collect();
        return Some(match known.as_slice() {
            [] => format!("`{what}` is not allowed here"),
            known => format!("unknown field `{what}.{key}`; known: {}", known.join(", ")),
        });
    }
    find_mismatch(fields, found, what)
}

impl FieldShape {
    fn describe(&self) -> &'static str {
        match self {
            Self::Text => "a string",
            Self::Number => "a number",
            Self::Flag => "true or false",
            Self::Object | Self::Fields(_) => "an object",
            Self::Texts => "a list of strings",
            Self::List(_) => "a list of objects",
        }
    }

    fn find_mismatch(&self, value: &Value, name: &str) -> Option<String> {
        let wrong = || Some(format!("`{name}` must be {}", self.describe()));
        let fits = match (self, value) {
            (Self::Fields(fields), Value::Object(found)) => return find_mismatch(fields, found, name),
            (Self::List(fields), Value::Array(items)) => {
                return items.iter().find_map(|item| match item {
                    Value::Object(found) => find_mismatch(fields, found, name),
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
