// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Texts that are meant to exhaust the parser.

use super::*;

#[test]
fn hostile_text_is_bounded_and_never_silently_allowed() {
    let deep = |open: &str, close: &str| format!("{}rm -rf /{}", open.repeat(10_000), close.repeat(10_000));
    let texts = [
        format!("{}; rm -rf /", "a".repeat(1 << 20)),
        format!("rm -rf / {}", "$(".repeat(1000)),
        deep("(", ")"),
        deep("{ ", ";}"),
        deep("$(", ")"),
        deep("if ", ""),
        "echo \0; rm -rf /".to_owned(),
        "r\0m -rf /".to_owned(),
        format!("{}rm -rf /", "a && ".repeat(10_000)),
        format!("{}rm -rf /", "a | ".repeat(10_000)),
        format!("{}; rm -rf /", "for x in a b c d; do ".repeat(12)),
        format!("f() {{ f | f & }}; f; {} rm -rf /", ":;".repeat(100)),
        format!("rm -rf {}", "{/,x}".repeat(30)),
        format!("{}rm -rf /", "eval ".repeat(500)),
        format!("{}rm -rf /", "sudo ".repeat(5000)),
        format!("cat <<E {} sh\n rm -rf /\nE", "| cat |".repeat(1000)),
        format!("x=1;{} rm -rf /", "x=$x$x;".repeat(40)),
        format!("x=(1);{} rm -rf /", "x+=(\"${x[@]}\");".repeat(40)),
        format!("{} cd ..; {} rm -rf /", "while :; do D=$D$D; ".repeat(14), "done;".repeat(14)),
        format!("f() {{ set -- \"$@\" \"$@\"; f \"$@\"; }}; f a; {} rm -rf /", "f b;".repeat(50)),
        format!("{} rm -rf /", "cd a; [ x ] && cd b;".repeat(300)),
        format!("{} rm -rf /", "x=${x:-${x:=$x".repeat(300)),
        format!("find {} rm -rf /;", "( -name a -o ".repeat(2000)),
    ];
    for text in texts {
        let said = findings_of(&bash(&text), &BASELINE.rules);
        assert!(!said.is_empty(), "{}", text.chars().take(60).collect::<String>());
    }
    for text in
        ["\0", "'", "\"", "$", "`", "$(", "<<", "<<<", "((", "|", "&", ";;", "\\", "~", "{", "é\u{202e}"]
    {
        for text in [text.to_owned(), text.repeat(500)] {
            findings_of(&bash(&text), &BASELINE.rules);
        }
    }
}

#[test]
fn rules_ask_about_a_long_text_unless_it_only_writes_a_file() {
    let long = "some text\n".repeat(8_000);
    let asks = [
        format!("bash <<'EOF'\n{long}EOF"),
        format!("x='{long}'; $a$b -r$c /"),
        format!("cat > f <<EOF\n{long}$(x)EOF"),
    ];
    for text in asks {
        assert!(!findings_of(&bash(&text), &BASELINE.rules).is_empty());
    }
    let file = format!("cat > doc.md <<'EOF'\n{long}rm -rf /\nEOF\ngit add doc.md\n");
    assert_eq!(findings_of(&bash(&file), &BASELINE.rules), [""; 0]);
    let more = format!("{file}rm -rf ~\n");
    let said = findings_of(&bash(&more), &BASELINE.rules);
    assert!(said.contains(&"rule:recursive-delete deny".to_owned()), "{said:?}");
}

#[test]
fn rules_ask_about_a_call_that_exceeds_a_limit() {
    let shell = |command: serde_json::Value| event(ToolCall::new("shell", json!({ "command": command })));
    let end = "import shutil; shutil.rmtree('/home/user')";
    let many = |part: &str, times: usize| part.repeat(times);
    let paths = |count: usize| (0..count).map(|n| format!("src/{n}.rs")).collect::<Vec<_>>();
    let listed = [vec!["ls"; 1200], vec!["rm -rf /"]].concat();
    let files = [paths(9000), vec!["~/.ssh/id_rsa".to_owned()]].concat();
    let calls = [
        // These calls exceed the limits of code analysis: one is too long, one contains too many calls, and
        // one is nested too deeply.
        shell(json!(["python3", "-c", format!("{}{end}", many("x = 1\n", 30_000))])),
        shell(json!(["python3", "-c", format!("{}{end}", many("open('a'); open('b'); ", 200))])),
        shell(json!(["python3", "-c", format!("{}shutil.rmtree('/'){}", many("f(", 60), many(")", 60))])),
        event(ToolCall::new("mcp__x__run", json!({ "code": format!("{}{end}", many("x = 1\n", 30_000)) }))),
        // These calls have more words, commands or paths than are analysed.
        shell(json!([["rm", "-rf"].map(String::from).to_vec(), paths(5000), vec!["/".to_owned()]].concat())),
        event(ToolCall::new("run_commands", json!({ "commands": listed }))),
        event(ToolCall::new("read_files", json!({ "files": files }))),
    ];
    for call in calls {
        let said = findings_of(&call, &BASELINE.rules);
        assert!(
            !said.is_empty(),
            "{}",
            call.tool.unwrap().args.to_string().chars().take(80).collect::<String>()
        );
    }
    // No rule asks about long calls within the limits.
    let short = [
        shell(json!(["python3", "-c", many("x = 1\n", 2_000)])),
        shell(json!([vec!["git".to_owned(), "add".to_owned()], paths(1000)].concat())),
        event(ToolCall::new("read_files", json!({ "files": paths(5000) }))),
    ];
    for call in short {
        assert_eq!(findings_of(&call, &BASELINE.rules), [""; 0]);
    }
}
