// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Checks that each statement of the four seeds (the documents that this project started from) is covered by a test, or
//! that a reason is given why it is not.
//!
//! `tests/seeds/*.jsonl` lists the statements in our own words. A comment right above a test names the statements
//! that it covers: `// seed: 003-063, 003-064` (`#` in Python). `docs/seeds.md` is generated from both.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use serde::Deserialize;

use crate::context::repository;

/// The seeds: the number that begins each id, and the title of its section.
const SEEDS: &[(&str, &str)] = &[
    ("000", "Agent SDK callbacks"),
    ("001", "Harnesses"),
    ("002", "LLxprt and Gemini hooks"),
    ("003", "A3S hooks and SDKs"),
];

/// Directories with tests.
const TEST_DIRECTORIES: &[&str] = &["tests", "crates", "sdk", "web"];

/// Extensions of files with tests.
const TEST_FILE_EXTENSIONS: &[&str] = &["rs", "ts", "mjs", "py"];

/// Maximum number of lines between a seed comment and its test, for attributes and doc comments.
const LINES_TO_TEST: usize = 6;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Statement {
    id: String,
    #[serde(rename = "statement")]
    text: String,
    verdict: StatementVerdict,
    /// Why Tenterhook differs from the statement, or why no test can cover it.
    #[serde(default)]
    reason: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum StatementVerdict {
    /// Tenterhook works as the seed describes.
    Holds,
    /// Tenterhook differs on purpose; the reason explains why.
    Differs,
    /// No test can check the statement; the reason says what a check would need.
    Unchecked,
}

impl StatementVerdict {
    fn word(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Differs => "differs",
            Self::Unchecked => "not checked",
        }
    }
}

fn statements(seed: &str) -> Vec<Statement> {
    let path = repository().join(format!("tests/seeds/{seed}.jsonl"));
    let text = std::fs::read_to_string(&path).unwrap();
    let parse = |(number, line)| match serde_json::from_str::<Statement>(line) {
        Ok(statement) => statement,
        Err(error) => panic!("{}:{}: {error}", path.display(), number + 1),
    };
    text.lines().enumerate().map(parse).collect()
}

/// The tests that cover each statement, as `path::name`.
fn annotations() -> BTreeMap<String, BTreeSet<String>> {
    let mut found = BTreeMap::new();
    for directory in TEST_DIRECTORIES {
        search(&repository().join(directory), &mut found);
    }
    found
}

fn search(directory: &Path, found: &mut BTreeMap<String, BTreeSet<String>>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            if !matches!(name, "target" | "node_modules" | "dist" | ".venv" | ".cache" | ".git") {
                search(&path, found);
            }
        } else if path.extension().is_some_and(|kind| TEST_FILE_EXTENSIONS.iter().any(|known| kind == *known))
        {
            let text = std::fs::read_to_string(&path).unwrap();
            let shown = path.strip_prefix(repository()).unwrap().display().to_string();
            annotated(&shown, &text, found);
        }
    }
}

fn annotated(path: &str, text: &str, found: &mut BTreeMap<String, BTreeSet<String>>) {
    let lines: Vec<_> = text.lines().map(str::trim).collect();
    for (number, line) in lines.iter().enumerate() {
        let Some(ids) = line.strip_prefix("// seed: ").or_else(|| line.strip_prefix("# seed: ")) else {
            continue;
        };
        let test = lines[number + 1..].iter().take(LINES_TO_TEST).find_map(|line| test_name(line));
        let Some(test) = test else { panic!("{path}:{}: no test follows `{line}`", number + 1) };
        for id in ids.split(',').map(str::trim) {
            found.entry(id.to_owned()).or_default().insert(format!("{path}::{test}"));
        }
    }
}

/// Name of the test that begins on this line.
fn test_name(line: &str) -> Option<String> {
    let identifier = |rest: &str| rest.split('(').next().map(str::to_owned);
    if let Some((_, rest)) = line.split_once("fn ") {
        return identifier(rest);
    }
    if let Some((_, rest)) = line.split_once("def ") {
        return identifier(rest);
    }
    let (_, rest) = line.split_once("test(").or_else(|| line.split_once("it("))?;
    let quote = rest.chars().next().filter(|letter| matches!(letter, '"' | '\'' | '`'))?;
    rest.split(quote).nth(1).map(str::to_owned)
}

