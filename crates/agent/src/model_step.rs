// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Runs one model step: tool selection, request and reply, each with its event.

use std::time::Instant;

use serde_json::{Value, json};
use tenterhook_event::{Decision, EventKind, Modification, Outcome, SelectionMode};

use crate::activity::AgentActivity;
use crate::event_draft::{EventDraft, usage_json};
use crate::provider::{
    ChatMessage, ChatRole, ContentBlock, ModelReply, ModelRequest, ModelUsage, ReplyDelta, RequestPurpose,
    SamplingOptions, StopReason, ToolChoice, ToolSpec,
};
use crate::session::AgentSession;
use crate::tools::task;
use crate::{CancelToken, TurnError, hook_payload, permission};

impl AgentSession {
    /// Calls the model for the next step. Returns the model's reply and the names of the tools it was offered.
    pub(crate) async fn ask_model(
        &self,
        cancel: &CancelToken,
    ) -> Result<(ModelReply, Vec<String>), TurnError> {
        let purpose = match &self.identity {
            Some(identity) => RequestPurpose::Subagent(identity.kind.clone()),
            None => RequestPurpose::Turn,
        };
        self.flush_pending_context();
        let messages = self.state().messages.clone();
        let mut request = self.build_request(messages, self.tool_specs(), purpose);
        self.select_tools(&mut request, cancel).await?;
        let (reply, replaced) = self.generate_with_hooks(&mut request, cancel).await?;
        if !reply.text.is_empty() {
            self.report(AgentActivity::Said { text: reply.text.clone(), replaced });
        }
        let text = (!reply.text.is_empty()).then(|| ContentBlock::Text(reply.text.clone()));
        let calls = reply.tool_calls.iter().cloned().map(ContentBlock::ToolCall);
        let mut blocks: Vec<_> = text.into_iter().chain(calls).collect();
        if blocks.is_empty() {
            // A reply may be empty, but model APIs reject an empty message.
            blocks.push(ContentBlock::Text("(empty reply)".to_owned()));
        }
        self.state().messages.push(ChatMessage { role: ChatRole::Assistant, blocks });
        Ok((reply, request.tools.into_iter().map(|tool| tool.name).collect()))
    }

    /// Fires the tool selection event and removes the tools that hooks do not allow.
    async fn select_tools(&self, request: &mut ModelRequest, cancel: &CancelToken) -> Result<(), TurnError> {
        let draft = self.request_event(EventKind::ToolSelection, request);
        let outcome = self.fire(draft, cancel).await?;
        self.add_context_to_request(&outcome, request);
        if permission::check_objection(self, &outcome, "tools", cancel).await?.is_some() {
            request.tools.clear();
        }
        match outcome.tool_selection() {
            None => {}
            Some((SelectionMode::None, _)) => request.tools.clear(),
            Some((mode, allowed)) => {
                if !allowed.is_empty() {
                    request.tools.retain(|tool| allowed.contains(&tool.name));
                }
                if mode == SelectionMode::Any && !request.tools.is_empty() {
                    request.tool_choice = ToolChoice::Any;
                }
            }
        }
        if request.tools.is_empty() {
            request.tool_choice = ToolChoice::None;
        }
        Ok(())
    }

    /// Calls the model and fires the events before and after the call. Returns the reply and whether a hook changed
    /// it.
    pub(crate) async fn generate_with_hooks(
        &self,
        request: &mut ModelRequest,
        cancel: &CancelToken,
    ) -> Result<(ModelReply, bool), TurnError> {
        let outcome = self.fire(self.request_event(EventKind::PreModel, request), cancel).await?;
        if let Some(reason) = permission::check_objection(self, &outcome, "the model request", cancel).await?
        {
            return Err(TurnError::Blocked { reason });
        }
        for modification in &outcome.modifications {
            if let Modification::ModelRequest { merge, value } = &modification.value {
                hook_payload::apply_request_change(request, *merge, value);
            }
        }
        self.add_context_to_request(&outcome, request);
        let began = Instant::now();
        let (mut reply, mut replaced) = match synthetic_reply(&outcome, request) {
            Some(reply) => (reply, true),
            None => (self.call_provider(request, cancel).await?, false),
        };
        self.add_usage(&reply);
        let took = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let outcome = self.fire(self.reply_event(request, &reply, took), cancel).await?;
        self.queue_context(&outcome);
        for modification in &outcome.modifications {
            if let Modification::ModelResponse { merge, value } = &modification.value {
                hook_payload::apply_reply_change(&mut reply, *merge, value);
                replaced = true;
            }
        }
        if let Some(reason) = permission::check_objection(self, &outcome, "the model reply", cancel).await? {
            return Err(TurnError::Blocked { reason });
        }
        Ok((reply, replaced))
    }

