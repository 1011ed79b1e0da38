// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Idioms that must not appear in comments, messages and pages.

use std::sync::LazyLock;

use regex::Regex;

use crate::rust_source::{PassageKind, passages, without_tests};
use crate::{files_below, is_program_source, repository, shown};

/// A forbidden idiom, and what to write instead.
struct Idiom {
    pattern: Regex,
    instead: &'static str,
}

/// Quoted text in a comment or page, which is not checked.
static QUOTATION: LazyLock<Regex> = LazyLock::new(|| Regex::new(r#"`[^`]*`|"[^"]*"|“[^”]*”"#).unwrap());

/// Idioms and their replacements. Patterns match whole words, in upper or lower case.
const DROPPED_IDIOMS: &[(&str, &str)] = &[
    ("nobody|somebody|whoever|whomever|whosever", "name the subject: the caller, the user, no rule"),
    ("whatever|whichever", "name the thing: every, any, the value"),
    ("anew|thereby|therewith|thereof|wherein", "again, so, with it"),
    ("so many|so much", "N, this many, at most"),
    ("lies in|lie in|stands in|stand in", "is in, are in"),
    ("of ours|in our words|of nobody", "our"),
    ("mend|mends|mended", "fix, repair"),
    ("loosen|loosens|loosened|loosening", "weaken"),
    ("otherwise than", "differently from"),
    ("is no [a-z]+|are no [a-z]+", "is not a, invalid, unknown"),
];

/// Plain English phrases that the patterns above would match.
const PLAIN_PHRASES: &[&str] =
    &["there is no ", "there are no ", "is no longer", "are no longer", "is there no ", "are there no "];

/// String literals that are names of other systems: the Unix account without rights.
const SYSTEM_NAMES: &[&str] = &["nobody"];

/// Pages with quotations of other documents.
const QUOTING_PAGES: &[&str] = &["docs/seeds.md"];

fn dropped_idioms() -> Vec<Idiom> {
    let compile = |&(words, instead): &(&str, &'static str)| Idiom {
        pattern: Regex::new(&format!(r"\b(?:{words})\b")).unwrap(),
        instead,
    };
    DROPPED_IDIOMS.iter().map(compile).collect()
}

/// Returns the text in lower case, without quoted text and without plain phrases.
fn checked_text(text: &str) -> String {
    let mut text = QUOTATION.replace_all(&text.to_lowercase(), " ").into_owned();
    for phrase in PLAIN_PHRASES {
        text = text.replace(phrase, " ");
    }
    text
}

/// Returns what to write instead of each idiom in a text.
fn find_idioms(idioms: &[Idiom], text: &str) -> Vec<String> {
    let text = checked_text(text);
    let found = idioms.iter().filter_map(|idiom| {
        let words = idiom.pattern.find(&text)?;
        Some(format!("`{}` (write: {})", words.as_str(), idiom.instead))
    });
    found.collect()
}

fn report(problems: &[String]) {
    assert!(problems.is_empty(), "{} dropped idioms:\n{}", problems.len(), problems.join("\n"));
}

#[test]
fn comments_and_messages_use_plain_words() {
    let (idioms, mut problems, mut read) = (dropped_idioms(), Vec::new(), 0);
    for path in files_below(&repository(), ".rs") {
        // This file contains the patterns themselves.
        if shown(&path) == "tests/language/idioms.rs" {
            continue;
        }
        let source = std::fs::read_to_string(&path).unwrap();
        // Tests may quote a message or contain odd text as input, so only the comments of tests are checked.
        let program_end =
            if is_program_source(&path) { without_tests(&source).matches('\n').count() + 1 } else { 0 };
        for passage in passages(&source) {
            if passage.kind == PassageKind::Literal && passage.line > program_end {
                continue;
            }
            if passage.kind == PassageKind::Literal && SYSTEM_NAMES.contains(&passage.text.as_str()) {
                continue;
            }
            read += 1;
            for idiom in find_idioms(&idioms, &passage.text) {
                problems.push(format!("{}:{}: {idiom}", shown(&path), passage.line));
            }
        }
    }
    assert!(read > 10_000, "{read} passages were read");
    report(&problems);
}

/// Lines outside of code blocks.
fn prose_lines(page: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    page.lines().enumerate().filter_map(move |(index, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        (!is_code && !is_fence).then_some((index + 1, line))
    })
}

#[test]
fn pages_use_plain_words() {
    let (idioms, mut problems) = (dropped_idioms(), Vec::new());
    let pages = files_below(&repository(), ".md");
    assert!(pages.len() > 50, "{} pages were found", pages.len());
    for path in pages.iter().filter(|path| !QUOTING_PAGES.contains(&shown(path).as_str())) {
        for (line, text) in prose_lines(&std::fs::read_to_string(path).unwrap()) {
            for idiom in find_idioms(&idioms, text) {
                problems.push(format!("{}:{line}: {idiom}", shown(path)));
            }
        }
    }
    report(&problems);
}

/// File extensions of sources in other languages, and what begins a comment or text in them.
const OTHER_SOURCES: &[(&str, &str)] = &[
    ("proto", ".proto"),
    ("sdk/python", ".py"),
    ("sdk/typescript", ".ts"),
    ("web/src", ".ts"),
    ("web/src", ".tsx"),
    ("web/src", ".svelte"),
    ("rules", ".yaml"),
    ("programs", ".yaml"),
    ("templates", ".yaml"),
    ("packaging", ".sh"),
    ("packaging", ".py"),
    ("", "Makefile"),
];

#[test]
fn other_sources_use_plain_words() {
    let (idioms, mut problems, mut read) = (dropped_idioms(), Vec::new(), 0);
    for (directory, ending) in OTHER_SOURCES {
        for path in files_below(&repository().join(directory), ending) {
            read += 1;
            for (index, line) in std::fs::read_to_string(&path).unwrap().lines().enumerate() {
                // Ids of rules are part of users' policies and of records.
                if line.trim_start().starts_with("- id: ") {
                    continue;
                }
                for idiom in find_idioms(&idioms, line) {
                    problems.push(format!("{}:{}: {idiom}", shown(&path), index + 1));
                }
            }
        }
    }
    assert!(read > 200, "{read} files were read");
    report(&problems);
}

#[test]
fn idioms_are_found_and_quotations_are_not() {
    let idioms = dropped_idioms();
    for text in ["Nobody objects", "a file that is no YAML", "it lies in the home", "made anew"] {
        assert_eq!(find_idioms(&idioms, text).len(), 1, "{text}");
    }
    for text in
        ["there is no daemon", "it is no longer used", "the word `nobody`", "not \"whoever\", the caller"]
    {
        assert_eq!(find_idioms(&idioms, text), Vec::<String>::new(), "{text}");
    }
}