#[test]
fn every_statement_has_a_test_or_a_reason() {
    let held = annotations();
    let mut problems = Vec::new();
    let mut known = BTreeSet::new();
    for (seed, _) in SEEDS {
        for statement in statements(seed) {
            let tested = held.contains_key(&statement.id);
            let explained = statement.reason.as_deref().is_some_and(|reason| !reason.is_empty());
            if !statement.id.starts_with(&format!("{seed}-")) {
                problems.push(format!("{}: does not belong to seed {seed}", statement.id));
            }
            if statement.verdict == StatementVerdict::Holds && !tested {
                problems.push(format!("{}: holds, but no test names it", statement.id));
            }
            if statement.verdict != StatementVerdict::Holds && !explained {
                problems.push(format!("{}: {}, without a reason", statement.id, statement.verdict.word()));
            }
            if !known.insert(statement.id.clone()) {
                problems.push(format!("{}: listed twice", statement.id));
            }
        }
    }
    problems.extend(
        held.keys().filter(|id| !known.contains(*id)).map(|id| format!("{id}: unknown, but a test names it")),
    );
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}

/// Content of `docs/seeds.md`, for `generated::seeds`.
pub(crate) fn page() -> String {
    let held = annotations();
    let mut page = String::from(
        "# The four seeds, statement by statement\n\nTenterhook began with four documents about hooks. This page lists what each of them states, in our own \
         words, whether it holds here, and the test that shows it. A statement that differs on purpose has its reason.\n\n",
    );
    let all: Vec<_> = SEEDS.iter().map(|(seed, title)| (seed, title, statements(seed))).collect();
    page += "| seed | holds | differs | not checked |\n|---|---|---|---|\n";
    for (seed, title, statements) in &all {
        let count = |verdict| statements.iter().filter(|statement| statement.verdict == verdict).count();
        let _ = writeln!(
            page,
            "| {seed}: {title} | {} | {} | {} |",
            count(StatementVerdict::Holds),
            count(StatementVerdict::Differs),
            count(StatementVerdict::Unchecked)
        );
    }
    for (seed, title, statements) in &all {
        let _ = write!(
            page,
            "\n## {seed}: {title}\n\n| id | statement | verdict | held by, or reason |\n|---|---|---|---|\n"
        );
        for statement in statements {
            let mut cell: Vec<String> = statement.reason.iter().map(|reason| escape(reason)).collect();
            cell.extend(held.get(&statement.id).into_iter().flatten().map(|test| code_span(&escape(test))));
            let _ = writeln!(
                page,
                "| {} | {} | {} | {} |",
                statement.id,
                escape(&statement.text),
                statement.verdict.word(),
                cell.join("; ")
            );
        }
    }
    page
}

fn escape(text: &str) -> String {
    text.replace('|', "\\|")
}

/// Formats text as a Markdown code span. Text that contains backticks is enclosed in double backticks.
fn code_span(text: &str) -> String {
    if text.contains('`') { format!("`` {text} ``") } else { format!("`{text}`") }
}

#[test]
fn a_comment_is_read_with_the_test_below_it() {
    let mut found = BTreeMap::new();
    annotated("a.rs", "// seed: 000-001, 000-002\n#[tokio::test]\nasync fn it_holds() {\n", &mut found);
    annotated("b.ts", "// seed: 000-001\ntest(\"a `quoted` name\", async () => {\n", &mut found);
    annotated("c.py", "# seed: 000-003\nasync def test_it(daemon):\n", &mut found);
    let names = |id: &str| found[id].iter().cloned().collect::<Vec<_>>();
    assert_eq!(names("000-001"), ["a.rs::it_holds", "b.ts::a `quoted` name"]);
    assert_eq!(names("000-002"), ["a.rs::it_holds"]);
    assert_eq!(names("000-003"), ["c.py::test_it"]);
}
