// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Implements the host of the crate `tenterhook-setup`: it provides the hook programs and access to the daemon.

use serde_json::Value;
use tenterhook_authority::Action;
use tenterhook_daemon_control::gate::caller_standing;
use tenterhook_guard::{LedgerHandle, ServiceSettings};
use tenterhook_home::Home;
use tenterhook_setup::hook_programs::HookPrograms;
use tenterhook_setup::versions::version_advice;
use tenterhook_setup::{Setup, SetupHost};

use crate::ask;
use crate::commands::DEFAULT_LISTEN_ADDRESS;
use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::{Terminal, WARN};

/// Hook programs embedded in this program.
pub(crate) const HOOK_PROGRAMS: HookPrograms = HookPrograms(tenterhook_hook_programs::HOOK_PROGRAMS);

/// Host for commands that change harness settings.
pub(crate) struct CliHost<'a> {
    pub(crate) context: &'a Context,
    pub(crate) home: &'a Home,
}

impl CliHost<'_> {
    pub(crate) fn setup(&self) -> Setup<'_> {
        Setup {
            home: self.home,
            env: &self.context.env,
            working_directory: std::env::current_dir().ok(),
            programs: HOOK_PROGRAMS,
            host: self,
        }
    }
}

impl SetupHost for CliHost<'_> {
    fn daemon_address(&self) -> Result<Option<String>, CommandError> {
        // The address of a running daemon takes precedence.
        let running = ask::get(self.home, "/v1/health")?;
        let running =
            running.as_ref().and_then(|health| health.get("listen")?.as_str().map(ToOwned::to_owned));
        let variable = self.context.env.tenterhook_listen.clone();
        let listen = running.or(variable).or_else(|| ServiceSettings::of(self.home).0.daemon.listen);
        let listen = listen.unwrap_or_else(|| DEFAULT_LISTEN_ADDRESS.to_owned());
        Ok((listen != "none").then_some(listen))
    }

    fn refuse_guarded_agent(&self, action: &str) -> Result<(), CommandError> {
        refuse_guarded_agent(self.home, action)
    }

    fn record_change(&self, name: &str, detail: Value) -> Result<(), CommandError> {
        LedgerHandle::of(self.home).record_change(name, detail)
    }
}

/// Fails if this process was started by a guarded agent. `action` completes the message.
pub(crate) fn refuse_guarded_agent(home: &Home, action: &str) -> Result<(), CommandError> {
    let (_, guarded) = caller_standing(home, Action::Restart)?;
    if guarded {
        return Err(CommandError::denied(format!("guarded agents may not {action}"))
            .hint("run this command in your own terminal"));
    }
    Ok(())
}

/// Prints a notice after a command that a user typed, if the hooks or the daemon have a different version.
pub(crate) fn print_version_notice(context: &Context) {
    let Ok(home) = context.home() else { return };
    if context.terminal.json || !Terminal::is_screen() {
        return;
    }
    if let Some(advice) = version_advice(home) {
        // If the notice cannot be printed, the command still succeeds.
        drop(context.terminal.eprint(&format!("{WARN}note{WARN:#}: {advice}\n")));
    }
}
