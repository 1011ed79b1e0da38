// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Texts designed to be expensive to parse. A megabyte of each takes milliseconds, and twice the text takes
//! at most about twice the time.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use tenterhook_shell::{Dialect, parse};

use crate::check::check;

const MEGABYTE: usize = 1 << 20;
/// Processor time allowed for a megabyte. Builds without optimization are many times slower.
const MAX_TIME_PER_MEGABYTE: Duration =
    Duration::from_millis(if cfg!(debug_assertions) { 3_000 } else { 50 });
/// Shorter times are too noisy to measure growth.
const MIN_MEASURABLE_TIME: Duration = Duration::from_millis(if cfg!(debug_assertions) { 40 } else { 4 });
const MAX_RATIO: f64 = 2.6;

/// Fragments that are repeated to the wanted length.
const REPEATED_FRAGMENTS: &[&str] = &[
    "(",
    "$(",
    "\"",
    "`",
    "${",
    "<<a",
    "<<a ",
    "a ",
    "a;",
    "a\n",
    "{",
    "{,",
    "{a,b}",
    "{a..b}",
    "[",
    "[\"",
    "[a]",
    "((",
    "$((",
    "$[",
    "'",
    "\\\n",
    "\\",
    "<<a\n",
    "<<a\n$(",
    "<<a\n`",
    "x=(",
    "a[",
    "a[1]=2 ",
    "!",
    "! ",
    "if ",
    "if a\n",
    "case a in ",
    "[[ ",
    "[[ ( ",
    "[[ ! ",
    "&& ",
    "a&&",
    "a|",
    "#\n",
    "$x",
    "~",
    "*",
    "@(",
    "@(a|",
    "$'",
    "\"$(",
    "\"${x:-",
    "\"${x:-'",
    "`\\`",
    "`\\\\",
    "<(",
    ";;",
    ")",
    "}",
    "a&",
    ">",
    "> x ",
    "f() ",
    "function ",
    "coproc ",
    "time ",
    "<<'a'\n\t",
    "\"\\",
    "((1))",
    "$((1)) ",
    "(a) ",
    "((a) ",
    "$((a) ",
    "${x/",
    "${x:",
    "${!",
    "${#",
    "x=",
    "a\\\n",
    "<<-a\n\tb\\\n",
    "for x in ",
    "a=(b ",
    "2>&1 ",
    "{x}>",
    "=(",
    "<1-2>",
    "$x[",
    "${(",
    "always {",
    "\u{e9}",
    "$((((",
    "((((",
    "\"`",
    "\"$x\"",
    "$(<<a\n",
    "`<<a\n",
    "!x",
    "\r\n",
    "[[:",
    "{a,{",
    "}{",
    ",",
    "..",
];

/// Pairs of fragments. The first is repeated for half of the wanted length, then the second.
const FRAGMENT_PAIRS: &[(&str, &str)] = &[
    ("a", "~"),
    ("a", "=~"),
    ("a", ":~"),
    ("{", "}"),
    ("{,", "}"),
    ("[", "]"),
    ("(", ")"),
    ("((", "))"),
    ("$((", "))"),
    ("<<a ", "\n"),
    ("<<a ", "\na"),
    ("$(", ")"),
    ("${x:-", "}"),
    ("\"${x:-", "}\""),
    ("a[", "]=1"),
    ("`", "\\`"),
    ("a\\\n", "b"),
    ("x=(", ")"),
    ("a", "[\"]"),
    ("$a[", "]"),
    ("if a; then ", "fi;"),
    ("\t", "<<-a\n"),
];

/// All hostile texts of about this length.
fn texts(length: usize) -> impl Iterator<Item = (String, String)> {
    let single =
        REPEATED_FRAGMENTS.iter().map(move |part| (format!("{part:?}"), part.repeat(length / part.len())));
    let paired = FRAGMENT_PAIRS.iter().map(move |(first, second)| {
        let text = first.repeat(length / 2 / first.len()) + &second.repeat(length / 2 / second.len());
        (format!("{first:?}, {second:?}"), text)
    });
    single.chain(paired)
}

fn cpu_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.try_into().unwrap(), now.tv_nsec.try_into().unwrap())
}

fn time_to_parse(text: &str, dialect: Dialect) -> Duration {
    let before = cpu_time();
    let parsed = parse(text, dialect);
    drop(parsed);
    cpu_time().saturating_sub(before)
}

fn fastest(text: &str, dialect: Dialect) -> Duration {
    (0..3).map(|_| time_to_parse(text, dialect)).min().unwrap()
}

#[test]
fn a_megabyte_of_hostile_text_is_parsed_in_time() {
    let mut slowest = (Duration::ZERO, String::new());
    for (family, text) in texts(MEGABYTE) {
        for dialect in [Dialect::Bash, Dialect::Zsh] {
            let mut took = time_to_parse(&text, dialect);
            if took > MAX_TIME_PER_MEGABYTE {
                took = fastest(&text, dialect);
            }
            slowest = slowest.max((took, family.clone()));
            assert!(took <= MAX_TIME_PER_MEGABYTE, "{family} in {dialect:?}: {took:?}");
        }
    }
    eprintln!("slowest hostile megabyte: {slowest:?} of processor time");
}

#[test]
fn time_grows_with_the_text_and_no_faster() {
    for ((family, text), (_, double)) in texts(MEGABYTE / 4).zip(texts(MEGABYTE / 2)) {
        for dialect in [Dialect::Bash, Dialect::Zsh] {
            let (once, twice) = (time_to_parse(&text, dialect), time_to_parse(&double, dialect));
            let is_slower = |once: Duration, twice: Duration| {
                twice > MIN_MEASURABLE_TIME
                    && twice.as_secs_f64()
                        > once.as_secs_f64().max(MIN_MEASURABLE_TIME.as_secs_f64() / 3.0) * MAX_RATIO
            };
            if is_slower(once, twice) {
                let (once, twice) = (fastest(&text, dialect), fastest(&double, dialect));
                assert!(!is_slower(once, twice), "{family} in {dialect:?}: {once:?}, then {twice:?}");
            }
        }
    }
}

#[test]
fn hostile_texts_are_covered_by_nodes() {
    for family in REPEATED_FRAGMENTS {
        for length in [1, 2, 3, 7, 49, 50, 200] {
            for dialect in [Dialect::Bash, Dialect::Posix, Dialect::Zsh] {
                let text = family.repeat(length);
                check(&text, &parse(&text, dialect));
                let text = format!("{text}\nlast");
                check(&text, &parse(&text, dialect));
            }
        }
    }
}

#[test]
fn deep_nesting_needs_little_stack() {
    let texts = [
        "(",
        "$(",
        "\"$(",
        "${x:-",
        "`\\`",
        "if a; then ",
        "[[ ( ",
        "x=(",
        "@(",
        "$((",
        "{ ",
        "<(",
        "f() { ",
    ];
    let parse_all = move || {
        for text in texts {
            for _ in 0..2 {
                let parsed = parse(&text.repeat(100), Dialect::Bash);
                assert!(!parsed.is_complete());
                _ = parsed.clone();
            }
        }
    };
    std::thread::Builder::new().stack_size(1 << 20).spawn(parse_all).unwrap().join().unwrap();
}
