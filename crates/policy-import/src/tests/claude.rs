// SPDX-License-Identifier: Apache-2.0 OR MIT

use super::{left_out, rules};
use crate::{ImportedRules, import_claude_permissions};

fn import(list: &str, rule: &str) -> ImportedRules {
    let settings = serde_json::json!({"permissions": {list: [rule]}});
    import_claude_permissions("settings.json", &settings.to_string()).unwrap()
}

/// Returns the conditions of the only rule, as YAML on one line.
fn matches(list: &str, rule: &str) -> String {
    let imported = import(list, rule);
    assert_eq!(imported.left_out, []);
    let (_, after) = rules(&imported).split_once("    match:\n").unwrap();
    let (matches, _) = after.split_once("    verdict:").unwrap();
    matches.lines().map(str::trim).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_file_of_permissions_becomes_a_file_of_rules_strictest_first() {
    let settings = r#"{
  "model": "opus",
  "permissions": {
    "allow": ["Bash(npm run lint)"],
    "ask": ["Bash(git push:*)"],
    "deny": ["Read(./.env)"],
    "defaultMode": "acceptEdits",
    "additionalDirectories": ["../docs"]
  }
}"#;
    let imported = import_claude_permissions(".claude/settings.json", settings).unwrap();
    let expected = r"# Made by `tenterhook policy import` from the permissions in .claude/settings.json.
# Rules that deny or ask cover every command of a line, also after `sudo` or `bash -c`, and every operation
# on a file, regardless of the tool. Rules that allow apply to Claude Code only.
version: 1
rules:
  - id: claude/deny/read-.env
    description: Denies calls that the permission rule Read(./.env) covers
    match:
      effect:
        does: [read]
        path: ['.env', '.env/**']
    verdict: deny
    reason: Your Claude Code permissions deny `Read(./.env)`.
  - id: claude/ask/bash-git-push
    description: Asks before calls that the permission rule Bash(git push:*) covers
    match:
      shell:
        program: git
        words: [push]
    verdict: ask
    reason: Your Claude Code permissions ask before `Bash(git push:*)`.
  # Only for one plain command without `;`, `&&`, pipes, redirections or `$`.
  - id: claude/allow/bash-npm-run-lint
    description: Allows calls that the permission rule Bash(npm run lint) covers
    match:
      source: claude-code
      tool: shell
      regex:
        command: ['^\s*npm[ \t]+run[ \t]+lint\s*$']
    verdict: allow
";
    assert_eq!(imported.yaml, expected);
    assert_eq!(imported.carried, 3);
    assert_eq!(
        left_out(&imported),
        [
            ".claude/settings.json:7:5: setting `defaultMode`: the mode for other calls stays with Claude Code",
            ".claude/settings.json:8:5: setting `additionalDirectories`: a rule cannot grant Claude Code additional directories",
        ]
    );
}

