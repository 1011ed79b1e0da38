// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Real clients in the sandbox: hooks answer, a denied call stays denied, and a program that the model wrote, whose paths
//! no rule can read, changes nothing of the guard.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Result, ensure};
use fs_err as fs;
use serde_json::{Value, json};
use tenterhook_e2e::scenarios::{guarded, shell};
use tenterhook_e2e::{World, clients};
use tenterhook_model_server::ConversationScript;

/// Writes a program whose paths are in base64, and starts it. It reports what it did, as `DONE …`.
const WRITE_PROGRAM: &str = r#"cat >gen.py <<'END'
import base64, os, signal
def text(code): return base64.b64decode(code).decode()
def attempt(name, function):
    try:
        function()
        print("DONE", name, flush=True)
    except Exception as error:
        print("refused", name, error, flush=True)
def write(path): open(path, "w").write("{}")
def read(path): open(path, "rb").read(1) or 1/0
for number, code in enumerate(CODES):
    attempt("write %d" % number, lambda: write(text(code)))
for number, code in enumerate(KEYS):
    attempt("read %d" % number, lambda: read(text(code)))
for number, code in enumerate(PARENTS):
    attempt("rename %d" % number, lambda: os.rename(text(code), text(code) + "2"))
attempt("kill", lambda: os.kill(PID, signal.SIGKILL))
END
python3 gen.py >report.txt 2>&1; echo ran"#;

/// Base64 without a crate for it.
fn base64(text: &str) -> String {
    let letters: Vec<char> = ('A'..='Z').chain('a'..='z').chain('0'..='9').chain(['+', '/']).collect();
    let mut encoded = String::new();
    for chunk in text.as_bytes().chunks(3) {
        let bits =
            (0..3).fold(0_usize, |bits, at| bits << 8 | usize::from(chunk.get(at).copied().unwrap_or(0)));
        for at in 0..4 {
            let letter = letters.get(bits >> (18 - 6 * at) & 63).copied().filter(|_| at <= chunk.len());
            encoded.push(letter.unwrap_or('='));
        }
    }
    encoded
}

fn text<'a>(leaf: &'a Value, path: &str) -> &'a str {
    leaf.pointer(path).and_then(Value::as_str).unwrap_or_default()
}

/// Content of each file of the guard: programs, settings, mode and the client's hooks.
fn guard_files(world: &World, settings: &[PathBuf]) -> Result<BTreeMap<PathBuf, Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![world.tenterhook_home().join("bin")];
    while let Some(directory) = waiting.pop() {
        for entry in fs::read_dir(&directory)? {
            let path = entry?.path();
            if path.is_dir() {
                waiting.push(path);
            } else {
                found.insert(path.clone(), fs::read(&path)?);
            }
        }
    }
    for path in settings {
        found.insert(path.clone(), fs::read(path)?);
    }
    ensure!(found.len() > settings.len(), "no programs: {found:?}");
    Ok(found)
}

fn program(world: &World, settings: &[PathBuf], daemon: u32) -> String {
    let home = world.tenterhook_home();
    let mut written: Vec<PathBuf> = settings.to_vec();
    written.extend(["bin/tenterhook-hook", "mode.json", "policy.yaml"].map(|name| home.join(name)));
    let list = |paths: &[PathBuf]| {
        let codes = paths.iter().map(|path| json!(base64(&path.display().to_string())));
        Value::Array(codes.collect()).to_string()
    };
    let keys: Vec<_> = ["ledger/key", "ledger/ledger.db", "run/token"].map(|name| home.join(name)).into();
    WRITE_PROGRAM
        .replace("CODES", &list(&written))
        .replace("KEYS", &list(&keys))
        .replace(
            "PARENTS",
            &list(&settings.iter().filter_map(|path| Some(path.parent()?.into())).collect::<Vec<_>>()),
        )
        .replace("PID", &daemon.to_string())
}

