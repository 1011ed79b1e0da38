// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Stores the session state that rules depend on: labels, the times at which counted rules matched, spend, and the
//! files that the session has written.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::budget::{DailySpend, ReportedUsage, SpendTotals};

/// Maximum number of labels of one session; further labels are dropped.
pub const MAX_LABELS: usize = 64;
/// Maximum number of matches that are counted for one rule.
pub const MAX_COUNTED_MATCHES: usize = 1000;
/// Maximum number of rules whose matches are counted in one session.
const MAX_COUNTED_RULES: usize = 1000;

/// Maximum number of files of each kind that one session remembers; further files are dropped.
const MAX_SESSION_FILES: usize = 256;

/// Maximum size of the files and statements that one session remembers, in bytes of JSON. A session that does ordinary
/// work needs a small part of it.
const MAX_REMEMBERED_BYTES: usize = 2 * 1024 * 1024;
/// Maximum length of a path that is remembered. The kernel refuses longer ones.
const MAX_PATH_BYTES: usize = 4096;

/// Maximum number of statements that one session remembers of each kind: plain variables, and everything else.
const MAX_SHELL_STATEMENTS: usize = 48;

/// How a session created a file that may be run later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileOrigin {
    /// A tool or command of the session wrote the file.
    Written,
    /// A command of the session downloaded or decoded the file.
    Downloaded,
}

/// A file that the session wrote although it contains a command that a rule denies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlaggedFile {
    /// Id of the rule.
    pub rule: String,
    /// Reason of the rule.
    pub reason: String,
}

/// A statement that may have changed the shell of a session, or where its repository pushes to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShellStatement {
    /// What the statement defines: `$NAME` for a variable, `export $NAME` for one that changes what commands do without
    /// being named by them, otherwise the name of a function, alias or subcommand.
    pub name: String,
    /// Text of the statement.
    pub text: String,
    /// Whether the statement has certainly run, and no later call may have changed the variable.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_certain: bool,
}

/// Where the files of a directory come from that a session cloned or unpacked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TreeOrigin {
    /// From a repository.
    Cloned,
    /// From an archive that the session downloaded.
    Unpacked,
}

/// State that rules keep for one session. Its size is bounded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionState {
    /// Labels that rules have set.
    pub labels: BTreeSet<String>,
    /// When labels end, in milliseconds since the Unix epoch. A label that is not listed lasts as long as the session.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub label_ends: BTreeMap<String, u64>,
    /// Times at which counted rules matched, oldest first, in milliseconds since the Unix epoch.
    pub matched: BTreeMap<String, Vec<u64>>,
    /// Spend on models in this session.
    #[serde(skip_serializing_if = "SpendTotals::is_nothing")]
    pub spent: SpendTotals,
    /// Spend on the latest day with any spend. With daily budgets, this is the total of all sessions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub today: Option<DailySpend>,
    /// Totals that the session's transcript has reported; they are part of `spent`.
    #[serde(skip_serializing_if = "ReportedUsage::is_nothing")]
    pub reported: ReportedUsage,
    /// Budget warnings that have been shown.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub warned: BTreeSet<String>,
    /// Files that the session created or changed and that may be run later, by absolute path.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, FileOrigin>,
    /// Copies of files that rules protect from being read, each with the path of its original.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub copies: BTreeMap<String, String>,
    /// Files and directories outside the project that did not exist before the session created them.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub created: BTreeSet<String>,
    /// Paths that the session created and that may contain data from elsewhere: they are not its own any more.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub not_created: BTreeSet<String>,
    /// Symbolic links that the session created, each with its target. A call may be evaluated before the link exists.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub links: BTreeMap<String, String>,
    /// Files that contain a command that a rule denies, by absolute path.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub flagged: BTreeMap<String, FlaggedFile>,
    /// Hashes of files that calls of the session ran, by absolute path, as they were before the latest of these calls.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub run_hashes: BTreeMap<String, String>,
    /// Statements whose effect lasts in a shell that is not restarted for each call, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shell: Vec<ShellStatement>,
    /// Directories that the session cloned or unpacked.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub trees: BTreeMap<String, TreeOrigin>,
    /// Paths that a call of the session would create, each with the key of the call. The call may not have run yet.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub creating: BTreeMap<String, String>,
    /// Whether the session may have changed variables of its shell in a way that is not visible: `eval`, `source`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_shell_unknown: bool,
    /// Whether a part of the state was lost. Rules that only become stricter then apply as if the session had every
    /// label and had reached every limit.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_incomplete: bool,
}

