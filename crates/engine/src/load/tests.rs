// SPDX-License-Identifier: Apache-2.0 OR MIT

use super::*;
use crate::{FailMode, HookBackend};
use std::time::Duration;
use tenterhook_event::EventKind;

fn load(text: &str) -> LoadedHooks {
    let env = BTreeMap::from([("TOKEN".to_owned(), "secret".to_owned())]);
    load_settings("t.yaml", text, &LoadContext { dir: Path::new("/"), home: Some("/home/u"), env: &env })
}

fn ids_and_problems(text: &str) -> (Vec<String>, Vec<String>) {
    let loaded = load(text);
    let ids = loaded.hooks.iter().map(|hook| hook.id.to_string()).collect();
    (ids, loaded.problems.iter().map(ToString::to_string).collect())
}

#[test]
fn a_whole_entry_is_read() {
    let loaded = load(
        "hooks:\n  - id: a\n    on: [PreToolUse, post-tool]\n    match: Write|Edit\n    exec: [~/x, y]\n    \
         dialect: claude\n    timeout: 500ms\n    priority: -3\n    fail: closed\n    chain: c\n    async: true\n",
    );
    assert_eq!(loaded.problems, []);
    let hook = &loaded.hooks[0];
    assert_eq!(hook.on, [EventKind::PreTool, EventKind::PostTool]);
    assert_eq!((hook.timeout, hook.priority, hook.fail), (Duration::from_millis(500), -3, FailMode::Closed));
    assert_eq!((hook.chain.as_deref(), hook.observes), (Some("c"), true));
    let HookBackend::Command(command) = &hook.runner else { panic!() };
    assert_eq!(command.line.program(), "/home/u/x");
}

#[test]
fn one_bad_entry_is_refused_alone_with_its_position() {
    let text = "hooks:\n  - id: a\n    on: stop\n    command: x\n  - id: b\n    on: stopp\n    command: x\n  \
                - id: c\n    on: stop\n    command: x\n    timeout: 5\n  - id: a\n    on: stop\n    command: y\n  \
                - id: d\n    on: stop\n  - id: e\n    on: stop\n    command: z\n";
    let (ids, problems) = ids_and_problems(text);
    assert_eq!(ids, ["a", "e"]);
    assert_eq!(
        problems,
        [
            "t.yaml:6:9: hook `b`: unknown event `stopp`",
            "t.yaml:11:14: hook `c`: invalid duration `5`; write `5s` or `500ms`",
            "t.yaml:12:5: hook `a`: hook `a` exists already",
            "t.yaml:15:9: hook `d`: one of `command`, `exec` and `url` is required",
        ]
    );
}

#[test]
fn every_mistake_of_an_entry_is_reported_at_once() {
    let text = "hooks:\n  - id: a\n    on: stopp\n    command: x\n    dialect: cobol\n    timeout: 5\n    \
                headers: {a: b}\n    env: {'A=B': x}\n    when: tool.name\n    tiemout: 5s\n";
    let (_, problems) = ids_and_problems(text);
    let starts = [
        "t.yaml:3:9: hook `a`: unknown event `stopp`",
        "t.yaml:5:14: hook `a`: unknown dialect `cobol`",
        "t.yaml:6:14: hook `a`: invalid duration `5`",
        "t.yaml:7:14: hook `a`: `headers` is only valid with `url`",
        "t.yaml:8:11: hook `a`: invalid variable name `A=B`",
        #[cfg(feature = "when")]
        "t.yaml:9:11: hook `a`: column 5: the condition is a field of the event, never true or false",
        #[cfg(not(feature = "when"))]
        "t.yaml:9:11: hook `a`: this build does not support conditions",
        "t.yaml:10:5: hook `a`: unknown key `tiemout`; did you mean `timeout`?",
    ];
    assert_eq!(problems.len(), starts.len(), "{problems:#?}");
    for (problem, start) in problems.iter().zip(starts) {
        assert!(problem.starts_with(start), "{problem}\n{start}");
    }
    let repeated = "hooks:\n  - {id: a, on: stop, command: x, env: {A: x, A: y}}\n";
    assert_eq!(ids_and_problems(repeated).1, ["t.yaml:2:47: hook `a`: the key `A` is repeated"]);
    let empty = load("# nothing\n");
    assert_eq!(empty.warnings[0].to_string(), "t.yaml: the file is empty");
}

