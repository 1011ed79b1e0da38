// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Runs one turn, from the user's prompt to the agent's final reply. [`AgentSession::prompt`] is the loop.

use serde_json::json;
use tenterhook_event::{Decision, EventKind};

use crate::activity::AgentActivity;
use crate::event_draft::EventDraft;
use crate::provider::{ChatMessage, ChatRole, ContentBlock, ModelReply, ModelToolCall, ProviderError};
use crate::session::AgentSession;
use crate::{CancelToken, DispatchError, ToolCallResult, permission, tool_call};

/// Maximum number of times in a row that a hook may block a stop. After that, the agent finishes anyway.
pub const MAX_STOP_BLOCKS: u32 = 8;

/// Why a turn ended before the agent had finished.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum TurnError {
    /// The user cancelled the turn.
    #[error("cancelled")]
    Cancelled,
    /// A hook or rule denied the prompt, the model request or the model's reply.
    #[error("blocked: {reason}")]
    Blocked {
        /// Reason, including the suggestion if there is one.
        reason: String,
    },
    /// A hook stopped the turn.
    #[error("stopped{}", reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default())]
    Stopped {
        /// Reason shown to the user.
        reason: Option<String>,
    },
    /// A hook deferred a tool call.
    #[error("deferred{}", reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default())]
    Deferred {
        /// Reason for the deferral.
        reason: Option<String>,
    },
    /// The model was called `max_turns` times for one prompt.
    #[error("reached the limit of {0} model calls for one prompt")]
    TurnLimit(u32),
    /// No decision could be made, so nothing was run.
    #[error("no decision could be made: {0}")]
    Unguarded(DispatchError),
    /// The model did not reply.
    #[error("no reply from the model: {0}")]
    Model(ProviderError),
}

impl AgentSession {
    /// Runs the turn for a prompt and returns the agent's final reply.
    pub async fn prompt(&self, text: &str, cancel: &CancelToken) -> Result<String, TurnError> {
        let _turn = self.turn.lock().await;
        self.report(AgentActivity::Prompt { text: text.to_owned() });
        self.submit_prompt(text, cancel).await?;
        self.run_until_done(cancel).await
    }

    /// Calls the model and its tools alternately, until the model requests no more tools and no hook blocks the stop.
    pub(crate) async fn run_until_done(&self, cancel: &CancelToken) -> Result<String, TurnError> {
        let (mut model_calls, mut blocks) = (0, 0);
        loop {
            self.compact_if_needed(cancel).await?;
            if model_calls >= self.agent.settings.max_turns {
                return Err(TurnError::TurnLimit(model_calls));
            }
            model_calls += 1;
            let (reply, available) = self.ask_model(cancel).await?;
            if !reply.tool_calls.is_empty() {
                blocks = 0;
                self.run_tool_calls(&reply, &available, cancel).await?;
            } else if self.may_finish(&reply.text, blocks, cancel).await? {
                return Ok(reply.text);
            } else {
                blocks += 1;
            }
        }
    }

    /// Fires the prompt event and, if it is not denied, adds the prompt to the conversation.
    async fn submit_prompt(&self, text: &str, cancel: &CancelToken) -> Result<(), TurnError> {
        self.begin_turn(text);
        let draft =
            EventDraft::new(EventKind::Prompt, json!({"prompt": text, "context": self.context_json()}));
        let outcome = self.fire(draft, cancel).await?;
        if let Some(reason) = permission::check_objection(self, &outcome, "the prompt", cancel).await? {
            return Err(TurnError::Blocked { reason });
        }
        self.queue_context(&outcome);
        self.push_user_message(vec![ContentBlock::Text(text.to_owned())]);
        Ok(())
    }