#[test]
fn restricted_commands_are_matched_by_their_words_or_by_their_text() {
    for (rule, expected) in [
        ("Bash", "tool: [shell]"),
        ("Bash(*)", "tool: [shell]"),
        ("Bash(git push:*)", "shell: program: git words: [push]"),
        ("Bash(git push *)", "shell: program: git words: [push]"),
        ("Bash(/usr/bin/git push --force)", "shell: program: git words: [push, '--force']"),
        ("Bash(git * main)", "shell: program: git words: [main]"),
        ("Bash(* --version)", "shell: program: '*' words: ['--version']"),
        ("Bash(npm run test*)", "shell: program: npm words: [run, 'test*']"),
        ("Bash(curl:*)", "shell: program: curl"),
        ("Bash(echo \"a b\":*)", r#"tool: shell regex: command: ['(?:^|[\s;&|(`])echo\s+"a\s+b"(?:\s.*)?']"#),
        ("Bash(curl http*://x)", r"tool: shell regex: command: ['(?:^|[\s;&|(`])curl\s+http.*://x']"),
    ] {
        assert_eq!(matches("deny", rule), expected, "{rule}");
    }
}

#[test]
fn an_allowed_command_cannot_contain_another() {
    let vouches = matches("allow", "Bash(npm run test:*)");
    let pattern = vouches.split('\'').nth(1).unwrap();
    let pattern = regex::Regex::new(pattern).unwrap();
    for good in ["npm run test", "npm run test -- --watch", " npm  run test a.b/c=d "] {
        assert!(pattern.is_match(good), "{good}");
    }
    for bad in [
        "npm run tests",
        "npm run test; rm -rf /",
        "npm run test && x",
        "npm run test | sh",
        "npm run test $(x)",
        "npm run test `x`",
        "npm run test > /etc/x",
        "npm run test \n rm x",
        "npm run test\nrm x",
        "npm run test\n\n",
        "x; npm run test",
        "npm run test \\x",
    ] {
        let harmless = bad.trim() == "npm run test";
        assert_eq!(pattern.is_match(bad), harmless, "{bad:?}");
    }
}

#[test]
fn files_are_found_from_where_the_pattern_starts() {
    let read = |of: &str| {
        let matches = matches("deny", &format!("Read({of})"));
        matches.strip_prefix("effect: does: [read] path: ").unwrap().to_owned()
    };
    assert_eq!(read("~/.ssh/**"), "['~/.ssh/**']");
    assert_eq!(read("//etc/shadow"), "['/etc/shadow', '/etc/shadow/**']");
    assert_eq!(read("/secrets/"), "[secrets, 'secrets/**']");
    assert_eq!(read("secrets/**"), "['secrets/**']");
    assert_eq!(read(".env*"), "['**/.env*', '**/.env*/**']", "a name alone is one anywhere");
    assert_eq!(read("**/*.pem"), "['**/*.pem', '**/*.pem/**']");
    let edit = "effect: does: [write, append, delete, move] path: [src, 'src/**']";
    assert_eq!(matches("ask", "Edit(/src)"), edit);
    assert_eq!(matches("allow", "Edit(/src/**)"), "source: claude-code tool: [edit, write] path: ['src/**']");
}

#[test]
fn other_tools_are_known_by_name_server_host_or_argument() {
    for (list, rule, expected) in [
        ("deny", "Read", "tool: [read, search]"),
        ("allow", "Read", "source: claude-code tool: [read]"),
        ("deny", "Edit", "tool: [edit, write, patch]"),
        ("deny", "WebSearch", "tool: [WebSearch]"),
        ("deny", "Task", "tool: [agent]"),
        ("deny", "mcp__github", "mcp: server: github"),
        ("deny", "mcp__github__*", "mcp: server: github"),
        ("deny", "mcp__github__delete_repo", "mcp: server: github tool: delete_repo"),
        ("deny", "mcp__*", "mcp: server: '*'"),
        ("deny", "WebFetch(domain:Evil.com)", "url: host: [evil.com, '*.evil.com']"),
        (
            "allow",
            "WebFetch(domain:x.org)",
            "source: claude-code tool: [WebFetch, webfetch, web_fetch, fetch_web_content, FetchUrl] \
             url: host: [x.org]",
        ),
        (
            "deny",
            "Agent(Explore)",
            r#"tool: agent when: 'has(tool.args.subagent_type) && string(tool.args.subagent_type).matches("^Explore$")'"#,
        ),
    ] {
        assert_eq!(matches(list, rule), expected, "{rule}");
    }
    assert!(
        matches("deny", "Skill(a.b:*)").contains(r#"string(tool.args.skill).matches("^a\\.b(\\s.*)?$")"#)
    );
}

#[test]
fn an_invalid_permission_is_reported_with_its_position() {
    let settings = "{\"permissions\": {\n\t\"deny\": [\"Bash(ls\", 3, \"Glow(x)\",\n \"mcp__a__b(x)\", \"WebFetch(x)\", \"Read(!x)\", \"\"],\n \"allow\": {}}}";
    let imported = import_claude_permissions("s.json", settings).unwrap();
    assert_eq!(
        left_out(&imported),
        [
            "s.json:2:11: permission `Bash(ls`: missing `)` at the end",
            "s.json:2:22: a permission rule must be text",
            "s.json:2:25: permission `Glow(x)`: unknown form `Glow(…)`",
            "s.json:3:2: permission `mcp__a__b(x)`: Claude Code has no conditions on the arguments of an MCP tool",
            "s.json:3:18: permission `WebFetch(x)`: an address must be written as `domain:…`",
            "s.json:3:33: permission `Read(!x)`: a pattern that excludes files has no meaning by itself",
            "s.json:3:45: permission ``: it does not begin with a tool name",
            "s.json:4:11: `allow` must be a list",
        ]
    );
    assert_eq!(imported.carried, 0);
    let error = |text: &str| import_claude_permissions("s.json", text).unwrap_err().to_string();
    assert_eq!(error("{}"), "s.json:1:1: the file has no `permissions`");
    assert_eq!(error(r#"{"permissions": 3}"#), "s.json:1:17: `permissions` must be a map");
    assert!(error("{").starts_with("s.json:"));
}

#[test]
fn json_that_is_not_valid_yaml_is_still_read() {
    let settings = "{\"a\": \"\\ud83d\\ude00 \\/\", \"permissions\": {\"deny\": [\"Bash(x)\"], \"allow\": [\"Bash(x)\"]}}";
    let imported = import_claude_permissions("s.json", settings).unwrap();
    assert_eq!(imported.carried, 2);
}
