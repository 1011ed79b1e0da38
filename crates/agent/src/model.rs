// SPDX-License-Identifier: Apache-2.0 OR MIT

//! One answer of the model: the tools it may choose from, the request, the answer, each past its gate.

use std::time::Instant;

use serde_json::{Value, json};
use tenterhook_event::{Decision, EventKind, Modification, Outcome, SelectionMode};

use crate::provider::{
    Block, Delta, Message, ModelReply, ModelRequest, Purpose, Role, Sampling, StopReason, ToolChoice,
    ToolSpec, Usage,
};
use crate::session::Session;
use crate::tell::{Told, usage};
use crate::tools::task;
use crate::watch::Moment;
use crate::{Cancel, Ended, permission, wire};

impl Session {
    /// Asks the model for the next step. Returns its answer and the tools it was offered.
    pub(crate) async fn ask_model(&self, cancel: &Cancel) -> Result<(ModelReply, Vec<String>), Ended> {
        let purpose = match &self.who {
            Some(who) => Purpose::Subagent(who.kind.clone()),
            None => Purpose::Turn,
        };
        self.say_what_is_pending();
        let messages = self.state().messages.clone();
        let mut request = self.request(messages, self.tool_specs(), purpose);
        self.select_tools(&mut request, cancel).await?;
        let (reply, replaced) = self.generate(&mut request, cancel).await?;
        if !reply.text.is_empty() {
            self.watch(Moment::Said { text: reply.text.clone(), replaced });
        }
        let words = (!reply.text.is_empty()).then(|| Block::Text(reply.text.clone()));
        let calls = reply.tool_calls.iter().cloned().map(Block::ToolCall);
        let mut blocks: Vec<_> = words.into_iter().chain(calls).collect();
        if blocks.is_empty() {
            // A model may have nothing to say; a message without anything is none.
            blocks.push(Block::Text("(nothing)".to_owned()));
        }
        self.state().messages.push(Message { role: Role::Assistant, blocks });
        Ok((reply, request.tools.into_iter().map(|tool| tool.name).collect()))
    }

