// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Cline's own: a refusal that lets the run go on is a harmless call in the place of the one that was asked for.

use anyhow::Result;
use serde_json::json;
use tenterhook_e2e::scenarios::{guarded, shell};
use tenterhook_e2e::{Client, clients};
use tenterhook_model_server::{Script, Turn};

fn cline() -> Result<&'static Client> {
    clients::find("cline")
}

#[test]
fn a_file_that_must_not_be_read_is_not_and_the_agent_goes_on() -> Result<()> {
    let world = guarded(cline()?)?;
    world.write(".ssh/id_rsa", "the key to everything\n")?;
    let _daemon = world.serve()?;
    let key = world.home().join(".ssh/id_rsa");
    let read = Turn::tool("read_files", json!({"files": [{"path": key}]}));
    let script = Script::new().turn(read).turn(shell(cline()?, "touch went-on.txt"));
    let session = cline()?.run(&world, "please go on", script)?;
    assert!(!session.model_read("the key to everything"), "{session:#?}");
    assert!(session.tool_results[0].reads("→ Suggested: "), "{session:#?}");
    assert!(world.project().join("went-on.txt").exists(), "{session:#?}");
    Ok(())
}

#[test]
fn a_file_that_must_not_be_written_is_not() -> Result<()> {
    let world = guarded(cline()?)?;
    let _daemon = world.serve()?;
    let keys = world.home().join(".ssh/authorized_keys");
    let write = Turn::tool("editor", json!({"path": keys, "new_text": "ssh-ed25519 AAAA mallory\n"}));
    let session = cline()?.run(&world, "please go on", Script::new().turn(write))?;
    assert!(!keys.exists(), "{session:#?}");
    assert!(world.ledger()?.iter().any(|leaf| leaf["verdict"] == "deny"), "{session:#?}");
    Ok(())
}
