// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Checks that the cost of expensive conditions and events is limited.

mod common;

use std::time::Instant;

use common::{ask, calling, complaint, full};
use serde_json::{Value, json};
use tenterhook_test_support::assert_no_hang;
use tenterhook_when::{MAX_CONDITION_BYTES, When, WhenError};

/// Fails if the work takes long. Without limits, the tested work would take minutes or never end.
fn soon<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let began = Instant::now();
    let done = work();
    assert_no_hang(began, what);
    done
}

fn filled(unit: &str) -> String {
    unit.repeat(MAX_CONDITION_BYTES / unit.len() - 8)
}

#[test]
fn long_texts_are_refused_unread() {
    let long = "true || ".repeat(131_072) + "true";
    assert_eq!(When::compile(&long).unwrap_err(), WhenError::TooLong(long.len()));
    assert_eq!(When::compile(&"(".repeat(10_000)).unwrap_err(), WhenError::TooLong(10_000));
}

#[test]
fn deep_texts_are_refused_without_harm() {
    let nested = |n: usize| format!("{}true{}", "(".repeat(n), ")".repeat(n));
    assert_eq!(ask(&full(), &nested(40)), Ok(true));
    for text in [
        nested(65),
        nested(2000),
        filled("("),
        filled("["),
        format!("{}1{}", "[".repeat(2000), "]".repeat(2000)),
        filled("{1:"),
        format!("{}1", filled("1+")),
        format!("{}true", filled("true?true:")),
        format!("tool.args{}", filled("[0]")),
        format!("tool.args{}", filled(".a()")),
    ] {
        let start: String = text.chars().take(20).collect();
        let error = soon(&start, || When::compile(&text)).expect_err(&start);
        assert!(error.to_string().len() < 400 && error.to_string().lines().count() == 1, "{error}");
    }
    assert_eq!(When::compile(&nested(65)).unwrap_err(), WhenError::TooDeep);
    assert_eq!(When::compile(&nested(2000)).unwrap_err(), WhenError::TooDeep);
    assert_eq!(When::compile(&format!("{}1 == 1", "1+".repeat(100))).unwrap_err(), WhenError::TooDeep);
}

#[test]
fn wide_texts_are_fine() {
    let any = format!("{}true", "tool.name == \"no\" || ".repeat(150));
    assert_eq!(ask(&full(), &any), Ok(true));
    let list = format!("tool.args.timeout in [{}60]", "1, ".repeat(1000));
    assert_eq!(ask(&full(), &list), Ok(true));
    assert_eq!(ask(&full(), &format!("{}true", "!".repeat(4000))), Ok(true));
}

#[test]
fn loops_are_bounded_in_depth_length_and_cost() {
    let many = |n: usize| calling("Bash", json!({"many": (0..n).collect::<Vec<_>>()}));
    let two = "tool.args.many.all(a, tool.args.many.all(b, a + b >= 0))";
    assert_eq!(ask(&many(50), two), Ok(true));
    assert_eq!(ask(&many(1000), "tool.args.many.all(a, a >= 0)"), Ok(true));
    assert_eq!(
        complaint(&many(1001), "tool.args.many.all(a, a >= 0)"),
        "a loop over more than 1000 elements"
    );
    let three = "[1].all(a, [1].all(b, [1].all(c, true)))";
    assert_eq!(complaint(&full(), three), "column 30: loops nested deeper than 2");
    for text in [
        two,
        "tool.args.many.map(a, tool.args.many.map(b, tool.args.many)).size() == 0",
        "tool.args.many.map(a, tool.args.many).map(l, l.map(x, tool.args.many)).size() > 0",
        "tool.args.many.map(a, tool.args).exists(m, m == tool.args)",
        "tool.args.many.all(a, tool.args.many.exists(b, b == 999)) || true",
    ] {
        let answer = soon(text, || ask(&many(1000), text));
        assert_eq!(answer, Err(WhenError::TooExpensive), "{text}");
    }
}

#[test]
fn a_broken_limit_cannot_be_swallowed() {
    let many = calling("Bash", json!({"many": vec![0; 2000]}));
    assert_eq!(ask(&many, "tool.args.many.all(a, true) || true"), Err(WhenError::TooManyItems));
}

#[test]
fn big_texts_are_read_but_not_multiplied() {
    let big = calling("Bash", json!({"command": "x".repeat(1 << 20), "n": [1, 2, 3]}));
    assert_eq!(ask(&big, r#"tool.command.contains("y")"#), Ok(false));
    assert_eq!(soon("matches", || ask(&big, r#"tool.command.matches("(x+x+)+y")"#)), Ok(false));
    let sums = format!("({}'').size() == 0", "tool.command + ".repeat(50));
    assert_eq!(soon("sums", || ask(&big, &sums)), Err(WhenError::TooExpensive));
    let alternatives = format!("{}false", "x.contains('y') || ".repeat(100));
    let looped = format!("[tool.command, tool.command].exists(x, {alternatives})");
    assert_eq!(soon("loop", || ask(&big, &looped)), Err(WhenError::TooExpensive));
}

#[test]
fn patterns_are_linear_and_small() {
    assert_eq!(ask(&full(), r#""a".matches("(a+)+$")"#), Ok(true));
    let long = calling("Bash", json!({"command": format!("{}b", "a".repeat(100_000))}));
    assert_eq!(soon("(a+)+$", || ask(&long, r#"tool.command.matches("(a+)+$")"#)), Ok(false));
    for pattern in ["(a{1000}){1000}", "\\\\w{5000}"] {
        let error = soon(pattern, || When::compile(&format!("\"a\".matches(\"{pattern}\")"))).unwrap_err();
        assert!(error.to_string().contains("size limit"), "{error}");
    }
}

#[test]
fn deep_json_is_no_harm() {
    let deep = (0..2000).fold(json!(1), |inner, _| json!({ "a": inner }));
    let event = calling("Bash", json!({ "deep": deep }));
    assert_eq!(ask(&event, "has(tool.args.deep.a.a.a)"), Ok(true));
    assert_eq!(ask(&event, "tool.args == {}"), Err(WhenError::TooExpensive));
    // Dropping a `Value` is recursive, which is not what this test checks. So the value is leaked instead.
    let Some(tool) = event.tool else { return };
    std::mem::forget::<Value>(tool.args);
}

#[test]
fn a_condition_can_be_shared_between_threads() {
    let when = When::compile(r#"tool.command.matches("deploy$")"#).unwrap();
    let event = full();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(when.holds(&event), Ok(true)));
        }
    });
    assert_eq!(when.text(), r#"tool.command.matches("deploy$")"#);
}
