// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Tests specific to Cline: a denial replaces the requested call with a harmless one, and sessions may run in
//! a hub.

use anyhow::Result;
use fs_err as fs;
use serde_json::json;
use tenterhook_e2e::scenarios::{guarded, shell};
use tenterhook_e2e::{Client, World, clients};
use tenterhook_model_server::{ConversationScript, ModelTurn};

fn cline() -> Result<&'static Client> {
    clients::find("cline")
}

#[test]
fn a_file_that_must_not_be_read_is_not_and_the_agent_goes_on() -> Result<()> {
    let world = guarded(cline()?)?;
    world.write(".ssh/id_rsa", "the key to everything\n")?;
    let _daemon = world.serve()?;
    let key = world.home().join(".ssh/id_rsa");
    let read = ModelTurn::tool("read_files", json!({"files": [{"path": key}]}));
    let script = ConversationScript::new().turn(read).turn(shell(cline()?, "touch went-on.txt"));
    let session = cline()?.run(&world, "please go on", script)?;
    assert!(!session.model_read("the key to everything"), "{session:#?}");
    assert!(session.tool_results[0].contains("→ Suggested: "), "{session:#?}");
    assert!(world.project().join("went-on.txt").exists(), "{session:#?}");
    Ok(())
}

#[test]
fn a_file_that_must_not_be_written_is_not() -> Result<()> {
    let world = guarded(cline()?)?;
    let _daemon = world.serve()?;
    let keys = world.home().join(".ssh/authorized_keys");
    let write = ModelTurn::tool("editor", json!({"path": keys, "new_text": "ssh-ed25519 AAAA mallory\n"}));
    let session = cline()?.run(&world, "please go on", ConversationScript::new().turn(write))?;
    assert!(!keys.exists(), "{session:#?}");
    assert!(world.ledger()?.iter().any(|leaf| leaf["verdict"] == "deny"), "{session:#?}");
    Ok(())
}

/// A hub runs the sessions of all projects in one process that outlives them. It may have been started before
/// the hooks were installed.
#[test]
fn sessions_in_a_hub_are_guarded_also_in_one_that_was_there_before() -> Result<()> {
    let world = World::new()?;
    (cline()?.prepare)(&world)?;
    let other = world.home().join("other");
    fs::create_dir_all(other.join(".git"))?;
    let precious = world.precious()?;
    let _daemon = world.serve()?;
    let runs = |command: &str| ModelTurn::from((cline().unwrap().shell)(command));
    let who = |file: &str| runs(&format!("tr '\\0' ' ' <\"/proc/$PPID/cmdline\" >{file}; pwd >>{file}"));
    let delete = || runs(&format!("rm -r {}", precious.display()));
    let script = ConversationScript::new()
        .turn(who("first.txt"))
        .turn(ModelTurn::text("done"))
        .turn(runs("rm -r ../precious"))
        .turn(who("second.txt"))
        .turn(ModelTurn::text("done"))
        .turn(delete())
        .turn(who("zen-done.txt"));
    let session = cline()?.run_as(clients::cline::start_in_hub, &world, "please go on", script)?;

    assert!(precious.join("thesis.txt").exists(), "{session:#?}");
    let files = [world.project().join("first.txt"), other.join("second.txt"), other.join("zen-done.txt")];
    for file in files {
        assert!(file.exists(), "{}: {session:#?}", file.display());
        let ran_by = fs::read_to_string(&file)?;
        assert!(ran_by.contains("--cline-hub-daemon"), "{}: {ran_by}\n{session:#?}", file.display());
    }
    let ledger = world.ledger()?;
    let denials: Vec<_> = ledger.iter().filter(|leaf| leaf["verdict"] == "deny").collect();
    assert_eq!(denials.len(), 2, "{ledger:#?}");
    for denial in denials {
        assert_eq!(denial["policy_rule_id"], "recursive-delete");
        assert_eq!(denial["cwd"], *other.to_string_lossy(), "the directory of the session, not of the hub");
    }
    // Both guarded sessions have an event before and after every call.
    let count = |event: &str| ledger.iter().filter(|leaf| leaf["native_event"] == event).count();
    assert_eq!((count("TaskStart"), count("PreToolUse"), count("PostToolUse")), (2, 4, 4), "{ledger:#?}");
    let sessions: std::collections::BTreeSet<_> =
        ledger.iter().map(|leaf| leaf["harness_session_id"].to_string()).collect();
    assert_eq!(sessions.len(), 2, "{ledger:#?}");
    Ok(())
}