fn attack_is_refused(id: &str, settings: &[&str], drop_arguments: &[&str]) -> Result<()> {
    let client = clients::find(id)?;
    let world = guarded(client)?;
    world.write_policy(&json!({"version": 1, "rules": [{
        "id": "model", "verdict": "allow", "match": {"tool": "NetworkConnect", "url": {"host": "127.0.0.2"}},
    }]}))?;
    let precious = world.precious()?;
    let mut daemon = world.serve()?;
    let settings: Vec<_> = settings.iter().map(|name| world.home().join(name)).collect();
    let before = guard_files(&world, &settings)?;
    let delete = format!("rm -r {}", precious.display());
    let script = ConversationScript::new()
        .turn(shell(client, &program(&world, &settings, daemon.pid())))
        .turn(shell(client, &delete))
        .turn(shell(client, "touch went-on.txt; mkdir -p sub; echo \"$TENTERHOOK_SANDBOX\" >level.txt"));
    let session = client.run_sandboxed(&world, "please go on", script, drop_arguments)?;

    let report = fs::read_to_string(world.project().join("report.txt")).unwrap_or_default();
    let ledger = world.ledger()?;
    let story = || format!("{session:#?}\n{report}\n{ledger:#?}");
    ensure!(
        report.contains("refused write 0") && report.contains("refused kill"),
        "did not run: {}",
        story()
    );
    ensure!(!report.contains("DONE"), "{}", story());
    ensure!(guard_files(&world, &settings)? == before, "{}", story());
    ensure!(daemon.is_alive()?, "{}", story());
    ensure!(precious.join("thesis.txt").exists(), "{}", story());
    ensure!(world.project().join("went-on.txt").exists(), "{}", story());
    let level = fs::read_to_string(world.project().join("level.txt"))?;
    ensure!(level == "namespaces-landlock\n", "{level}");
    let is_denied = |leaf: &&Value| {
        text(leaf, "/policy_rule_id") == "recursive-delete" && text(leaf, "/verdict") == "deny"
    };
    let denied: Vec<_> = ledger.iter().filter(is_denied).collect();
    ensure!(!denied.is_empty(), "{}", story());
    ensure!(denied.iter().all(|leaf| text(leaf, "/agent/sandbox") == "namespaces-landlock"), "{}", story());
    let connects = |leaf: &&Value| text(leaf, "/tool/name") == "NetworkConnect";
    ensure!(ledger.iter().filter(connects).any(|leaf| text(leaf, "/verdict") == "allow"), "{}", story());
    // Connections belong to the session of the client.
    let sessions: Vec<_> = denied.iter().map(|leaf| text(leaf, "/harness_session_id")).collect();
    let belongs = |leaf: &Value| sessions.contains(&text(leaf, "/harness_session_id"));
    ensure!(ledger.iter().filter(connects).any(belongs), "{}", story());
    let refused = ledger.iter().filter(|leaf| text(leaf, "/tool/name") == "SandboxRefusal").count();
    ensure!(refused > 0, "{}", story());
    Ok(())
}

#[test]
fn claude_code_in_the_sandbox_cannot_change_its_guard() -> Result<()> {
    attack_is_refused("claude-code", &[".claude/settings.json"], &[])
}

/// Without an option, Codex starts its own sandbox, which `tenterhook run` turns off.
#[test]
fn codex_in_the_sandbox_cannot_change_its_guard() -> Result<()> {
    attack_is_refused("codex", &[".codex/config.toml"], &["sandbox_mode=\"danger-full-access\""])
}

#[test]
fn gemini_in_the_sandbox_cannot_change_its_guard() -> Result<()> {
    attack_is_refused("gemini", &[".gemini/settings.json"], &[])
}

/// Claude Code's own sandbox is on in the user's settings, and `tenterhook run` turns it off.
#[test]
fn claude_code_s_own_sandbox_is_turned_off_with_a_note() -> Result<()> {
    let client = clients::find("claude-code")?;
    let world = World::new()?;
    (client.prepare)(&world)?;
    world.write(".claude/settings.json", "{\"sandbox\": {\"enabled\": true}}\n")?;
    world.install(client)?;
    world.write_policy(&json!({"version": 1, "rules": [{
        "id": "model", "verdict": "allow", "match": {"tool": "NetworkConnect", "url": {"host": "127.0.0.2"}},
    }]}))?;
    let _daemon = world.serve()?;
    let script = ConversationScript::new().turn(shell(client, "touch ran.txt"));
    let session = client.run_sandboxed(&world, "please go on", script, &[])?;
    ensure!(world.project().join("ran.txt").exists(), "{session:#?}");
    ensure!(session.stderr.contains("the sandbox of Claude Code itself is off"), "{session:#?}");
    Ok(())
}
