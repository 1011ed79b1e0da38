// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Texts made to exhaust the reader.

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
        let said = said(&bash(&text), &BASELINE.rules);
        assert!(!said.is_empty(), "{}", text.chars().take(60).collect::<String>());
    }
    for text in
        ["\0", "'", "\"", "$", "`", "$(", "<<", "<<<", "((", "|", "&", ";;", "\\", "~", "{", "é\u{202e}"]
    {
        for text in [text.to_owned(), text.repeat(500)] {
            said(&bash(&text), &BASELINE.rules);
        }
    }
}

#[test]
fn a_long_text_is_asked_about_unless_it_only_writes_a_file() {
    let long = "some text\n".repeat(8_000);
    let asks = [
        format!("bash <<'EOF'\n{long}EOF"),
        format!("x='{long}'; $a$b -r$c /"),
        format!("cat > f <<EOF\n{long}EOF"),
    ];
    for text in asks {
        assert!(!said(&bash(&text), &BASELINE.rules).is_empty());
    }
    let file = format!("cat > doc.md <<'EOF'\n{long}rm -rf /\nEOF\ngit add doc.md\n");
    assert_eq!(said(&bash(&file), &BASELINE.rules), [""; 0]);
    let more = format!("{file}rm -rf ~\n");
    let said = said(&bash(&more), &BASELINE.rules);
    assert!(said.contains(&"rule:recursive-delete deny".to_owned()), "{said:?}");
}
