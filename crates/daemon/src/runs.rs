// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Sandboxed runs: which events come from inside one, and the connections that its supervisor reports.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tenterhook_api::{SANDBOX_REFUSAL, SandboxedRun};
use tenterhook_authority::RunSession;
use tenterhook_event::{Event, NETWORK_CONNECT, SessionCheck};

use crate::daemon::Daemon;
use crate::listen::Peer;

/// Interval between checks that a run's first process has ended.
const END_CHECK_INTERVAL: Duration = Duration::from_millis(500);

/// A run and its newest session, for an event that the run's supervisor sent.
pub(crate) type SupervisedRun = (SandboxedRun, Option<RunSession>);

/// Whether only the supervisor of a run sends such an event.
pub(crate) fn is_about_run(event: &Event) -> bool {
    let name = event.tool.as_ref().map(|tool| tool.name.as_str());
    name.is_some_and(|name| [NETWORK_CONNECT, SANDBOX_REFUSAL].contains(&name))
}

impl Daemon {
    /// Sets the level of the sandbox that an event comes from. What the sender claims does not count.
    pub(crate) fn attach_run(&self, peer: Peer, event: &mut Event) {
        event.agent.sandbox = None;
        let Peer::Local { pid: Some(pid), .. } = peer else { return };
        let runs = &self.authority.agents.runs;
        let Some(run) = runs.find_by_pid(pid) else { return };
        event.agent.sandbox = Some(run.level);
        if let Some(id) = event.harness_session_id.clone()
            && event.session_check != Some(SessionCheck::Unverified)
        {
            let (source, cwd, project) = (event.source.clone(), event.cwd.clone(), event.project.clone());
            runs.note_session(run.id, RunSession { source, id, cwd, project });
        }
    }

    /// Returns the run that the caller supervises, if the event is about a connection or a refused access of the run.
    pub(crate) fn supervised_run(&self, peer: Peer, event: &Event) -> Option<SupervisedRun> {
        let Peer::Local { pid: Some(pid), start, .. } = peer else { return None };
        is_about_run(event).then_some(())?;
        self.authority.agents.runs.supervised_by(pid, start)
    }

    /// Completes an event that a supervisor sent: it belongs to the newest session of the run.
    pub(crate) fn prepare_connection(&self, (run, session): SupervisedRun, event: &mut Event) {
        self.redact_identifiers(event);
        event.agent.sandbox = Some(run.level);
        if let Some(session) = session {
            event.source = session.source;
            event.harness_session_id = Some(session.id);
            (event.cwd, event.project) = (session.cwd, session.project);
        }
        self.observers.sessions.fill_from_session(event);
    }

    /// Records the end of a run when its first process ends.
    pub(crate) fn watch_run(self: &Arc<Self>, run: SandboxedRun) {
        let daemon = Arc::clone(self);
        tokio::spawn(async move {
            while daemon.authority.agents.runs.is_running(run.id) {
                tokio::select! {
                    () = tokio::time::sleep(END_CHECK_INTERVAL) => {}
                    // A later daemon reads the mark of the run.
                    () = daemon.wait_drained() => return,
                }
            }
            // Removes the mark.
            daemon.authority.agents.runs.list();
            let detail = json!({"run": run.id, "level": run.level, "command": run.command});
            if let Err(why) = daemon.record_change("sandbox ended", daemon.uid, detail, Vec::new()).await {
                tracing::warn!(%why, "the end of a sandboxed run could not be recorded");
            }
        });
    }

    /// Watches the runs that an earlier daemon knew, or that were registered without a daemon.
    pub(crate) fn watch_known_runs(self: &Arc<Self>) {
        for run in self.authority.agents.runs.list() {
            self.watch_run(run);
        }
    }
}
