// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A row that describes several programs may list only long options without a value. If an option takes a
//! value in one program and none in another, a shared row would swallow the next word, or turn the value into
//! an operand or a command.

use std::fs;
use std::path::Path;

use tenterhook_document::{Node, Value, parse};

/// Keys of a description that list options.
const OPTION_KEYS: &[&str] = &["options", "flags", "values", "everywhere", "bsd"];

#[test]
fn a_row_for_several_programs_has_only_long_options_without_a_value() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs");
    let mut wrong = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "yaml") {
            continue;
        }
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let root = parse(&fs::read_to_string(&path).unwrap()).unwrap();
        for (key, description) in entries(&root) {
            let shared = text(key).filter(|names| names.contains('|') && !names.starts_with("x-"));
            let Some(names) = shared else { continue };
            let shared = options(description);
            if !shared.is_empty() {
                wrong.push(format!("{name}:{}: `{names}` share `{}`", key.spot.line, shared.join("`, `")));
            }
        }
    }
    wrong.sort();
    assert!(
        wrong.is_empty(),
        "\n{}\nGive each program a row of its own. `a, b:` is for names of one program, and for programs that \
         take the same options.",
        wrong.join("\n")
    );
}

/// Returns every option of a program and its sub-commands that another program may read differently.
fn options(description: &Node) -> Vec<String> {
    let mut found = Vec::new();
    for (key, value) in entries(description) {
        match text(key) {
            Some("commands") => found.extend(entries(value).iter().flat_map(|(_, command)| options(command))),
            Some(key) if OPTION_KEYS.contains(&key) => found.extend(listed(key, value)),
            _ => {}
        }
    }
    found
}

/// Returns the options below one key: a map of spellings, or a string of names.
fn listed(key: &str, value: &Node) -> Vec<String> {
    let Some(names) = text(value) else {
        let each = entries(value).iter().flat_map(|(spelling, value)| match text(spelling) {
            Some(key @ ("flags" | "values")) => listed(key, value),
            Some(spelling) => {
                Some(spelling.to_owned()).filter(|spelling| is_ambiguous(spelling)).into_iter().collect()
            }
            None => Vec::new(),
        });
        return each.collect();
    };
    let each = names.split([',', '\n']).map(str::trim).filter(|names| !names.is_empty());
    each.filter(|names| key == "values" || is_ambiguous(names)).map(str::to_owned).collect()
}

/// Whether a spelling has a letter or a value: `-h`, `--out FILE`, `--color[=WHEN]`.
fn is_ambiguous(spelling: &str) -> bool {
    let mut words = spelling.split([',', ' ']).filter(|word| !word.is_empty());
    words.any(|word| !word.starts_with("--") || word.contains(['=', '[']))
}

fn entries(node: &Node) -> &[(Node, Node)] {
    match &node.value {
        Value::Map(entries) => entries,
        _ => &[],
    }
}

fn text(node: &Node) -> Option<&str> {
    match &node.value {
        Value::Text(text) => Some(text),
        _ => None,
    }
}
