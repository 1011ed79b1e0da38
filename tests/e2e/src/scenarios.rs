// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Scenarios that every client is run through. A scenario sets up a [`World`], runs the client in it and
//! returns the result as [`Seen`]; `matrix.txt` has the expected results.

mod asked;
mod calls;
mod killed;

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use fs_err as fs;
use serde_json::{Value, json};
use tenterhook_model_server::{ConversationScript, ModelTurn};

use crate::client::{Client, Session};
use crate::world::{Hook, World};

/// Result of a scenario.
#[derive(Debug)]
pub struct Seen {
    /// Whether the client did what the scenario tests.
    pub holds: bool,
    /// Whether nothing forbidden happened.
    pub safe: bool,
    /// Details, for finding the cause of a failure.
    pub story: String,
    /// World of the scenario; it is kept if the test fails.
    pub world: Option<World>,
}

/// A scenario.
pub type Scenario = fn(&Client) -> Result<Seen>;

/// All scenarios by name; `matrix.txt` describes each.
pub const ALL: &[(&str, Scenario)] = &[
    ("allow", allow),
    ("deny", deny),
    ("deny-alone", deny_alone),
    ("deny-killed", deny_killed),
    ("broken", broken),
    ("hook-killed", killed::hook_killed),
    ("shell-killed", killed::shell_killed),
    ("ask", asked::ask),
    ("rewrite", rewrite),
    ("rewrite-judged", rewrite_judged),
    ("prompt", prompt),
    ("context-prompt", context_prompt),
    ("context-result", context_result),
    ("stop", stop),
    ("subagent", subagent),
    ("mcp", calls::mcp),
    ("mcp-names", calls::mcp_names),
    ("directory", calls::directory),
    ("patch", calls::patch),
    ("uninstall", uninstall),
    ("run", guarded_run),
];

/// Text between the reason of a deny and the suggestion.
const SUGGESTED: &str = "\n\n→ Suggested: ";

/// Text that only Tenterhook's hook prints.
const CONTEXT: &str = "The harbour master is called Odalys.";

/// Prompt of the main agent; no subagent's prompt contains it.
const PROMPT: &str = "please go on as you think best";

/// Prompt of the subagent, by which the model recognises it.
const ERRAND: &str = "run the errand of the subagent";

const PATIENCE: Duration = Duration::from_secs(40);

impl Seen {
    fn new(world: World, session: &Session, holds: bool, safe: bool) -> Result<Self> {
        let mut story = format!("{session:#?}\n");
        for leaf in world.ledger()? {
            let said = ["native_event", "verdict", "reason", "policy_rule_id"].map(|key| said(&leaf, key));
            writeln!(story, "{said:?}")?;
        }
        Ok(Self { holds, safe, story, world: Some(world) })
    }

    /// The client does not support the scenario.
    fn without(why: &str) -> Self {
        Self { holds: false, safe: true, story: why.to_owned(), world: None }
    }
}

fn allow(client: &Client) -> Result<Seen> {
    let world = guarded(client)?;
    let _daemon = world.serve()?;
    let session =
        client.run(&world, PROMPT, ConversationScript::new().turn(shell(client, "touch ran.txt")))?;
    let ran = world.project().join("ran.txt").exists();
    let ledger = world.ledger()?;
    let mut life = client.life.iter();
    let whole = life.all(|event| ledger.iter().any(|leaf| said(leaf, "native_event") == *event));
    Seen::new(world, &session, ran && whole && session.success, true)
}

fn deny(client: &Client) -> Result<Seen> {
    let world = guarded(client)?;
    let _daemon = world.serve()?;
    denied(client, world)
}

fn deny_alone(client: &Client) -> Result<Seen> {
    let world = guarded(client)?;
    denied(client, world)
}

fn denied(client: &Client, world: World) -> Result<Seen> {
    let precious = world.precious()?;
    let delete = shell(client, &deletion(&precious));
    let script = ConversationScript::new().turn(delete).turn(shell(client, "touch went-on.txt"));
    let session = client.run(&world, PROMPT, script)?;

    let told = told(&world, &session, "recursive-delete")?;
    let went_on = world.project().join("went-on.txt").exists();
    Seen::new(world, &session, told && went_on, intact(&precious))
}

