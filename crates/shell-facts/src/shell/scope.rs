// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What is known at one point of a script: variables, the working directory, standard input.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tenterhook_paths::resolve;

use super::super::effect::Side;
use super::place::Directory;
use super::side::Where;
use super::walk::FunctionBody;
use super::word::{Atom, Expansion, Word, merge};

/// A longer value is not kept: scopes are copied often.
const LONGEST_VALUE: usize = 4096;

/// What is known at one point of a script.
#[derive(Debug, Clone)]
pub(super) struct Scope {
    // Shared until one of the copies changes: scopes are copied far more often than they change.
    vars: Arc<BTreeMap<String, Arc<Expansion>>>,
    lists: Arc<BTreeMap<String, Vec<Expansion>>>,
    functions: Arc<BTreeMap<String, Arc<FunctionBody>>>,
    /// `$1`, `$2`, …; `None` when somebody may give it any.
    arguments: Option<Arc<Vec<Expansion>>>,
    /// The variables that end with the function that is being run.
    locals: BTreeSet<String>,
    /// The variables that what runs is started with, as `NAME=value`, where the value is an address.
    exported: Arc<Vec<String>>,
    /// The working directory.
    pub(super) cwd: Directory,
    /// The one before it, and those `popd` goes back to.
    pub(super) left: Directory,
    pub(super) stacked: Vec<Directory>,
    /// What standard input carries.
    pub(super) stdin: Stream,
    /// The programs through which this point is reached, outermost first.
    pub(super) via: Vec<String>,
    /// Whether the script ends at the first command that fails (`set -e`).
    pub(super) strict: bool,
    /// On which machine, and in which file system.
    pub(super) place: Arc<Where>,
}

/// What flows into a command.
#[derive(Debug, Clone, Default)]
pub(super) struct Stream {
    /// The commands whose output it is, by their index.
    pub(super) from: Vec<usize>,
    /// The texts that are known to be in it.
    pub(super) texts: Vec<Arc<str>>,
    /// Whether it is a terminal into which text is typed that no hook sees, or comes from one.
    pub(super) typed: bool,
}

impl Scope {
    /// The start of a text that a harness hands to a shell, without arguments.
    pub(super) fn new(cwd: Option<&str>, place: Arc<Where>) -> Self {
        let ground = &place.ground;
        let home = ("HOME".to_owned(), Arc::new(Expansion::literal(&ground.home)));
        Self {
            vars: Arc::new(BTreeMap::from([home])),
            lists: Arc::default(),
            functions: Arc::default(),
            arguments: Some(Arc::default()),
            locals: BTreeSet::new(),
            exported: Arc::default(),
            cwd: Directory::new(cwd.and_then(|cwd| resolve(None, cwd))),
            stdin: Stream::default(),
            left: Directory::default(),
            stacked: Vec::new(),
            via: Vec::new(),
            strict: false,
            place,
        }
    }

    /// The same script in another place: the working directory and the home are others.
    pub(super) fn moved(mut self, place: Arc<Where>, cwd: Option<String>) -> Self {
        self.set("HOME", Expansion::literal(&place.ground.home));
        self.cwd = Directory::new(cwd);
        self.place = place;
        self
    }

    /// `nsenter`: the first process is in the place that all others are in.
    pub(super) fn entered(self, words: &[Word]) -> Self {
        let texts: Vec<_> = words.iter().map(|word| word.text.as_str()).collect();
        let first = texts.windows(2).any(|pair| matches!(pair, ["-t" | "--target", "1"]))
            || texts.iter().any(|text| matches!(*text, "-t1" | "--target=1"));
        let place = if first {
            self.place.outermost()
        } else {
            Arc::new(Where::beyond(&self.place, Side::Container, None, Vec::new()))
        };
        self.moved(place, Some("/".to_owned()))
    }

    /// The scope of something that this program starts.
    pub(super) fn through(&self, program: &str) -> Self {
        let mut inner = self.clone();
        inner.via.push(program.to_owned());
        inner
    }

    /// The scope of something that gets this on standard input.
    pub(super) fn fed(&self, stdin: &Stream) -> Self {
        let mut inner = self.clone();
        inner.stdin.clone_from(stdin);
        inner
    }

    /// Gives it the arguments `$1`, `$2`, …
    pub(super) fn with_arguments(mut self, arguments: &[Word]) -> Self {
        self.set_arguments(arguments);
        self
    }

    pub(super) fn set_arguments(&mut self, arguments: &[Word]) {
        // A word that may turn into several leaves all places behind it open.
        let known = !arguments.iter().any(|word| word.splits);
        self.arguments = known.then(|| Arc::new(arguments.iter().map(Word::to_value).collect()));
    }

    /// How many arguments are known.
    pub(super) fn arguments_known(&self) -> usize {
        self.arguments.as_ref().map_or(0, |all| all.len())
    }

    /// `shift`
    pub(super) fn shift(&mut self, by: Option<usize>) {
        self.arguments = match (&self.arguments, by) {
            (Some(all), Some(by)) => Some(Arc::new(all.iter().skip(by).cloned().collect())),
            _ => None,
        };
    }