/// What an event does with a file, as far as it matters for later events of the session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionFileChange {
    /// A file that may be run later was written or downloaded.
    Origin(String, FileOrigin),
    /// A copy was deleted or replaced.
    CopyReplaced(String),
    /// A file was copied; the second path is its original.
    Copied(String, String),
    /// A path does not exist, and the call with this key would create it.
    Creating(String, String),
    /// A path that a call would create exists after the call.
    Created(String),
    /// A path that the call with this key would create is not its own: it exists although the call has not run, or the
    /// call has ended without creating it.
    NotCreated(String),
    /// A path that the session created may contain data from elsewhere from now on.
    Filled(String),
    /// A symbolic link was created; the second path is its target.
    Linked(String, String),
    /// A file with a command that a rule denies was written.
    Flagged(String, FlaggedFile),
    /// A file with this hash is run.
    Run(String, String),
    /// The shell, or where a repository pushes to, may be changed by a statement.
    Shell(ShellStatement),
    /// A part of what later events depend on is too large to be remembered.
    Lost,
    /// A statement with this name and text has run.
    ShellRan(String, String),
    /// The value of a variable may be another one from now on.
    ShellUncertain(String),
    /// Any variable of the shell may have another value from now on.
    ShellUnknown,
    /// A directory was cloned or unpacked.
    Fetched(String, TreeOrigin),
}

/// Changes that one event makes to the state of its session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct StateDelta {
    /// Labels that the session does not have yet, or that last longer from now on.
    pub labels: Vec<String>,
    /// When the labels in `labels` end, in milliseconds since the Unix epoch.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub label_ends: BTreeMap<String, u64>,
    /// Counted rules that matched, with the time in milliseconds since the Unix epoch.
    pub matched: Vec<(String, u64)>,
    /// How many matches of each rule in `matched` have to be remembered.
    pub needed: BTreeMap<String, usize>,
    /// Spend on models, with its day.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spent: Option<DailySpend>,
    /// Spend on earlier days that is only now known. It is added to the session's total, but not to the total of any
    /// day.
    #[serde(skip_serializing_if = "SpendTotals::is_nothing")]
    pub earlier: SpendTotals,
    /// Totals that the transcript reports with this event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reported: Option<ReportedUsage>,
    /// Budget warnings that are shown with this event.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warned: Vec<String>,
    /// What the event does with files, in the order in which it is applied.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<SessionFileChange>,
}

// === impl SessionState ===

impl SessionState {
    /// Returns the labels that the session has at this time, in order.
    pub fn labels(&self, now_ms: u64) -> impl Iterator<Item = &str> {
        let lasts = move |label: &&String| self.label_ends.get(*label).is_none_or(|end| *end > now_ms);
        self.labels.iter().filter(lasts).map(String::as_str)
    }

    /// Returns how often a rule has matched within the time window that ends at `now_ms`.
    pub fn matches_within(&self, rule: &str, window_ms: u64, now_ms: u64) -> usize {
        if self.is_incomplete {
            return usize::MAX;
        }
        let stamps = self.matched.get(rule).map(Vec::as_slice).unwrap_or_default();
        stamps.iter().filter(|stamp| stamp.saturating_add(window_ms) > now_ms).count()
    }

    /// Adds the changes of one event.
    pub fn apply(&mut self, delta: &StateDelta) {
        for label in &delta.labels {
            if self.labels.len() < MAX_LABELS || self.labels.contains(label) {
                let is_new = self.labels.insert(label.clone());
                match (delta.label_ends.get(label), self.label_ends.get_mut(label)) {
                    (Some(end), Some(known)) => *known = (*known).max(*end),
                    (Some(end), None) if is_new => {
                        self.label_ends.insert(label.clone(), *end);
                    }
                    // The label already lasts as long as the session.
                    (Some(_), None) => {}
                    (None, _) => {
                        self.label_ends.remove(label);
                    }
                }
            }
        }
        for (rule, stamp) in &delta.matched {
            if self.matched.len() >= MAX_COUNTED_RULES && !self.matched.contains_key(rule) {
                continue;
            }
            let needed =
                delta.needed.get(rule).copied().unwrap_or(MAX_COUNTED_MATCHES).min(MAX_COUNTED_MATCHES);
            let stamps = self.matched.entry(rule.clone()).or_default();
            let place = stamps.partition_point(|other| other <= stamp);
            stamps.insert(place, *stamp);
            let surplus = stamps.len().saturating_sub(needed);
            stamps.drain(..surplus);
        }
        if let Some(more) = delta.spent {
            self.spent = self.spent.saturating_add(more.spent);
            self.today = Some(more.add_earlier(self.today));
        }
        self.spent = self.spent.saturating_add(delta.earlier);
        if let Some(reported) = delta.reported {
            self.reported = self.reported.max_each(reported);
        }
        for warning in delta.warned.iter().take(MAX_COUNTED_RULES.saturating_sub(self.warned.len())) {
            self.warned.insert(warning.clone());
        }
        if delta.files.is_empty() {
            return;
        }
        let mut free = MAX_REMEMBERED_BYTES.saturating_sub(self.remembered_bytes());
        for change in &delta.files {
            let size = if change.only_forgets() { 0 } else { json_size(change) };
            if size <= free && change.has_possible_paths() {
                free -= size;
                // A change that is not remembered could have made a later verdict stricter.
                self.is_incomplete |= !self.apply_file_change(change);
            } else {
                self.is_incomplete = true;
            }
        }
    }

