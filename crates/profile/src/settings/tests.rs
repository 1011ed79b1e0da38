// SPDX-License-Identifier: Apache-2.0 OR MIT

use super::*;
use crate::find_profile;
use serde_json::json;

fn layer(text: &str) -> SettingsLayer<'_> {
    SettingsLayer { source: SettingsSource::User, name: "s.json", text }
}

fn one(name: &str, text: &str) -> ProfileSettings {
    read_settings(find_profile(name).unwrap(), &[layer(text)])
}

/// Findings as shown to users: level, message with position, hint.
fn findings(settings: &ProfileSettings) -> Vec<String> {
    let line = |finding: &SettingsProblem| {
        let hint = finding.problem.hint.as_deref().unwrap_or("-");
        format!("{:?} {} ({hint})", finding.level, finding.problem)
    };
    settings.problems.iter().map(line).collect()
}

/// Settings on one line: `hooks.<event>` with one group.
fn group(event: &str, group: &Value) -> String {
    json!({"hooks": {event: [group]}}).to_string()
}

#[test]
fn seed_002_example_configuration() {
    let text = r#"{
      "hooks": {
        "BeforeTool": [
          {
            "matcher": "write_*",
            "sequential": false,
            "hooks": [{"type": "command", "command": "~/.llxprt/hooks/security.sh", "timeout": 5000}]
          }
        ],
        "AfterTool": [{"hooks": [{"type": "command", "command": "~/.llxprt/hooks/audit.sh"}]}]
      }
    }"#;
    let settings = one("llxprt", text);
    assert!(settings.enabled && settings.problems.is_empty(), "{:?}", settings.problems);
    let [first, second] = settings.entries.as_slice() else { panic!("{:?}", settings.entries) };
    assert_eq!((first.event.as_str(), &first.matcher), ("BeforeTool", &Some(json!("write_*"))));
    assert_eq!((first.timeout, first.sequential, first.kind), (Some(5000.0), false, HookKind::Command));
    assert_eq!(first.place, Spot { line: 7, column: 23 });
    assert_eq!((second.event.as_str(), second.label()), ("AfterTool", "~/.llxprt/hooks/audit.sh"));
}

#[test]
fn seed_003_default_configuration() {
    let text = r#"{"hooks": {"enabled": true, "maxHooksPerEvent": 10, "maxTotalHooks": 50, "defaultTimeout": 5000,
        "failBehavior": "continue", "auditLevel": "info"}}"#;
    let settings = one("a3s", text);
    assert_eq!(settings, one("a3s", ""), "those are the defaults");
    assert_eq!(settings.limits.default_timeout, Some(5000.0));
    assert!(settings.enabled && settings.problems.is_empty());
}

#[test]
fn seed_003_registered_hooks() {
    let text = r#"{"hooks": {"failBehavior": "block", "registered": [
        {"event": "PreToolUse", "matcher": {"tool": "Write", "pathPattern": "*.env"}, "command": "check",
         "config": {"priority": 10, "timeout": 3000, "async": false, "failBehavior": "continue"}},
        {"event": "GenerateEnd", "command": "log", "config": {"timeout_ms": 1, "async": true}}]}}"#;
    let settings = one("a3s", text);
    let [check, log] = settings.entries.as_slice() else { panic!("{:?}", settings.problems) };
    assert_eq!(check.matcher, Some(json!({"tool": "Write", "path_pattern": "*.env"})));
    assert_eq!((check.priority, check.timeout, check.fail_closed), (10, Some(3000.0), false));
    assert_eq!((log.is_async, log.timeout, log.fail_closed), (true, Some(1.0), true));
}

#[test]
fn seed_003_a_misspelt_key_is_refused_with_its_place() {
    let text = "{\"hooks\": {\"enabeld\": false, \"maxTotalHooks\": \"many\"},\n \"registered\": [\n  \
        {\"event\": \"PreToolUse\", \"command\": \"a\", \"matcher\": {\"tol\": \"Write\"}},\n  \
        {\"event\": \"BeforeTool\", \"command\": \"b\"}, {\"event\": \"PreToolUse\", \"command\": \"c\"}]}";
    let settings = one("a3s", text);
    assert_eq!(settings.entries.len(), 1);
    let findings = findings(&settings);
    assert_eq!(findings[0], "Warning s.json:1:12: unknown setting `hooks.enabeld` (did you mean `enabled`?)");
    assert!(findings[1].starts_with("Error s.json:1:47: `hooks.maxTotalHooks`: "), "{}", findings[1]);
    assert!(
        findings[2].starts_with("Error s.json:3:")
            && findings[2].contains("hook `a`")
            && findings[2].contains("tol")
    );
    let foreign = "(`BeforeTool` is the name in LLxprt Code as seed 002 documents it; use `PreToolUse`)";
    assert!(findings[3].ends_with(foreign), "{}", findings[3]);
}