    /// Somebody may give it any arguments.
    pub(super) fn with_any_arguments(mut self) -> Self {
        self.arguments = None;
        self
    }

    /// The inside of a function that is called here.
    pub(super) fn call(&self, name: &str, arguments: &[Word]) -> Self {
        let mut inner = self.through(name).with_arguments(arguments);
        inner.locals = BTreeSet::new();
        inner
    }

    /// What a function leaves behind: all but its arguments and its own variables.
    pub(super) fn returned(&mut self, inner: Self) {
        let old = std::mem::replace(&mut self.vars, inner.vars);
        let lists = std::mem::replace(&mut self.lists, inner.lists);
        for name in &inner.locals {
            restore(&mut self.vars, &old, name);
            restore(&mut self.lists, &lists, name);
        }
        self.functions = inner.functions;
        self.exported = inner.exported;
        self.cwd = inner.cwd;
        self.left = inner.left;
        self.stacked = inner.stacked;
        self.strict = inner.strict;
    }

    /// `export NAME`
    pub(super) fn export(&mut self, name: &str) {
        let text = self.get(name).map(Expansion::into_word).filter(|word| !word.dynamic);
        if let Some(word) = text.filter(|word| word.text.contains("://")) {
            Arc::make_mut(&mut self.exported).push(format!("{name}={}", word.text));
        }
    }

    /// The addresses that what runs is told by variables.
    pub(super) fn exported(&self) -> &[String] {
        &self.exported
    }

    /// `local NAME`
    pub(super) fn localize(&mut self, name: &str) {
        self.locals.insert(name.to_owned());
    }

    pub(super) fn get(&self, name: &str) -> Option<Expansion> {
        match name {
            "PWD" => return self.cwd.known().map(Expansion::literal),
            "@" => {
                return Some(
                    self.arguments.as_ref().map_or_else(|| Expansion::list("$@"), |all| joined(all)),
                );
            }
            "*" => return self.arguments.as_ref().map(|all| joined(all).into_value()),
            _ => {}
        }
        if let Some(value) = self.vars.get(name) {
            return Some(Expansion::clone(value));
        }
        if let Some(list) = self.lists.get(name) {
            return Some(list.first().cloned().unwrap_or_default());
        }
        match name {
            // What they are unless somebody sets them.
            "TMPDIR" | "TMP" | "TEMP" | "RUNNER_TEMP" => Some(Expansion::literal("/tmp")),
            "OLDPWD" => self.left.known().map(Expansion::literal),
            "CLAUDE_PROJECT_DIR" | "GITHUB_WORKSPACE" | "CI_PROJECT_DIR" | "PROJECT_ROOT" | "INIT_CWD" => {
                self.place.ground.project.as_deref().map(Expansion::literal)
            }
            "IFS" => Some(Expansion::literal(" ")),
            "SHELL" | "BASH" => Some(Expansion::literal("/bin/bash")),
            _ => {
                let at = name.parse::<usize>().ok()?.checked_sub(1)?;
                self.arguments.as_ref().map(|all| all.get(at).cloned().unwrap_or_default())
            }
        }
    }

    /// All elements of an array.
    pub(super) fn list(&self, name: &str) -> Option<Expansion> {
        if let Some(list) = self.lists.get(name) {
            return Some(joined(list));
        }
        // A plain variable is an array of one.
        self.vars.get(name).map(|value| Expansion::clone(value))
    }

    /// One element of an array.
    pub(super) fn element(&self, name: &str, at: usize) -> Option<Expansion> {
        self.lists.get(name).map(|list| list.get(at).cloned().unwrap_or_default())
    }

    pub(super) fn set(&mut self, name: &str, value: Expansion) {
        let value = if value.atoms.len() > LONGEST_VALUE {
            Expansion { from: value.from, ..Expansion::unknown(&format!("${name}"), false) }
        } else {
            value
        };
        if self.lists.contains_key(name) {
            Arc::make_mut(&mut self.lists).remove(name);
            self.forget_keys(name);
        }
        Arc::make_mut(&mut self.vars).insert(name.to_owned(), Arc::new(value));
    }

    /// Sets it to what it was, or to nothing.
    pub(super) fn put_back(&mut self, name: &str, before: Option<Expansion>) {
        match before {
            Some(value) => self.set(name, value),
            None => _ = Arc::make_mut(&mut self.vars).remove(name),
        }
    }

    /// Nothing is known of the single keys of an array any more.
    pub(super) fn forget_keys(&mut self, name: &str) {
        let start = format!("{name}[");
        let keys = self.vars.range(start.clone()..).map(|(key, _)| key);
        let keys: Vec<String> = keys.take_while(|key| key.starts_with(&start)).cloned().collect();
        for key in keys {
            Arc::make_mut(&mut self.vars).remove(&key);
        }
    }

