// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Records accesses to files that the sandbox of a run refused.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Map, Value};
use tenterhook_api::{RunRegistration, SANDBOX_REFUSAL};
use tenterhook_error::Failure;
use tenterhook_event::{Event, EventKind, HookCall, ToolCall};
use tenterhook_home::{Env, Home, call_meta};

use crate::connection_event::RUN_SOURCE;
use crate::pipeline_judge::PipelineJudge;

/// An access that the sandbox refused.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileRefusal {
    /// What the program tried: `read`, `write`, `create`, `remove` or `change`.
    pub operation: String,
    /// Path of the refused access.
    pub path: String,
    /// Id of the rule that protects the path, if there is one.
    pub rule: Option<String>,
    /// Why the access was refused.
    pub reason: String,
    /// What the rule suggests instead.
    pub suggestion: Option<String>,
}

/// Records the refused accesses of one run.
#[derive(Clone)]
pub struct RefusalRecorder {
    judge: PipelineJudge,
    run: RunRegistration,
    count: Arc<AtomicU64>,
}

// === impl RefusalRecorder ===

impl RefusalRecorder {
    /// A recorder for a run.
    pub fn new(home: Home, env: Env, run: RunRegistration) -> Self {
        let judge = PipelineJudge::new(home, env, run.clone(), Duration::ZERO);
        Self { judge, run, count: Arc::default() }
    }

    /// Records a refused access, in the daemon or, without one, in the spool. Blocks until then.
    pub fn record(&self, refusal: &FileRefusal) -> Result<(), Failure> {
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        let call = refusal_call(&self.run, number, refusal)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(self.judge.evaluate(call, Duration::ZERO)).map(drop)
    }
}

fn refusal_call(run: &RunRegistration, number: u64, refusal: &FileRefusal) -> Result<HookCall, Failure> {
    let meta = call_meta::mint()?;
    let source = run.harness.as_deref().unwrap_or(RUN_SOURCE);
    let mut event = Event::new(meta.id, meta.ts, source, EventKind::ToolError, "refuse");
    event.harness_session_id = Some(run.id.to_string());
    event.tool_use_id = Some(format!("file-{}-{number}", run.id));
    event.cwd.clone_from(&run.cwd);
    event.project.clone_from(&run.project);
    event.agent.sandbox = Some(run.level);
    let mut args = Map::new();
    args.insert("path".to_owned(), refusal.path.clone().into());
    args.insert("operation".to_owned(), refusal.operation.clone().into());
    let optional = [("rule", &refusal.rule), ("suggestion", &refusal.suggestion)];
    let given = optional.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value.clone()?.into())));
    args.extend(given);
    event.tool = Some(ToolCall::new(SANDBOX_REFUSAL, Value::Object(args)));
    event.detail.error = Some(refusal.reason.clone());
    Ok(HookCall { event, native: None })
}

#[cfg(test)]
mod tests {
    use tenterhook_event::{EventId, SandboxLevel};

    use super::*;

    #[test]
    fn a_refusal_names_the_rule_and_its_suggestion() {
        let run = RunRegistration {
            id: EventId::from_parts(1, 1),
            init_pid: 1,
            level: SandboxLevel::NamespacesLandlock,
            harness: Some("claude-code".to_owned()),
            command: "claude".to_owned(),
            cwd: Some("/w".to_owned()),
            project: None,
        };
        let refusal = FileRefusal {
            operation: "write".to_owned(),
            path: "/w/.git/hooks/x".to_owned(),
            rule: Some("persistence".to_owned()),
            reason: "hooks run later".to_owned(),
            suggestion: Some("ask the user".to_owned()),
        };
        let event = refusal_call(&run, 3, &refusal).unwrap().event;
        assert_eq!((event.event, event.source.as_str()), (EventKind::ToolError, "claude-code"));
        assert_eq!(event.agent.sandbox, Some(SandboxLevel::NamespacesLandlock));
        let tool = event.tool.unwrap();
        assert_eq!((tool.name.as_str(), &tool.args["rule"]), (SANDBOX_REFUSAL, &Value::from("persistence")));
        assert_eq!(tool.args["suggestion"], "ask the user");
        assert_eq!(event.detail.error.as_deref(), Some("hooks run later"));
        let plain = FileRefusal { path: "/x".to_owned(), ..FileRefusal::default() };
        let args = refusal_call(&run, 4, &plain).unwrap().event.tool.unwrap().args;
        assert_eq!(args.get("rule"), None);
    }
}
