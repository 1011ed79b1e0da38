// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What one event changes in its session. Events may come out of order: what counts as the latest is
//! what happened last, not what was heard last.

use serde_json::{Map, Value};
use tenterhook_event::{Decision, Event, EventKind, ToolClass};

use super::clean;
use super::session::{Doing, Prompt, Session, Subagent};
use super::todo;

const PROMPTS: usize = 20;
const PROMPT: usize = 2000;
const SUBAGENTS: usize = 200;
const TOOLS: usize = 64;
const RECENT: usize = 10;

impl Session {
    /// Applies an event. Says whether a command runs whose files have to be looked for.
    pub(super) fn apply(
        &mut self,
        event: &Event,
        decision: Decision,
        native: Option<&Map<String, Value>>,
    ) -> bool {
        let latest = event.ts >= self.last;
        self.started = self.started.min(event.ts);
        self.events += 1;
        *self.verdicts.entry(decision).or_default() += 1;
        newer(&mut self.model, event.agent.model.as_ref(), latest);
        newer(&mut self.user, event.agent.user.as_ref(), latest);
        newer(&mut self.cwd, event.cwd.as_ref(), latest);
        newer(&mut self.project, event.project.as_ref(), latest);
        newer(&mut self.turn, event.turn_id.as_ref(), latest);
        if latest {
            (self.last, self.last_event) = (event.ts, event.event);
            self.doing = doing(event, decision);
        }
        self.usage.read(event, native);
        match event.event {
            EventKind::Prompt => self.prompt(event),
            EventKind::SubagentStart | EventKind::SubagentStop => self.subagent(event),
            EventKind::PreTool => return self.tool(event, decision, latest),
            _ => {}
        }
        false
    }

    fn prompt(&mut self, event: &Event) {
        self.prompted += 1;
        let Some(text) = &event.detail.prompt else { return };
        let at = self.prompts.partition_point(|prompt| prompt.ts <= event.ts);
        self.prompts.insert(at, Prompt { ts: event.ts, text: clean(text, PROMPT) });
        if self.prompts.len() > PROMPTS {
            self.prompts.remove(0);
        }
    }

    fn subagent(&mut self, event: &Event) {
        let Some(id) = &event.agent.id else { return };
        let ended = (event.event == EventKind::SubagentStop).then_some(event.ts);
        if let Some(known) = self.subagents.iter_mut().find(|known| known.id == *id) {
            known.ended = known.ended.max(ended);
            known.started = known.started.min(event.ts);
        } else if self.subagents.len() < SUBAGENTS {
            let kind = event.agent.kind.clone();
            self.subagents.push(Subagent { id: id.clone(), kind, started: event.ts, ended });
        }
    }

    fn tool(&mut self, event: &Event, decision: Decision, latest: bool) -> bool {
        let Some(tool) = &event.tool else { return false };
        let known = self.tools.contains_key(&tool.name) || self.tools.len() < TOOLS;
        let name = if known { tool.name.as_str() } else { "…" };
        *self.tools.entry(name.to_owned()).or_default() += 1;
        if decision == Decision::Deny {
            return false;
        }
        if latest {
            let over = (self.recent.len() + 1).saturating_sub(RECENT);
            self.recent.drain(..over);
            self.recent.push(name.to_owned());
        }
        if tool.class == ToolClass::Todo && latest {
            todo::apply(&mut self.todos, tool);
        }
        match tool.class {
            ToolClass::Read => self.files.read(&tool.paths()),
            ToolClass::Write | ToolClass::Edit => self.files.wrote(&tool.paths()),
            ToolClass::Shell | ToolClass::Patch => return true,
            _ => {}
        }
        false
    }
}

fn newer(known: &mut Option<String>, said: Option<&String>, latest: bool) {
    if let Some(said) = said
        && (latest || known.is_none())
        && known.as_ref() != Some(said)
    {
        *known = Some(said.clone());
    }
}

fn doing(event: &Event, decision: Decision) -> Doing {
    match event.event {
        EventKind::SessionEnd => Doing::Ended,
        // A denied stop means: not finished yet.
        EventKind::Stop if decision != Decision::Deny => Doing::Rests,
        EventKind::SessionStart => Doing::Rests,
        EventKind::PermissionRequest if decision == Decision::None => Doing::Waits,
        _ if decision == Decision::Ask => Doing::Waits,
        _ => Doing::Works,
    }
}
