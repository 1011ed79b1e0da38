// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Builds the agent's events: the payload in the format of `docs/spec/sdk-events.md` and the normalized event.

use serde_json::{Map, Value, json};
use tenterhook_event::{
    Event, EventDetail, EventKind as Kind, Flow, HookCall, NativePayload, Outcome, ToolCall as Tool,
};

use crate::activity::AgentActivity;
use crate::provider::{ModelToolCall, ModelUsage};
use crate::session::AgentSession;
use crate::{CancelToken, TurnError};

/// Returns the name of an event kind in the payload.
pub(crate) fn payload_event_name(kind: Kind) -> &'static str {
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

/// An event before the common fields of all events are added.
pub(crate) struct EventDraft<'a> {
    pub(crate) kind: Kind,
    /// Payload fields that are specific to this kind of event.
    pub(crate) fields: Value,
    /// Tool call that the event is about.
    pub(crate) tool: Option<&'a ModelToolCall>,
    /// Model request and reply, in the formats of [`hook_payload`](crate::hook_payload).
    pub(crate) model: (Option<Value>, Option<Value>),
}

impl<'a> EventDraft<'a> {
    pub(crate) fn new(kind: Kind, fields: Value) -> Self {
        Self { kind, fields, tool: None, model: (None, None) }
    }

    pub(crate) fn about(kind: Kind, tool: &'a ModelToolCall, fields: Value) -> Self {
        Self { tool: Some(tool), ..Self::new(kind, fields) }
    }
}

impl AgentSession {
    /// Fires an event and returns its outcome, or an error if a hook stopped the turn.
    pub(crate) async fn fire(
        &self,
        draft: EventDraft<'_>,
        cancel: &CancelToken,
    ) -> Result<Outcome, TurnError> {
        let outcome = self.fire_unchecked(draft, cancel).await?;
        check_flow(&outcome)?;
        Ok(outcome)
    }

    /// Fires an event without checking whether a hook stopped the turn. The caller calls [`check_flow`] after
    /// storing its results.
    pub(crate) async fn fire_unchecked(
        &self,
        draft: EventDraft<'_>,
        cancel: &CancelToken,
    ) -> Result<Outcome, TurnError> {
        let call = self.build_call(draft);
        let fired = cancel.or(self.agent.dispatcher.fire(call)).await.ok_or(TurnError::Cancelled)?;
        let outcome = fired.map_err(TurnError::Unguarded)?;
        if let Some(text) = outcome.message_text().filter(|_| !outcome.suppress_output) {
            self.report(AgentActivity::Message { text });
        }
        Ok(outcome)
    }

    /// Builds the call from the draft and the common fields of all events.
    pub(crate) fn build_call(&self, draft: EventDraft<'_>) -> HookCall {
        let EventDraft { kind, fields, tool, model } = draft;
        let settings = &self.agent.settings;
        let (id, ts) = (self.agent.event_ids)();
        let mut event = Event::new(id, ts, &settings.source, kind, payload_event_name(kind));
        let (turn, metadata) = {
            let state = self.state();
            (state.turn_id.clone(), self.metadata_json(&state, tool))
        };
        let mut payload = Map::new();
        payload.insert("eventType".to_owned(), json!(payload_event_name(kind)));
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
        event.detail = event_detail(kind, &payload);
        (event.detail.model_request, event.detail.model_response) = model;
        event.harness_session_id = Some(self.id.clone());
        event.turn_id = turn;
        event.tool_use_id = tool.map(|tool| tool.id.clone());
        event.cwd = Some(settings.cwd.display().to_string());
        event.project.clone_from(&settings.project);
        event.tool = tool.map(|tool| Tool::new(&tool.name, tool.args.clone()));
        event.agent.model = Some(settings.model.clone());
        event.agent.user.clone_from(&settings.user);
        if let Some(identity) = &self.identity {
            event.agent.id = Some(identity.id.clone());
            event.agent.kind = Some(identity.kind.clone());
            event.agent.parent = Some(identity.parent.clone());
        }
        // Serializing a JSON map to memory cannot fail.
        let bytes = serde_json::to_vec(&payload).unwrap_or_default();
        HookCall { event, native: Some(NativePayload { bytes, fields: payload }) }
    }

    fn metadata_json(
        &self,
        state: &crate::session::AgentSessionState,
        tool: Option<&ModelToolCall>,
    ) -> Value {
        let settings = &self.agent.settings;
        let known = [
            ("turnId", state.turn_id.clone()),
            ("toolUseId", tool.map(|tool| tool.id.clone())),
            ("project", settings.project.clone()),
            ("permissionMode", Some(settings.mode.name().to_owned())),
            ("agentId", self.identity.as_ref().map(|identity| identity.id.clone())),
            ("agentType", self.identity.as_ref().map(|identity| identity.kind.clone())),
        ];
        known.into_iter().filter_map(|(key, text)| Some((key.to_owned(), Value::String(text?)))).collect()
    }

    /// Returns the `context` field of events: working directory, recent tools and token usage.
    pub(crate) fn context_json(&self) -> Value {
        let state = self.state();
        json!({
            "workingDirectory": self.agent.settings.cwd.display().to_string(),
            "recentTools": state.recent,
            "tokenUsage": usage_json(&state.usage),
        })
    }
}

/// Returns an error if a hook stopped the turn.
pub(crate) fn check_flow(outcome: &Outcome) -> Result<(), TurnError> {
    match &outcome.flow {
        Flow::Go => Ok(()),
        Flow::Stop { reason } => {
            Err(TurnError::Stopped { reason: reason.clone().or_else(|| outcome.reason_with_nudge()) })
        }
    }
}

/// Returns the token usage in the payload's format.
pub(crate) fn usage_json(usage: &ModelUsage) -> Value {
    let input = usage.input + usage.cache_read + usage.cache_write;
    let mut fields_json =
        json!({"input_tokens": input, "output_tokens": usage.output, "total_tokens": input + usage.output});
    if let Some(fields) = fields_json.as_object_mut() {
        let cached = [("cache_read_tokens", usage.cache_read), ("cache_write_tokens", usage.cache_write)];
        fields.extend(cached.into_iter().filter(|(_, n)| *n > 0).map(|(key, n)| (key.to_owned(), json!(n))));
    }
    fields_json
}

/// Extracts the normalized details of an event from its payload.
fn event_detail(kind: Kind, fields: &Map<String, Value>) -> EventDetail {
    let text = |key: &str| fields.get(key).and_then(Value::as_str).map(ToOwned::to_owned);
    let first = |keys: &[&str]| keys.iter().find_map(|key| text(key));
    let duration =
        fields.get("result").and_then(|result| result.get("duration")).or_else(|| fields.get("duration"));
    EventDetail {
        prompt: text("prompt"),
        response: if kind == Kind::PostModel { None } else { text("response") },
        cause: first(&["source", "reason", "trigger", "type"]),
        message: first(&["message", "customInstructions", "summary"]),
        error: text("error"),
        stop_hook_active: fields.get("stopHookActive").and_then(Value::as_bool),
        tool_output: fields.get("result").cloned(),
        duration_ms: duration.and_then(Value::as_u64),
        ..EventDetail::default()
    }
}
