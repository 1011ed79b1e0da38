// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Tracks the state at one point of a script: variables, functions, working directory and standard input.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tenterhook_paths::resolve;

use super::super::effect::ExecLocation;
use super::cwd::WorkingDirectory;
use super::exec_site::ExecSite;
use super::walk::FunctionBody;
use super::word::{ExpandedText, ShellWord, WordAtom, merge_sources};

/// Maximum length of a value. Longer values count as unknown, because scopes are copied often.
const MAX_VALUE_ATOMS: usize = 4096;

/// The known state at one point of a script.
#[derive(Debug, Clone)]
pub(super) struct ShellScope {
    // Copy-on-write: scopes are copied far more often than they change.
    vars: Arc<BTreeMap<String, Arc<ExpandedText>>>,
    lists: Arc<BTreeMap<String, Vec<ExpandedText>>>,
    functions: Arc<BTreeMap<String, Arc<FunctionBody>>>,
    /// `$1`, `$2`, …; `None` if they are unknown.
    arguments: Option<Arc<Vec<ExpandedText>>>,
    /// Absolute path of the script that runs, if it is known.
    pub(super) script: Option<Arc<str>>,
    /// Local variables of the current function.
    locals: BTreeSet<String>,
    /// Exported variables whose value is a URL, as `NAME=value`.
    exported: Arc<Vec<String>>,
    /// The working directory.
    pub(super) cwd: WorkingDirectory,
    /// The previous working directory (`cd -`).
    pub(super) previous_cwd: WorkingDirectory,
    pub(super) directory_stack: Vec<WorkingDirectory>,
    /// The data on standard input.
    pub(super) stdin: InputStream,
    /// Programs through which this point is reached, outermost first.
    pub(super) via: Vec<String>,
    /// Whether the script ends at the first command that fails (`set -e`).
    pub(super) strict: bool,
    /// Files whose content earlier commands of the same chain have written from known texts.
    pub(super) own_files: Arc<Vec<String>>,
    /// The machine and file system in which commands run.
    pub(super) site: Arc<ExecSite>,
}

/// The data that a command receives on standard input.
#[derive(Debug, Clone, Default)]
pub(super) struct InputStream {
    /// Indices of the commands whose output forms the data.
    pub(super) from: Vec<usize>,
    /// Known texts in the data.
    pub(super) texts: Vec<Arc<str>>,
    /// Whether the data comes from a terminal in which typed text is not visible to hooks.
    pub(super) from_terminal: bool,
}

impl ShellScope {
    /// Creates the initial scope of a command line that a harness passes to a shell. `$1`, `$2`, … are unset.
    pub(super) fn new(cwd: Option<&str>, site: Arc<ExecSite>) -> Self {
        let roots = &site.roots;
        let home = ("HOME".to_owned(), Arc::new(ExpandedText::literal(&roots.home)));
        Self {
            vars: Arc::new(BTreeMap::from([home])),
            lists: Arc::default(),
            functions: Arc::default(),
            arguments: Some(Arc::default()),
            script: None,
            locals: BTreeSet::new(),
            exported: Arc::default(),
            cwd: WorkingDirectory::new(cwd.and_then(|cwd| resolve(None, cwd))),
            stdin: InputStream::default(),
            previous_cwd: WorkingDirectory::default(),
            directory_stack: Vec::new(),
            via: Vec::new(),
            strict: false,
            own_files: Arc::default(),
            site,
        }
    }

    /// Moves the scope to another site, with its own working directory and home.
    pub(super) fn at_site(mut self, site: Arc<ExecSite>, cwd: Option<String>) -> Self {
        self.set("HOME", ExpandedText::literal(&site.roots.home));
        self.cwd = WorkingDirectory::new(cwd);
        self.site = site;
        self.own_files = Arc::default();
        self
    }

