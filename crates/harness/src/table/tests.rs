// SPDX-License-Identifier: Apache-2.0 OR MIT

use super::*;

#[test]
fn kebab_names_split_at_words() {
    for (native, expected) in [
        ("PreToolUse", "pre-tool-use"),
        ("beforeShellExecution", "before-shell-execution"),
        ("beforeMCPExecution", "before-mcp-execution"),
        ("tool.execute.before", "tool-execute-before"),
        ("agent_start", "agent-start"),
        ("Stop", "stop"),
    ] {
        assert_eq!(to_kebab_case(native), expected);
    }
}

#[test]
fn an_event_is_found_under_all_three_names() {
    for harness in HARNESSES {
        for row in harness.events {
            for name in [row.native, &to_kebab_case(row.native)].iter().chain(row.aliases) {
                assert_eq!(
                    harness.event(name).map(|row| row.native),
                    Some(row.native),
                    "{} {name}",
                    harness.id
                );
            }
            if row.kind != EventKind::Other {
                let found = harness.event(row.kind.name()).map(|row| row.kind);
                assert_eq!(found, Some(row.kind), "{}", harness.id);
            }
        }
        let gate = harness.event("pre-tool-use").map(|row| row.kind);
        assert_eq!(gate, Some(EventKind::PreTool), "Claude Code's name, for {}", harness.id);
        assert!(harness.event("other").is_none(), "`other` names no single event");
        assert!(harness.event("PreToolUsee").is_none());
    }
}

#[test]
fn no_harness_names_an_event_twice() {
    for harness in HARNESSES {
        let aliases = harness.events.iter().flat_map(|row| row.aliases);
        let mut exact: Vec<_> = harness.events.iter().map(|row| &row.native).chain(aliases).collect();
        exact.sort_unstable();
        let all = exact.len();
        exact.dedup();
        assert_eq!(exact.len(), all, "{}", harness.id);
        let mut names: Vec<_> = harness.events.iter().map(|row| to_kebab_case(row.native)).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), harness.events.len(), "{}", harness.id);
    }
}

/// Checks that for every action that can be prevented, the row also says how the user is asked.
#[test]
fn a_gate_states_who_asks() {
    for harness in HARNESSES {
        for row in harness.events {
            let prevents = row.deny == DenySupport::Prevents;
            assert!(!row.is_gate() || row.ask != AskSupport::Never, "{} {}", harness.id, row.native);
            assert!(prevents || row.ask == AskSupport::Never, "{} {}", harness.id, row.native);
        }
    }
}
