// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Checks examples in data files.

use std::collections::BTreeMap;

use crate::format::role::Role;
use crate::format::source::ExampleSource;
use crate::parsed_args::{ParsedArgs, Variant};
use crate::programs::{Program, Programs};

/// An example that does not match the description.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExampleError {
    /// The example has no words.
    #[error("example without a command")]
    NoCommand,
    /// The first word is not a described program.
    #[error("unknown program `{name}`")]
    UnknownProgram {
        /// The first word.
        name: String,
    },
    /// The words with this role differ from those that the example names.
    #[error("`{line}`: {key} is {actual:?}, expected {expected:?}")]
    Different {
        /// The command line.
        line: String,
        /// The role, or another key of an example.
        key: String,
        /// The words that were found.
        actual: Vec<String>,
        /// The words that the example names.
        expected: Vec<String>,
    },
    /// Words have a role that the example does not name.
    #[error("`{line}`: {key} is {actual:?}, but not expected")]
    NotExpected {
        /// The command line.
        line: String,
        /// The role, or another key of an example.
        key: String,
        /// The words that were found.
        actual: Vec<String>,
    },
}

/// Parses the command line of an example and compares the words of every role with the expected ones. Words with the
/// role `text` are compared only if the example names them.
pub fn check_example(programs: &Programs, example: &ExampleSource) -> Result<(), ExampleError> {
    check_example_with(|name| programs.find(name), example)
}

/// Checks an example with a custom lookup.
pub(crate) fn check_example_with<'p>(
    find: impl FnOnce(&str) -> Option<Program<'p>>,
    example: &ExampleSource,
) -> Result<(), ExampleError> {
    let words = split_line(&example.line);
    let Some((name, words)) = words.split_first() else { return Err(ExampleError::NoCommand) };
    let Some(program) = find(name) else { return Err(ExampleError::UnknownProgram { name: name.clone() }) };
    let bsd = example.expected.iter().any(|(key, value)| key == "variant" && value == "bsd");
    let variant = if bsd { Variant::Bsd } else { Variant::Gnu };
    let parsed = program.parse_as(words, variant);
    let found = describe(&parsed, words);
    for (key, expected) in &example.expected {
        let empty = Vec::new();
        let expected = split_line(expected);
        let actual = found.get(key.as_str()).unwrap_or(&empty);
        if key != "variant" && *actual != expected {
            let (line, key, actual) = (example.line.clone(), key.clone(), actual.clone());
            return Err(ExampleError::Different { line, key, actual, expected });
        }
    }
    let missing = found.iter().find(|(key, _)| {
        let optional = matches!(**key, "text" | "options" | "unknown" | "stdin" | "packages");
        !optional && !example.expected.iter().any(|(expected, _)| expected == *key)
    });
    match missing {
        Some((key, words)) => Err(ExampleError::NotExpected {
            line: example.line.clone(),
            key: (*key).to_owned(),
            actual: words.clone(),
        }),
        None => Ok(()),
    }
}

fn describe<'a>(parsed: &ParsedArgs<'_, 'a>, words: &[String]) -> BTreeMap<&'a str, Vec<String>> {
    let mut found: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut add = |key: &'static str, text: &str| found.entry(key).or_default().push(text.to_owned());
    for name in &parsed.path {
        add("sub", name);
    }
    // Roles that are always in effect belong to no word of the command line, so they are skipped.
    for option in parsed.options.iter().filter(|option| option.written.word < words.len()) {
        if option.known {
            add("options", option.name);
        } else {
            add("unknown", option.written.text);
        }
        match option.value {
            Some(value) if !option.off => add(option.role.name(), value.text),
            None if option.known && option.role != Role::Text && !option.off => {
                add(option.role.name(), option.name);
            }
            _ => {}
        }
    }
    for operand in &parsed.operands {
        add(operand.role.name(), operand.part.text);
    }
    for inner in &parsed.inner {
        for word in words.get(inner.start..inner.end).unwrap_or_default() {
            add(if inner.joined { "joined" } else { "inner" }, word);
        }
    }
    if let Some(verb) = parsed.package_verb {
        add("packages", parsed.manager);
        add("packages", verb.name());
    }
    add("stdin", &format!("{:?}", parsed.stdin));
    found
}

/// Splits a line at spaces outside of quotes.
fn split_line(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quote = None;
    let mut is_word = false;
    for letter in line.chars() {
        match (quote, letter) {
            (None, ' ') => {
                if std::mem::take(&mut is_word) {
                    words.push(std::mem::take(&mut word));
                }
            }
            (None, '\'' | '"') => {
                quote = Some(letter);
                is_word = true;
            }
            (Some(open), _) if open == letter => quote = None,
            _ => {
                word.push(letter);
                is_word = true;
            }
        }
    }
    if is_word {
        words.push(word);
    }
    words
}