fn deny_killed(client: &Client) -> Result<Seen> {
    let world = guarded(client)?;
    let precious = world.precious()?;
    let mut daemon = world.serve()?;
    let (begun, killed) = (world.project().join("begun.txt"), world.project().join("killed.txt"));
    let wait = "touch begun.txt; timeout 30 sh -c 'until test -e killed.txt; do sleep 0.1; done'";
    let delete = shell(client, &deletion(&precious));
    let script = ConversationScript::new()
        .turn(shell(client, wait))
        .turn(delete)
        .turn(shell(client, "touch went-on.txt"));
    let session = std::thread::scope(|scope| {
        let session = scope.spawn(|| client.run(&world, PROMPT, script));
        let waited = until(|| begun.exists());
        daemon.kill()?;
        fs::write(&killed, "")?;
        let session = session.join().ok().context("the client's thread panicked")??;
        ensure!(waited, "the first command did not run: {session:#?}");
        Ok(session)
    })?;
    let told = told(&world, &session, "recursive-delete")?;
    let went_on = world.project().join("went-on.txt").exists();
    Seen::new(world, &session, told && went_on, intact(&precious))
}

fn broken(client: &Client) -> Result<Seen> {
    let world = guarded(client)?;
    fs::remove_file(world.tenterhook_home().join("bin/tenterhook-hook"))?;
    let session =
        client.run(&world, PROMPT, ConversationScript::new().turn(shell(client, "touch ran.txt")))?;
    let ran = world.project().join("ran.txt").exists();
    Seen::new(world, &session, !ran, true)
}

fn rewrite(client: &Client) -> Result<Seen> {
    let world = hooked(client, "pre-tool", &rewriting_to(client, "echo two > out.txt"))?;
    let _daemon = world.serve()?;
    let session =
        client.run(&world, PROMPT, ConversationScript::new().turn(shell(client, "echo one > out.txt")))?;
    let out = world.project().join("out.txt");
    let out = if out.exists() { fs::read_to_string(out)? } else { String::new() };
    Seen::new(world, &session, out == "two\n", out != "one\n")
}

fn rewrite_judged(client: &Client) -> Result<Seen> {
    let world = guarded(client)?;
    let precious = world.precious()?;
    let script = &rewriting_to(client, &deletion(&precious));
    world.write_hook(Hook { on: "pre-tool", tool: None, script })?;
    let _daemon = world.serve()?;
    let session =
        client.run(&world, PROMPT, ConversationScript::new().turn(shell(client, "touch harmless.txt")))?;
    let told = told(&world, &session, "recursive-delete")?;
    // The originally requested command must not run either: the hook denied it.
    let nothing_ran = intact(&precious) && !world.project().join("harmless.txt").exists();
    Seen::new(world, &session, told, nothing_ran)
}

fn prompt(client: &Client) -> Result<Seen> {
    let world = hooked(client, "prompt", "cat >/dev/null\necho 'not this one' >&2\nexit 2")?;
    let _daemon = world.serve()?;
    let session =
        client.run(&world, PROMPT, ConversationScript::new().turn(shell(client, "touch ran.txt")))?;
    let blocked = !session.model_read(PROMPT);
    Seen::new(world, &session, blocked, true)
}

fn context_prompt(client: &Client) -> Result<Seen> {
    context(client, "prompt", "UserPromptSubmit")
}

fn context_result(client: &Client) -> Result<Seen> {
    context(client, "post-tool", "PostToolUse")
}

fn context(client: &Client, on: &str, native: &str) -> Result<Seen> {
    let output = json!({"hookSpecificOutput": {"hookEventName": native, "additionalContext": CONTEXT}});
    let world = hooked(client, on, &printing(&output))?;
    let _daemon = world.serve()?;
    let session =
        client.run(&world, PROMPT, ConversationScript::new().turn(shell(client, "touch ran.txt")))?;
    let ran = world.project().join("ran.txt").exists();
    Seen::new(world, &session, ran && session.model_read(CONTEXT), true)
}

fn stop(client: &Client) -> Result<Seen> {
    // The hook blocks only once. Otherwise the agent would never end.
    let output = json!({"decision": "block", "reason": CONTEXT});
    let once =
        format!("cat >/dev/null\nmkdir \"$HOME/asked\" 2>/dev/null || exit 0\ncat <<'END'\n{output}\nEND");
    let world = hooked(client, "stop", &once)?;
    let _daemon = world.serve()?;
    let script = ConversationScript::new()
        .turn(ModelTurn::text("I am done."))
        .turn(shell(client, "touch went-on.txt"));
    let session = client.run(&world, PROMPT, script)?;
    let went_on = world.project().join("went-on.txt").exists();
    Seen::new(world, &session, went_on && session.model_read(CONTEXT), true)
}

fn subagent(client: &Client) -> Result<Seen> {
    let Some(start) = client.subagent else {
        return Ok(Seen::without("it has no subagents"));
    };
    let world = guarded(client)?;
    let _daemon = world.serve()?;
    let precious = world.precious()?;
    let errand = [shell(client, &deletion(&precious)), shell(client, "touch errand-done.txt")];
    // A subagent may run in parallel with the main agent, so the main agent has to wait for it.
    let wait = "timeout 15 sh -c 'until test -e errand-done.txt; do sleep 0.1; done'; sleep 0.5";
    let script = ConversationScript::new()
        .turn(start(ERRAND).into())
        .turn(shell(client, wait))
        .subagent(ERRAND, errand);
    let session = client.run(&world, PROMPT, script)?;
    let told = told(&world, &session, "recursive-delete")?;
    let went_on = world.project().join("errand-done.txt").exists();
    Seen::new(world, &session, told && went_on, intact(&precious))
}

