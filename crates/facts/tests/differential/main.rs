// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Compares our shell analysis with another parser and with bash.
//!
//! Every simple command that the other parser finds in a script must be among ours, with the same words and
//! redirections. Ours may find more: it looks through wrappers, `eval` and functions. Known differences are listed with
//! their reasons; a listed case that no longer differs fails the test.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "this is a test with helpers"
)]

mod bash;
// The same scripts for both parsers.
#[path = "../../../shell/tests/shell/generate.rs"]
mod generate;
mod independent;
mod known;

use std::collections::BTreeMap;
use std::path::Path;

use independent::ParsedScript;
use serde_json::{Value, json};
use tenterhook_event::{Event, EventId, EventKind, Timestamp, ToolCall};
use tenterhook_facts::{EvalEnvironment, Facts, facts};

/// Number of generated scripts.
const GENERATED_SCRIPTS: u64 = 2_000;

fn read(text: &str) -> Facts {
    let (id, now) = (EventId::from_parts(0, 0), Timestamp::from_unix_ms(0));
    let mut event = Event::new(id, now, "claude-code", EventKind::PreTool, "PreToolUse");
    event.cwd = Some("/home/user/project".into());
    event.tool = Some(ToolCall::new("Bash", json!({ "command": text })));
    facts(&event, &EvalEnvironment { home: Some("/home/user"), ..EvalEnvironment::default() })
}

/// Whether our parser accepted the whole text.
fn accepted(facts: &Facts) -> bool {
    !facts.unread.iter().any(|unread| unread.why == "the syntax was not understood")
}

/// The commands of the tuning corpus by their ids. The held-out corpus is not used for tuning.
fn corpus() -> Vec<(String, String)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus/tuning.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    let row = |line: &str| {
        let value: Value = serde_json::from_str(line).unwrap();
        let field = |name: &str| value[name].as_str().unwrap().to_owned();
        (field("id"), field("command"))
    };
    text.lines().map(row).collect()
}

fn generated() -> Vec<(String, String)> {
    (0..GENERATED_SCRIPTS).map(|seed| (format!("g{seed}"), generate::script(seed))).collect()
}

/// The first command, word or redirection that only the other parser found.
fn missing(theirs: &ParsedScript, ours: &Facts) -> Option<String> {
    for command in &theirs.commands {
        let Some((Some(name), words)) = command.words.split_first() else { continue };
        let program = name.rsplit('/').next().unwrap_or(name);
        // We treat declarations as assignments; their values are known where they are used.
        if program.is_empty() || matches!(program, "export" | "local" | "declare" | "readonly" | "typeset") {
            continue;
        }
        let mut same = ours.commands.iter().filter(|command| command.program == program).peekable();
        if same.peek().is_none() {
            return Some(format!("program `{program}`"));
        }
        let fits = |found: &tenterhook_facts::ShellCommand| {
            let mut texts = found.words.iter().map(|word| word.text.as_str());
            // Words that are expanded may become any number of words.
            let all = words.iter().all(Option::is_some);
            words.iter().flatten().all(|word| texts.any(|text| text == word))
                && (!all || found.words.len() == words.len())
        };
        if !same.any(fits) {
            return Some(format!("words of `{program}`: {words:?}"));
        }
    }
    let touched = |file: &String| {
        let mut paths = ours
            .commands
            .iter()
            .flat_map(|command| command.inputs.iter().chain(&command.outputs).chain(&command.error_outputs));
        paths.any(|path| path.text == *file) || ours.effects.iter().any(|effect| effect.path.text == *file)
    };
    theirs.files.iter().find(|file| !touched(file)).map(|file| format!("redirection `{file}`"))
}