    /// Enters the namespaces of `nsenter`. The namespaces of process 1 are the outermost site.
    pub(super) fn entering_namespace(self, words: &[ShellWord]) -> Self {
        let texts: Vec<_> = words.iter().map(|word| word.text.as_str()).collect();
        let first = texts.windows(2).any(|pair| matches!(pair, ["-t" | "--target", "1"]))
            || texts.iter().any(|text| matches!(*text, "-t1" | "--target=1"));
        let site = if first {
            self.site.outermost()
        } else {
            Arc::new(ExecSite::nested(&self.site, ExecLocation::Container, None, Vec::new()))
        };
        self.at_site(site, Some("/".to_owned()))
    }

    /// Returns the scope of a command that this program starts.
    pub(super) fn started_by(&self, program: &str) -> Self {
        let mut inner = self.clone();
        inner.via.push(program.to_owned());
        inner
    }

    /// Returns the scope of a command with this standard input.
    pub(super) fn with_stdin(&self, stdin: &InputStream) -> Self {
        let mut inner = self.clone();
        inner.stdin.clone_from(stdin);
        inner
    }

    /// Sets the arguments `$1`, `$2`, …
    pub(super) fn with_arguments(mut self, arguments: &[ShellWord]) -> Self {
        self.set_arguments(arguments);
        self
    }

    pub(super) fn set_arguments(&mut self, arguments: &[ShellWord]) {
        // If a word may become several, the positions after it are unknown.
        let known = !arguments.iter().any(|word| word.may_split);
        self.arguments = known.then(|| Arc::new(arguments.iter().map(ShellWord::to_value).collect()));
    }

    /// Returns the number of known arguments.
    pub(super) fn arguments_known(&self) -> usize {
        self.arguments.as_ref().map_or(0, |all| all.len())
    }

    /// Applies `shift`.
    pub(super) fn shift(&mut self, by: Option<usize>) {
        self.arguments = match (&self.arguments, by) {
            (Some(all), Some(by)) => Some(Arc::new(all.iter().skip(by).cloned().collect())),
            _ => None,
        };
    }

    /// Sets the arguments to unknown.
    pub(super) fn with_any_arguments(mut self) -> Self {
        self.arguments = None;
        self
    }

    /// Returns the scope of a script with this path and unknown arguments.
    pub(super) fn for_script(self, path: &str) -> Self {
        Self { script: Some(path.into()), ..self.with_any_arguments() }
    }

    /// Returns the scope inside a function that is called here.
    pub(super) fn enter_function(&self, name: &str, arguments: &[ShellWord]) -> Self {
        let mut inner = self.started_by(name).with_arguments(arguments);
        inner.locals = BTreeSet::new();
        inner
    }

    /// Takes over the state after a function call, except its arguments and local variables.
    pub(super) fn leave_function(&mut self, inner: Self) {
        let old = std::mem::replace(&mut self.vars, inner.vars);
        let lists = std::mem::replace(&mut self.lists, inner.lists);
        for name in &inner.locals {
            restore(&mut self.vars, &old, name);
            restore(&mut self.lists, &lists, name);
        }
        self.functions = inner.functions;
        self.exported = inner.exported;
        self.cwd = inner.cwd;
        self.previous_cwd = inner.previous_cwd;
        self.directory_stack = inner.directory_stack;
        self.strict = inner.strict;
    }

    /// Applies `export NAME`.
    pub(super) fn export(&mut self, name: &str) {
        let text = self.get(name).map(ExpandedText::into_word).filter(|word| !word.dynamic);
        if let Some(word) = text.filter(|word| word.text.contains("://")) {
            Arc::make_mut(&mut self.exported).push(format!("{name}={}", word.text));
        }
    }

    /// Returns the exported variables whose value is a URL.
    pub(super) fn exported_addresses(&self) -> &[String] {
        &self.exported
    }

    /// Returns the names of the variables that were set.
    pub(super) fn variable_names(&self) -> impl Iterator<Item = &str> {
        self.vars.keys().map(String::as_str)
    }

    /// Applies `local NAME`.
    pub(super) fn localize(&mut self, name: &str) {
        self.locals.insert(name.to_owned());
    }

