// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Checks that everything that pages refer to exists: commands and options in running text, headings that links lead
//! to, and pages of the site.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::context::repository;

fn pages_below(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            pages_below(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
}

/// The README and every page below `docs/`, with its text.
fn pages() -> Vec<(PathBuf, String)> {
    let mut found = vec![repository().join("README.md")];
    pages_below(&repository().join("docs"), &mut found);
    let read = |path: PathBuf| (path.clone(), std::fs::read_to_string(path).unwrap());
    found.into_iter().map(read).collect()
}

/// A page without its code blocks.
fn running_text(page: &str) -> String {
    let parts = page.split("\n```").enumerate();
    parts.filter(|(number, _)| number % 2 == 0).map(|(_, part)| part).collect::<Vec<_>>().join("\n")
}

/// Short names of commands; the reference page has only the whole names.
const SHORT_NAMES: &[(&str, &str)] =
    &[("tenterhook start", "tenterhook daemon start"), ("tenterhook stop", "tenterhook daemon stop")];

/// Help text of every command, from the generated reference.
fn commands() -> BTreeMap<String, String> {
    let mut commands = BTreeMap::new();
    for page in ["cli.md", "fleet.md"] {
        let page = std::fs::read_to_string(repository().join("docs/reference").join(page)).unwrap();
        let sections = page.split("\n## `").skip(1).map(|section| section.split_once('`').unwrap());
        commands.extend(sections.map(|(name, help)| (name.to_owned(), help.to_owned())));
    }
    for (short, whole) in SHORT_NAMES {
        let help = commands.get(*whole).unwrap_or_else(|| panic!("no command `{whole}`")).clone();
        commands.insert((*short).to_owned(), help);
    }
    commands
}

/// Describes a part of a command in running text that does not exist; `None` if all parts exist.
fn unknown_part(commands: &BTreeMap<String, String>, command: &str) -> Option<String> {
    let words: Vec<_> = command.split_whitespace().collect();
    let name = |count: usize| words.iter().take(count).copied().collect::<Vec<_>>().join(" ");
    let verb = words.get(1).filter(|word| word.starts_with(|first: char| first.is_ascii_lowercase()));
    if verb.is_some() && !commands.contains_key(&name(2)) {
        return Some(format!("no command `{}`", name(2)));
    }
    let help =
        commands.get(&name(3)).or_else(|| commands.get(&name(2))).or_else(|| commands.get("tenterhook"));
    let options = words.iter().filter(|word| word.starts_with("--") && word.len() > 2);
    let name_of = |word: &&str| word.split(['=', '…', ',']).next().unwrap_or_default().to_owned();
    options.map(name_of).find(|option| !help.is_some_and(|help| help.contains(option.as_str())))
}

#[test]
fn every_command_in_running_text_exists() {
    let commands = commands();
    let mut problems = Vec::new();
    // The examples of rules contain options that are only for the hook programs.
    let is_text = |path: &Path| !path.ends_with("docs/reference/rules.md");
    for (path, page) in pages().into_iter().filter(|(path, _)| is_text(path)) {
        for span in running_text(&page).split('`').skip(1).step_by(2) {
            let span = span.replace('\n', " ");
            let command = span.split([';', '|', '<', '>']).next().unwrap_or_default();
            if command.starts_with("tenterhook ") {
                let unknown = unknown_part(&commands, command);
                problems.extend(unknown.map(|unknown| format!("{}: `{span}`: {unknown}", path.display())));
            }
        }
    }
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
    assert!(unknown_part(&commands, "tenterhook ledger tail --no-such-option").is_some());
    assert!(unknown_part(&commands, "tenterhook no-such-command").is_some());
}

/// The anchor of a heading, as GitHub and mdBook form it.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().to_lowercase();
    let kept = kept.chars().filter(|character| character.is_alphanumeric() || " -_".contains(*character));
    kept.map(|character| if character == ' ' { '-' } else { character }).collect()
}

#[test]
fn every_anchor_in_a_link_exists() {
    let pages = pages();
    let anchors: BTreeMap<_, BTreeSet<_>> = pages
        .iter()
        .map(|(path, page)| {
            let text = running_text(page);
            let headings = text.lines().filter_map(|line| {
                line.trim_start_matches('#').strip_prefix(' ').filter(|_| line.starts_with('#'))
            });
            (path.canonicalize().unwrap(), headings.map(anchor).collect())
        })
        .collect();
    let mut problems = Vec::new();
    for (path, page) in &pages {
        for target in page.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let Some((file, anchor)) = target.split_once('#').filter(|_| !target.contains("://")) else {
                continue;
            };
            let to = if file.is_empty() { path.clone() } else { path.parent().unwrap().join(file) };
            let known = to.canonicalize().ok().and_then(|to| anchors.get(&to));
            if known.is_some_and(|known| !known.contains(anchor)) {
                problems.push(format!("{}: no such heading: {target}", path.display()));
            }
        }
    }
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

#[test]
fn every_page_is_in_the_site() {
    let docs = repository().join("docs");
    let summary = std::fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    let entries: Vec<_> = summary
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
        .map(|name| docs.join(name))
        .collect();
    let mut found = Vec::new();
    pages_below(&docs, &mut found);
    for page in found.iter().filter(|page| !page.ends_with("SUMMARY.md")) {
        let count = entries.iter().filter(|entry| *entry == page).count();
        assert_eq!(count, 1, "{} must be in docs/SUMMARY.md once", page.display());
    }
    for entry in entries {
        assert!(entry.exists(), "docs/SUMMARY.md: no such page: {}", entry.display());
    }
}

/// There is no published release: packages are installed from a checkout or from the files of `make dist`.
#[test]
fn no_page_installs_a_package_that_is_not_published() {
    for (path, page) in pages() {
        for command in [
            "pip install tenterhook",
            "npm install tenterhook",
            "npm i tenterhook",
            "npx tenterhook",
            "cargo install tenterhook",
        ] {
            assert!(!page.contains(command), "{}: `{command}`", path.display());
        }
    }
}
