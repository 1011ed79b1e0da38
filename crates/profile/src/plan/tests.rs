// SPDX-License-Identifier: Apache-2.0 OR MIT

use super::*;
use crate::{SettingsLayer, find_profile, read_settings};

fn layer<'a>(source: SettingsSource, name: &'a str, text: &'a str) -> SettingsLayer<'a> {
    SettingsLayer { source, name, text }
}

fn planned_rows(name: &str, layers: &[SettingsLayer<'_>], event: &str) -> Vec<(String, bool, String)> {
    let profile = find_profile(name).unwrap();
    let settings = read_settings(profile, layers);
    let plan = plan_hooks(profile, &settings, event, &mut |entry| match &entry.matcher {
        Some(matcher) if matcher == "no" => Some("its matcher `no` does not match `Bash`".to_owned()),
        _ => None,
    });
    let rows = plan.steps.into_iter().map(|step| {
        let entry = &settings.entries[step.entry];
        (entry.label().to_owned(), step.matched, step.why)
    });
    rows.collect()
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
        row("one", true, "matcher `Bash` matches"),
        row("two", false, "its matcher `no` does not match `Bash`"),
        row("one", false, "duplicate of the hook at user.json:4"),
        row("u", true, "no matcher: runs for every call"),
        row("later", false, "for event `PostToolUse`, not `PreToolUse`"),
    ];
    assert_eq!(
        planned_rows("claude", &[layer(SettingsSource::User, "user.json", text)], "PreToolUse"),
        expected
    );
}

#[test]
fn what_is_off_says_what_turned_it_off() {
    let text =
        r#"{"hooks": {"BeforeTool": [{"matcher": "*", "hooks": [{"type": "command", "command": "a"}]}]}}"#;
    let layers = [layer(SettingsSource::User, "u", text)];
    let off = "hooks are disabled: they only run with `hooksConfig.enabled: true`";
    assert_eq!(planned_rows("llxprt-2026-08", &layers, "BeforeTool"), [row("a", false, off)]);
    assert_eq!(planned_rows("llxprt", &layers, "BeforeTool"), [row("a", true, "matcher `*` matches")]);
    let disabled =
        [layers[0], layer(SettingsSource::Project, "p", r#"{"hooksConfig": {"disabled": ["a"]}}"#)];
    let why = "`a` is in the list of disabled hooks";
    assert_eq!(planned_rows("gemini", &disabled, "BeforeTool"), [row("a", false, why)]);
}

#[test]
fn some_kinds_never_run_at_some_events() {
    let text = r#"{"hooks": {"SessionStart": [{"hooks": [{"type": "http", "url": "u"}]}],
        "Stop": [{"hooks": [{"type": "command", "command": "a", "if": "Bash(ls)"}]}]}}"#;
    let why =
        |event: &str| planned_rows("claude", &[layer(SettingsSource::User, "u", text)], event)[0].2.clone();
    assert_eq!(why("SessionStart"), "`http` hooks do not run at `SessionStart`");
    assert_eq!(why("Stop"), "hooks with an `if` do not run at `Stop`");
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
        layer(SettingsSource::Extensions, "e", &ext),
        layer(SettingsSource::Project, "p", &project),
        layer(SettingsSource::User, "u", &user),
    ];
    let order = |name| {
        planned_rows(name, &layers, "BeforeTool").into_iter().map(|(label, ..)| label).collect::<Vec<_>>()
    };
    assert_eq!(order("gemini"), ["user", "project", "ext"]);
    assert_eq!(order("llxprt"), ["project", "ext"]);
}

#[test]
fn a3s_lower_priorities_run_first_and_nothing_is_one_and_the_same() {
    let text = r#"{"registered": [
        {"event": "PreToolUse", "command": "c", "config": {"priority": 5}},
        {"event": "PreToolUse", "command": "a", "config": {"priority": -1}},
        {"event": "PreToolUse", "command": "b"}, {"event": "pre_tool_use", "command": "b"}]}"#;
    let order: Vec<_> = planned_rows("a3s", &[layer(SettingsSource::User, "u", text)], "pre_tool_use");
    let order: Vec<_> = order.iter().map(|(label, matched, _)| (label.as_str(), *matched)).collect();
    assert_eq!(order, [("a", true), ("b", true), ("b", true), ("c", true)]);
}