#[test]
fn one_bad_entry_is_refused_alone() {
    let text = "// comments are fine\n{\"hooks\": {\"PreToolUse\": [{\"matcher\": \"Bash\", \"hooks\": [\n  \
        {\"type\": \"command\", \"command\": \"x\", \"timeout\": \"abc\"},\n  \
        {\"type\": \"Command\", \"command\": \"y\"},\n  \
        {\"type\": \"command\", \"command\": \"good\"},\n  \
        {\"type\": \"http\"}, 7]}, {\"matcher\": \"Bash\", \"command\": \"z\"}]}}";
    let settings = one("claude", text);
    let good: Vec<_> = settings.entries.iter().map(ConfiguredHook::label).collect();
    assert_eq!(good, ["good"]);
    let findings = findings(&settings);
    assert!(findings[0].starts_with("Error s.json:3:50: hook `x`: "), "{}", findings[0]);
    let whole = "; because of it, Claude Code silently ignores the whole file)";
    assert_eq!(
        findings[1],
        format!(
            "Error s.json:4:12: hook `y`: unknown hook type `Command` (write `\"type\": \"command\"`, in lower case{whole}"
        )
    );
    assert_eq!(findings[2], format!("Error s.json:6:3: `http` hook without `url` (add `\"url\": …`{whole}"));
    assert!(findings[3].starts_with("Error s.json:6:21: a hook must be an object"), "{}", findings[3]);
    assert!(findings[4].starts_with("Error s.json:6:26: matcher group without `hooks`"), "{}", findings[4]);
}

#[test]
fn a_file_that_is_no_json_is_refused_and_the_others_stand() {
    let good = group("Stop", &json!({"hooks": [{"type": "command", "command": "x"}]}));
    let layers = [
        layer("{\n \"a\": 1,\n}"),
        SettingsLayer { source: SettingsSource::Project, name: "p.json", text: &good },
    ];
    let settings = read_settings(find_profile("claude").unwrap(), &layers);
    assert_eq!((settings.entries.len(), settings.problems.len()), (1, 1));
    assert!(
        findings(&settings)[0].starts_with("Error s.json:2:8: trailing commas are not allowed"),
        "{:?}",
        findings(&settings)
    );
}

#[test]
fn what_is_probably_not_meant_is_said() {
    let warnings = |name: &str, event: &str, value: &Value| findings(&one(name, &group(event, value)));
    let hook = |timeout: f64| json!({"matcher": "x", "hooks": [{"type": "command", "command": "c", "timeout": timeout}]});
    let seconds = warnings("claude", "PreToolUse", &hook(60_000.0));
    assert!(seconds[0].contains("timeout of 60000 seconds; should it be milliseconds?"), "{seconds:?}");
    assert!(warnings("claude", "PreToolUse", &hook(600.0)).is_empty());
    for name in ["llxprt", "gemini"] {
        let ms = warnings(name, "BeforeTool", &hook(60.0));
        assert!(ms[0].contains("timeout of 60 milliseconds; should it be seconds?"), "{ms:?}");
        assert!(warnings(name, "BeforeTool", &hook(5000.0)).is_empty());
    }
    let ignored = warnings("gemini", "Notification", &json!({"matcher": "x", "hooks": []}));
    assert!(ignored[0].contains("ignores matchers at `Notification`"), "{ignored:?}");
    assert!(warnings("gemini", "Notification", &json!({"matcher": "*", "hooks": []})).is_empty());
    let inside = json!({"matcher": "x", "hooks": [{"type": "command", "command": "c", "matcher": "y"}]});
    assert!(warnings("claude", "PreToolUse", &inside)[0].contains("(move it to the group, next to `hooks`)"));
    let bare = json!({"hooks": [{"type": "command", "command": "c"}]});
    for (name, event) in [("claude", "PreToolUse"), ("llxprt", "BeforeTool")] {
        assert!(warnings(name, event, &bare)[0].contains("runs for every tool call"));
    }
    let http = warnings("claude", "SessionStart", &json!({"hooks": [{"type": "http", "url": "u"}]}));
    assert_eq!(
        http,
        ["Warning s.json:1:45: hook `u`: `http` hooks do not run at `SessionStart` \
        (supported: command, mcp_tool)"]
    );
    let unknown = warnings("claude", "PreTolUse", &bare);
    assert!(unknown[0].ends_with(
        "unknown event `PreTolUse` of Claude Code; its hooks never run (did you mean `PreToolUse`?)"
    ));
}

#[test]
fn settings_files_merge_as_each_harness_does_it() {
    let text = |command: &str| {
        group("BeforeTool", &json!({"matcher": "x", "hooks": [{"type": "command", "command": command}]}))
    };
    let (user, project, ext) = (text("u"), text("p"), text("e"));
    let layers = [
        SettingsLayer { source: SettingsSource::Extensions, name: "e.json", text: &ext },
        SettingsLayer { source: SettingsSource::User, name: "u.json", text: &user },
        SettingsLayer { source: SettingsSource::Project, name: "p.json", text: &project },
    ];
    let commands = |name: &str| {
        let settings = read_settings(find_profile(name).unwrap(), &layers);
        settings.entries.iter().map(|entry| (entry.label().to_owned(), entry.group)).collect::<Vec<_>>()
    };
    let expected = |labels: &[&str]| {
        labels.iter().enumerate().map(|(at, label)| ((*label).to_owned(), at)).collect::<Vec<_>>()
    };
    assert_eq!(commands("gemini"), expected(&["u", "p", "e"]));
    assert_eq!(commands("llxprt"), expected(&["p", "e"]));
    let lost = findings(&read_settings(find_profile("llxprt").unwrap(), &layers));
    assert!(
        lost[0].starts_with("Warning u.json:1:11: `BeforeTool` here is replaced by the one in p.json"),
        "{lost:?}"
    );
}