#[test]
fn paths_of_exec_are_those_of_the_settings_and_not_of_the_agent() {
    let words = |exec: &str| {
        let env = BTreeMap::new();
        let context = LoadContext { dir: Path::new("/etc/th"), home: Some("/home/u"), env: &env };
        let text = format!("hooks:\n  - {{id: a, on: stop, exec: {exec}}}\n");
        let loaded = load_settings("t.yaml", &text, &context);
        let Some(HookBackend::Command(command)) = loaded.hooks.first().map(|hook| &hook.runner) else {
            panic!()
        };
        match &command.line {
            crate::CommandLine::Exec(words) => words.join(" "),
            crate::CommandLine::Shell(text) => text.clone(),
        }
    };
    assert_eq!(words("[python3, ~/hooks/g.py, ~/log]"), "python3 /home/u/hooks/g.py /home/u/log");
    assert_eq!(words("[./g.sh, ./data]"), "/etc/th/g.sh ./data");
    assert_eq!(words("[hooks/g.sh]"), "/etc/th/hooks/g.sh");
    assert_eq!(words("[python3, -u, hooks/g.py, x.py]"), "python3 -u /etc/th/hooks/g.py x.py");
    assert_eq!(words("[sh, '{kit}/a.sh']"), "sh {kit}/a.sh");
    assert_eq!(words("[jq, .tool]"), "jq .tool");
}

#[test]
fn what_would_silently_not_count_is_pointed_out() {
    for (text, hooks) in [
        ("hooks:\n  list: [{id: a, on: stop, command: x}]\n  list: [{id: b, on: stop, command: x}]\n", 1),
        ("hooks: [{id: a, on: stop, command: x}]\nhooks: {enabled: false}\n", 1),
        ("hooks:\n  - [a, stop]\n  - {id: b, on: stop, command: x}\n", 1),
        (
            "hooks:\n  - {id: a, on: stop, command: x, priority: 9223372036854775808}\n  - {id: b, on: stop, command: x}\n",
            1,
        ),
    ] {
        let (ids, problems) = ids_and_problems(text);
        assert_eq!((ids.len(), problems.len()), (hooks, 1), "{text}: {problems:?}");
    }
}

#[test]
fn a_tool_that_would_never_match_is_pointed_out() {
    for (matcher, hint) in [
        ("{tool: 'Bash|Edit'}", "one exact name"),
        ("{tool: BASH}", "did you mean `Bash`"),
        ("'Write|EDIT'", "did you mean `Edit`"),
    ] {
        let loaded = load(&format!("hooks:\n  - {{id: a, on: pre-tool, match: {matcher}, command: x}}\n"));
        assert!(loaded.warnings[0].to_string().contains(hint), "{matcher}: {:?}", loaded.warnings);
    }
    assert_eq!(
        load("hooks:\n  - {id: a, on: pre-tool, match: bash, command: x}\n").warnings,
        [],
        "some harness's name"
    );
    let (_, problems) = ids_and_problems(
        "hooks:\n  - {id: a, on: 7, command: x}\n  - {id: b, on: stop, match: [x], command: x}\n",
    );
    assert_eq!(
        problems,
        [
            "t.yaml:2:13: hook `a`: `on` must be an event or a list of events",
            "t.yaml:3:30: hook `b`: `match` must be a string or a map; write `A|B` for two tools",
        ]
    );
}

#[test]
fn a_file_that_is_empty_gives_no_hooks_and_no_problems() {
    for text in ["", "hooks:\n", "hooks: []\n", "hooks: {}\n"] {
        assert_eq!(ids_and_problems(text), (vec![], vec![]), "{text}");
    }
}

