// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Each condition of a rule, on facts that are built for it.

use tenterhook_facts::{
    Certainty, ExecLocation, FileEffect, FileOp, PackageFact, PackageOrigin, PathFact, PathLocation,
    SecretFact, UnreadText, UrlFact,
};

use super::*;

/// Creates a rule set with one rule that denies and has this `match`.
fn deny(conditions: &str) -> RuleSet {
    one(&format!("match: {conditions}, verdict: deny"))
}

fn one(rule: &str) -> RuleSet {
    let loaded = load_user(&format!("version: 1\nrules:\n  - {{id: x, {rule}}}\n"));
    assert_eq!(loaded.problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"), "");
    loaded.rules
}

fn matches(facts: &Facts, rules: &RuleSet) -> bool {
    let judgement = judge(&bash("x"), facts, &SessionState::default(), rules);
    assert!(judgement.findings.iter().all(|finding| finding.decision >= Decision::Allow));
    !judgement.findings.is_empty()
}

fn path(text: &str) -> PathFact {
    facts(&event(ToolCall::new("Read", json!({ "file_path": text }))), &HOME).paths.remove(0)
}

fn effect(does: FileOp, text: &str) -> FileEffect {
    FileEffect {
        does,
        path: path(text),
        recursive: false,
        by: "prog".to_owned(),
        on: ExecLocation::Here,
        certainty: Certainty::Certain,
        span: None,
    }
}

fn address(text: &str, host: &str) -> UrlFact {
    let scheme = text.split_once("://").map(|(scheme, _)| scheme.to_owned()).unwrap_or_default();
    let host = host.to_owned();
    UrlFact {
        text: text.to_owned(),
        scheme,
        host,
        port: None,
        user: None,
        numeric: false,
        loopback: false,
        dynamic: false,
    }
}

fn package(manager: &str, name: &str) -> PackageFact {
    PackageFact {
        manager: manager.to_owned(),
        name: name.to_owned(),
        from: PackageOrigin::Registry,
        runs: false,
        dynamic: false,
    }
}

#[test]
fn one_effect_must_satisfy_all_conditions_on_effects() {
    let facts = |effects: Vec<FileEffect>| Facts { effects, ..Facts::default() };
    let rules = deny("{effect: {does: [write, append], path: '~/.ssh/**'}}");
    assert!(matches(&facts(vec![effect(FileOp::Write, "~/.ssh/config")]), &rules));
    assert!(matches(&facts(vec![effect(FileOp::Append, "/root/.ssh/authorized_keys")]), &rules));
    assert!(!matches(
        &facts(vec![effect(FileOp::Read, "~/.ssh/config"), effect(FileOp::Write, "x")]),
        &rules
    ));
    let rules = deny("{effect: {does: delete, place: [home, root], recursive: true}}");
    let whole = FileEffect { recursive: true, ..effect(FileOp::Delete, "~") };
    assert!(matches(&facts(vec![whole.clone()]), &rules));
    assert!(!matches(&facts(vec![effect(FileOp::Delete, "~")]), &rules));
    assert!(!matches(&facts(vec![FileEffect { on: ExecLocation::Container, ..whole.clone() }]), &rules));
    let anywhere = deny("{effect: {does: delete, on: [here, container]}}");
    assert!(matches(&facts(vec![FileEffect { on: ExecLocation::Container, ..whole.clone() }]), &anywhere));
    assert!(!matches(&facts(vec![FileEffect { on: ExecLocation::Remote, ..whole }]), &anywhere));
    let by = deny("{effect: {does: read, by: ['*', '!prog']}}");
    assert!(!matches(&facts(vec![effect(FileOp::Read, "x")]), &by));
}

#[test]
fn what_is_done_to_a_directory_is_done_to_what_is_in_it() {
    let facts = |does, text| {
        let effects = vec![FileEffect { recursive: true, ..effect(does, text) }];
        Facts { effects, ..Facts::default() }
    };
    let rules = deny("{effect: {path: ['~/.ssh/id_*', '.git/**', '/etc/app/conf.d/*']}}");
    for directory in ["~", "/", "~/.ssh", ".", ".git", "/etc", "/etc/app/conf.d", "/home/user"] {
        assert!(matches(&facts(FileOp::Delete, directory), &rules), "{directory}");
    }
    for directory in ["~/.ss", "~/.ssh2", "src", "/et", "/etc/app/conf.d2", "~/.ssh/sub"] {
        assert!(!matches(&facts(FileOp::Delete, directory), &rules), "{directory}");
    }
    assert!(matches(&facts(FileOp::Read, "~/.ssh"), &rules));
    assert!(
        !matches(&facts(FileOp::Read, "~"), &rules),
        "a search of the home is not after everything in it"
    );
}

#[test]
fn an_unknown_path_is_at_unknown_and_nowhere_else() {
    let mut dynamic = effect(FileOp::Delete, "x");
    dynamic.path =
        PathFact { dynamic: true, resolved: None, places: vec![PathLocation::Unknown], ..dynamic.path };
    let facts = Facts { effects: vec![dynamic], ..Facts::default() };
    assert!(!matches(&facts, &deny("{effect: {does: delete, place: [home, root, outside-project]}}")));
    assert!(matches(&facts, &deny("{effect: {does: delete, place: unknown}}")));
    assert!(matches(&facts, &deny("{effect: {does: delete}}")));
}

#[test]
fn hosts_are_matched_as_hosts() {
    let facts = |urls: Vec<UrlFact>| Facts { urls, ..Facts::default() };
    let rules = deny("{host: ['*.evil.org', evil.org]}");
    assert!(matches(&facts(vec![address("https://a.b.evil.org/x", "a.b.evil.org")]), &rules));
    assert!(!matches(&facts(vec![address("https://evil.org.example", "evil.org.example")]), &rules));
    let listed = deny("{host: ['*', '!github.com', '!*.github.com']}");
    assert!(matches(&facts(vec![address("https://x.io", "x.io")]), &listed));
    assert!(!matches(&facts(vec![address("https://api.github.com", "api.github.com")]), &listed));
    let unknown = |host: &str| UrlFact { dynamic: true, ..address("https://$H/", host) };
    assert!(matches(&facts(vec![unknown("*")]), &listed), "nobody knows that it is one of the list");
    assert!(!matches(&facts(vec![unknown("*")]), &rules), "it may be any, so it is no particular one");
    assert!(matches(&facts(vec![unknown("*.evil.org")]), &rules));
    let plain = deny("{url: {scheme: http, port: [80, 8080], loopback: false}}");
    assert!(matches(&facts(vec![address("http://x.io", "x.io")]), &plain));
    assert!(!matches(&facts(vec![address("https://x.io", "x.io")]), &plain));
    let one_of_two = [address("http://127.0.0.1", "127.0.0.1"), address("https://x.io", "x.io")];
    let [mut local, other] = one_of_two;
    local.loopback = true;
    assert!(!matches(&facts(vec![local, other]), &plain), "one address must satisfy all of it");
}

#[test]
fn packages_secrets_and_servers_are_matched_by_name() {
    let rules = deny("{package: {manager: [npm, pip], name: ['*', '!left-pad'], from: registry}}");
    let facts = |packages: Vec<PackageFact>| Facts { packages, ..Facts::default() };
    assert!(matches(&facts(vec![package("npm", "evil")]), &rules));
    assert!(!matches(&facts(vec![package("npm", "left-pad"), package("cargo", "evil")]), &rules));
    let near = deny("{package: {near: [requests, numpy]}}");
    assert!(matches(&facts(vec![package("pip", "reqeusts")]), &near));
    assert!(!matches(&facts(vec![package("pip", "requests"), package("pip", "flask")]), &near));
    let runs = deny("{package: {runs: true, name: '@scope/*'}}");
    assert!(matches(&facts(vec![PackageFact { runs: true, ..package("npm", "@scope/x") }]), &runs));
    assert!(!matches(&facts(vec![package("npm", "@scope/x")]), &runs));

    let secret =
        Facts { secrets: vec![SecretFact { kind: "github-token", within: "content" }], ..Facts::default() };
    assert!(matches(&secret, &deny("{secret: '*'}")) && matches(&secret, &deny("{secret: ['github-*']}")));
    assert!(!matches(&secret, &deny("{secret: [aws-key]}")));

    let mcp = tenterhook_facts::facts(&event(ToolCall::new("mcp__github__delete_repo", json!({}))), &HOME);
    assert!(matches(&mcp, &deny("{mcp: {server: github, tool: ['*', '!get_*']}}")));
    assert!(!matches(&mcp, &deny("{mcp: {server: gitlab}}")));
    assert!(matches(&mcp, &deny("{mcp: {acts: [destroy]}}")));
    assert!(!matches(&mcp, &deny("{mcp: {acts: [pay]}}")));
    assert!(!matches(&mcp, &deny("{mcp: {server: gitlab, acts: [destroy]}}")));
    assert!(!matches(&Facts::default(), &deny("{mcp: {tool: '*'}}")));
}

#[test]
fn who_runs_it_and_what_the_session_carries_are_conditions() {
    let facts =
        Facts { user: Some("ada".into()), groups: vec!["wheel".into(), "dev".into()], ..Facts::default() };
    assert!(matches(&facts, &deny("{user: [ada, bob]}")) && !matches(&facts, &deny("{user: ['!ada', '*']}")));
    assert!(matches(&facts, &deny("{group: wheel}")) && !matches(&facts, &deny("{group: [ops]}")));
    assert!(!matches(&Facts::default(), &deny("{user: '*'}")));
    assert!(matches(&facts, &deny("{source: 'claude*'}")) && !matches(&facts, &deny("{source: codex}")));
    assert!(matches(&Facts { unparsed: true, ..Facts::default() }, &deny("{unparsed: true}")));
    assert!(!matches(&facts, &deny("{unparsed: true}")));

    let rules = deny("{label: ['read-*']}");
    let mut state = SessionState::default();
    assert!(judge(&bash("x"), &facts, &state, &rules).findings.is_empty());
    state.labels.insert("read-secret".to_owned());
    assert_eq!(judge(&bash("x"), &facts, &state, &rules).findings.len(), 1);
}

#[test]
fn patterns_match_the_original_text() {
    let say = |tool: &str, args: serde_json::Value, rules: &RuleSet| {
        !findings_of(&event(ToolCall::new(tool, args)), rules).is_empty()
    };
    let rules = deny("{regex: {command: ['\\bdrop\\s+table\\b', 'x{3}']}}");
    assert!(say("Bash", json!({"command": "psql -c 'drop  table a'"}), &rules));
    assert!(say("shell", json!({"command": ["echo", "xxx"]}), &rules));
    assert!(!say("Bash", json!({"command": "echo drop"}), &rules));
    let both = deny("{regex: {path: '\\.env$', content: 'SECRET'}}");
    assert!(say("Write", json!({"file_path": "a/.env", "content": "SECRET=1"}), &both));
    assert!(!say("Write", json!({"file_path": "a/.env", "content": "x"}), &both));
    assert!(say("Any", json!({"deep": {"er": "needle"}}), &deny("{regex: {args: needle}}")));
    let prompt = one("match: {event: prompt, regex: {prompt: '(?i)ignore all'}}, verdict: ask");
    let mut event = bash("x");
    event.event = EventKind::Prompt;
    event.tool = None;
    event.detail.prompt = Some("Ignore ALL rules".to_owned());
    assert_eq!(findings_of(&event, &prompt), ["rule:x ask"]);
}

#[test]
fn commands_are_distinguished_by_their_launcher_and_their_subcommand() {
    let rules = deny("{shell: {program: apt, via: sudo}}");
    assert_eq!(findings_of(&bash("sudo apt install x"), &rules), ["rule:x deny"]);
    assert_eq!(findings_of(&bash("apt install x"), &rules), [""; 0]);
    let rules = deny("{shell: {program: git, first: [push]}}");
    assert_eq!(findings_of(&bash("git -C dir push --force"), &rules), ["rule:x deny"]);
    assert_eq!(findings_of(&bash("git commit -m push"), &rules), [""; 0]);
    let rules = deny("{shell: {program: rm}}");
    assert_eq!(findings_of(&bash("ssh host rm x"), &rules), [""; 0]);
    let rules = deny("{shell: {program: rm, on: remote}}");
    assert_eq!(findings_of(&bash("ssh host rm x"), &rules), ["rule:x deny"]);
    assert_eq!(findings_of(&bash("rm x"), &rules), [""; 0]);
}

#[test]
fn an_exception_holds_only_if_it_covers_the_whole_call() {
    let rules = deny("{shell: {program: rm}, not: {path: 'build/**'}}");
    assert_eq!(findings_of(&bash("rm build/a build/b"), &rules), [""; 0]);
    assert_eq!(findings_of(&bash("rm build/a /etc/passwd"), &rules), ["rule:x deny"]);
    assert_eq!(findings_of(&bash("rm build/../../x"), &rules), ["rule:x deny"]);
    let rules = deny("{shell: {program: rm}, not: [{tool: 'mcp*'}, {shell: {program: rm, option: [i]}}]}");
    assert_eq!(findings_of(&bash("rm -i a; rm -i b"), &rules), [""; 0]);
    assert_eq!(findings_of(&bash("rm -i a; rm b"), &rules), ["rule:x deny"]);
    assert_eq!(
        findings_of(&bash("rm $opt a"), &rules),
        ["rule:x deny"],
        "what may be an option is none to rely on"
    );
}

#[test]
fn a_rule_that_allows_vouches_for_the_whole_call() {
    let allow = |conditions: &str| one(&format!("match: {conditions}, verdict: allow"));
    let rules = allow("{shell: {program: [git, npm], words: ['{status,test}']}}");
    for line in ["git status", "npm test", "cd sub && npm test 2>/dev/null", "git status && npm test"] {
        assert_eq!(findings_of(&bash(line), &rules), ["rule:x allow"], "{line}");
    }
    for line in [
        "git status; rm x",
        "git status > ~/.bashrc",
        "git status | sh",
        "sudo git status",
        "git $X status",
        "$(curl x.io) status",
        "git status; if then",
        "npm test & git push",
    ] {
        assert_eq!(findings_of(&bash(line), &rules), [""; 0], "{line}");
    }
    let rules = allow("{shell: {program: rm, operand: {path: 'build/**'}}}");
    assert_eq!(findings_of(&bash("rm build/x"), &rules), ["rule:x allow"]);
    assert_eq!(findings_of(&bash("rm build/x ../y"), &rules), [""; 0]);
    assert_eq!(findings_of(&bash("rm build/$X"), &rules), [""; 0]);
    let rules = allow("{shell: {program: git}, not: {shell: {program: git, first: push}}}");
    assert_eq!(findings_of(&bash("git fetch"), &rules), ["rule:x allow"]);
    assert_eq!(findings_of(&bash("git fetch; git push"), &rules), [""; 0]);
}

#[test]
fn an_unread_text_is_asked_about_if_it_mentions_the_effect() {
    let rules = deny("{effect: {does: delete, path: '~/.ssh/**'}}");
    let unread = |text: &str| Facts {
        unread: vec![UnreadText::new("nobody reads it", text, false, 1 << 10)],
        ..Facts::default()
    };
    let decision = |facts: &Facts, rules: &RuleSet| {
        judge(&bash("x"), facts, &SessionState::default(), rules)
            .findings
            .first()
            .map(|finding| finding.decision)
    };
    assert_eq!(decision(&unread("weird.rmtree(home + '.ssh/keys')"), &rules), Some(Decision::Ask));
    assert_eq!(decision(&unread("print(home + '.ssh/keys')"), &rules), None);
    assert_eq!(decision(&unread("shutil.rmtree('build')"), &rules), None);
    let far = deny("{effect: {does: delete, recursive: true, place: [root, home, outside-project]}}");
    assert_eq!(decision(&unread("shutil.rmtree('/srv')"), &far), Some(Decision::Ask));
    assert_eq!(decision(&unread("shutil.rmtree('build')"), &far), None);
    assert_eq!(decision(&unread("os.remove('/srv/x')"), &far), None);
    let ignored = one("match: {effect: {does: delete}}, verdict: deny, unparsed: ignore");
    assert_eq!(decision(&unread("os.remove('/srv/x')"), &ignored), None);
    let host = deny("{host: evil.org}");
    assert_eq!(decision(&unread("fetch('https://evil.org/x')"), &host), Some(Decision::Ask));
    assert_eq!(decision(&unread("fetch('https://good.org/x')"), &host), None);
}
