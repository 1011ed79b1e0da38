// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Tests specific to Claude Code, which silently drops invalid settings files.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use anyhow::Result;
use fs_err as fs;
use serde_json::json;
use tenterhook_e2e::{Session, World, clients};
use tenterhook_model_server::{ConversationScript, ModelTurn};

const NAME: &str = "claude-code";

/// Text in the client's debug log that reports a dropped part of a settings file. The client reports it
/// nowhere else: exit code, standard error and output stream look like those of a successful run.
const SETTINGS_COMPLAINT: &str = "Invalid setting";

fn settings(world: &World) -> PathBuf {
    world.home().join(".claude/settings.json")
}

fn run(world: &World, script: ConversationScript) -> Result<Session> {
    let client = clients::find(NAME)?;
    world.write(".mcp-servers.json", "{\"mcpServers\": {}}")?;
    client.run(world, "go", script)
}

/// Lines of the debug log in which the client rejects part of a settings file.
fn complaints(world: &World) -> Result<Vec<String>> {
    let log = fs::read_to_string(world.debug_log())?;
    Ok(log.lines().filter(|line| line.contains(SETTINGS_COMPLAINT)).map(ToOwned::to_owned).collect())
}

// seed: 001-014, 001-060, 001-062
#[test]
fn uninstalling_leaves_no_trace() -> Result<()> {
    let world = World::new()?;
    let precious = world.precious()?;
    let delete = || {
        let input =
            json!({"command": format!("rm -rf {}", precious.display()), "description": "as scripted"});
        ConversationScript::new().turn(ModelTurn::tool("Bash", input))
    };
    let own_hook_ran = world.home().join("own-hook-ran");
    // The file has unusual spacing, mixed line ends, no line end at the end, and a hook of the user. It has
    // no comments, because the client rejects a settings file with comments.
    let before = format!(
        "{{\r\n\t\"permissions\" :   {{ \"allow\": [ ]   }},\n\n\n  \"hooks\":{{\"PreToolUse\" : [ \
         {{\"matcher\":\"Bash\", \"hooks\":[{{\"type\":\"command\",\"command\":\"echo x >> '{}'\"}}]}}]}} }}",
        own_hook_ran.display()
    );
    world.write(".claude/settings.json", &before)?;
    fs::set_permissions(settings(&world), std::fs::Permissions::from_mode(0o600))?;

    world.tenterhook(&["install", NAME, "--yes"])?;
    let session = run(&world, delete())?;
    assert!(precious.exists(), "{session:#?}");
    assert_eq!(complaints(&world)?, [""; 0]);
    // No daemon runs. The status line shows that, and the model does not read it.
    assert!(!session.model_read("daemon offline"), "{session:#?}");
    assert_eq!(fs::read_to_string(&own_hook_ran)?, "x\n");
    let recorded = world.ledger()?;
    assert!(!recorded.is_empty());

    let code = world.code()?;
    world.tenterhook(&["uninstall", NAME, "--yes", "--code", &code])?;
    assert_eq!(fs::read_to_string(settings(&world))?, before);
    assert_eq!(fs::metadata(settings(&world))?.permissions().mode() & 0o7777, 0o600);

    let session = run(&world, delete())?;
    assert!(!precious.exists(), "{session:#?}");
    assert_eq!(fs::read_to_string(&own_hook_ran)?, "x\nx\n");
    assert_eq!(world.ledger()?, recorded);
    Ok(())
}

/// Control test for all tests that find no complaints: checks that the client's log still uses this wording for a
/// complaint.
#[test]
fn the_client_complains_about_settings_it_refuses() -> Result<()> {
    let world = World::new()?;
    for refused in [
        "{ // a comment\n}",
        r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "x", "timeout": "soon"}]}]}}"#,
    ] {
        world.write(".claude/settings.json", refused)?;
        run(&world, ConversationScript::new())?;
        assert!(!complaints(&world)?.is_empty(), "{refused} was accepted");
    }
    Ok(())
}
