// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Every client in every scenario, compared with `matrix.txt`. Each combination is a separate test, so that
//! tests run in parallel and a failure names both the client and the scenario.

use anyhow::Result;
use tenterhook_e2e::{clients, expected, prove, rows, scenarios};

macro_rules! clients {
    ($($module:ident = $id:literal),* $(,)?) => {
        const CLIENTS: &[(&str, &[&str])] = &[$(($id, $module::SCENARIOS)),*];
        $(
            mod $module {
                use super::*;
                scenarios_of!($id);
            }
        )*
    };
}

macro_rules! scenarios_of {
    ($client:literal) => {
        each!($client: allow = "allow", deny = "deny", deny_alone = "deny-alone", deny_killed = "deny-killed",
            broken = "broken", hook_killed = "hook-killed", shell_killed = "shell-killed", ask = "ask", rewrite = "rewrite", rewrite_judged = "rewrite-judged", prompt = "prompt", context_prompt = "context-prompt",
            context_result = "context-result", stop = "stop", subagent = "subagent", mcp = "mcp",
            mcp_names = "mcp-names", directory = "directory", patch = "patch", uninstall = "uninstall", run = "run");
    };
}

macro_rules! each {
    ($client:literal: $($name:ident = $scenario:literal),*) => {
        pub(super) const SCENARIOS: &[&str] = &[$($scenario),*];
        $(
            #[test]
            fn $name() -> Result<()> {
                prove($client, $scenario)
            }
        )*
    };
}

clients! {
    claude_code = "claude-code",
    codex = "codex",
    gemini = "gemini",
    qwen = "qwen",
    opencode = "opencode",
    cline = "cline",
    copilot = "copilot",
    pi = "pi",
    llxprt = "llxprt",
}

#[test]
fn nothing_is_left_out() -> Result<()> {
    let ids: Vec<_> = clients::ALL.iter().map(|client| client.id).collect();
    let names: Vec<_> = scenarios::ALL.iter().map(|(name, _)| *name).collect();
    let all: Vec<_> = ids.iter().map(|id| (*id, names.as_slice())).collect();
    assert_eq!(CLIENTS, all);
    let said: Vec<_> = rows().filter(|(whose, _, _)| *whose == "scenario").map(|(_, name, _)| name).collect();
    assert_eq!(said, names, "matrix.txt says what each scenario is about, in their order");
    for client in &ids {
        for scenario in &names {
            expected(client, scenario)?;
        }
    }
    assert_eq!(rows().count(), (ids.len() + 1) * names.len(), "matrix.txt has rows that nothing runs");
    Ok(())
}
