// SPDX-License-Identifier: Apache-2.0 OR MIT

use super::*;
use crate::{Layer, find, read};

fn layer<'a>(source: Source, name: &'a str, text: &'a str) -> Layer<'a> {
    Layer { source, name, text }
}

fn told(name: &str, layers: &[Layer<'_>], event: &str) -> Vec<(String, bool, String)> {
    let profile = find(name).unwrap();
    let settings = read(profile, layers);
    let plan = plan(profile, &settings, event, &mut |entry| match &entry.matcher {
        Some(matcher) if matcher == "no" => Some("its matcher `no` does not fit `Bash`".to_owned()),
        _ => None,
    });
    let told = plan.steps.into_iter().map(|step| {
        let entry = &settings.entries[step.entry];
        (entry.label().to_owned(), step.matched, step.why)
    });
    told.collect()
}

fn row(label: &str, matched: bool, why: &str) -> (String, bool, String) {
    (label.to_owned(), matched, why.to_owned())
}

#[test]
fn every_hook_is_told_why_it_runs_or_not() {
    let text = r#"{"hooks": {
        "PostToolUse": [{"hooks": [{"type": "command", "command": "later"}]}],
        "PreToolUse": [
            {"matcher": "Bash", "hooks": [{"type": "command", "command": "one"}]},
            {"matcher": "no", "hooks": [{"type": "command", "command": "two"}]},
            {"hooks": [{"type": "command", "command": "one"}, {"type": "http", "url": "u"}]}
        ]
    }}"#;
    let expected = [
        row("one", true, "its matcher `Bash` fits"),
        row("two", false, "its matcher `no` does not fit `Bash`"),
        row("one", false, "the same hook as the one at user.json:4"),
        row("u", true, "it has no matcher, so it always runs"),
        row("later", false, "it is for `PostToolUse`, this is `PreToolUse`"),
    ];
    assert_eq!(told("claude", &[layer(Source::User, "user.json", text)], "PreToolUse"), expected);
}

#[test]
fn what_is_off_says_what_turned_it_off() {
    let text =
        r#"{"hooks": {"BeforeTool": [{"matcher": "*", "hooks": [{"type": "command", "command": "a"}]}]}}"#;
    let layers = [layer(Source::User, "u", text)];
    let off = "hooks are off: they only run with `hooksConfig.enabled: true`";
    assert_eq!(told("llxprt-2026-08", &layers, "BeforeTool"), [row("a", false, off)]);
    assert_eq!(told("llxprt", &layers, "BeforeTool"), [row("a", true, "its matcher `*` fits")]);
    let disabled = [layers[0], layer(Source::Project, "p", r#"{"hooksConfig": {"disabled": ["a"]}}"#)];
    let why = "`a` is in the list of disabled hooks";
    assert_eq!(told("gemini", &disabled, "BeforeTool"), [row("a", false, why)]);
}

#[test]
fn some_kinds_never_run_at_some_events() {
    let text = r#"{"hooks": {"SessionStart": [{"hooks": [{"type": "http", "url": "u"}]}],
        "Stop": [{"hooks": [{"type": "command", "command": "a", "if": "Bash(ls)"}]}]}}"#;
    let why = |event: &str| told("claude", &[layer(Source::User, "u", text)], event)[0].2.clone();
    assert_eq!(why("SessionStart"), "`http` hooks do not run at `SessionStart`");
    assert_eq!(why("Stop"), "it has an `if`, and with one no hook runs at `Stop`");
}

#[test]
fn hooks_of_extensions_come_last_and_settings_keep_their_order() {
    let one = |command: &str| {
        format!(
            r#"{{"hooks": {{"BeforeTool": [{{"hooks": [{{"type": "command", "command": "{command}"}}]}}]}}}}"#
        )
    };
    let (ext, user, project) = (one("ext"), one("user"), one("project"));
    let layers = [
        layer(Source::Extensions, "e", &ext),
        layer(Source::Project, "p", &project),
        layer(Source::User, "u", &user),
    ];
    let order =
        |name| told(name, &layers, "BeforeTool").into_iter().map(|(label, ..)| label).collect::<Vec<_>>();
    assert_eq!(order("gemini"), ["user", "project", "ext"]);
    assert_eq!(order("llxprt"), ["project", "ext"]);
}

#[test]
fn a3s_lower_priorities_run_first_and_nothing_is_one_and_the_same() {
    let text = r#"{"registered": [
        {"event": "PreToolUse", "command": "c", "config": {"priority": 5}},
        {"event": "PreToolUse", "command": "a", "config": {"priority": -1}},
        {"event": "PreToolUse", "command": "b"}, {"event": "pre_tool_use", "command": "b"}]}"#;
    let order: Vec<_> = told("a3s", &[layer(Source::User, "u", text)], "pre_tool_use");
    let order: Vec<_> = order.iter().map(|(label, matched, _)| (label.as_str(), *matched)).collect();
    assert_eq!(order, [("a", true), ("b", true), ("b", true), ("c", true)]);
}