    pub(super) fn get(&self, name: &str) -> Option<ExpandedText> {
        match name {
            "PWD" => return self.cwd.certain().map(ExpandedText::literal),
            "@" => {
                return Some(
                    self.arguments.as_ref().map_or_else(|| ExpandedText::list("$@"), |all| join_values(all)),
                );
            }
            "*" => return self.arguments.as_ref().map(|all| join_values(all).into_value()),
            _ => {}
        }
        if let Some(value) = self.vars.get(name) {
            return Some(ExpandedText::clone(value));
        }
        if let Some(list) = self.lists.get(name) {
            return Some(list.first().cloned().unwrap_or_default());
        }
        match name {
            // Default values.
            "TMPDIR" | "TMP" | "TEMP" | "RUNNER_TEMP" => Some(ExpandedText::literal("/tmp")),
            "OLDPWD" => self.previous_cwd.certain().map(ExpandedText::literal),
            "CLAUDE_PROJECT_DIR" | "GITHUB_WORKSPACE" | "CI_PROJECT_DIR" | "PROJECT_ROOT" | "INIT_CWD" => {
                self.site.roots.project.as_deref().map(ExpandedText::literal)
            }
            "IFS" => Some(ExpandedText::literal(" ")),
            "SHELL" | "BASH" => Some(ExpandedText::literal("/bin/bash")),
            _ => {
                let at = name.parse::<usize>().ok()?.checked_sub(1)?;
                self.arguments.as_ref().map(|all| all.get(at).cloned().unwrap_or_default())
            }
        }
    }

    /// Returns all elements of an array.
    pub(super) fn all_elements(&self, name: &str) -> Option<ExpandedText> {
        if let Some(list) = self.lists.get(name) {
            return Some(join_values(list));
        }
        // A plain variable is an array with one element.
        self.vars.get(name).map(|value| ExpandedText::clone(value))
    }

    /// Returns one element of an array.
    pub(super) fn list_element(&self, name: &str, at: usize) -> Option<ExpandedText> {
        self.lists.get(name).map(|list| list.get(at).cloned().unwrap_or_default())
    }

    pub(super) fn set(&mut self, name: &str, value: ExpandedText) {
        let value = if value.atoms.len() > MAX_VALUE_ATOMS {
            ExpandedText { from: value.from, ..ExpandedText::unknown(&format!("${name}"), false) }
        } else {
            value
        };
        if self.lists.contains_key(name) {
            Arc::make_mut(&mut self.lists).remove(name);
            self.forget_keys(name);
        }
        Arc::make_mut(&mut self.vars).insert(name.to_owned(), Arc::new(value));
    }

    /// Restores a variable, or removes it if it was unset.
    pub(super) fn restore(&mut self, name: &str, before: Option<ExpandedText>) {
        match before {
            Some(value) => self.set(name, value),
            None => _ = Arc::make_mut(&mut self.vars).remove(name),
        }
    }

    /// Forgets the values of all keys of an array.
    pub(super) fn forget_keys(&mut self, name: &str) {
        let start = format!("{name}[");
        let keys = self.vars.range(start.clone()..).map(|(key, _)| key);
        let keys: Vec<String> = keys.take_while(|key| key.starts_with(&start)).cloned().collect();
        for key in keys {
            Arc::make_mut(&mut self.vars).remove(&key);
        }
    }

