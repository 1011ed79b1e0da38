// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What the agent tells about itself: every event, in the words of `docs/spec/sdk-events.md` and in the
//! normal form beside it.

use serde_json::{Map, Value, json};
use tenterhook_event::{Call, Detail, Event, EventKind as Kind, Flow, Native, Outcome, ToolCall as Tool};

use crate::provider::{ToolCall, Usage};
use crate::session::Session;
use crate::watch::Moment;
use crate::{Cancel, Ended};

/// What an event is called in the payload.
pub(crate) fn name(kind: Kind) -> &'static str {
    match kind {
        Kind::SessionStart => "SessionStart",
        Kind::SessionEnd => "SessionEnd",
        Kind::Prompt => "UserPromptSubmit",
        Kind::PreModel => "GenerateStart",
        Kind::PostModel => "GenerateEnd",
        Kind::ToolSelection => "BeforeToolSelection",
        Kind::PreTool => "PreToolUse",
        Kind::PostTool => "PostToolUse",
        Kind::ToolError => "ToolError",
        Kind::PermissionRequest => "PermissionRequest",
        Kind::PermissionGranted => "PermissionGranted",
        Kind::PermissionDenied => "PermissionDenied",
        Kind::SubagentStart => "SubagentStart",
        Kind::SubagentStop => "SubagentStop",
        Kind::PreCompact => "PreCompact",
        Kind::PostCompact => "PostCompact",
        Kind::ContextWarning => "ContextWarning",
        Kind::Notification => "Notification",
        Kind::Stop => "Stop",
        Kind::Other => "Other",
    }
}

/// An event in the making.
pub(crate) struct Told<'a> {
    pub(crate) kind: Kind,
    /// What this kind carries.
    pub(crate) fields: Value,
    /// The tool call it is about.
    pub(crate) tool: Option<&'a ToolCall>,
    /// The request and the answer of the model, in the words of every hook that may read them.
    pub(crate) model: (Option<Value>, Option<Value>),
}

impl<'a> Told<'a> {
    pub(crate) fn new(kind: Kind, fields: Value) -> Self {
        Self { kind, fields, tool: None, model: (None, None) }
    }

    pub(crate) fn about(kind: Kind, tool: &'a ToolCall, fields: Value) -> Self {
        Self { tool: Some(tool), ..Self::new(kind, fields) }
    }
}

impl Session {
    /// Tells an event and hears what was decided. A hook that ends the turn ends it here.
    pub(crate) async fn tell(&self, told: Told<'_>, cancel: &Cancel) -> Result<Outcome, Ended> {
        let outcome = self.tell_only(told, cancel).await?;
        go_on(&outcome)?;
        Ok(outcome)
    }

    /// The same; whether the turn goes on is for the caller to look at, when it has tidied up.
    pub(crate) async fn tell_only(&self, told: Told<'_>, cancel: &Cancel) -> Result<Outcome, Ended> {
        let call = self.call(told);
        let fired = cancel.or(self.agent.fire.fire(call)).await.ok_or(Ended::Cancelled)?;
        let outcome = fired.map_err(Ended::Unguarded)?;
        if let Some(text) = outcome.message_text().filter(|_| !outcome.suppress_output) {
            self.watch(Moment::Message { text });
        }
        Ok(outcome)
    }