/// Compares the differences found with the listed ones and reports both directions.
fn compare(
    what: &str,
    found: &BTreeMap<String, String>,
    known: &[(&str, &str)],
    texts: &[(String, String)],
) -> Vec<String> {
    let mut wrong = Vec::new();
    let known: Vec<_> =
        known.iter().flat_map(|(ids, reason)| ids.split_whitespace().map(move |id| (id, reason))).collect();
    for (id, why) in found {
        if !known.iter().any(|(known, _)| known == id) {
            let text = texts.iter().find(|(other, _)| other == id).map_or("", |(_, text)| text);
            wrong.push(format!("{what}: {id}: {why}\n    {text:?}"));
        }
    }
    for (id, reason) in &known {
        // Only the ids of these texts are compared.
        if texts.iter().any(|(other, _)| other == id) && !found.contains_key(*id) {
            wrong.push(format!(
                "{what}: {id} is listed ({reason}) and does not differ any more: take it off the list"
            ));
        }
    }
    wrong
}

fn differential(texts: &[(String, String)]) {
    let [mut ours_rejects, mut ours_takes, mut theirs_differs, mut misses] = [const { BTreeMap::new() }; 4];
    let scripts: Vec<_> = texts.iter().map(|(_, text)| text.clone()).collect();
    let bash = bash::accepts(&scripts);
    let mut compared = 0;
    for (number, (id, text)) in texts.iter().enumerate() {
        let (ours, theirs) = (read(text), independent::parse_script(text));
        if let Some(bash) = bash.as_ref().map(|bash| bash[number]) {
            match (accepted(&ours), bash) {
                (false, true) => {
                    _ = ours_rejects.insert(id.clone(), "bash takes it, ours does not".to_owned());
                }
                (true, false) => _ = ours_takes.insert(id.clone(), "ours takes it, bash does not".to_owned()),
                _ => {}
            }
            if theirs.is_some() != bash {
                theirs_differs.insert(id.clone(), format!("bash: {bash}, the other parser: {}", !bash));
            }
        }
        // Text that our parser rejects is compared above, so its commands are not compared.
        if let Some(theirs) = theirs
            && !ours.unparsed
            && let Some(what) = missing(&theirs, &ours)
        {
            misses.insert(id.clone(), what);
        }
        compared += 1;
    }
    assert_eq!(compared, texts.len());
    let mut wrong = compare("missed", &misses, known::READ_DIFFERENTLY, texts);
    if bash.is_some() {
        wrong.extend(compare("refused", &ours_rejects, known::REFUSED_BY_US, texts));
        wrong.extend(compare("taken", &ours_takes, known::ACCEPTED_BY_US_ONLY, texts));
        wrong.extend(compare("the other parser", &theirs_differs, known::OTHER_PARSER_DIFFERS, texts));
    }
    assert!(wrong.is_empty(), "{} differences\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_tuning_corpus_is_read_as_another_parser_and_bash_read_it() {
    let corpus = corpus();
    assert!(corpus.len() > 500, "the corpus is there");
    differential(&corpus);
}

#[test]
fn generated_scripts_are_read_as_another_parser_and_bash_read_them() {
    differential(&generated());
}

#[test]
fn forms_that_the_grammar_does_not_have_are_read() {
    let texts: Vec<_> = known::REWRITTEN_FORMS.iter().map(|text| (*text).to_owned()).collect();
    if let Some(bash) = bash::accepts(&texts) {
        assert_eq!(bash, vec![true; texts.len()], "they are all scripts");
    }
    for text in texts {
        let (theirs, ours) = (independent::parse_script(&text).unwrap(), read(&text));
        assert!(accepted(&ours), "{text:?}");
        assert_eq!(missing(&theirs, &ours), None, "{text:?}");
    }
}

#[test]
fn the_comparison_can_fail() {
    let theirs = independent::parse_script("if a; then b 'c d' > e; fi").unwrap();
    assert_eq!(missing(&theirs, &read("if a; then b 'c d' > e; fi")), None);
    assert_eq!(missing(&theirs, &read("a")), Some("program `b`".to_owned()));
    assert_eq!(missing(&theirs, &read("a; b c d > e")), Some("words of `b`: [Some(\"c d\")]".to_owned()));
    assert_eq!(missing(&theirs, &read("a; b 'c d'")), Some("redirection `e`".to_owned()));
}