#[test]
fn the_eleventh_hook_of_a_kind_is_one_too_many() {
    let mut text = "hooks:\n".to_owned();
    for number in 0..11 {
        text += &format!("  - {{id: h{number}, on: stop, command: x}}\n");
    }
    let (ids, problems) = ids_and_problems(&text);
    assert_eq!((ids.len(), problems.len()), (10, 1));
    assert!(
        problems[0].contains("cannot add hook `h10` on stop: maxHooksPerEvent 10 exceeded"),
        "{problems:?}"
    );
}

/// Loads the configuration of the A3S hook design (seed 003 in `docs/seeds.md`) unchanged.
#[test]
fn the_keys_of_the_a3s_configuration_are_accepted_as_they_stand() {
    let loaded = load(
        r#"{
          "hooks": {
            "enabled": true,
            "maxHooksPerEvent": 10,
            "maxTotalHooks": 50,
            "defaultTimeout": 5000,
            "failBehavior": "continue",
            "auditLevel": "info"
          }
        }"#,
    );
    assert_eq!(loaded.problems, []);
    assert_eq!(
        loaded.defaults,
        HookDefaults { timeout: Some(Duration::from_secs(5)), ..HookDefaults::default() }
    );

    let loaded = load(
        "hooks:\n  enabled: false\n  failBehavior: block\n  defaultTimeout: 250\n  list:\n    - {id: a, on: stop, command: x}\n",
    );
    let hook = &loaded.hooks[0];
    assert_eq!(
        (hook.fail, hook.timeout, hook.enabled),
        (FailMode::Closed, Duration::from_millis(250), false)
    );
    let (_, problems) = ids_and_problems("hooks: {maxHooks: 3, auditLevel: loud}\n");
    assert_eq!(problems.len(), 2, "{problems:?}");
    let verbose = load("hooks: {auditLevel: verbose}\n");
    assert_eq!((verbose.warnings.len(), verbose.defaults.audit), (0, HookAuditLevel::Verbose));
}

/// Uses the matchers of the A3S hook design.
#[test]
fn a_matcher_in_parts_looks_at_tool_path_and_command() {
    let loaded = load(
        "hooks:\n  - {id: env, on: pre-tool, match: {tool: Write, path_pattern: '*.env'}, command: x}\n  \
         - {id: bad, on: pre-tool, match: {command_pattern: '('}, command: x}\n",
    );
    assert_eq!(loaded.hooks.len(), 1);
    assert_eq!(loaded.problems.len(), 1, "a pattern that cannot be read is refused");
}

#[test]
fn a_hook_that_runs_before_every_tool_call_is_pointed_out() {
    let loaded = load("hooks:\n  - {id: a, on: pre-tool, command: x}\n");
    assert_eq!(loaded.hooks.len(), 1);
    assert_eq!(
        loaded.warnings[0].to_string(),
        "t.yaml:2:17: hook `a`: no `match`: the hook runs before every tool call"
    );
}

#[cfg(feature = "http")]
#[test]
fn a_header_may_name_a_variable_that_is_there() {
    let loaded = load(
        "hooks:\n  - id: a\n    on: stop\n    url: http://127.0.0.1:1/x\n    headers: {authorization: 'Bearer ${TOKEN}'}\n  \
         - id: b\n    on: stop\n    url: http://127.0.0.1:1/x\n    headers: {authorization: '${OTHER}'}\n  \
         - {id: c, on: stop, url: 'ftp://x'}\n",
    );
    let HookBackend::Http(http) = &loaded.hooks[0].runner else { panic!() };
    assert_eq!(http.headers, [("authorization".to_owned(), "Bearer secret".to_owned())]);
    assert_eq!(loaded.hooks.len(), 1);
    assert_eq!(loaded.problems.len(), 2);
}

#[cfg(feature = "when")]
#[test]
fn a_condition_is_compiled_when_the_file_is_read() {
    let loaded = load(
        "hooks:\n  - {id: a, on: stop, command: x, when: 'event.source == \"codex\"'}\n  \
         - {id: b, on: stop, command: x, when: 'event.'}\n",
    );
    assert_eq!((loaded.hooks.len(), loaded.problems.len()), (1, 1), "{:?}", loaded.problems);
}