    /// Runs the requested tools in sequence. If the turn ends early, the remaining calls get an error result, because
    /// model APIs reject a conversation in which a tool call has no result.
    async fn run_tool_calls(
        &self,
        reply: &ModelReply,
        available: &[String],
        cancel: &CancelToken,
    ) -> Result<(), TurnError> {
        for wanted in &reply.tool_calls {
            match tool_call::run_tool_call(self, wanted, Some(available), cancel).await {
                Ok(result) => self.push_tool_result(wanted, &result),
                Err(ended) => {
                    self.fail_unanswered_calls(&reply.tool_calls, &ended);
                    return Err(ended);
                }
            }
        }
        Ok(())
    }

    /// Fires the stop event. Returns false if a hook blocks the stop.
    async fn may_finish(&self, response: &str, blocks: u32, cancel: &CancelToken) -> Result<bool, TurnError> {
        let kind = if self.identity.is_some() { EventKind::SubagentStop } else { EventKind::Stop };
        let mut fields = json!({
            "prompt": self.state().prompt, "response": response, "stopHookActive": blocks > 0,
        });
        if let (Some(fields), Some(identity)) = (fields.as_object_mut(), &self.identity) {
            fields.insert("agentId".to_owned(), json!(identity.id));
            fields.insert("agentType".to_owned(), json!(identity.kind));
        }
        let outcome = self.fire(EventDraft::new(kind, fields), cancel).await?;
        self.queue_context(&outcome);
        if outcome.decision != Decision::Deny {
            return Ok(true);
        }
        if blocks >= MAX_STOP_BLOCKS {
            let text = format!(
                "finishing although a hook blocks the stop: it was blocked {MAX_STOP_BLOCKS} times in a row"
            );
            self.notify(&text, "stop_block_cap", cancel).await?;
            return Ok(true);
        }
        let reason = outcome
            .reason_with_nudge()
            .unwrap_or_else(|| "a hook blocked the stop: the work is not finished".to_owned());
        self.report(AgentActivity::NotFinished { reason: reason.clone() });
        self.push_user_message(vec![ContentBlock::Text(reason)]);
        Ok(false)
    }

    /// Starts a new turn and gives it an id.
    pub(crate) fn begin_turn(&self, prompt: &str) {
        let mut state = self.state();
        state.turns += 1;
        state.turn_id = Some(match &self.identity {
            Some(identity) => format!("{}-turn-{}", identity.id, state.turns),
            None => format!("turn-{}", state.turns),
        });
        prompt.clone_into(&mut state.prompt);
    }

    /// Adds a user message to the conversation, followed by the pending context from hooks.
    pub(crate) fn push_user_message(&self, mut blocks: Vec<ContentBlock>) {
        let mut state = self.state();
        blocks.extend(state.pending.drain(..).map(ContentBlock::Text));
        match state.messages.last_mut() {
            Some(last) if last.role == ChatRole::User => last.blocks.extend(blocks),
            _ => state.messages.push(ChatMessage { role: ChatRole::User, blocks }),
        }
    }

    /// Adds the pending context from hooks to the conversation before the model is called.
    pub(crate) fn flush_pending_context(&self) {
        if !self.state().pending.is_empty() {
            self.push_user_message(Vec::new());
        }
    }

    /// Adds the result of a tool call to the conversation.
    pub(crate) fn push_tool_result(&self, call: &ModelToolCall, result: &ToolCallResult) {
        self.state().pending.extend(result.context.clone());
        self.push_user_message(vec![result.block(&call.id)]);
    }

    fn fail_unanswered_calls(&self, calls: &[ModelToolCall], ended: &TurnError) {
        let answered: Vec<String> = {
            let state = self.state();
            let last = state.messages.last().map(|last| last.blocks.as_slice()).unwrap_or_default();
            last.iter()
                .filter_map(|block| match block {
                    ContentBlock::ToolResult { id, .. } => Some(id.clone()),
                    _ => None,
                })
                .collect()
        };
        for call in calls.iter().filter(|call| !answered.contains(&call.id)) {
            let content = format!("not run: {ended}");
            self.push_user_message(vec![ContentBlock::ToolResult {
                id: call.id.clone(),
                content,
                is_error: true,
            }]);
        }
    }
}
