// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Calls that are judged by their names and arguments: MCP tools, working directories, patches.

use std::path::Path;

use anyhow::Result;
use fs_err as fs;
use serde_json::{Value, json};
use tenterhook_model_server::{ConversationScript, ModelTurn};

use super::{PROMPT, SUGGESTED, Seen, denials, guarded, intact, said, told};
use crate::client::Client;
use crate::world::World;

pub(super) fn mcp(client: &Client) -> Result<Seen> {
    let world = guarded(client)?;
    world.write_policy(&json!({"version": 1, "rules": [{
        "id": "records-stay",
        "description": "Records are kept",
        "match": {"mcp": {"server": "records", "tool": "erase"}},
        "verdict": "deny",
        "reason": "Records are not erased.",
        "nudge": "note what is wrong with it",
    }]}))?;
    let _daemon = world.serve()?;
    let call = |tool: &str| ModelTurn::from((client.mcp)("records", tool, json!({"record": "seven"})));
    let session =
        client.run(&world, PROMPT, ConversationScript::new().turn(call("erase")).turn(call("note")))?;
    let told = told(&world, &session, "records-stay")?;
    let records = world.records()?;
    let noted = records.contains(&"records note seven".to_owned());
    Seen::new(world, &session, told && noted, !records.contains(&"records erase seven".to_owned()))
}

/// Server names that contain separators of tool names. Clients change such names in different ways.
const SERVERS: &[&str] = &["my-rec_ords", "brave-search", "google_drive"];

pub(super) fn mcp_names(client: &Client) -> Result<Seen> {
    let world = World::with_mcp_servers(SERVERS)?;
    (client.prepare)(&world)?;
    world.install(client)?;
    let rules = SERVERS.iter().map(|server| {
        json!({
            "id": format!("keep-{}", server.replace('_', "-")),
            "description": "Records are kept",
            "match": {"mcp": {"server": server, "tool": "erase"}},
            "verdict": "deny",
            "reason": "Records are not erased.",
            "nudge": "note what is wrong with it",
        })
    });
    world.write_policy(&json!({"version": 1, "rules": rules.collect::<Value>()}))?;
    let _daemon = world.serve()?;
    let call =
        |server: &str, tool: &str| ModelTurn::from((client.mcp)(server, tool, json!({"record": "seven"})));
    let erased =
        SERVERS.iter().fold(ConversationScript::new(), |script, server| script.turn(call(server, "erase")));
    let script = SERVERS.iter().fold(erased, |script, server| script.turn(call(server, "note")));
    let session = client.run(&world, PROMPT, script)?;

    let denials = denials(&world)?;
    let records = world.records()?;
    let noted = SERVERS.iter().all(|server| records.contains(&format!("{server} note seven")));
    let erased = SERVERS.iter().any(|server| records.contains(&format!("{server} erase seven")));
    let told = session.tool_results.iter().filter(|result| result.contains(SUGGESTED)).count();
    let all = (denials.len(), told) == (SERVERS.len(), SERVERS.len());
    Seen::new(world, &session, all && noted, !erased)
}

pub(super) fn directory(client: &Client) -> Result<Seen> {
    let Some(shell_in) = client.shell_in else {
        return Ok(Seen::without("its shell takes no working directory"));
    };
    let world = guarded(client)?;
    world.write_policy(&json!({"version": 1, "rules": [{
        "id": "vault-stays",
        "description": "The vault is kept",
        "match": {"effect": {"does": ["delete"], "path": ["**/vault{,/**}"]}},
        "verdict": "deny",
        "reason": "The vault is not emptied.",
        "nudge": "say what is wrong with it",
    }]}))?;
    let _daemon = world.serve()?;
    let precious = world.precious()?;
    let vault = world.project().join("vault");
    fs::create_dir_all(vault.join("kept"))?;
    let script = ConversationScript::new()
        .turn(shell_in(&vault, "rm -r kept").into())
        // Some clients refuse a directory outside the project themselves.
        .turn(shell_in(&world.home(), "rm -r precious").into())
        .turn(shell_in(&vault, "touch went-on.txt").into());
    let session = client.run(&world, PROMPT, script)?;

    let kept = vault.join("kept").exists();
    let rule = |rule: &&Value| said(rule, "policy_rule_id") == "vault-stays";
    let denied = denials(&world)?.iter().filter(rule).count() == 1;
    let told = session.tool_results.iter().any(|result| result.contains("The vault is not emptied."));
    let went_on = vault.join("went-on.txt").exists();
    Seen::new(world, &session, denied && told && went_on, kept && intact(&precious))
}

pub(super) fn patch(client: &Client) -> Result<Seen> {
    let Some(tool) = &client.patch else {
        return Ok(Seen::without("it has no patch tool"));
    };
    let world = guarded(client)?;
    let _daemon = world.serve()?;
    let (settings, notes) =
        (world.project().join(".claude/settings.json"), world.project().join("notes.txt"));
    fs::create_dir_all(world.project().join(".claude"))?;
    let patch = |file: &Path, line: &str| ModelTurn::from((tool.call)(file, line));
    let script = ConversationScript::new().turn(patch(&settings, "{}")).turn(patch(&notes, "all is well"));
    let session = client.run_with(&world, PROMPT, script, tool.args)?;

    let told =
        denials(&world)?.len() == 1 && session.tool_results.iter().any(|result| result.contains(SUGGESTED));
    let noted = notes.exists() && fs::read_to_string(&notes)?.contains("all is well");
    Seen::new(world, &session, told && noted, !settings.exists())
}
