// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Starting a subagent: a conversation of its own, with the same tools but this one.

use std::sync::Arc;

use serde_json::{Value, json};
use tenterhook_event::EventKind;

use super::{Output, ToolFailed, args};
use crate::provider::{Block, ToolSpec};
use crate::session::{Session, Who};
use crate::tell::Told;
use crate::watch::Moment;
use crate::{Cancel, Ended, permission};

/// What the tool is called.
pub(crate) const NAME: &str = "Task";

/// A type of subagent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubagentKind {
    /// Its name.
    pub name: String,
    /// What the model is told it is for.
    pub about: String,
    /// What it is told before everything else.
    pub system: String,
}

impl SubagentKind {
    /// One that does whatever it is told.
    pub fn general() -> Self {
        Self {
            name: "general".to_owned(),
            about: "any task of several steps".to_owned(),
            system: "You do one task for another agent. Report what you found, shortly.".to_owned(),
        }
    }
}

/// What the model is told.
pub(crate) fn spec(kinds: &[SubagentKind]) -> ToolSpec {
    let names: Vec<_> = kinds.iter().map(|kind| &kind.name).collect();
    let about: Vec<_> = kinds.iter().map(|kind| format!("{}: {}", kind.name, kind.about)).collect();
    let properties = json!({
        "description": {"type": "string", "description": "The task in five words"},
        "prompt": {"type": "string", "description": "The task, whole: the subagent knows nothing else"},
        "subagent_type": {"type": "string", "enum": names},
    });
    let description = format!("Lets a subagent do a task and report. Types: {}", about.join("; "));
    super::spec(NAME, &description, &properties, &["description", "prompt", "subagent_type"])
}

/// Runs a subagent to its last word, which is the result.
pub(crate) async fn run(parent: &Session, args: &Value, cancel: &Cancel) -> Result<Output, ToolFailed> {
    let kind = args::text(args, "subagent_type")?.to_owned();
    let task = args::text(args, "prompt")?;
    if !parent.agent.subagents.iter().any(|known| known.name == kind) {
        let known: Vec<_> = parent.agent.subagents.iter().map(|known| known.name.as_str()).collect();
        let why = format!("there is no subagent `{kind}`; there are {}", known.join(", "));
        return Err(ToolFailed::new(why));
    }
    let id = {
        let mut state = parent.state();
        state.subagents += 1;
        format!("agent-{}", state.subagents)
    };
    let who = Who { id, kind, parent: parent.id.clone() };
    let child = Session::of(Arc::clone(&parent.agent), parent.id.clone(), Some(who));
    let told = work(&child, task, cancel).await;
    let (used, cost) = (child.usage(), child.state().cost);
    {
        let mut state = parent.state();
        state.usage += used;
        if let Some(cost) = cost {
            *state.cost.get_or_insert(0.0) += cost;
        }
    }
    match told {
        Ok(text) => Ok(Output::text(text)),
        Err(ended) => Err(ToolFailed::new(format!("the subagent did not finish: {ended}"))),
    }
}

async fn work(child: &Session, task: &str, cancel: &Cancel) -> Result<String, Ended> {
    let Some(who) = child.who.clone() else { return Err(Ended::Cancelled) };
    child.begin_turn(task);
    let fields = json!({"agentId": who.id, "agentType": who.kind, "prompt": task});
    let outcome = child.tell(Told::new(EventKind::SubagentStart, fields), cancel).await?;
    if let Some(reason) = permission::objection(child, &outcome, "the subagent", cancel).await? {
        return Err(Ended::Blocked { reason });
    }
    child.remember(&outcome);
    child.watch(Moment::SubagentStart { kind: who.kind.clone(), task: task.to_owned() });
    child.say_as_user(vec![Block::Text(task.to_owned())]);
    let text = child.work(cancel).await;
    child.watch(Moment::SubagentStop { kind: who.kind });
    text
}