    /// Returns the size of the files and statements in this state.
    fn remembered_bytes(&self) -> usize {
        let Self {
            files,
            copies,
            created,
            not_created,
            links,
            flagged,
            run_hashes,
            shell,
            trees,
            creating,
            ..
        } = self;
        json_size(&(files, copies, created, not_created, links))
            + json_size(&(flagged, run_hashes, shell, trees, creating))
    }

    /// Applies a change. Returns `false` if there is no place for it and later verdicts would be weaker without it.
    fn apply_file_change(&mut self, change: &SessionFileChange) -> bool {
        match change {
            SessionFileChange::Origin(path, origin) => return self.set_origin(path, *origin),
            SessionFileChange::CopyReplaced(path) => {
                self.copies.remove(path);
            }
            SessionFileChange::Copied(path, original) => {
                return insert_bounded(&mut self.copies, path, original);
            }
            SessionFileChange::Creating(path, call) => {
                if !self.not_created.contains(path) {
                    // Without it, the session is asked before it deletes the path.
                    insert_bounded(&mut self.creating, path, call);
                }
            }
            SessionFileChange::NotCreated(path) => {
                self.creating.remove(path);
            }
            SessionFileChange::Created(path) => {
                if self.creating.remove(path).is_some() && self.created.len() < MAX_SESSION_FILES {
                    self.created.insert(path.clone());
                }
            }
            SessionFileChange::Filled(path) => {
                let was_own = self.created.remove(path) | self.creating.remove(path).is_some();
                if was_own && self.not_created.len() >= MAX_SESSION_FILES {
                    return false;
                }
                if was_own {
                    self.not_created.insert(path.clone());
                }
            }
            SessionFileChange::Linked(path, target) => return insert_bounded(&mut self.links, path, target),
            SessionFileChange::Flagged(path, flagged) => {
                return insert_bounded(&mut self.flagged, path, flagged);
            }
            SessionFileChange::Run(path, hash) => {
                // The hash is only compared with the one after the call, for a message.
                insert_bounded(&mut self.run_hashes, path, hash);
            }
            SessionFileChange::Shell(statement) => return self.add_statement(statement),
            SessionFileChange::Lost => return false,
            SessionFileChange::ShellRan(name, text) => self.confirm_statement(name, text),
            SessionFileChange::ShellUncertain(name) => {
                for known in self.shell.iter_mut().filter(|known| known.name == *name) {
                    known.is_certain = false;
                }
            }
            SessionFileChange::ShellUnknown => self.is_shell_unknown = true,
            SessionFileChange::Fetched(path, origin) => return insert_bounded(&mut self.trees, path, origin),
        }
        true
    }

    /// Marks the latest statement with this name as certain. Earlier definitions of the name no longer apply.
    fn confirm_statement(&mut self, name: &str, text: &str) {
        let Some(latest) = self.shell.iter().rposition(|known| known.name == name) else { return };
        if self.shell.get(latest).is_some_and(|known| known.text == text) {
            let mut position = 0..;
            self.shell.retain(|known| position.next() == Some(latest) || known.name != name);
            if let Some(known) = self.shell.iter_mut().find(|known| known.name == name) {
                known.is_certain = true;
            }
        }
    }

    /// Adds a statement. Because the statement may not run, the definition before it is kept. If there are too many, the
    /// oldest one of the same kind is dropped: returns `false` unless it only assigns a plain variable, whose value is
    /// unknown from then on.
    fn add_statement(&mut self, statement: &ShellStatement) -> bool {
        self.shell.retain(|known| known.name != statement.name || known.text != statement.text);
        let others: Vec<_> =
            self.shell.iter().filter(|known| known.name == statement.name).cloned().collect();
        let [outdated @ .., _] = others.as_slice() else { return self.push_statement(statement) };
        self.shell.retain(|known| !outdated.contains(known));
        self.push_statement(statement)
    }

    fn push_statement(&mut self, statement: &ShellStatement) -> bool {
        let is_plain = statement.is_plain_variable();
        let is_same_kind = |known: &ShellStatement| known.is_plain_variable() == is_plain;
        let is_full = self.shell.iter().filter(|known| is_same_kind(known)).count() >= MAX_SHELL_STATEMENTS;
        if let Some(oldest) = self.shell.iter().position(is_same_kind).filter(|_| is_full) {
            self.shell.remove(oldest);
        }
        self.shell.push(statement.clone());
        is_plain || !is_full
    }

