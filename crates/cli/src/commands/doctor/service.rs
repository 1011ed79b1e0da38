// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The daemon: whether it answers, is ours, and is of this version.

use std::os::unix::fs::MetadataExt;

use serde_json::Value;
use tenterhook_authority::Enrolment;
use tenterhook_home::Mode;

use super::Examination;
use crate::ask;
use crate::commands::serve::DaemonArgs;
use crate::commands::start;
use crate::commands::status::undelivered_text;
use tenterhook_setup::versions::REFRESH_COMMAND;

pub(super) fn examine(examination: &mut Examination<'_>) {
    let home = examination.home.clone();
    match ask::get(&home, "/v1/health") {
        Ok(Some(health)) => check_running(examination, &health),
        Ok(None) => check_stopped(examination),
        Err(error) => {
            examination.broken("daemon", error.message).fix("`tenterhook restart`");
        }
    }
    for (path, about) in [(home.token(), "token"), (home.socket(), "socket")] {
        let mode = fs_err::symlink_metadata(&path).map_or(0, |metadata| metadata.mode() & 0o777);
        if mode & 0o077 != 0 {
            let says = format!("others can use `{}` (mode {mode:03o})", path.display());
            examination.broken(about, says).fix("`tenterhook restart` makes a new one").with_fix(move |_| {
                fs_err::remove_file(&path)?;
                Ok(())
            });
        }
    }
    match Mode::read(&home) {
        Ok(Mode::Enforce) => examination.good("mode", "what the rules say happens"),
        Ok(Mode::Monitor) => {
            examination
                .warning("mode", "the rules only watch: nothing is stopped")
                .fix("`tenterhook mode enforce`");
        }
        Err(error) => {
            examination.broken("mode", error.message).fix("`tenterhook mode enforce`");
        }
    }
    if !Enrolment::of(&home).is_enabled() {
        examination
            .warning("authority", "protection can be loosened by whoever types at a terminal")
            .fix("let it need a code from your phone: `tenterhook totp enroll`");
    }
}

fn check_running(examination: &mut Examination<'_>, health: &Value) {
    let text = |key: &str| health.get(key).and_then(Value::as_str).unwrap_or("?").to_owned();
    let version = text("version");
    if version == env!("CARGO_PKG_VERSION") {
        examination.good("daemon", format!("answers, version {version}, generation {}", text("generation")));
    } else {
        let says = format!("is of version {version}, and this is {}", env!("CARGO_PKG_VERSION"));
        examination.warning("daemon", says).fix(format!("`{REFRESH_COMMAND}`"));
    }
    for row in health.get("hook_versions").and_then(Value::as_array).into_iter().flatten() {
        let caller = row.get("version").and_then(Value::as_str).unwrap_or_default();
        if caller != version {
            let calls = row.get("calls").and_then(Value::as_u64).unwrap_or_default();
            let says = format!("was called {calls} times by hooks of version {caller}");
            examination
                .warning("hooks", says)
                .fix(format!("`{REFRESH_COMMAND}`, then start the agents again"));
        }
    }
    for lost in health.get("unwired").and_then(Value::as_array).into_iter().flatten() {
        let part = |key: &str| lost.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let says = format!("saw that our hooks of {} are gone from `{}`", part("harness"), part("settings"));
        let system = if examination.home.machine().is_some() { " --system" } else { "" };
        examination.broken("daemon", says).fix(format!("`tenterhook install {}{system}`", part("harness")));
    }
    if let Some(says) = undelivered_text(health) {
        let fix = "`tenterhook ledger query --kind change` lists these calls";
        let has_run = health.pointer("/undelivered/ran").and_then(Value::as_u64).unwrap_or_default() > 0;
        if has_run { examination.broken("hooks", says) } else { examination.warning("hooks", says) }.fix(fix);
    }
    for problem in health.get("stale").and_then(Value::as_array).into_iter().flatten() {
        let part = |key: &str| problem.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let says = format!(
            "{} cannot be read; what it said before is in force: {}",
            part("source"),
            part("message")
        );
        examination.broken("reload", says).fix("`tenterhook check` points at the place");
    }
}

fn check_stopped(examination: &mut Examination<'_>) {
    let socket = examination.home.socket();
    if socket.symlink_metadata().is_ok() {
        let says = format!("is gone, but its socket `{}` is still there", socket.display());
        examination.warning("daemon", says).fix("remove it").with_fix(move |_| {
            fs_err::remove_file(&socket)?;
            Ok(())
        });
    }
    if !examination.home.state.is_dir() {
        return;
    }
    let says = "none is running: hooks judge by themselves, more slowly, and decisions wait in the spool";
    examination
        .warning("daemon", says)
        .fix("`tenterhook start`")
        .with_fix(|context| start::launch_daemon(context, context.home()?, &DaemonArgs::default()));
}
