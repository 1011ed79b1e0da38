// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Budgets of clients that report no tokens to their hooks: the scripted model reports token counts, the client
//! writes them into its transcript, and Tenterhook reads them there.

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use tenterhook_e2e::scenarios::guarded;
use tenterhook_e2e::{Client, Session, World, clients};
use tenterhook_model_server::{ConversationScript, ModelTurn, TurnUsage};

/// Prompt of the subagent, by which the model recognises it.
const ERRAND: &str = "run the errand of the subagent";

/// Token counts of answer `number`. The counts of all answers differ, so that a count that is added twice is
/// noticed.
fn cost(number: u64) -> TurnUsage {
    TurnUsage { input: 1000 + number, output: 100 + number, cache_read: 500 + number, cache_write: 0 }
}

/// A shell call that gives the client time to write the answer to its transcript.
fn slow_touch(client: &Client, file: &str, usage: TurnUsage) -> ModelTurn {
    ModelTurn::from((client.shell)(&format!("touch {file}; sleep 0.4"))).with_usage(usage)
}

fn sessions(world: &World) -> Result<Vec<Value>> {
    let listed = world.tenterhook(&["sessions", "list", "--json"])?;
    let listed: Value = serde_json::from_str(&listed.stdout)?;
    let sessions = listed.get("sessions").unwrap_or(&listed);
    Ok(sessions.as_array().context("no list")?.clone())
}

/// Totals over all sessions: input, output and cached tokens.
fn sums(sessions: &[Value]) -> [u64; 3] {
    let sum = |key: &str| {
        let of =
            |session: &Value| session.pointer(&format!("/usage/{key}")).and_then(Value::as_u64).unwrap_or(0);
        sessions.iter().map(of).sum()
    };
    ["input_tokens", "output_tokens", "cache_read_tokens"].map(sum)
}

fn what_was_sent_is_what_is_counted(id: &str) -> Result<()> {
    let client = clients::find(id)?;
    let world = guarded(client)?;
    let _daemon = world.serve()?;
    let start = client.subagent.context("it has no subagents")?;
    let script = ConversationScript::new()
        .turn(slow_touch(client, "a.txt", cost(1)))
        .turn(ModelTurn::from(start(ERRAND)).with_usage(cost(2)))
        .turn(slow_touch(client, "b.txt; sleep 2", cost(3)))
        .turn(ModelTurn::text("done").with_usage(cost(4)))
        .turn(ModelTurn::text("done").with_usage(cost(5)))
        .subagent(
            ERRAND,
            [slow_touch(client, "errand.txt", cost(10)), ModelTurn::text("done").with_usage(cost(20))],
        );
    let session = client.run(&world, "go", script)?;
    let sessions = sessions(&world)?;
    let story = format!("{sessions:#?}\n{session:#?}");
    // Claude Code reports the end of a background agent to its model, which answers once more.
    let answers = if session.agent_requests.len() > 6 { 5 } else { 4 };
    let sent: Vec<u64> = (1..=answers).chain([10, 20]).collect();
    let (count, sum) = (u64::try_from(sent.len())?, sent.iter().sum::<u64>());
    assert_eq!(sums(&sessions), [1000 * count + sum, 100 * count + sum, 500 * count + sum], "{story}");
    let costs = sessions.iter().filter_map(|session| session.pointer("/usage/cost_usd")?.as_f64());
    assert!(costs.sum::<f64>() > 0.01, "{story}");
    Ok(())
}

fn a_budget_denies_the_next_call(id: &str, with_daemon: bool) -> Result<()> {
    let client = clients::find(id)?;
    let world = guarded(client)?;
    world.write_policy(&json!({"version": 1, "rules": [{
        "id": "session-budget", "match": {}, "verdict": "deny", "limit": {"tokens": 3000},
    }]}))?;
    let _daemon = if with_daemon { Some(world.serve()?) } else { None };
    // Two answers use up the budget. The client may write the second one only after its call has begun.
    let mut script = ConversationScript::new();
    for (file, number) in [("a.txt", 1), ("b.txt", 2), ("c.txt", 3), ("d.txt", 4)] {
        script = script.turn(slow_touch(client, file, cost(number)));
    }
    let session: Session = client.run(&world, "go", script)?;
    let there = |file: &str| world.project().join(file).exists();
    let ledger = world.ledger()?;
    let story = format!("{ledger:#?}\n{session:#?}");
    assert!(there("a.txt"), "{story}");
    assert!(!there("c.txt") && !there("d.txt"), "{story}");
    let denied: Vec<_> = ledger.iter().filter(|leaf| leaf["verdict"] == "deny").collect();
    assert_eq!(denied.first().map(|leaf| &leaf["policy_rule_id"]), Some(&json!("session-budget")), "{story}");
    let reason = denied.first().and_then(|leaf| leaf["reason"].as_str()).unwrap_or_default();
    // The third answer requests the denied call. It may be in the transcript before the hook reads the
    // transcript.
    let is_counted = |answers: u64| {
        let of = |TurnUsage { input, output, cache_read, .. }: TurnUsage| input + output + cache_read;
        let used: u64 = (1..=answers).map(|number| of(cost(number))).sum();
        reason.contains(&format!("this session has used {used} of a budget of 3000"))
    };
    assert!(is_counted(2) || is_counted(3), "{story}");
    Ok(())
}

#[test]
fn claude_code_what_was_sent_is_what_is_counted() -> Result<()> {
    what_was_sent_is_what_is_counted("claude-code")
}

#[test]
fn claude_code_a_budget_denies_the_next_call() -> Result<()> {
    a_budget_denies_the_next_call("claude-code", true)
}

#[test]
fn claude_code_a_budget_denies_the_next_call_without_a_daemon() -> Result<()> {
    a_budget_denies_the_next_call("claude-code", false)
}

#[test]
fn codex_what_was_sent_is_what_is_counted() -> Result<()> {
    what_was_sent_is_what_is_counted("codex")
}

#[test]
fn codex_a_budget_denies_the_next_call() -> Result<()> {
    a_budget_denies_the_next_call("codex", true)
}