#[test]
fn hooks_are_turned_on_and_off_as_each_harness_does_it() {
    let enabled = |name: &str, text: &str| one(name, text).enabled;
    for (text, llxprt, later, gemini, claude) in [
        ("{}", true, false, true, true),
        (r#"{"hooksConfig": {"enabled": true}}"#, true, true, true, true),
        (r#"{"hooksConfig": {"enabled": false}}"#, false, false, false, true),
        (r#"{"hooks": {"enabled": true}}"#, true, true, true, true),
        (r#"{"hooks": {"enabled": true}, "hooksConfig": {"enabled": false}}"#, false, false, false, true),
        (r#"{"hooks": {"enabled": false}}"#, false, false, true, true),
        (r#"{"hooksConfig": {"enabled": true}, "tools": {"enableHooks": false}}"#, false, false, true, true),
        (r#"{"disableAllHooks": true}"#, true, false, true, false),
    ] {
        let all = ["llxprt", "llxprt-2026-08", "gemini", "claude"].map(|name| enabled(name, text));
        assert_eq!(all, [llxprt, later, gemini, claude], "{text}");
    }
    assert!(
        findings(&one("gemini", r#"{"hooks": {"enabled": false}}"#))[0].contains("no longer has an effect")
    );
    assert!(!one("gemini", r#"{"hooksConfig": {"notifications": false}}"#).notifications);
    assert!(!one("a3s", r#"{"hooks": {"enabled": false}}"#).enabled);
}

#[test]
fn lists_of_disabled_hooks_add_up_in_gemini_only() {
    let hooks = r#"{"hooks": {"AfterAgent": [{"hooks": [{"type": "command", "command": "a"},
        {"type": "command", "command": "b"}]}]}, "hooksConfig": {"disabled": ["a"]}}"#;
    let more = SettingsLayer {
        source: SettingsSource::Project,
        name: "p",
        text: r#"{"hooksConfig": {"disabled": ["b"]}}"#,
    };
    let enabled = |name: &str| {
        let settings = read_settings(find_profile(name).unwrap(), &[layer(hooks), more]);
        settings.entries.iter().map(|entry| entry.enabled).collect::<Vec<_>>()
    };
    assert_eq!((enabled("gemini"), enabled("llxprt")), (vec![false, false], vec![true, false]));
}

#[test]
fn all_that_a_claude_hook_can_say_is_read() {
    let value = json!({"matcher": "mcp__.*", "hooks": [
        {"type": "command", "command": "node", "args": ["h.js"], "if": "Bash(git *)", "onFailure": "block", "shell": "bash"},
        {"type": "http", "url": "https://h", "headers": {"A": "$T"}, "allowedEnvVars": ["T"], "async": true},
        {"type": "prompt", "prompt": "ok?", "model": "m"},
        {"type": "mcp_tool", "server": "s", "tool": "t", "input": {"a": 1}},
        {"type": "command", "command": "typo", "onFailure": "deny"}]});
    let settings = one("claude", &group("PreToolUse", &value));
    let [command, http, prompt, mcp] = settings.entries.as_slice() else { panic!("{:?}", settings.entries) };
    assert_eq!(command.args, Some(vec!["h.js".to_owned()]));
    assert_eq!((command.condition_if.as_deref(), command.fail_closed), (Some("Bash(git *)"), true));
    assert_eq!((http.url.as_deref(), http.is_async, http.allowed_env.len()), (Some("https://h"), true, 1));
    assert_eq!((prompt.kind, prompt.model.as_deref()), (HookKind::Prompt, Some("m")));
    assert_eq!((mcp.kind, &mcp.input), (HookKind::McpTool, &Some(json!({"a": 1}))));
    assert!(findings(&settings)[0].contains("hook `typo`"), "a guard that is misspelt is not taken for none");
}

#[test]
fn gemini_gives_variables_and_names_runtime_hooks() {
    let value = json!({"matcher": "x", "sequential": true, "hooks": [
        {"type": "command", "command": "c", "name": "n", "env": {"A": "1"}}, {"type": "runtime"}]});
    let settings = one("gemini", &group("BeforeTool", &value));
    assert_eq!(settings.entries[0].env["A"], "1");
    assert!(settings.entries[0].sequential && settings.entries[0].label() == "n");
    assert!(findings(&settings)[0].contains("`runtime` hook without `name`"));
}
