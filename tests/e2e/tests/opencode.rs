// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Tests specific to OpenCode: how a user sees a denied prompt, and a working directory outside the project.

use anyhow::Result;
use tenterhook_e2e::scenarios::{guarded, hooked};
use tenterhook_e2e::{Client, clients};
use tenterhook_model_server::{ConversationScript, ModelTurn};

fn opencode() -> Result<&'static Client> {
    clients::find("opencode")
}

#[test]
fn a_refused_prompt_shows_its_reason() -> Result<()> {
    let reason = "The harbour master says no.";
    let world = hooked(opencode()?, "prompt", &format!("cat >/dev/null\necho '{reason}' >&2\nexit 2"))?;
    let _daemon = world.serve()?;
    let session = opencode()?.run(&world, "please go on", ConversationScript::new())?;
    assert!(!session.model_read("please go on"), "{session:#?}");
    let shown = format!("{}{}", session.stdout, session.stderr);
    assert!(shown.contains(reason) && !shown.contains("Unexpected server error"), "{session:#?}");
    Ok(())
}

#[test]
fn a_directory_outside_the_project_is_judged_where_it_is() -> Result<()> {
    let world = guarded(opencode()?)?;
    let precious = world.precious()?;
    let _daemon = world.serve()?;
    let shell_in = opencode()?.shell_in.expect("its shell takes a working directory");
    for directory in [world.home(), "..".into()] {
        let script = ConversationScript::new().turn(ModelTurn::from(shell_in(&directory, "rm -rf precious")));
        let session = opencode()?.run(&world, "please go on", script)?;
        assert!(precious.join("thesis.txt").exists(), "{}: {session:#?}", directory.display());
        assert!(session.tool_results[0].contains("→ Suggested: "), "{session:#?}");
    }
    Ok(())
}
