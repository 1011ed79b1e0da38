// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `git`: the verbs that touch the working tree, or read what is not in it.

use tenterhook_paths::Does::{Delete, Move, Read, Write};

use super::super::Word;
use super::Touch;
use super::{here, within};

pub(super) fn git(words: &[Word]) -> Vec<Touch> {
    let mut at = None;
    let mut rest = words;
    while let Some((word, after)) = rest.split_first() {
        let text = word.text.as_str();
        match text {
            "-C" => {
                at = after.first().map(|to| within(at.as_ref(), to));
                rest = after.get(1..).unwrap_or_default();
            }
            "--work-tree" => {
                at = after.first().cloned();
                rest = after.get(1..).unwrap_or_default();
            }
            "-c" | "--git-dir" | "--namespace" | "--config-env" => {
                rest = after.get(1..).unwrap_or_default();
            }
            _ if text.starts_with("--work-tree=") => {
                at = Some(word.tail("--work-tree=".len()));
                rest = after;
            }
            _ if text.starts_with('-') => rest = after,
            _ => return verb(text, &Verb::new(after, at.as_ref())),
        }
    }
    Vec::new()
}

/// What stands behind the verb.
struct Verb<'a> {
    words: &'a [Word],
    at: Option<&'a Word>,
    options: Vec<&'a str>,
    operands: Vec<&'a Word>,
    /// Those behind `--`.
    paths: Option<Vec<&'a Word>>,
}

impl<'a> Verb<'a> {
    fn new(words: &'a [Word], at: Option<&'a Word>) -> Self {
        let end = words.iter().position(|word| word.is("--"));
        let before = words.get(..end.unwrap_or(words.len())).unwrap_or_default();
        let paths = end.map(|end| words.iter().skip(end + 1).collect());
        let is_option = |word: &&Word| word.text.starts_with('-') && word.text.len() > 1 && !word.opens;
        Self {
            words,
            at,
            options: before.iter().filter(is_option).map(|word| word.text.as_str()).collect(),
            operands: before.iter().filter(|word| !is_option(word)).collect(),
            paths,
        }
    }

    fn letter(&self, wanted: char) -> bool {
        self.options.iter().any(|option| !option.starts_with("--") && option.contains(wanted))
    }

    fn long(&self, wanted: &str) -> bool {
        self.options.contains(&wanted)
    }

    /// Everything that is no option.
    fn all(&self) -> Vec<&'a Word> {
        self.operands.iter().chain(self.paths.iter().flatten()).copied().collect()
    }

    fn behind(&self, options: &[&str]) -> Option<&'a Word> {
        let at = self.words.iter().position(|word| options.contains(&word.text.as_str()))?;
        self.words.get(at + 1)
    }

    fn touch(&self, does: super::Does, word: &Word) -> Touch {
        Touch::new(does, &within(self.at, word))
    }

    fn each(&self, does: super::Does, words: &[&Word], deep: bool) -> Vec<Touch> {
        words.iter().map(|word| self.touch(does, word).deep(deep)).collect()
    }

    fn whole(&self, does: super::Does) -> Vec<Touch> {
        vec![self.touch(does, &here()).deep(true)]
    }
}

fn verb(name: &str, verb: &Verb<'_>) -> Vec<Touch> {
    match name {
        "clean" if verb.letter('n') || verb.long("--dry-run") => Vec::new(),
        "clean" if verb.letter('f') || verb.long("--force") => match verb.all().as_slice() {
            [] => verb.whole(Delete),
            paths => verb.each(Delete, paths, true),
        },
        "checkout" => {
            // `git checkout .` can only be a path.
            let is_path = |word: &&Word| word.text.starts_with(['.', '/', '*', ':']);
            let named = || verb.operands.iter().copied().filter(is_path).collect();
            let paths: Vec<&Word> = verb.paths.clone().unwrap_or_else(named);
            verb.each(Write, &paths, true)
        }
        "restore"
            if verb.letter('S') && !verb.letter('W') || verb.long("--staged") && !verb.long("--worktree") =>
        {
            Vec::new()
        }
        "restore" => {
            let source = verb.behind(&["-s", "--source"]);
            let paths: Vec<&Word> = verb.all().into_iter().filter(|word| Some(*word) != source).collect();
            verb.each(Write, &paths, true)
        }
        "reset" if verb.long("--hard") || verb.long("--merge") => verb.whole(Write),
        "rm" if verb.long("--cached") || verb.letter('n') || verb.long("--dry-run") => Vec::new(),
        "rm" => verb.each(Delete, &verb.all(), verb.letter('r')),
        "mv" => match verb.all().split_last() {
            Some((target, sources)) if !sources.is_empty() => {
                let mut touches = verb.each(Move, sources, false);
                touches.push(verb.touch(Write, target));
                touches
            }
            _ => Vec::new(),
        },
        "worktree" => match verb.operands.as_slice() {
            [what, path, ..] if what.is("remove") => vec![verb.touch(Delete, path).deep(true)],
            [what, path, ..] if what.is("add") => vec![verb.touch(Write, path)],
            [what, from, to] if what.is("move") => vec![verb.touch(Move, from), verb.touch(Write, to)],
            _ => Vec::new(),
        },
        "clone" => match verb.operands.as_slice() {
            [.., _, to] if !to.text.contains("://") => vec![verb.touch(Write, to)],
            _ => Vec::new(),
        },
        "diff" if !verb.long("--no-index") => Vec::new(),
        "add" | "hash-object" | "diff" | "apply" | "am" => verb.each(Read, &verb.all(), false),
        "archive" | "format-patch" => {
            let to = verb.behind(&["-o", "--output", "--output-directory"]);
            to.map(|word| verb.touch(Write, word)).into_iter().collect()
        }
        "bundle" => match verb.operands.as_slice() {
            [what, file, ..] if what.is("create") => vec![verb.touch(Write, file)],
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}
