// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Warns when the context is nearly full, and compacts the conversation when it is full.

use serde_json::json;
use tenterhook_event::EventKind;

use crate::activity::AgentActivity;
use crate::event_draft::{EventDraft, usage_json};
use crate::provider::{ChatMessage, ChatRole, ContentBlock, ModelRequest, ModelUsage, RequestPurpose};
use crate::session::AgentSession;
use crate::{CancelToken, TurnError, permission};

/// Instruction for the model when the conversation is compacted.
const SUMMARY_PROMPT: &str = "Summarise this conversation so that the work can continue from the summary alone: what was asked, \
     what was done and found, which files were changed, what was denied and why, and what is left to do.";
const SUMMARY_HEADING: &str = "Summary of the conversation so far:";

impl AgentSession {
    /// Warns when the context is nearly full, and compacts it when it is full.
    pub(crate) async fn compact_if_needed(&self, cancel: &CancelToken) -> Result<(), TurnError> {
        let settings = &self.agent.settings;
        let (tokens, warned) = {
            let state = self.state();
            (self.context_size_tokens(&state), state.warned)
        };
        if !warned && reaches_share(tokens, settings.context_window, settings.warn_at) {
            self.state().warned = true;
            self.warn_context_size(tokens, cancel).await?;
        }
        if reaches_share(tokens, settings.context_window, settings.compact_at) {
            self.compact("auto", None, cancel).await?;
        }
        Ok(())
    }

    /// Compacts the conversation now by replacing it with a summary.
    pub async fn compact(
        &self,
        trigger: &str,
        instructions: Option<&str>,
        cancel: &CancelToken,
    ) -> Result<(), TurnError> {
        let messages = self.state().messages.clone();
        if messages.len() < 3 {
            // The conversation is too short for a summary to save anything.
            return Ok(());
        }
        let before = self.context_size_tokens(&self.state());
        let mut fields = json!({"trigger": trigger, "usage": input_usage_json(before)});
        if let (Some(fields), Some(said)) = (fields.as_object_mut(), instructions) {
            fields.insert("customInstructions".to_owned(), json!(said));
        }
        let outcome = self.fire(EventDraft::new(EventKind::PreCompact, fields), cancel).await?;
        if permission::check_objection(self, &outcome, "compaction", cancel).await?.is_some() {
            return Ok(());
        }
        let wish =
            [Some(SUMMARY_PROMPT.to_owned()), instructions.map(ToOwned::to_owned), outcome.context_text()];
        let summary = self
            .summarise(messages, &wish.into_iter().flatten().collect::<Vec<_>>().join("\n"), cancel)
            .await?;
        let after = {
            let mut state = self.state();
            let old = std::mem::take(&mut state.messages);
            state.messages = replace_with_summary(old, &summary);
            state.context_tokens = 0;
            state.warned = false;
            self.context_size_tokens(&state)
        };
        self.report(AgentActivity::Compacted { before, after, summary: summary.clone() });
        let fields = json!({"trigger": trigger, "summary": summary, "usage": input_usage_json(after)});
        let outcome = self.fire(EventDraft::new(EventKind::PostCompact, fields), cancel).await?;
        self.queue_context(&outcome);
        Ok(())
    }

    async fn warn_context_size(&self, tokens: u64, cancel: &CancelToken) -> Result<(), TurnError> {
        let settings = &self.agent.settings;
        let window = settings.context_window;
        let text = format!("context is nearly full: {tokens} of {window} tokens");
        let fields = json!({
            "usage": input_usage_json(tokens), "maxTokens": window, "threshold": settings.warn_at, "message": text,
        });
        let outcome = self.fire(EventDraft::new(EventKind::ContextWarning, fields), cancel).await?;
        self.queue_context(&outcome);
        if !outcome.suppress_output {
            self.report(AgentActivity::ContextWarning { tokens, window });
        }
        Ok(())
    }

    async fn summarise(
        &self,
        mut messages: Vec<ChatMessage>,
        wish: &str,
        cancel: &CancelToken,
    ) -> Result<String, TurnError> {
        let block = ContentBlock::Text(wish.to_owned());
        match messages.last_mut() {
            Some(last) if last.role == ChatRole::User => last.blocks.push(block),
            _ => messages.push(ChatMessage { role: ChatRole::User, blocks: vec![block] }),
        }
        let mut request: ModelRequest = self.build_request(messages, Vec::new(), RequestPurpose::Compaction);
        let (reply, _) = self.generate_with_hooks(&mut request, cancel).await?;
        Ok(reply.text)
    }

    /// Returns the size of the next request in tokens: the count that the model last reported, or an estimate.
    fn context_size_tokens(&self, state: &crate::session::AgentSessionState) -> u64 {
        if state.context_tokens > 0 {
            return state.context_tokens;
        }
        let bytes: usize = state.messages.iter().flat_map(|message| &message.blocks).map(block_bytes).sum();
        u64::try_from(bytes / 4).unwrap_or(u64::MAX)
    }
}

/// Replaces everything except the last exchange with the summary. A tool result is kept together with its call.
fn replace_with_summary(old: Vec<ChatMessage>, summary: &str) -> Vec<ChatMessage> {
    let results = |message: &ChatMessage| {
        message.blocks.iter().any(|block| matches!(block, ContentBlock::ToolResult { .. }))
    };
    let keep = if old.last().is_some_and(results) { 2 } else { 1 };
    let mut tail = old;
    tail.drain(..tail.len().saturating_sub(keep));
    let summary = ContentBlock::Text(format!("{SUMMARY_HEADING}\n{summary}"));
    match tail.first_mut() {
        Some(first) if first.role == ChatRole::User => first.blocks.insert(0, summary),
        _ => tail.insert(0, ChatMessage { role: ChatRole::User, blocks: vec![summary] }),
    }
    tail
}

fn block_bytes(block: &ContentBlock) -> usize {
    match block {
        ContentBlock::Text(text) => text.len(),
        ContentBlock::ToolCall(call) => call.name.len() + call.args.to_string().len(),
        ContentBlock::ToolResult { content, .. } => content.len(),
    }
}

#[expect(clippy::cast_precision_loss, reason = "only compared with a share of the window")]
fn reaches_share(tokens: u64, window: u64, share: f64) -> bool {
    window > 0 && tokens as f64 >= window as f64 * share
}

fn input_usage_json(tokens: u64) -> serde_json::Value {
    usage_json(&ModelUsage { input: tokens, ..ModelUsage::default() })
}
