// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The context: how full it is, and what is done about it.

use serde_json::json;
use tenterhook_event::EventKind;

use crate::provider::{Block, Message, ModelRequest, Purpose, Role, Usage};
use crate::session::Session;
use crate::tell::{Told, usage};
use crate::watch::Moment;
use crate::{Cancel, Ended, permission};

/// What the model is asked when the conversation has grown too long.
const SUMMARISE: &str = "Summarise this conversation so that the work can go on from the summary alone: what was asked, \
     what was done and found, which files were changed, what was refused and why, and what is left to do.";
const SUMMARY: &str = "The conversation so far, summarised:";

impl Session {
    /// Warns when the context is nearly full, and summarises it when it is.
    pub(crate) async fn keep_in_bounds(&self, cancel: &Cancel) -> Result<(), Ended> {
        let settings = &self.agent.settings;
        let (tokens, warned) = {
            let state = self.state();
            (self.fullness(&state), state.warned)
        };
        if !warned && reaches(tokens, settings.context_window, settings.warn_at) {
            self.state().warned = true;
            self.warn(tokens, cancel).await?;
        }
        if reaches(tokens, settings.context_window, settings.compact_at) {
            self.compact("auto", None, cancel).await?;
        }
        Ok(())
    }

    /// Summarises the conversation now.
    pub async fn compact(
        &self,
        trigger: &str,
        instructions: Option<&str>,
        cancel: &Cancel,
    ) -> Result<(), Ended> {
        let messages = self.state().messages.clone();
        if messages.len() < 3 {
            // There is nothing yet that a summary could be shorter than.
            return Ok(());
        }
        let before = self.fullness(&self.state());
        let mut fields = json!({"trigger": trigger, "usage": full(before)});
        if let (Some(fields), Some(said)) = (fields.as_object_mut(), instructions) {
            fields.insert("customInstructions".to_owned(), json!(said));
        }
        let outcome = self.tell(Told::new(EventKind::PreCompact, fields), cancel).await?;
        if permission::objection(self, &outcome, "compaction", cancel).await?.is_some() {
            return Ok(());
        }
        let wish = [Some(SUMMARISE.to_owned()), instructions.map(ToOwned::to_owned), outcome.context_text()];
        let summary = self
            .summarise(messages, &wish.into_iter().flatten().collect::<Vec<_>>().join("\n"), cancel)
            .await?;
        let after = {
            let mut state = self.state();
            let old = std::mem::take(&mut state.messages);
            state.messages = shortened(old, &summary);
            state.context_tokens = 0;
            state.warned = false;
            self.fullness(&state)
        };
        self.watch(Moment::Compacted { before, after, summary: summary.clone() });
        let fields = json!({"trigger": trigger, "summary": summary, "usage": full(after)});
        let outcome = self.tell(Told::new(EventKind::PostCompact, fields), cancel).await?;
        self.remember(&outcome);
        Ok(())
    }

    async fn warn(&self, tokens: u64, cancel: &Cancel) -> Result<(), Ended> {
        let settings = &self.agent.settings;
        let window = settings.context_window;
        let text = format!("the context is nearly full: {tokens} of {window} tokens");
        let fields = json!({
            "usage": full(tokens), "maxTokens": window, "threshold": settings.warn_at, "message": text,
        });
        let outcome = self.tell(Told::new(EventKind::ContextWarning, fields), cancel).await?;
        self.remember(&outcome);
        if !outcome.suppress_output {
            self.watch(Moment::ContextWarning { tokens, window });
        }
        Ok(())
    }

    async fn summarise(
        &self,
        mut messages: Vec<Message>,
        wish: &str,
        cancel: &Cancel,
    ) -> Result<String, Ended> {
        let block = Block::Text(wish.to_owned());
        match messages.last_mut() {
            Some(last) if last.role == Role::User => last.blocks.push(block),
            _ => messages.push(Message { role: Role::User, blocks: vec![block] }),
        }
        let mut request: ModelRequest = self.request(messages, Vec::new(), Purpose::Compaction);
        let (reply, _) = self.generate(&mut request, cancel).await?;
        Ok(reply.text)
    }

    /// How many tokens the next request has: as the model last counted, or a guess.
    fn fullness(&self, state: &crate::session::State) -> u64 {
        if state.context_tokens > 0 {
            return state.context_tokens;
        }
        let letters: usize = state.messages.iter().flat_map(|message| &message.blocks).map(letters).sum();
        u64::try_from(letters / 4).unwrap_or(u64::MAX)
    }
}

/// The summary in place of everything but the last exchange: a result stays with its call.
fn shortened(old: Vec<Message>, summary: &str) -> Vec<Message> {
    let results =
        |message: &Message| message.blocks.iter().any(|block| matches!(block, Block::ToolResult { .. }));
    let keep = if old.last().is_some_and(results) { 2 } else { 1 };
    let mut tail = old;
    tail.drain(..tail.len().saturating_sub(keep));
    let summary = Block::Text(format!("{SUMMARY}\n{summary}"));
    match tail.first_mut() {
        Some(first) if first.role == Role::User => first.blocks.insert(0, summary),
        _ => tail.insert(0, Message { role: Role::User, blocks: vec![summary] }),
    }
    tail
}

fn letters(block: &Block) -> usize {
    match block {
        Block::Text(text) => text.len(),
        Block::ToolCall(call) => call.name.len() + call.args.to_string().len(),
        Block::ToolResult { content, .. } => content.len(),
    }
}

#[expect(clippy::cast_precision_loss, reason = "it is compared with a part of a window, not counted with")]
fn reaches(tokens: u64, window: u64, part: f64) -> bool {
    window > 0 && tokens as f64 >= window as f64 * part
}

fn full(tokens: u64) -> serde_json::Value {
    usage(&Usage { input: tokens, ..Usage::default() })
}
