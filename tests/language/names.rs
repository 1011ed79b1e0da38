// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Checks the names of types and constants, and finds doc comments that are too short.

use std::collections::BTreeMap;

use regex::Regex;

use crate::rust_source::{PassageKind, passages, without_tests};
use crate::{files_below, is_program_source, repository, shown};

/// Type names that several modules may use, because the module's path is always written before them. At most
/// 25.
const SHARED_TYPE_NAMES: &[&str] = &["Args", "Command", "Config", "Error", "Hook", "State"];

/// Constant names that do not say what the constant limits.
const VAGUE_CONSTANTS: &[&str] = &[
    "ENOUGH", "FIRST", "LARGEST", "LIMIT", "LONGEST", "LOOKS", "MANY", "MOST", "PATIENCE", "PAUSE", "SHORT",
    "TRIES",
];

/// Suffixes that add nothing to a type's name.
const EMPTY_SUFFIXES: &[&str] = &["Data", "Helper", "Info", "Item", "Manager"];

/// Names that end in such a suffix and are fixed by a seed, a protocol or an API.
const FIXED_NAMES: &[&str] = &[
    // A term of the POSIX shell grammar.
    "CaseItem",
];

/// Each program source with its path, without test modules.
fn program_sources() -> Vec<(String, String)> {
    let paths = files_below(&repository().join("crates"), ".rs");
    let paths = paths.iter().filter(|path| is_program_source(path));
    paths
        .map(|path| {
            let source = std::fs::read_to_string(path).unwrap();
            (shown(path), without_tests(&source).to_owned())
        })
        .collect()
}

/// Returns every type name in the workspace, with the files that define a type of this name.
fn defined_types() -> BTreeMap<String, Vec<String>> {
    let definition = Regex::new(r"(?m)^\s*(?:pub(?:\([^)]*\))? )?(?:struct|enum|trait|union) (\w+)").unwrap();
    let mut types = BTreeMap::<_, Vec<_>>::new();
    for (path, source) in program_sources() {
        for captures in definition.captures_iter(&source) {
            types.entry(captures[1].to_owned()).or_default().push(path.clone());
        }
    }
    assert!(types.len() > 1_000, "{} types were found", types.len());
    types
}

#[test]
fn types_have_a_name_of_their_own() {
    const { assert!(SHARED_TYPE_NAMES.len() <= 25, "at most 25 names may be shared") };
    let shared: Vec<_> = defined_types()
        .into_iter()
        .filter(|(name, files)| files.len() > 1 && !SHARED_TYPE_NAMES.contains(&name.as_str()))
        .map(|(name, files)| format!("{name}: {}", files.join(", ")))
        .collect();
    assert!(shared.is_empty(), "{} type names are shared:\n{}", shared.len(), shared.join("\n"));
}

#[test]
fn types_have_no_empty_suffix() {
    let types = defined_types();
    let empty: Vec<_> = types
        .iter()
        .filter(|(name, _)| !FIXED_NAMES.contains(&name.as_str()))
        .filter(|(name, _)| EMPTY_SUFFIXES.iter().any(|suffix| name.ends_with(suffix)))
        .collect();
    assert!(empty.is_empty(), "{empty:#?}");
}

#[test]
fn constants_name_their_subject() {
    let definition = Regex::new(r"\b(?:const|static) ([A-Z][A-Z_0-9]*):").unwrap();
    let mut vague = Vec::new();
    for (path, source) in program_sources() {
        for captures in definition.captures_iter(&source) {
            if VAGUE_CONSTANTS.contains(&&captures[1]) {
                vague.push(format!("{path}: {}", &captures[1]));
            }
        }
    }
    assert!(vague.is_empty(), "{} vague constants:\n{}", vague.len(), vague.join("\n"));
}

/// A doc comment of one line with at most two words explains nothing. Consecutive lines count as one comment.
#[test]
fn doc_comments_say_something() {
    let mut short = Vec::new();
    for (path, source) in program_sources() {
        let docs: Vec<_> =
            passages(&source).into_iter().filter(|passage| passage.kind == PassageKind::Doc).collect();
        for (index, doc) in docs.iter().enumerate() {
            let is_alone = (index == 0 || docs[index - 1].line + 1 != doc.line)
                && docs.get(index + 1).is_none_or(|next| next.line != doc.line + 1);
            let words = doc.text.split_whitespace().count();
            if is_alone && (1..=2).contains(&words) && !doc.text.contains('`') {
                short.push(format!("{path}:{}: {}", doc.line, doc.text));
            }
        }
    }
    assert!(short.is_empty(), "{} doc comments are too short:\n{}", short.len(), short.join("\n"));
}
