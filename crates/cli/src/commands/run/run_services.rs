// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What a sandboxed run needs from outside: its processes are registered as an agent, its proxy is served, and what the
//! sandbox refuses is recorded.

use std::net::TcpListener;
use std::sync::{Arc, OnceLock};

use rustix::process::Pid;
use tenterhook_api::RunRegistration;
use tenterhook_egress::{FileRefusal, RefusalRecorder, RunContext, register_run, serve_for_run};
use tenterhook_error::ErrorKind;
use tenterhook_home::{Env, Home, call_meta};
use tenterhook_sandbox_run::{PreparedRun, RefusalReport, RunServer};

use super::sandboxed::SandboxedCommand;
use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::{Terminal, WARN, tame};

/// Registers one run, and serves its proxy.
#[derive(Clone)]
pub(super) struct RunServices {
    home: Home,
    env: Env,
    terminal: Terminal,
    /// The registration, without its process.
    draft: RunRegistration,
    registered: Arc<OnceLock<RunRegistration>>,
    recorder: Arc<OnceLock<RefusalRecorder>>,
}

impl RunServices {
    pub(super) fn new(
        context: &Context,
        home: &Home,
        run: &PreparedRun,
        command: &SandboxedCommand,
    ) -> Result<Self, CommandError> {
        let plan = run.plan();
        let draft = RunRegistration {
            id: call_meta::mint()?.id,
            init_pid: 0,
            level: plan.level,
            harness: command.harness.map(ToOwned::to_owned),
            command: command.program.to_string_lossy().into_owned(),
            cwd: Some(plan.working_directory.display().to_string()),
            project: Some(plan.roots.project.display().to_string()),
        };
        let (env, terminal) = (context.env.clone(), context.terminal);
        Ok(Self {
            home: home.clone(),
            env,
            terminal,
            draft,
            registered: Arc::default(),
            recorder: Arc::default(),
        })
    }
}

impl RunServer for RunServices {
    fn register(&self, init: Pid) {
        let run = RunRegistration { init_pid: init.as_raw_nonzero().get(), ..self.draft.clone() };
        match register_run(&self.home, &run) {
            Ok(()) => {}
            // The run of an agent: its processes are known as the agent's already.
            Err(failure) if failure.kind == ErrorKind::Denied => {}
            Err(failure) => {
                let text = tame(&format!("the daemon does not know this run: {failure}"));
                // Nothing else can be done if standard error is closed.
                let _ = self.terminal.eprint(&format!("{WARN}warning{WARN:#}: {text}\n"));
            }
        }
        let _ = self.registered.set(run);
    }

    fn serve_proxy(&self, listener: TcpListener, connections: usize) {
        let Some(run) = self.registered.get() else { return };
        let mut context = RunContext::new(self.home.clone(), self.env.clone(), run.clone());
        context.limits.connections = connections;
        if let Err(error) = context.use_upstream_proxies() {
            let text = tame(&format!("{error}; connections of the run are made without it"));
            let _ = self.terminal.eprint(&format!("{WARN}warning{WARN:#}: {text}\n"));
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let served = runtime.and_then(|runtime| runtime.block_on(serve_for_run(listener, context)));
        if let Err(error) = served {
            let text =
                format!("{WARN}warning{WARN:#}: the run's proxy has ended: {}\n", tame(&error.to_string()));
            let _ = self.terminal.eprint(&text);
        }
    }

    fn report_refusal(&self, refusal: RefusalReport) {
        let Some(run) = self.registered.get() else { return };
        let RefusalReport { access, text } = refusal;
        let reason = text.reason.unwrap_or_else(|| match &access.protected_by {
            Some(_) => "the path is protected in the sandbox".to_owned(),
            None => "the path is read-only in the sandbox".to_owned(),
        });
        let refusal = FileRefusal {
            operation: access.operation.name().to_owned(),
            path: access.path.display().to_string(),
            rule: access.protected_by,
            reason,
            suggestion: text.suggestion,
        };
        let recorder = self
            .recorder
            .get_or_init(|| RefusalRecorder::new(self.home.clone(), self.env.clone(), run.clone()));
        if let Err(failure) = recorder.record(&refusal) {
            let text = tame(&format!("a refusal of the sandbox could not be recorded: {failure}"));
            let _ = self.terminal.eprint(&format!("{WARN}warning{WARN:#}: {text}\n"));
        }
    }
}
