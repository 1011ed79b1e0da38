// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Hook programs that are killed by a signal while they wait for the daemon's answer.
//!
//! A hook of the user kills the hook programs. The daemon runs the user's hook before it answers, so the hook
//! program is certainly still waiting.

use anyhow::{Context as _, Result};
use tenterhook_event::EventKind;
use tenterhook_harness::to_kebab_case;
use tenterhook_model_server::ConversationScript;

use super::{PROMPT, Seen, hooked, shell, until};
use crate::client::Client;

/// Signals, one for each call. SIGSEGV looks like a crash.
const SIGNALS: &[&str] = &["KILL", "TERM", "SEGV"];

pub(super) fn hook_killed(client: &Client) -> Result<Seen> {
    killed(client, "kill -$signal $process", true)
}

/// Like [`hook_killed`], but the shell that the client started for the hook is killed as well. Then nothing
/// can turn the killed hook into a deny, and the client decides.
pub(super) fn shell_killed(client: &Client) -> Result<Seen> {
    let both = "case $(cat /proc/$parent/comm) in sh | dash | bash | zsh) kill -$signal $parent $process ;; *) kill -$signal $process ;; esac";
    killed(client, both, false)
}

fn killed(client: &Client, kill: &str, is_promised: bool) -> Result<Seen> {
    let world = hooked(client, "pre-tool", &killing(client, kill)?)?;
    let _daemon = world.serve()?;
    let commands = SIGNALS.iter().map(|signal| format!("touch ran-{signal}.txt"));
    let script =
        commands.fold(ConversationScript::new(), |script, command| script.turn(shell(client, &command)));
    let session = client.run(&world, PROMPT, script.turn(shell(client, "touch went-on.txt")))?;

    let ran = |signal: &&&str| world.project().join(format!("ran-{signal}.txt")).exists();
    let ran = SIGNALS.iter().filter(ran).count();
    let went_on = world.project().join("went-on.txt").exists();
    let killed = if went_on { SIGNALS.len() } else { 1 };
    let is_recorded = until(|| {
        let count = |name: &str| world.changes(name).map_or(0, |changes| changes.len());
        count("answer not delivered") == killed && count("tool ran without its answer") == ran
    });
    let is_safe = is_recorded && (ran == 0 || !is_promised);
    Seen::new(world, &session, ran == 0 && went_on, is_safe)
}

/// Body of a hook that kills the hook programs of the first calls, each with a different signal. The hook
/// program of the last call is not killed. Hook programs are recognised by the event on their command line.
fn killing(client: &Client, kill: &str) -> Result<String> {
    let harness = tenterhook_harness::find_harness(client.id).context("no such harness")?;
    let gates = harness.events.iter().filter(|row| row.is_gate() && row.kind == EventKind::PreTool);
    let names = gates.flat_map(|row| [row.native.to_owned(), to_kebab_case(row.native)]);
    let events = names.map(|name| format!("*\" {name} \"")).collect::<Vec<_>>().join(" | ");
    let signals = SIGNALS.join(" ");
    Ok(format!(
        r#"cat >/dev/null
echo >>"$HOME/calls"
signal=$(echo {signals} | cut -d ' ' -f "$(wc -l <"$HOME/calls")")
[ -n "$signal" ] || exit 0
for exe in /proc/[0-9]*/exe; do
    [ "$exe" -ef "$HOME/.tenterhook/bin/tenterhook-hook" ] || continue
    process=${{exe#/proc/}} process=${{process%/exe}}
    case $(tr '\0' ' ' <"/proc/$process/cmdline") in
        {events}) ;;
        *) continue ;;
    esac
    parent=$(sed -n 's/^PPid:[[:space:]]*//p' "/proc/$process/status")
    {kill}
done
sleep 0.2"#
    ))
}
