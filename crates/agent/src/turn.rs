// SPDX-License-Identifier: Apache-2.0 OR MIT

//! One turn: from what a person asks to the agent's last word. [`Session::prompt`] is the loop.

use serde_json::json;
use tenterhook_event::{Decision, EventKind};

use crate::provider::{Block, Message, ModelReply, ProviderError, Role, ToolCall};
use crate::session::Session;
use crate::tell::Told;
use crate::watch::Moment;
use crate::{Cancel, FireError, call, permission};

/// How often in a row a hook may say "not finished yet"; then the agent finishes all the same.
pub const STOP_BLOCKS: u32 = 8;

/// How a turn ended before the agent had finished.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Ended {
    /// The person said stop.
    #[error("cancelled")]
    Cancelled,
    /// A hook or rule did not let the prompt or the model's answer pass.
    #[error("blocked: {reason}")]
    Blocked {
        /// Why.
        reason: String,
    },
    /// A hook ended the turn.
    #[error("stopped{}", reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default())]
    Stopped {
        /// What the person is told.
        reason: Option<String>,
    },
    /// A hook put a call off for somebody else.
    #[error("put off{}", reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default())]
    Deferred {
        /// Why.
        reason: Option<String>,
    },
    /// The model was asked too often.
    #[error("the model was asked {0} times, which is as often as it may be")]
    TurnLimit(u32),
    /// Nobody could decide, so nothing was done.
    #[error("nobody could decide: {0}")]
    Unguarded(FireError),
    /// The model did not answer.
    #[error("the model did not answer: {0}")]
    Model(ProviderError),
}

impl Session {
    /// Takes a prompt to the agent's last word, which is returned.
    pub async fn prompt(&self, text: &str, cancel: &Cancel) -> Result<String, Ended> {
        let _turn = self.turn.lock().await;
        self.watch(Moment::Prompt { text: text.to_owned() });
        self.receive(text, cancel).await?;
        self.work(cancel).await
    }

    /// The loop: model, tools, model, tools, until the model wants no more and nobody objects.
    pub(crate) async fn work(&self, cancel: &Cancel) -> Result<String, Ended> {
        let (mut asked, mut blocks) = (0, 0);
        loop {
            self.keep_in_bounds(cancel).await?;
            if asked >= self.agent.settings.max_turns {
                return Err(Ended::TurnLimit(asked));
            }
            asked += 1;
            let (reply, available) = self.ask_model(cancel).await?;
            if !reply.tool_calls.is_empty() {
                blocks = 0;
                self.run_tools(&reply, &available, cancel).await?;
            } else if self.may_finish(&reply.text, blocks, cancel).await? {
                return Ok(reply.text);
            } else {
                blocks += 1;
            }
        }
    }

    /// The person's words, past the gate and into the conversation.
    async fn receive(&self, text: &str, cancel: &Cancel) -> Result<(), Ended> {
        self.begin_turn(text);
        let told = Told::new(EventKind::Prompt, json!({"prompt": text, "context": self.context()}));
        let outcome = self.tell(told, cancel).await?;
        if let Some(reason) = permission::objection(self, &outcome, "the prompt", cancel).await? {
            return Err(Ended::Blocked { reason });
        }
        self.remember(&outcome);
        self.say_as_user(vec![Block::Text(text.to_owned())]);
        Ok(())
    }

    /// Runs what the model asked for, one after the other. Whatever ends the turn in between, every call has
    /// a result: a conversation with a call that was never answered could not go on.
    async fn run_tools(
        &self,
        reply: &ModelReply,
        available: &[String],
        cancel: &Cancel,
    ) -> Result<(), Ended> {
        for wanted in &reply.tool_calls {
            match call::run(self, wanted, Some(available), cancel).await {
                Ok(result) => self.keep_result(wanted, &result),
                Err(ended) => {
                    self.answer_the_rest(&reply.tool_calls, &ended);
                    return Err(ended);
                }
            }
        }
        Ok(())
    }

    /// Whether the agent is done, or somebody says it is not.
    async fn may_finish(&self, response: &str, blocks: u32, cancel: &Cancel) -> Result<bool, Ended> {
        let kind = if self.who.is_some() { EventKind::SubagentStop } else { EventKind::Stop };
        let mut fields = json!({
            "prompt": self.state().prompt, "response": response, "stopHookActive": blocks > 0,
        });
        if let (Some(fields), Some(who)) = (fields.as_object_mut(), &self.who) {
            fields.insert("agentId".to_owned(), json!(who.id));
            fields.insert("agentType".to_owned(), json!(who.kind));
        }
        let outcome = self.tell(Told::new(kind, fields), cancel).await?;
        self.remember(&outcome);
        if outcome.decision != Decision::Deny {
            return Ok(true);
        }
        if blocks >= STOP_BLOCKS {
            let text =
                format!("finishing although a hook objects: it did so {STOP_BLOCKS} times in a row already");
            self.notify(&text, "stop_block_cap", cancel).await?;
            return Ok(true);
        }
        let reason = outcome.reason_with_nudge().unwrap_or_else(|| "it is not finished yet".to_owned());
        self.watch(Moment::NotFinished { reason: reason.clone() });
        self.say_as_user(vec![Block::Text(reason)]);
        Ok(false)
    }

    /// A new turn begins.
    pub(crate) fn begin_turn(&self, prompt: &str) {
        let mut state = self.state();
        state.turns += 1;
        state.turn_id = Some(match &self.who {
            Some(who) => format!("{}-turn-{}", who.id, state.turns),
            None => format!("turn-{}", state.turns),
        });
        prompt.clone_into(&mut state.prompt);
    }

    /// A message to the model, with whatever it is to be told beside it.
    pub(crate) fn say_as_user(&self, mut blocks: Vec<Block>) {
        let mut state = self.state();
        blocks.extend(state.pending.drain(..).map(Block::Text));
        match state.messages.last_mut() {
            Some(last) if last.role == Role::User => last.blocks.extend(blocks),
            _ => state.messages.push(Message { role: Role::User, blocks }),
        }
    }

    /// What hooks said since the last message goes to the model before it is asked.
    pub(crate) fn say_what_is_pending(&self) {
        if !self.state().pending.is_empty() {
            self.say_as_user(Vec::new());
        }
    }

    /// What came of a call, for the model.
    pub(crate) fn keep_result(&self, call: &ToolCall, result: &call::Result) {
        self.state().pending.extend(result.context.clone());
        self.say_as_user(vec![result.block(&call.id)]);
    }

    fn answer_the_rest(&self, calls: &[ToolCall], ended: &Ended) {
        let answered: Vec<String> = {
            let state = self.state();
            let last = state.messages.last().map(|last| last.blocks.as_slice()).unwrap_or_default();
            last.iter()
                .filter_map(|block| match block {
                    Block::ToolResult { id, .. } => Some(id.clone()),
                    _ => None,
                })
                .collect()
        };
        for call in calls.iter().filter(|call| !answered.contains(&call.id)) {
            let content = format!("not run: {ended}");
            self.say_as_user(vec![Block::ToolResult { id: call.id.clone(), content, is_error: true }]);
        }
    }
}
