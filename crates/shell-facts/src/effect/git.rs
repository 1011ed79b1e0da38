// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Derives the effects of `git` sub-commands that change the working tree or read files outside it.

use tenterhook_paths::FileOp::{Delete, Move, Read, Write};

use super::super::ShellWord;
use super::OperandEffect;
use super::{current_directory, resolve_in};

pub(super) fn git_effects(words: &[ShellWord]) -> Vec<OperandEffect> {
    let mut at = None;
    let mut rest = words;
    while let Some((word, after)) = rest.split_first() {
        let text = word.text.as_str();
        match text {
            "-C" => {
                // An empty directory changes nothing.
                if let Some(to) = after.first().filter(|to| to.dynamic || !to.text.is_empty()) {
                    at = Some(resolve_in(at.as_ref(), to));
                }
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
                at = Some(word.skip_bytes("--work-tree=".len()));
                rest = after;
            }
            _ if text.starts_with('-') => rest = after,
            _ => return verb_effects(text, &GitArgs::new(after, at.as_ref())),
        }
    }
    Vec::new()
}

/// The words after a sub-command of `git`.
struct GitArgs<'a> {
    words: &'a [ShellWord],
    at: Option<&'a ShellWord>,
    options: Vec<&'a str>,
    operands: Vec<&'a ShellWord>,
    /// Operands after `--`; `None` without `--`.
    paths: Option<Vec<&'a ShellWord>>,
}

impl<'a> GitArgs<'a> {
    fn new(words: &'a [ShellWord], at: Option<&'a ShellWord>) -> Self {
        let end = words.iter().position(|word| word.is("--"));
        let before = words.get(..end.unwrap_or(words.len())).unwrap_or_default();
        let paths = end.map(|end| words.iter().skip(end + 1).collect());
        let is_option =
            |word: &&ShellWord| word.text.starts_with('-') && word.text.len() > 1 && !word.may_be_option;
        Self {
            words,
            at,
            options: before.iter().filter(is_option).map(|word| word.text.as_str()).collect(),
            operands: before.iter().filter(|word| !is_option(word)).collect(),
            paths,
        }
    }

    fn has_letter(&self, letter: char) -> bool {
        self.options.iter().any(|option| !option.starts_with("--") && option.contains(letter))
    }

    fn has_long(&self, option: &str) -> bool {
        self.options.contains(&option)
    }

    /// Returns operands and paths, without options.
    fn all_words(&self) -> Vec<&'a ShellWord> {
        self.operands.iter().chain(self.paths.iter().flatten()).copied().collect()
    }

    fn value_after(&self, options: &[&str]) -> Option<&'a ShellWord> {
        let at = self.words.iter().position(|word| options.contains(&word.text.as_str()))?;
        self.words.get(at + 1)
    }

    /// Returns the operands, without the values of these options.
    fn operands_without(&self, options: &[&str]) -> Vec<&'a ShellWord> {
        let values: Vec<&ShellWord> =
            options.iter().filter_map(|option| self.value_after(&[option])).collect();
        let is_value = |word: &&ShellWord| values.iter().any(|value| std::ptr::eq(*value, *word));
        self.operands.iter().copied().filter(|word| !is_value(word)).collect()
    }

    fn effect(&self, does: super::FileOp, word: &ShellWord) -> OperandEffect {
        OperandEffect::new(does, &resolve_in(self.at, word))
    }

    fn effects(&self, does: super::FileOp, words: &[&ShellWord], recursive: bool) -> Vec<OperandEffect> {
        words.iter().map(|word| self.effect(does, word).recursive(recursive)).collect()
    }

    fn whole_tree(&self, does: super::FileOp) -> Vec<OperandEffect> {
        vec![self.effect(does, &current_directory()).recursive(true)]
    }
}

fn verb_effects(name: &str, args: &GitArgs<'_>) -> Vec<OperandEffect> {
    match name {
        "clean" if args.has_letter('n') || args.has_long("--dry-run") => Vec::new(),
        "clean" if args.has_letter('f') || args.has_long("--force") => match args.all_words().as_slice() {
            [] => args.whole_tree(Delete),
            paths => args.effects(Delete, paths, true),
        },
        "checkout" => {
            // An operand such as `.` can only be a path, not a branch.
            let is_path = |word: &&ShellWord| word.text.starts_with(['.', '/', '*', ':']);
            let named = || args.operands.iter().copied().filter(is_path).collect();
            let paths: Vec<&ShellWord> = args.paths.clone().unwrap_or_else(named);
            args.effects(Write, &paths, true)
        }
        "restore"
            if args.has_letter('S') && !args.has_letter('W')
                || args.has_long("--staged") && !args.has_long("--worktree") =>
        {
            Vec::new()
        }
        "restore" => {
            let source = args.value_after(&["-s", "--source"]);
            let paths: Vec<&ShellWord> =
                args.all_words().into_iter().filter(|word| Some(*word) != source).collect();
            args.effects(Write, &paths, true)
        }
        "reset" if args.has_long("--hard") || args.has_long("--merge") => args.whole_tree(Write),
        "rm" if args.has_long("--cached") || args.has_letter('n') || args.has_long("--dry-run") => Vec::new(),
        "rm" => args.effects(Delete, &args.all_words(), args.has_letter('r')),
        "mv" => match args.all_words().split_last() {
            Some((target, sources)) if !sources.is_empty() => {
                let mut effects = args.effects(Move, sources, false);
                effects.push(args.effect(Write, target));
                effects
            }
            _ => Vec::new(),
        },
        "worktree" => match args.operands_without(&["-b", "-B", "--reason"]).as_slice() {
            [what, path, ..] if what.is("remove") => vec![args.effect(Delete, path).recursive(true)],
            [what, path, ..] if what.is("add") => vec![args.effect(Write, path)],
            [what, from, to] if what.is("move") => vec![args.effect(Move, from), args.effect(Write, to)],
            _ => Vec::new(),
        },
        "clone" => clone_effects(args),
        "diff" if !args.has_long("--no-index") => Vec::new(),
        "add" | "hash-object" | "diff" | "apply" | "am" => args.effects(Read, &args.all_words(), false),
        "archive" | "format-patch" => {
            let to = args.value_after(&["-o", "--output", "--output-directory"]);
            to.map(|word| args.effect(Write, word)).into_iter().collect()
        }
        "bundle" => match args.operands.as_slice() {
            [what, file, ..] if what.is("create") => vec![args.effect(Write, file)],
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// Options of `git clone` that take a value.
const CLONE_VALUE_OPTIONS: &[&str] = &[
    "-b",
    "--branch",
    "--depth",
    "-o",
    "--origin",
    "-c",
    "--config",
    "--reference",
    "-j",
    "--jobs",
    "--filter",
    "--template",
    "-u",
    "--upload-pack",
    "--separate-git-dir",
    "--shallow-since",
    "--shallow-exclude",
];

/// Returns the effect of `git clone`: it creates a directory, named by the last operand or after the repository.
fn clone_effects(args: &GitArgs<'_>) -> Vec<OperandEffect> {
    match args.operands_without(CLONE_VALUE_OPTIONS).as_slice() {
        [_, to] => vec![args.effect(Write, to)],
        [from] if !from.dynamic && !from.pattern => {
            let name = from.text.trim_end_matches('/');
            let name = name.strip_suffix(".git").unwrap_or(name);
            let name = name.rsplit(['/', ':']).next().unwrap_or_default();
            vec![args.effect(Write, &ShellWord::literal(name))]
        }
        _ => Vec::new(),
    }
}