    /// Which tools the model may choose from.
    async fn select_tools(&self, request: &mut ModelRequest, cancel: &Cancel) -> Result<(), Ended> {
        let told = self.about_request(EventKind::ToolSelection, request);
        let outcome = self.tell(told, cancel).await?;
        self.tell_model_now(&outcome, request);
        if permission::objection(self, &outcome, "tools", cancel).await?.is_some() {
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

    /// The request past its gate, the model, and the answer past its own. Says whether a hook replaced it.
    pub(crate) async fn generate(
        &self,
        request: &mut ModelRequest,
        cancel: &Cancel,
    ) -> Result<(ModelReply, bool), Ended> {
        let outcome = self.tell(self.about_request(EventKind::PreModel, request), cancel).await?;
        if let Some(reason) = permission::objection(self, &outcome, "the model", cancel).await? {
            return Err(Ended::Blocked { reason });
        }
        for said in &outcome.modifications {
            if let Modification::ModelRequest { merge, value } = &said.what {
                wire::change_request(request, *merge, value);
            }
        }
        self.tell_model_now(&outcome, request);
        let began = Instant::now();
        let (mut reply, mut replaced) = match synthetic(&outcome, request) {
            Some(reply) => (reply, true),
            None => (self.really_generate(request, cancel).await?, false),
        };
        self.count(&reply);
        let took = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let outcome = self.tell(self.about_reply(request, &reply, took), cancel).await?;
        self.remember(&outcome);
        for said in &outcome.modifications {
            if let Modification::ModelResponse { merge, value } = &said.what {
                wire::change_reply(&mut reply, *merge, value);
                replaced = true;
            }
        }
        if let Some(reason) = permission::objection(self, &outcome, "the answer", cancel).await? {
            return Err(Ended::Blocked { reason });
        }
        Ok((reply, replaced))
    }

    async fn really_generate(&self, request: &ModelRequest, cancel: &Cancel) -> Result<ModelReply, Ended> {
        let aloud = request.purpose != Purpose::Compaction;
        let mut deltas = |delta: Delta| {
            if let (Delta::Text(text), true) = (delta, aloud) {
                self.watch(Moment::Delta { text });
            }
        };
        let answer = self.agent.provider.generate(request, &mut deltas, cancel);
        cancel.or(answer).await.ok_or(Ended::Cancelled)?.map_err(Ended::Model)
    }

    /// Adds up what answers cost.
    fn count(&self, reply: &ModelReply) {
        let used = reply.usage;
        let cost = self.agent.prices.as_ref().and_then(|prices| prices(&reply.model, &used));
        let mut state = self.state();
        state.usage += used;
        state.context_tokens = used.total();
        if let Some(cost) = cost {
            *state.cost.get_or_insert(0.0) += cost;
        }
    }

    pub(crate) fn request(
        &self,
        messages: Vec<Message>,
        tools: Vec<ToolSpec>,
        purpose: Purpose,
    ) -> ModelRequest {
        let settings = &self.agent.settings;
        let kind =
            self.who.as_ref().and_then(|who| self.agent.subagents.iter().find(|kind| kind.name == who.kind));
        ModelRequest {
            model: settings.model.clone(),
            system: kind.map(|kind| kind.system.clone()).or_else(|| settings.system.clone()),
            messages,
            tools,
            tool_choice: ToolChoice::Auto,
            max_tokens: settings.max_tokens,
            temperature: settings.temperature,
            sampling: Sampling::default(),
            purpose,
        }
    }

    /// What hooks want the model to know goes with this very request.
    fn tell_model_now(&self, outcome: &Outcome, request: &mut ModelRequest) {
        let Some(text) = outcome.context_text() else { return };
        let block = Block::Text(text);
        match request.messages.last_mut() {
            Some(last) if last.role == Role::User => last.blocks.push(block),
            _ => request.messages.push(Message { role: Role::User, blocks: vec![block] }),
        }
    }

    fn about_request(&self, kind: EventKind, request: &ModelRequest) -> Told<'static> {
        let prompt = self.state().prompt.clone();
        let names: Vec<_> = request.tools.iter().map(|tool| &tool.name).collect();
        let mut fields = json!({"prompt": prompt, "model": self.model_config(), "tools": names});
        if let (Some(fields), Some(system)) = (fields.as_object_mut(), &request.system) {
            fields.insert("systemPrompt".to_owned(), json!(system));
        }
        Told { model: (Some(wire::request(&prompt, request)), None), ..Told::new(kind, fields) }
    }

    fn about_reply(&self, request: &ModelRequest, reply: &ModelReply, took: u64) -> Told<'static> {
        let prompt = self.state().prompt.clone();
        let response = json!({
            "text": reply.text, "toolCalls": wire::calls(&reply.tool_calls),
            "usage": usage(&reply.usage), "duration": took,
        });
        let whole = wire::reply(&response, reply);
        let fields = json!({"prompt": prompt, "model": self.model_config(), "response": response});
        let model = (Some(wire::request(&prompt, request)), Some(whole));
        Told { model, ..Told::new(EventKind::PostModel, fields) }
    }

    /// The model, as events tell it.
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

    /// Every tool there is in this conversation. A subagent starts no others.
    pub(crate) fn tool_specs(&self) -> Vec<ToolSpec> {
        let mut specs = self.agent.tools.specs();
        if self.who.is_none() && !self.agent.subagents.is_empty() {
            specs.push(task::spec(&self.agent.subagents));
        }
        specs
    }

    pub(crate) fn tool_names(&self) -> Vec<String> {
        self.tool_specs().into_iter().map(|tool| tool.name).collect()
    }
}

/// An answer that a hook gives in the model's place.
fn synthetic(outcome: &Outcome, request: &ModelRequest) -> Option<ModelReply> {
    let mut reply = ModelReply {
        text: String::new(),
        tool_calls: Vec::new(),
        usage: Usage::default(),
        stop: StopReason::EndTurn,
        model: request.model.clone(),
    };
    let mut any = false;
    for said in &outcome.modifications {
        if let Modification::ModelResponse { merge, value } = &said.what {
            wire::change_reply(&mut reply, *merge, value);
            any = true;
        }
    }
    (any && outcome.decision != Decision::Deny).then_some(reply)
}
