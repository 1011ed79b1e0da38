// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Checks the daemon, its token and socket, the mode, and codes.

use std::os::unix::fs::MetadataExt;

use serde_json::Value;
use tenterhook_authority::Enrolment;
use tenterhook_home::Mode;

use super::Examination;
use crate::ask;
use crate::commands::daemon::serve::DaemonArgs;
use crate::commands::daemon::start;
use crate::commands::daemon::status::undelivered_text;
use tenterhook_setup::versions::REFRESH_COMMAND;

pub(super) fn check_service(examination: &mut Examination<'_>) {
    let home = examination.home.clone();
    match ask::get(&home, "/v1/health") {
        Ok(Some(health)) => check_running(examination, &health),
        Ok(None) => check_stopped(examination),
        Err(error) => {
            examination.broken("daemon", error.message).fix("`tenterhook daemon restart`");
        }
    }
    for (path, about) in [(home.token(), "token"), (home.socket(), "socket")] {
        let mode = fs_err::symlink_metadata(&path).map_or(0, |metadata| metadata.mode() & 0o777);
        if mode & 0o077 != 0 {
            let state = format!("other accounts can use `{}` (mode {mode:03o})", path.display());
            examination.broken(about, state).fix("`tenterhook daemon restart` replaces it").with_fix(
                move |_| {
                    fs_err::remove_file(&path)?;
                    Ok(())
                },
            );
        }
    }
    match Mode::read(&home) {
        Ok(Mode::Enforce) => examination.good("mode", "verdicts of rules are enforced"),
        Ok(Mode::Monitor) => {
            examination
                .warning("mode", "monitor mode: verdicts are only recorded")
                .fix("`tenterhook mode enforce`");
        }
        Err(error) => {
            examination.broken("mode", error.message).fix("`tenterhook mode enforce`");
        }
    }
    if !Enrolment::of(&home).is_enabled() {
        examination
            .warning("authority", "anyone with access to your terminal can weaken protection")
            .fix("require a code from your phone: `tenterhook approvals totp enroll`");
    }
}

fn check_running(examination: &mut Examination<'_>, health: &Value) {
    let text = |key: &str| health.get(key).and_then(Value::as_str).unwrap_or("?").to_owned();
    let version = text("version");
    if version == env!("CARGO_PKG_VERSION") {
        examination.good("daemon", format!("runs version {version}, generation {}", text("generation")));
    } else {
        let state = format!("has version {version}; this program is {}", env!("CARGO_PKG_VERSION"));
        examination.warning("daemon", state).fix(format!("`{REFRESH_COMMAND}`"));
    }
    for row in health.get("hook_versions").and_then(Value::as_array).into_iter().flatten() {
        let caller = row.get("version").and_then(Value::as_str).unwrap_or_default();
        if caller != version {
            let calls = row.get("calls").and_then(Value::as_u64).unwrap_or_default();
            let state = format!("was called {calls} times by hooks of version {caller}");
            examination.warning("hooks", state).fix(format!("`{REFRESH_COMMAND}`, then restart the agents"));
        }
    }
    for lost in health.get("unwired").and_then(Value::as_array).into_iter().flatten() {
        let part = |key: &str| lost.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let state = format!("hooks of {} were removed from `{}`", part("harness"), part("settings"));
        let system = if examination.home.machine().is_some() { " --system" } else { "" };
        examination.broken("daemon", state).fix(format!("`tenterhook install {}{system}`", part("harness")));
    }
    if let Some(state) = undelivered_text(health) {
        let fix = "`tenterhook ledger query --kind change` lists these calls";
        let has_run = health.pointer("/undelivered/ran").and_then(Value::as_u64).unwrap_or_default() > 0;
        if has_run { examination.broken("hooks", state) } else { examination.warning("hooks", state) }
            .fix(fix);
    }
    for problem in health.get("stale").and_then(Value::as_array).into_iter().flatten() {
        let part = |key: &str| problem.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let state =
            format!("{} cannot be read; the previous version is active: {}", part("source"), part("message"));
        examination.broken("reload", state).fix("`tenterhook check` shows the line");
    }
}

fn check_stopped(examination: &mut Examination<'_>) {
    let socket = examination.home.socket();
    if socket.symlink_metadata().is_ok() {
        let state = format!("is not running, but its socket `{}` still exists", socket.display());
        examination.warning("daemon", state).fix("remove the socket").with_fix(move |_| {
            fs_err::remove_file(&socket)?;
            Ok(())
        });
    }
    if !examination.home.state.is_dir() {
        return;
    }
    let state = "is not running: hooks evaluate the rules in-process, and decisions wait in the spool";
    examination
        .warning("daemon", state)
        .fix("`tenterhook start`")
        .with_fix(|context| start::launch_daemon(context, context.home()?, &DaemonArgs::default()));
}