fn uninstall(client: &Client) -> Result<Seen> {
    let world = World::new()?;
    (client.prepare)(&world)?;
    let before = world.settings()?;
    world.install(client)?;
    ensure!(world.settings()? != before, "install has changed nothing");
    let code = world.code()?;
    world.tenterhook(&["uninstall", client.id, "--yes", "--code", &code])?;
    let restored = world.settings()? == before;

    let precious = world.precious()?;
    let session =
        client.run(&world, PROMPT, ConversationScript::new().turn(shell(client, &deletion(&precious))))?;
    let works = session.success && !precious.exists() && world.ledger()?.is_empty();
    Seen::new(world, &session, works && restored, true)
}

/// A session that `tenterhook run` guards. The settings of the client have no hooks.
fn guarded_run(client: &Client) -> Result<Seen> {
    let world = World::new()?;
    (client.prepare)(&world)?;
    let precious = world.precious()?;
    let script = ConversationScript::new()
        .turn(shell(client, &deletion(&precious)))
        .turn(shell(client, "touch went-on.txt"));
    let session = client.run_guarded(&world, PROMPT, script)?;
    let told = told(&world, &session, "recursive-delete")?;
    let went_on = world.project().join("went-on.txt").exists();
    let hook = b"bin/tenterhook-hook";
    let settings = world.settings()?;
    // The history of a session may name the hook.
    let is_settings =
        |path: &Path| path.extension().is_some_and(|kind| kind == "json" || kind == "toml" || kind == "js");
    let unchanged = !settings
        .iter()
        .any(|(path, bytes)| is_settings(path) && bytes.windows(hook.len()).any(|part| part == hook));
    let runs = world.tenterhook_home().join("guarded-runs");
    let removed =
        !runs.exists() || fs::read_dir(runs)?.all(|entry| entry.is_ok_and(|entry| entry.path().is_file()));
    let holds = session.success && told && went_on && unchanged && removed;
    Seen::new(world, &session, holds, intact(&precious))
}

/// A world in which the client is guarded.
pub fn guarded(client: &Client) -> Result<World> {
    let world = World::new()?;
    (client.prepare)(&world)?;
    world.install(client)?;
    Ok(world)
}

/// A world in which the client is guarded, with one hook of the user.
pub fn hooked(client: &Client, on: &str, script: &str) -> Result<World> {
    let world = guarded(client)?;
    world.write_hook(Hook { on, tool: None, script })?;
    Ok(world)
}

/// A turn that runs a command.
pub fn shell(client: &Client, command: &str) -> ModelTurn {
    ModelTurn::from((client.shell)(command))
}

/// A command that only Tenterhook denies: Codex refuses `rm -f` itself.
fn deletion(directory: &Path) -> String {
    format!("rm -r {}", directory.display())
}

fn intact(precious: &Path) -> bool {
    precious.join("thesis.txt").exists()
}

/// Body of a hook that replaces the command of every shell call.
fn rewriting_to(client: &Client, command: &str) -> String {
    let input = (client.shell_input)(command);
    printing(&json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": input}}))
}

/// Body of a hook that prints this output.
pub fn printing(output: &Value) -> String {
    format!("cat >/dev/null\ncat <<'END'\n{output}\nEND")
}

/// Whether this rule denied exactly one call, and the model read the reason and the suggestion.
fn told(world: &World, session: &Session, rule: &str) -> Result<bool> {
    let denials = denials(world)?;
    let [denial] = denials.as_slice() else { return Ok(false) };
    let reason = said(denial, "reason");
    let results = session.tool_results.iter();
    let mut told = results.filter(|result| result.contains(reason) && result.contains(SUGGESTED));
    Ok(said(denial, "policy_rule_id") == rule && !reason.is_empty() && told.next().is_some())
}

/// Recorded denials, oldest first.
fn denials(world: &World) -> Result<Vec<Value>> {
    let mut ledger = world.ledger()?;
    ledger.retain(|leaf| said(leaf, "verdict") == "deny");
    Ok(ledger)
}

/// Text at this key of a record, if it is a string.
fn said<'a>(leaf: &'a Value, key: &str) -> &'a str {
    leaf.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn until(done: impl Fn() -> bool) -> bool {
    let deadline = Instant::now() + PATIENCE;
    while Instant::now() < deadline {
        if done() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    false
}