    async fn call_provider(
        &self,
        request: &ModelRequest,
        cancel: &CancelToken,
    ) -> Result<ModelReply, TurnError> {
        let show_deltas = request.purpose != RequestPurpose::Compaction;
        let mut deltas = |delta: ReplyDelta| {
            if let (ReplyDelta::Text(text), true) = (delta, show_deltas) {
                self.report(AgentActivity::Delta { text });
            }
        };
        let answer = self.agent.provider.generate(request, &mut deltas, cancel);
        cancel.or(answer).await.ok_or(TurnError::Cancelled)?.map_err(TurnError::Model)
    }

    /// Adds the tokens and cost of a reply to the session's totals.
    fn add_usage(&self, reply: &ModelReply) {
        let used = reply.usage;
        let cost = self.agent.prices.as_ref().and_then(|prices| prices(&reply.model, &used));
        let mut state = self.state();
        state.usage += used;
        state.context_tokens = used.total();
        if let Some(cost) = cost {
            *state.cost.get_or_insert(0.0) += cost;
        }
    }

    pub(crate) fn build_request(
        &self,
        messages: Vec<ChatMessage>,
        tools: Vec<ToolSpec>,
        purpose: RequestPurpose,
    ) -> ModelRequest {
        let settings = &self.agent.settings;
        let kind = self
            .identity
            .as_ref()
            .and_then(|identity| self.agent.subagents.iter().find(|kind| kind.name == identity.kind));
        ModelRequest {
            model: settings.model.clone(),
            system: kind.map(|kind| kind.system.clone()).or_else(|| settings.system.clone()),
            messages,
            tools,
            tool_choice: ToolChoice::Auto,
            max_tokens: settings.max_tokens,
            temperature: settings.temperature,
            sampling: SamplingOptions::default(),
            purpose,
        }
    }

    /// Adds the context from hooks to this request only. It is not kept in the conversation.
    fn add_context_to_request(&self, outcome: &Outcome, request: &mut ModelRequest) {
        let Some(text) = outcome.context_text() else { return };
        let block = ContentBlock::Text(text);
        match request.messages.last_mut() {
            Some(last) if last.role == ChatRole::User => last.blocks.push(block),
            _ => request.messages.push(ChatMessage { role: ChatRole::User, blocks: vec![block] }),
        }
    }

    fn request_event(&self, kind: EventKind, request: &ModelRequest) -> EventDraft<'static> {
        let prompt = self.state().prompt.clone();
        let names: Vec<_> = request.tools.iter().map(|tool| &tool.name).collect();
        let mut fields = json!({"prompt": prompt, "model": self.model_config(), "tools": names});
        if let (Some(fields), Some(system)) = (fields.as_object_mut(), &request.system) {
            fields.insert("systemPrompt".to_owned(), json!(system));
        }
        EventDraft {
            model: (Some(hook_payload::request_json(&prompt, request)), None),
            ..EventDraft::new(kind, fields)
        }
    }

    fn reply_event(&self, request: &ModelRequest, reply: &ModelReply, took: u64) -> EventDraft<'static> {
        let prompt = self.state().prompt.clone();
        let response = json!({
            "text": reply.text, "toolCalls": hook_payload::tool_calls_json(&reply.tool_calls),
            "usage": usage_json(&reply.usage), "duration": took,
        });
        let whole = hook_payload::reply_json(&response, reply);
        let fields = json!({"prompt": prompt, "model": self.model_config(), "response": response});
        let model = (Some(hook_payload::request_json(&prompt, request)), Some(whole));
        EventDraft { model, ..EventDraft::new(EventKind::PostModel, fields) }
    }

    /// Returns the model's name and options in the format of event payloads.
    pub(crate) fn model_config(&self) -> Value {
        let settings = &self.agent.settings;
        let mut config = json!({
            "name": settings.model, "provider": self.agent.provider.name(), "maxTokens": settings.max_tokens,
        });
        if let (Some(fields), Some(temperature)) = (config.as_object_mut(), settings.temperature) {
            fields.insert("temperature".to_owned(), json!(temperature));
        }
        config
    }

    /// Returns all tools of this session. Subagents cannot start further subagents.
    pub(crate) fn tool_specs(&self) -> Vec<ToolSpec> {
        let mut specs = self.agent.tools.specs();
        if self.identity.is_none() && !self.agent.subagents.is_empty() {
            specs.push(task::task_spec(&self.agent.subagents));
        }
        specs
    }

    pub(crate) fn tool_names(&self) -> Vec<String> {
        self.tool_specs().into_iter().map(|tool| tool.name).collect()
    }
}

/// Returns the reply that a hook supplied in place of the model's, if there is one.
fn synthetic_reply(outcome: &Outcome, request: &ModelRequest) -> Option<ModelReply> {
    let mut reply = ModelReply {
        text: String::new(),
        tool_calls: Vec::new(),
        usage: ModelUsage::default(),
        stop: StopReason::EndTurn,
        model: request.model.clone(),
    };
    let mut any = false;
    for modification in &outcome.modifications {
        if let Modification::ModelResponse { merge, value } = &modification.value {
            hook_payload::apply_reply_change(&mut reply, *merge, value);
            any = true;
        }
    }
    (any && outcome.decision != Decision::Deny).then_some(reply)
}
