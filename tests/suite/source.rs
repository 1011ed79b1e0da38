// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Checks every source file, and every file that the documentation cites.

use std::path::{Path, PathBuf};

use crate::context::repository;

fn collect_sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            if !matches!(name, "target" | ".git" | "node_modules" | ".cache") {
                collect_sources(&path, found);
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn unsafe_code_is_only_in_named_files() {
    let mut found = Vec::new();
    collect_sources(&repository().join("crates"), &mut found);
    // Where programs begin, where memory is returned, and where a sandbox makes mounts, observes calls and blocks signals.
    let places = [
        "crates/shim/src/start.rs",
        "crates/cli/src/allocator.rs",
        "crates/sandbox/src/call_observer.rs",
        "crates/sandbox/src/prepared_mounts.rs",
        "crates/sandbox/src/typed_signals.rs",
        "proto/src/lib.rs",
    ];
    let may = |path: &Path| places.iter().any(|place| path.ends_with(place));
    let mentions = |path: &&PathBuf| {
        let text = std::fs::read_to_string(path).unwrap().replace("#![forbid(unsafe_code)]", "");
        text.contains("unsafe_code")
    };
    let with: Vec<_> = found.iter().filter(mentions).collect();
    assert!(with.iter().all(|path| may(path)), "{with:?}");
}

/// Source files that may read files without a size limit, with the reason.
const PLAIN_READS: &[(&str, &str)] = &[
    ("cli/src/commands/agent/", "a file that the user names, which may be a pipe of the shell"),
    ("cli/src/commands/check/", "a file that the user names"),
    ("cli/src/commands/judge.rs", "a file that the user names"),
    ("ledger-commands/src/ledger/", "an export, proof, checkpoint or key that the user names"),
    ("cli/src/commands/rules/", "a file that the user names"),
    ("cli/src/commands/self_manage/", "a public key that the user names, and the arguments of a process"),
    ("command/src/confirm.rs", "a file that the user names, bounded"),
    ("setup/src/hook_programs.rs", "the running program itself, and a regular file to compare with it"),
    ("command/src/read_input.rs", "a file that the user names, bounded"),
    ("daemon-control/src/", "tables of the kernel about connections and processes"),
    ("dashboard/src/files.rs", "our own pages, in builds for development"),
    ("dashboard/src/peer_account.rs", "a table of the kernel"),
    ("fleet-server/src/files.rs", "a directory, to sync it"),
    ("harness-install/src/accounts.rs", "/etc/passwd"),
    ("harness-install/src/file.rs", "a directory, to sync it"),
    ("authority/src/", "files of the kernel about processes"),
    ("home/src/caller_rights.rs", "/etc/passwd and /etc/group"),
    ("home/src/env.rs", "/etc/passwd and /etc/group"),
    ("guard/src/allowances/store.rs", "a directory, to sync it"),
    ("guard/src/recorder/spool.rs", "a directory, to sync it"),
    ("home/src/socket.rs", "a directory, to name a socket in it"),
    ("ledger/src/sign.rs", "a directory, to sync it"),
    ("ledger/src/tiles.rs", "an export that the user names, bounded"),
    ("model-server/src/main.rs", "a script that a test names"),
    ("self-update/src/", "a release that the user names, and the installed program"),
    ("notify/src/terminal.rs", "files of the kernel about processes"),
    ("code-facts/src/literals/calls.rs", "names of functions that read files"),
    ("fleet-cluster/src/", "files of a cluster for tests, in a directory that it made"),
    ("undo/src/content.rs", "a file of a snapshot in the state directory"),
    ("home/src/mode.rs", "the kernel's id of this run of the system"),
    ("sandbox-run/src/", "locks in the state directory, and a table of the kernel"),
    ("sandbox/src/", "regular files up to a size, looked at before, and files of the kernel"),
    ("shim/src/ask.rs", "a directory, to name a socket in it"),
    ("shim/src/status.rs", "bounded, and looked at before: the shim has no dependencies"),
];

#[test]
fn files_that_others_can_write_are_read_with_limits() {
    let mut found = Vec::new();
    collect_sources(&repository().join("crates"), &mut found);
    let plain =
        ["fs::read(", "fs::read_to_string(", "fs_err::read(", "fs_err::read_to_string(", "File::open("];
    for path in found {
        let name = path.strip_prefix(repository().join("crates")).unwrap().to_str().unwrap().to_owned();
        let is_test = !name.contains("/src/") || name.contains("tests") || name.contains("conformance");
        if is_test
            || name.ends_with("dialect/cases.rs")
            || PLAIN_READS.iter().any(|(may, _)| name.starts_with(may))
        {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]\nmod ").next().unwrap();
        let bad = plain.iter().find(|call| code.contains(**call));
        assert!(bad.is_none(), "{name}: use `tenterhook_files` instead of `{}…)`", bad.unwrap());
    }
}

/// Number of `Result<…, String>` types in a source text, on one line or on several.
fn text_errors(code: &str) -> usize {
    let lines: Vec<_> = code.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let code = lines.join("\n");
    let after = code.match_indices("Result<").filter_map(|(at, found)| code.get(at + found.len()..));
    after.filter(|rest| last_parameter(rest) == Some("String")).count()
}

/// The last of several type parameters. `text` begins right after the opening `<`.
fn last_parameter(text: &str) -> Option<&str> {
    let (mut depth, mut start, mut before) = (0_usize, None, ' ');
    for (at, letter) in text.char_indices() {
        match letter {
            ';' | '{' if depth == 0 => return None,
            '<' | '(' | '[' => depth += 1,
            // The `>` in the arrow of a function type is not a closing bracket.
            '>' if before == '-' => {}
            '>' if depth == 0 => {
                return text.get(start?..at).map(|last| last.trim().trim_end_matches(',').trim_end());
            }
            '>' | ')' | ']' => depth = depth.checked_sub(1)?,
            // A trailing comma does not separate two parameters.
            ',' if depth == 0
                && text.get(at + 1..).is_some_and(|rest| !rest.trim_start().starts_with('>')) =>
            {
                start = Some(at + 1);
            }
            _ => {}
        }
        before = letter;
    }
    None
}

/// Libraries return error types that callers can match on; only binaries use strings as errors.
#[test]
fn errors_of_libraries_are_types() {
    let mut found = Vec::new();
    collect_sources(&repository().join("crates"), &mut found);
    let (mut libraries, mut wrong) = (std::collections::BTreeSet::new(), Vec::new());
    for path in found {
        let name = path.strip_prefix(repository().join("crates")).unwrap().to_str().unwrap().to_owned();
        let krate = name.split('/').next().unwrap().to_owned();
        let is_binary = krate == "cli" || name.contains("/src/bin/") || name.ends_with("/src/main.rs");
        let is_test = !name.contains("/src/") || name.contains("tests") || name.contains("conformance");
        if is_binary || is_test {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let count = text_errors(text.split("#[cfg(test)]\nmod tests {").next().unwrap());
        if count > 0 {
            wrong.push(name);
        }
        libraries.insert(krate);
    }
    assert!(libraries.len() > 20, "{libraries:?}");
    assert!(wrong.is_empty(), "use an error type instead of `Result<…, String>`: {wrong:#?}");
}

#[test]
fn string_errors_are_found_in_every_position() {
    for code in [
        "fn a() -> Result<(), String> {",
        "fn a() -> Result<\n    BTreeMap<String, Vec<u8>>,\n    String,\n> {",
        "type Check = Result<Matched, String>;",
        "fn a() -> Result<Option<Result<u8, Failure>>, String> {",
        "fn a(f: &dyn Fn(&str) -> Result<Option<fn() -> u8>, String>) {",
    ] {
        assert_eq!(text_errors(code), 1, "{code}");
    }
    for code in [
        "fn a() -> Result<String> {",
        "fn a() -> Result<BTreeMap<String, String>, Failure> {",
        "fn a() -> Result<String, io::Error> {",
        "// Result<(), String>",
    ] {
        assert_eq!(text_errors(code), 0, "{code}");
    }
}

#[test]
fn every_source_file_names_its_licence() {
    let mut found = Vec::new();
    collect_sources(&repository(), &mut found);
    assert!(found.len() > 50, "the sources were found");
    for path in found {
        let text = std::fs::read_to_string(&path).unwrap();
        let first = text.lines().next().unwrap_or_default();
        assert_eq!(first, "// SPDX-License-Identifier: Apache-2.0 OR MIT", "{}", path.display());
    }
}

/// Directories of the repository that documentation cites.
const CITED_ROOTS: &[&str] =
    &["benches/", "crates/", "docs/", "fuzz/", "proto/", "rules/", "sdk/", "templates/", "tests/", "web/"];

/// Every hand-written page for readers: `docs/`, the pages in the root, and each crate's and SDK's README.
fn documentation() -> Vec<PathBuf> {
    fn pages(dir: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if path.is_dir() {
                if !matches!(name, "target" | ".git" | "node_modules" | ".cache" | "dist" | "corpus") {
                    pages(&path, found);
                }
            } else if path.extension().is_some_and(|extension| extension == "md") {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    pages(&repository(), &mut found);
    found
}

/// Citations of repository files between backticks in a page: `crates/x/src/y.rs`, or
/// `tests/suite/x.rs::name_of_a_test`.
fn citations(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2).filter(|cited| {
        CITED_ROOTS.iter().any(|root| cited.starts_with(root))
            && !cited.contains([' ', '<', '*', '{', '…', '\n', '$'])
    })
}

/// Returns why a citation is broken.
fn broken_citation(citation: &str) -> Option<String> {
    let (path, test) = citation.split_once("::").map_or((citation, None), |(path, test)| (path, Some(test)));
    let file = repository().join(path.trim_end_matches('/'));
    if !file.exists() {
        return Some(format!("`{path}` does not exist"));
    }
    let name = test?.rsplit("::").next()?;
    let text = std::fs::read_to_string(&file).unwrap_or_default();
    let is_there = ["fn", "def"].iter().any(|word| text.contains(&format!("{word} {name}(")));
    (!is_there).then(|| format!("`{path}` has no test `{name}`"))
}

#[test]
fn every_file_and_test_that_documentation_cites_exists() {
    let mut problems = Vec::new();
    let mut followed = 0;
    for page in documentation() {
        let text = std::fs::read_to_string(&page).unwrap();
        for citation in citations(&text) {
            followed += 1;
            problems.extend(broken_citation(citation).map(|why| format!("{}: {why}", page.display())));
        }
    }
    assert!(followed > 60, "{followed} citations were found");
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn a_citation_of_a_missing_file_or_test_is_found() {
    assert!(broken_citation("crates/harness/src/no_such_file.rs").is_some());
    assert!(broken_citation("tests/suite/source.rs::no_such_test").is_some());
    let own = "tests/suite/source.rs::a_citation_of_a_missing_file_or_test_is_found";
    assert_eq!(broken_citation(own), None);
    assert_eq!(broken_citation("sdk/python/tests/test_seeds.py::test_it_runs"), None);
    let page = "see `crates/x/src/y.rs` and `cargo run`, not `tests/<name>`";
    assert_eq!(citations(page).collect::<Vec<_>>(), ["crates/x/src/y.rs"]);
}

#[test]
fn every_link_between_pages_resolves() {
    for page in documentation() {
        let text = std::fs::read_to_string(&page).unwrap();
        // Regular expressions in code may look like links.
        let prose = |line: &str| {
            let outside = line.split("``").step_by(2).flat_map(|part| part.split('`').step_by(2));
            outside.collect::<String>()
        };
        let text = text.lines().map(prose).collect::<Vec<_>>().join("\n");
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let path = target.split('#').next().unwrap_or_default();
            let elsewhere = path.is_empty() || path.contains("://") || path.contains(char::is_whitespace);
            let there = page.parent().unwrap().join(path);
            assert!(elsewhere || there.exists(), "{}: no such file: {target}", page.display());
        }
    }
}

/// Every promise of the threat model names at least one test, or says that the kernel enforces it.
#[test]
fn every_promise_of_the_threat_model_names_its_test() {
    let text = std::fs::read_to_string(repository().join("docs/threat-model.md")).unwrap();
    let rows = text.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| promise"));
    let mut promises = 0;
    for row in rows {
        let held_by = row.trim_end_matches(['|', ' ']).rsplit(" | ").next().unwrap();
        promises += 1;
        assert!(held_by == "the kernel" || citations(held_by).next().is_some(), "no test is named: {row}");
    }
    assert!(promises > 30, "{promises} promises were found");
}
