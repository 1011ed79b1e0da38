// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Compares the output that a page shows with the output of the command.
//!
//! Values that differ from run to run (ids, short names, hashes, times, durations, sizes, process ids, the number of built-in rules,
//! the account) are treated as equal, and so are runs of blanks. In a page, `…` matches any text within a line. A line
//! that contains only `…` matches any number of lines.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

static VARIABLE: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let patterns = [
        (r"\b[0-9A-HJKMNP-TV-Z]{26}\b", "ID"),
        (r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", "UUID"),
        (r"\b[0-9a-f]{16,}\b", "HEX"),
        (r"\+[0-9a-f]{8}\+[A-Za-z0-9+/]+=*", "+KEY"),
        (r"[A-Za-z0-9+/]{43}=", "HASH"),
        (r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d)?(\.\d+)?Z?)?", "TIME"),
        (r"\b\d\d:\d\d:\d\d\b", "TIME"),
        (r"\b\d+(\.\d+)? ?(ns|µs|ms|s|min|B|kB|KB|KiB|MB|MiB)\b", "AMOUNT"),
        (r"\bversion \d+\.\d+\.\d+", "version V"),
        (r"\bprocess \d+", "process N"),
        (r"\bpid \d+", "pid N"),
        (r"\b[b-z][2-9][b-z][2-9][b-z]\b", "NAME"),
        (r"\b\d+ rules\b", "N rules"),
        (r"\b\d+ records\b", "N records"),
        (r"\bcheckpoints \d+", "checkpoints N"),
        (r"\b\d+ of \d+ match", "N of N match"),
        (r"[ \t]+", " "),
        (r"(?m) $", ""),
    ];
    patterns.into_iter().map(|(pattern, name)| (Regex::new(pattern).unwrap(), name)).collect()
});

/// The account that runs the test; pages show `dev`.
static ACCOUNT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(&format!(r"\b{}\b", regex::escape(&tenterhook_home::env::current_user()))).unwrap()
});

fn without_variables(text: &str) -> String {
    let mut text = Cow::Borrowed(text);
    for (pattern, name) in VARIABLE.iter() {
        text = Cow::Owned(pattern.replace_all(&text, *name).into_owned());
    }
    ACCOUNT.replace_all(&text, "dev").into_owned()
}

/// Whether a command printed what the page shows.
pub(super) fn matches(shown: &str, printed: &str) -> bool {
    let mut pattern = String::from(r"\A");
    for line in without_variables(shown).trim_end().lines() {
        if line.trim() == "…" {
            pattern += "(?:.*\n)*?";
            continue;
        }
        let parts: Vec<_> = line.split('…').map(regex::escape).collect();
        pattern += &parts.join(".*?");
        pattern += "\n";
    }
    pattern += r"\z";
    let printed = without_variables(printed);
    Regex::new(&pattern).unwrap().is_match(&(printed.trim_end().to_owned() + "\n"))
}

#[test]
fn what_differs_from_run_to_run_counts_as_equal() {
    let shown = "record 01KA4T8Q0RZV6M8W3T1C5N7P9D  took 3 ms\n…\n✓ 49 rules in …/policy.yaml\n";
    let printed =
        "record 01M7GDTQTM3E103F2SD1ZXF0C8 took 1.5 ms\nmore\nlines\n✓ 50 rules in /x/policy.yaml\n";
    assert!(matches(shown, printed));
    assert!(matches(shown, &printed.replace("more\nlines\n", "")));
    assert!(!matches(shown, &printed.replace("took", "needed")));
    assert!(!matches("a\n", "a\nb\n") && !matches("a\nb\n", "a\n"));
}