    /// Returns the known elements of an array.
    pub(super) fn list_elements(&self, name: &str) -> &[ExpandedText] {
        self.lists.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    /// Sets a variable to unknown; its value comes from the output of these commands.
    pub(super) fn forget(&mut self, name: &str, from: &[usize]) {
        let unknown = ExpandedText::unknown(&format!("${name}"), false);
        self.set(name, ExpandedText { from: from.to_vec(), ..unknown });
    }

    /// Sets an array to unknown; its value comes from the output of these commands.
    pub(super) fn forget_list(&mut self, name: &str, from: &[usize]) {
        let unknown = ExpandedText::list(&format!("${name}"));
        self.set(name, ExpandedText { from: from.to_vec(), ..unknown });
    }

    /// Applies `NAME=(…)` and `NAME+=(…)`.
    pub(super) fn set_list(&mut self, name: &str, words: &[ShellWord], adds: bool) {
        let before = if adds { self.lists.get(name).cloned() } else { Some(Vec::new()) };
        let size: usize = words.iter().map(|word| word.text.len()).sum();
        let Some(mut list) =
            before.filter(|_| size <= MAX_VALUE_ATOMS && !words.iter().any(|word| word.may_split))
        else {
            return self.forget_list(name, &output_sources(words));
        };
        if !adds {
            self.forget_keys(name);
        }
        list.extend(words.iter().map(ShellWord::to_value));
        if self.vars.contains_key(name) {
            Arc::make_mut(&mut self.vars).remove(name);
        }
        if list.len() > MAX_VALUE_ATOMS / 16 {
            return self.forget_list(name, &[]);
        }
        Arc::make_mut(&mut self.lists).insert(name.to_owned(), list);
    }

    /// Marks where an unquoted value is split if `IFS` was changed.
    pub(super) fn split_by_ifs(&self, mut value: ExpandedText) -> ExpandedText {
        let Some(letters) = self.vars.get("IFS") else { return value };
        let between: Option<Vec<char>> = letters.atoms.iter().map(WordAtom::letter).collect();
        let Some(between) = between else {
            return ExpandedText { from: value.from, ..ExpandedText::list("$IFS") };
        };
        for atom in &mut value.atoms {
            if let WordAtom::Plain(letter) = atom
                && between.contains(letter)
            {
                *atom = WordAtom::Soft(*letter);
            }
        }
        value
    }

    pub(super) fn find_function(&self, name: &str) -> Option<Arc<FunctionBody>> {
        self.functions.get(name).cloned()
    }

    pub(super) fn add_function(&mut self, name: &str, body: Arc<FunctionBody>) {
        Arc::make_mut(&mut self.functions).insert(name.to_owned(), body);
    }

    /// Returns the cost of copying the scope, in steps.
    pub(super) fn size(&self) -> usize {
        let lists: usize = self.lists.values().map(|list| 1 + list.len()).sum();
        1 + (self.vars.len() + lists + self.functions.len() + self.stdin.from.len()) / 8
    }

    /// Whether the scopes differ in state that a command may depend on.
    pub(super) fn differs(&self, other: &Self) -> bool {
        let same = |one: &Self, two: &Self| {
            (&one.vars, &one.lists, &one.arguments) == (&two.vars, &two.lists, &two.arguments)
        };
        self.cwd != other.cwd || !same(self, other)
    }

    /// Merges the state of another branch: values that differ become unknown.
    pub(super) fn merge_with(&mut self, other: &Self) {
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
                    merge_sources(&mut from, &value.from);
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
        if self.own_files != other.own_files {
            self.own_files = Arc::default();
        }
        self.cwd.merge_with(&other.cwd);
        if self.previous_cwd != other.previous_cwd {
            self.previous_cwd = WorkingDirectory::default();
        }
        if self.directory_stack != other.directory_stack {
            self.directory_stack.clear();
        }
    }
}

/// Returns the indices of the commands whose output is part of a word.
pub(super) fn output_sources(words: &[ShellWord]) -> Vec<usize> {
    let mut from = Vec::new();
    for word in words {
        merge_sources(&mut from, &word.from);
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

/// Joins values so that each stays a separate word even in quotes.
fn join_values(values: &[ExpandedText]) -> ExpandedText {
    let mut all = ExpandedText::default();
    for (at, value) in values.iter().enumerate() {
        if at > 0 {
            all.append(ExpandedText { atoms: vec![WordAtom::Break], ..ExpandedText::default() });
        }
        all.append(value.clone());
    }
    all
}
