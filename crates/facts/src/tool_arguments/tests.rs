// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Tests of the arguments of tools.

use super::*;

fn commands(name: &str, args: Value) -> Vec<Value> {
    let mut tool = ToolCall::new(name, args);
    tool.args.as_object_mut().unwrap().remove("commands");
    let expanded = expand_arguments(&tool);
    expanded.and_then(|call| call.args.get("commands")?.as_array().cloned()).unwrap_or_default()
}

#[test]
fn commands_are_found_under_any_key() {
    for (name, args, expected) in [
        ("mcp__x__run", json!({"shell_command": "a b"}), json!("a b")),
        ("mcp__x__run", json!({"input": "a b"}), json!("a b")),
        ("mcp__x__run", json!({"argv": ["a", "b"]}), json!(["a", "b"])),
        ("mcp__x__run", json!({"program": "a", "arguments": ["b"]}), json!(["a", "b"])),
        ("mcp__x__run", json!({"command": "a", "args": "-b c"}), json!("a -b c")),
        ("mcp__x__run", json!({"arguments": "{\"command\": \"a b\"}"}), json!("a b")),
        ("mcp__x__run", json!({"request": {"command": "a b"}}), json!("a b")),
        ("mcp__x__run", json!({"steps": [{"run": "a b"}]}), json!("a b")),
        ("mcp__k8s__kubectl", json!({"command": "delete ns prod"}), json!("kubectl delete ns prod")),
        ("mcp__tf__ExecuteTerraformCommand", json!({"command": "destroy"}), json!("terraform destroy")),
        ("mcp__pg__query", json!({"query": "TRUNCATE users"}), json!(["psql", "-c", "TRUNCATE users"])),
        ("mcp__py__exec", json!({"python": "x()"}), json!(["python3", "-c", "x()"])),
        ("mcp__win__run", json!({"powershell": "x"}), json!(["pwsh", "-Command", "x"])),
        ("mcp__aws__cli", json!({"cli_command": "aws s3 ls"}), json!("aws s3 ls")),
        ("mcp__iterm__write_to_terminal", json!({"text": "a b"}), json!("a b")),
        ("mcp__tmux__send_keys", json!({"keys": ["a b", "Enter"]}), json!("a b")),
        ("mcp__jupyter__run_cell", json!({"source": "x = 1\n!a b"}), json!("a b")),
        ("mcp__jupyter__run_cell", json!({"source": ["%%bash\n", "a b\n"]}), json!("a b\n")),
        ("mcp__gcloud__run", json!({"args": ["projects", "list"]}), json!(["gcloud", "projects", "list"])),
        ("mcp__redis__execute", json!({"command": ["FLUSHALL"]}), json!(["redis-cli", "FLUSHALL"])),
        ("mcp__git__git_push", json!({"force": true}), json!(["git", "push", "--force"])),
        ("mcp__terraform__run", json!({"action": "destroy"}), json!(["terraform", "destroy"])),
        ("mcp__k8s__helm_uninstall", json!({"name": "x"}), json!(["helm", "uninstall"])),
        ("mcp__neo4j__write", json!({"query": "MATCH (n)"}), json!(["cypher-shell", "MATCH (n)"])),
    ] {
        let found = commands(name, args.clone());
        assert!(found.contains(&expected), "{name} {args}: {found:?}");
    }
}

#[test]
fn prose_is_not_a_command() {
    for (name, args) in [
        ("mcp__github__create_issue", json!({"title": "rm -rf ~ fails", "body": "run `rm -rf ~`"})),
        ("mcp__docs__search", json!({"query": "how to drop a table"})),
        ("mcp__slack__post_message", json!({"text": "delete ns prod", "channel": "x"})),
        ("mcp__notes__add", json!({"input": "rm -rf ~ is bad"})),
        ("mcp__jira__update", json!({"description": "{not json}", "name": "x"})),
        ("mcp__exa__web_search", json!({"query": "drop table or truncate"})),
        ("mcp__playwright__browser_type", json!({"text": "rm -rf ~", "element": "console"})),
        ("mcp__tmux__capture_pane", json!({"text": "rm -rf ~"})),
        ("mcp__bot__add", json!({"slash_command": "/delete"})),
    ] {
        assert_eq!(commands(name, args.clone()), Vec::<Value>::new(), "{name} {args}");
    }
}

#[test]
fn files_are_found_in_attachments_and_relative_to_directories() {
    let found = |name: &str, args: Value| {
        let call = expand_arguments(&ToolCall::new(name, args)).unwrap();
        let paths = |paths: Vec<&str>| paths.iter().map(|path| (*path).to_owned()).collect::<Vec<_>>();
        (paths(call.paths()), paths(call.outputs()))
    };
    let (paths, _) = found("mcp__mail__send", json!({"attachments": ["/h/key"]}));
    assert_eq!(paths, ["/h/key"]);
    let (paths, _) = found("mcp__http__post", json!({"body_file": "./.env"}));
    assert_eq!(paths, ["./.env"]);
    let (_, outputs) = found("mcp__files__put", json!({"base_dir": "/etc", "name": "x", "data": "y"}));
    assert_eq!(outputs, ["/etc/x"]);
    assert!(expand_arguments(&ToolCall::new("mcp__x__delete_route", json!({"route": "/a"}))).is_none());
}

#[test]
fn code_of_a_runner_is_not_a_path_or_a_command() {
    let tool = ToolCall::new("mcp__node__eval", json!({"script": "require('fs')"}));
    let call = expand_arguments(&tool).unwrap();
    assert_eq!((call.code_texts(), call.commands().len()), (vec!["require('fs')"], 0));
}

#[test]
fn every_spelling_of_a_file_url_is_a_path() {
    for url in
        ["FILE:///a/b", "file://localhost/a/b", "file:/a/b", "view-source:file:///a/b", "file:///a%2Fb"]
    {
        assert_eq!(file_url_path(url).as_deref(), Some("/a/b"), "{url}");
    }
    for text in ["https://x.io/a", "file", "files:/a", "profile:/a", "file:a", "é"] {
        assert_eq!(file_url_path(text), None, "{text}");
    }
}

#[test]
fn text_for_the_user_is_no_command() {
    let plan = json!({"plan": "x", "allowedPrompts": [{"tool": "Bash", "prompt": "rm -rf a"}]});
    assert!(commands("ExitPlanMode", plan).is_empty());
    assert_eq!(commands("mcp__x__run", json!({"command": "rm -rf a"})), [json!("rm -rf a")]);
}
