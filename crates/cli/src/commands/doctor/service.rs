// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The daemon: whether it answers, is ours, and is of this version.

use std::os::unix::fs::MetadataExt;

use serde_json::Value;
use tenterhook_authority::Enrolment;
use tenterhook_home::Mode;

use super::Patient;
use crate::ask;
use crate::commands::serve::How;
use crate::commands::start;
use crate::commands::status::undelivered_text;
use tenterhook_setup::versions::REFRESH_COMMAND;

pub(super) fn examine(patient: &mut Patient<'_>) {
    let home = patient.home.clone();
    match ask::get(&home, "/v1/health") {
        Ok(Some(health)) => answers(patient, &health),
        Ok(None) => silent(patient),
        Err(error) => {
            patient.broken("daemon", error.message).fix("`tenterhook restart`");
        }
    }
    for (path, about) in [(home.token(), "token"), (home.socket(), "socket")] {
        let mode = fs_err::symlink_metadata(&path).map_or(0, |metadata| metadata.mode() & 0o777);
        if mode & 0o077 != 0 {
            let says = format!("others can use `{}` (mode {mode:03o})", path.display());
            patient.broken(about, says).fix("`tenterhook restart` makes a new one").mend(move |_| {
                fs_err::remove_file(&path)?;
                Ok(())
            });
        }
    }
    match Mode::read(&home) {
        Ok(Mode::Enforce) => patient.good("mode", "what the rules say happens"),
        Ok(Mode::Monitor) => {
            patient
                .warning("mode", "the rules only watch: nothing is stopped")
                .fix("`tenterhook mode enforce`");
        }
        Err(error) => {
            patient.broken("mode", error.message).fix("`tenterhook mode enforce`");
        }
    }
    if !Enrolment::of(&home).is_on() {
        patient
            .warning("authority", "protection can be loosened by whoever types at a terminal")
            .fix("let it need a code from your phone: `tenterhook totp enroll`");
    }
}

fn answers(patient: &mut Patient<'_>, health: &Value) {
    let text = |key: &str| health.get(key).and_then(Value::as_str).unwrap_or("?").to_owned();
    let version = text("version");
    if version == env!("CARGO_PKG_VERSION") {
        patient.good("daemon", format!("answers, version {version}, generation {}", text("generation")));
    } else {
        let says = format!("is of version {version}, and this is {}", env!("CARGO_PKG_VERSION"));
        patient.warning("daemon", says).fix(format!("`{REFRESH_COMMAND}`"));
    }
    for row in health.get("hook_versions").and_then(Value::as_array).into_iter().flatten() {
        let caller = row.get("version").and_then(Value::as_str).unwrap_or_default();
        if caller != version {
            let calls = row.get("calls").and_then(Value::as_u64).unwrap_or_default();
            let says = format!("was called {calls} times by hooks of version {caller}");
            patient.warning("hooks", says).fix(format!("`{REFRESH_COMMAND}`, then start the agents again"));
        }
    }
    for lost in health.get("unwired").and_then(Value::as_array).into_iter().flatten() {
        let part = |key: &str| lost.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let says = format!("saw that our hooks of {} are gone from `{}`", part("harness"), part("settings"));
        let system = if patient.home.machine().is_some() { " --system" } else { "" };
        patient.broken("daemon", says).fix(format!("`tenterhook install {}{system}`", part("harness")));
    }
    if let Some(says) = undelivered_text(health) {
        let fix = "`tenterhook ledger query --kind change` lists these calls";
        let has_run = health.pointer("/undelivered/ran").and_then(Value::as_u64).unwrap_or_default() > 0;
        if has_run { patient.broken("hooks", says) } else { patient.warning("hooks", says) }.fix(fix);
    }
    for problem in health.get("stale").and_then(Value::as_array).into_iter().flatten() {
        let part = |key: &str| problem.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let says = format!(
            "{} cannot be read; what it said before is in force: {}",
            part("source"),
            part("message")
        );
        patient.broken("reload", says).fix("`tenterhook check` points at the place");
    }
}

fn silent(patient: &mut Patient<'_>) {
    let socket = patient.home.socket();
    if socket.symlink_metadata().is_ok() {
        let says = format!("is gone, but its socket `{}` is still there", socket.display());
        patient.warning("daemon", says).fix("remove it").mend(move |_| {
            fs_err::remove_file(&socket)?;
            Ok(())
        });
    }
    if !patient.home.state.is_dir() {
        return;
    }
    let says = "none is running: hooks judge by themselves, more slowly, and decisions wait in the spool";
    patient
        .warning("daemon", says)
        .fix("`tenterhook start`")
        .mend(|context| start::launch(context, context.home()?, &How::default()));
}