    /// The event, with everything that every event has.
    pub(crate) fn call(&self, told: Told<'_>) -> Call {
        let Told { kind, fields, tool, model } = told;
        let settings = &self.agent.settings;
        let (id, ts) = (self.agent.mint)();
        let mut event = Event::new(id, ts, &settings.source, kind, name(kind));
        let (turn, metadata) = {
            let state = self.state();
            (state.turn_id.clone(), self.metadata(&state, tool))
        };
        let mut payload = Map::new();
        payload.insert("eventType".to_owned(), json!(name(kind)));
        payload.insert("sessionId".to_owned(), json!(self.id));
        payload.insert("timestamp".to_owned(), json!(ts.unix_ms()));
        payload.insert("metadata".to_owned(), metadata);
        if let Some(tool) = tool {
            payload.insert("tool".to_owned(), json!(tool.name));
            payload.insert("args".to_owned(), tool.args.clone());
        }
        if let Value::Object(fields) = fields {
            payload.extend(fields);
        }
        event.detail = detail(kind, &payload);
        (event.detail.model_request, event.detail.model_response) = model;
        event.harness_session_id = Some(self.id.clone());
        event.turn_id = turn;
        event.tool_use_id = tool.map(|tool| tool.id.clone());
        event.cwd = Some(settings.cwd.display().to_string());
        event.project.clone_from(&settings.project);
        event.tool = tool.map(|tool| Tool::new(&tool.name, tool.args.clone()));
        event.agent.model = Some(settings.model.clone());
        event.agent.user.clone_from(&settings.user);
        if let Some(who) = &self.who {
            event.agent.id = Some(who.id.clone());
            event.agent.kind = Some(who.kind.clone());
            event.agent.parent = Some(who.parent.clone());
        }
        // Plain data in memory has nothing to fail on.
        let bytes = serde_json::to_vec(&payload).unwrap_or_default();
        Call { event, native: Some(Native { bytes, fields: payload }) }
    }

    fn metadata(&self, state: &crate::session::State, tool: Option<&ToolCall>) -> Value {
        let settings = &self.agent.settings;
        let known = [
            ("turnId", state.turn_id.clone()),
            ("toolUseId", tool.map(|tool| tool.id.clone())),
            ("project", settings.project.clone()),
            ("permissionMode", Some(settings.mode.name().to_owned())),
            ("agentId", self.who.as_ref().map(|who| who.id.clone())),
            ("agentType", self.who.as_ref().map(|who| who.kind.clone())),
        ];
        known.into_iter().filter_map(|(key, text)| Some((key.to_owned(), Value::String(text?)))).collect()
    }

    /// What is around a call: where, after what, at what cost.
    pub(crate) fn context(&self) -> Value {
        let state = self.state();
        json!({
            "workingDirectory": self.agent.settings.cwd.display().to_string(),
            "recentTools": state.recent,
            "tokenUsage": usage(&state.usage),
        })
    }
}

/// The turn goes on, unless somebody said otherwise.
pub(crate) fn go_on(outcome: &Outcome) -> Result<(), Ended> {
    match &outcome.flow {
        Flow::Go => Ok(()),
        Flow::Stop { reason } => {
            Err(Ended::Stopped { reason: reason.clone().or_else(|| outcome.reason_with_nudge()) })
        }
    }
}

/// Tokens in the words of the payload.
pub(crate) fn usage(usage: &Usage) -> Value {
    let input = usage.input + usage.cache_read + usage.cache_write;
    let mut said =
        json!({"input_tokens": input, "output_tokens": usage.output, "total_tokens": input + usage.output});
    if let Some(fields) = said.as_object_mut() {
        let cached = [("cache_read_tokens", usage.cache_read), ("cache_write_tokens", usage.cache_write)];
        fields.extend(cached.into_iter().filter(|(_, n)| *n > 0).map(|(key, n)| (key.to_owned(), json!(n))));
    }
    said
}

/// The payload by meaning.
fn detail(kind: Kind, fields: &Map<String, Value>) -> Detail {
    let text = |key: &str| fields.get(key).and_then(Value::as_str).map(ToOwned::to_owned);
    let first = |keys: &[&str]| keys.iter().find_map(|key| text(key));
    let duration =
        fields.get("result").and_then(|result| result.get("duration")).or_else(|| fields.get("duration"));
    Detail {
        prompt: text("prompt"),
        response: if kind == Kind::PostModel { None } else { text("response") },
        cause: first(&["source", "reason", "trigger", "type"]),
        message: first(&["message", "customInstructions", "summary"]),
        error: text("error"),
        stop_hook_active: fields.get("stopHookActive").and_then(Value::as_bool),
        tool_output: fields.get("result").cloned(),
        duration_ms: duration.and_then(Value::as_u64),
        ..Detail::default()
    }
}