    /// Sets the origin of a file. Returns `false` if a download is not remembered. Sessions write more scripts than are
    /// remembered: the others count as files of the user, about which a rule that denies asks.
    fn set_origin(&mut self, path: &str, origin: FileOrigin) -> bool {
        if self.files.len() >= MAX_SESSION_FILES && origin == FileOrigin::Downloaded {
            // A download matters more than a file that the session wrote itself.
            let written = self.files.iter().find(|(_, known)| **known == FileOrigin::Written);
            if let Some(path) = written.map(|(path, _)| path.clone()) {
                self.files.remove(&path);
            }
        }
        // A downloaded file that is changed still contains what was downloaded.
        let origin = self.files.get(path).map_or(origin, |known| origin.max(*known));
        insert_bounded(&mut self.files, path, &origin) || origin == FileOrigin::Written
    }

    /// Whether there is nothing to store.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl ShellStatement {
    /// Whether the statement only assigns a variable that matters to calls which name it.
    fn is_plain_variable(&self) -> bool {
        self.name.starts_with('$')
    }
}

impl SessionFileChange {
    /// Whether the change needs no additional memory and only makes later verdicts stricter.
    fn only_forgets(&self) -> bool {
        matches!(
            self,
            Self::Filled(_) | Self::NotCreated(_) | Self::ShellUncertain(_) | Self::ShellUnknown | Self::Lost
        )
    }

    /// Whether all paths are short enough to exist.
    fn has_possible_paths(&self) -> bool {
        let (first, second) = match self {
            Self::Copied(path, other) | Self::Linked(path, other) => (path, Some(other)),
            Self::Origin(path, _)
            | Self::CopyReplaced(path)
            | Self::Creating(path, _)
            | Self::Created(path)
            | Self::NotCreated(path)
            | Self::Filled(path)
            | Self::Flagged(path, _)
            | Self::Run(path, _)
            | Self::Fetched(path, _) => (path, None),
            Self::Shell(_)
            | Self::ShellRan(..)
            | Self::ShellUncertain(_)
            | Self::ShellUnknown
            | Self::Lost => {
                return true;
            }
        };
        first.len() <= MAX_PATH_BYTES && second.is_none_or(|path| path.len() <= MAX_PATH_BYTES)
    }
}

/// Returns the length of a value as JSON.
fn json_size(value: &impl Serialize) -> usize {
    serde_json::to_vec(value).map_or(usize::MAX, |bytes| bytes.len())
}

/// Adds an entry to a map of files, up to its maximum size. Returns `false` if the map is full.
fn insert_bounded<T: Clone>(map: &mut BTreeMap<String, T>, path: &str, value: &T) -> bool {
    let has_place = map.len() < MAX_SESSION_FILES || map.contains_key(path);
    if has_place {
        map.insert(path.to_owned(), value.clone());
    }
    has_place
}

// === impl StateDelta ===

impl StateDelta {
    /// Whether the event changes nothing.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
            && self.matched.is_empty()
            && self.warned.is_empty()
            && self.files.is_empty()
            && !self.adds_spending()
    }

    /// Adds the changes of a later evaluation of the same event.
    pub fn extend(&mut self, later: Self) {
        let Self { labels, label_ends, matched, needed, spent, earlier, reported, warned, files } = later;
        self.labels.extend(labels);
        self.label_ends.extend(label_ends);
        self.matched.extend(matched);
        self.needed.extend(needed);
        self.spent = self.spent.or(spent);
        self.earlier = self.earlier.saturating_add(earlier);
        self.reported = self.reported.or(reported);
        self.warned.extend(warned);
        self.files.extend(files);
    }

    /// Returns the changes that are not in `known`. A rule that matched, and spend, count only once.
    #[must_use]
    pub fn without(&self, known: &Self) -> Self {
        let mut new = self.clone();
        new.labels.retain(|label| !known.labels.contains(label));
        new.matched.retain(|(rule, _)| !known.matched.iter().any(|(other, _)| other == rule));
        new.warned.retain(|warning| !known.warned.contains(warning));
        new.files.retain(|change| !known.files.contains(change));
        if known.adds_spending() {
            (new.spent, new.earlier, new.reported) = (None, SpendTotals::default(), None);
        }
        new
    }

    /// Whether the event adds spend.
    pub fn adds_spending(&self) -> bool {
        self.spent.is_some() || !self.earlier.is_nothing() || self.reported.is_some()
    }
}

#[cfg(test)]
mod tests;