    /// The values of an array, each known.
    pub(super) fn elements(&self, name: &str) -> &[Expansion] {
        self.lists.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    /// The variable is only known when it runs, from the output of these commands.
    pub(super) fn forget(&mut self, name: &str, from: &[usize]) {
        let unknown = Expansion::unknown(&format!("${name}"), false);
        self.set(name, Expansion { from: from.to_vec(), ..unknown });
    }

    /// So is the array.
    pub(super) fn forget_list(&mut self, name: &str, from: &[usize]) {
        let unknown = Expansion::list(&format!("${name}"));
        self.set(name, Expansion { from: from.to_vec(), ..unknown });
    }

    /// `NAME=(…)` and `NAME+=(…)`
    pub(super) fn set_list(&mut self, name: &str, words: &[Word], adds: bool) {
        let before = if adds { self.lists.get(name).cloned() } else { Some(Vec::new()) };
        let size: usize = words.iter().map(|word| word.text.len()).sum();
        let Some(mut list) =
            before.filter(|_| size <= LONGEST_VALUE && !words.iter().any(|word| word.splits))
        else {
            return self.forget_list(name, &from_all(words));
        };
        if !adds {
            self.forget_keys(name);
        }
        list.extend(words.iter().map(Word::to_value));
        if self.vars.contains_key(name) {
            Arc::make_mut(&mut self.vars).remove(name);
        }
        if list.len() > LONGEST_VALUE / 16 {
            return self.forget_list(name, &[]);
        }
        Arc::make_mut(&mut self.lists).insert(name.to_owned(), list);
    }

    /// What a value turns into outside quotes, where `IFS` was changed.
    pub(super) fn separated(&self, mut value: Expansion) -> Expansion {
        let Some(letters) = self.vars.get("IFS") else { return value };
        let between: Option<Vec<char>> = letters.atoms.iter().map(Atom::letter).collect();
        let Some(between) = between else { return Expansion { from: value.from, ..Expansion::list("$IFS") } };
        for atom in &mut value.atoms {
            if let Atom::Plain(letter) = atom
                && between.contains(letter)
            {
                *atom = Atom::Soft(*letter);
            }
        }
        value
    }

    pub(super) fn function(&self, name: &str) -> Option<Arc<FunctionBody>> {
        self.functions.get(name).cloned()
    }

    pub(super) fn define(&mut self, name: &str, body: Arc<FunctionBody>) {
        Arc::make_mut(&mut self.functions).insert(name.to_owned(), body);
    }

    /// How much there is to copy.
    pub(super) fn size(&self) -> usize {
        let lists: usize = self.lists.values().map(|list| 1 + list.len()).sum();
        1 + (self.vars.len() + lists + self.functions.len() + self.stdin.from.len()) / 8
    }

    /// Whether anything a command could depend on is different there.
    pub(super) fn differs(&self, other: &Self) -> bool {
        let same = |one: &Self, two: &Self| {
            (&one.vars, &one.lists, &one.arguments) == (&two.vars, &two.lists, &two.arguments)
        };
        self.cwd != other.cwd || !same(self, other)
    }

    /// Keeps only what holds whether or not the other branch was taken.
    pub(super) fn meet(&mut self, other: &Self) {
        if !Arc::ptr_eq(&self.vars, &other.vars) || !Arc::ptr_eq(&self.lists, &other.lists) {
            let mine = self.vars.keys().chain(self.lists.keys());
            let names: Vec<String> =
                mine.chain(other.vars.keys()).chain(other.lists.keys()).cloned().collect();
            for name in names {
                if self.vars.get(&name) == other.vars.get(&name)
                    && self.lists.get(&name) == other.lists.get(&name)
                {
                    continue;
                }
                let mut from = Vec::new();
                for value in [&*self, other].into_iter().filter_map(|branch| branch.vars.get(&name)) {
                    merge(&mut from, &value.from);
                }
                if self.lists.contains_key(&name) || other.lists.contains_key(&name) {
                    self.forget_list(&name, &from);
                } else {
                    self.forget(&name, &from);
                }
            }
        }
        if self.arguments != other.arguments {
            self.arguments = None;
        }
        self.strict &= other.strict;
        self.cwd.meet(&other.cwd);
        if self.left != other.left {
            self.left = Directory::default();
        }
        if self.stacked != other.stacked {
            self.stacked.clear();
        }
    }
}

/// The commands whose output is part of one of the words.
pub(super) fn from_all(words: &[Word]) -> Vec<usize> {
    let mut from = Vec::new();
    for word in words {
        merge(&mut from, &word.from);
    }
    from
}

fn restore<V: Clone>(now: &mut Arc<BTreeMap<String, V>>, before: &BTreeMap<String, V>, name: &str) {
    let now = Arc::make_mut(now);
    match before.get(name) {
        Some(value) => now.insert(name.to_owned(), value.clone()),
        None => now.remove(name),
    };
}

/// Several values, each a word of its own even in quotes.
fn joined(values: &[Expansion]) -> Expansion {
    let mut all = Expansion::default();
    for (at, value) in values.iter().enumerate() {
        if at > 0 {
            all.append(Expansion { atoms: vec![Atom::Break], ..Expansion::default() });
        }
        all.append(value.clone());
    }
    all
}
