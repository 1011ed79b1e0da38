// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads the files that a call would run, and evaluates the rules on their commands.
//!
//! A command line such as `sh build.sh`, `python tool.py`, `make test` or `npm run build` does not show what
//! it does. The facts list the files that such a call runs. This module reads at most [`MAX_FILES`] of these
//! files, of at most [`MAX_FILE_BYTES`] each. It extracts the part that will run and derives the facts again
//! with it. The verdict on the call itself stays the same; rules that match only because of a file add their
//! findings. The strength of a finding depends on who wrote the file:
//!
//! - A file that the session wrote gets the verdict of the rule.
//! - For a file that the session downloaded, the user is asked, even if no rule matches its content.
//! - For any other file, a `deny` becomes an `ask`, and an `ask` is dropped.
//!
//! The record contains path, size and hash of each file, never its content.

use std::path::Path;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tenterhook_command_files::{CommandText, just_tasks, make_tasks, package_tasks};
use tenterhook_event::{Decision, Event, Finding, Flow, TraceEntry};
use tenterhook_facts::{EvalEnvironment, Facts, FileRunner, RunFile, RunText, RunTexts};
use tenterhook_files::FileClass;
use tenterhook_policy::{FileOrigin, PolicyJudgement, RuleSet, SessionState};

use crate::symlinks::{self, SymlinkProbe};

/// Maximum number of files that are read for one call.
const MAX_FILES: usize = 8;
/// Maximum size of a file that is read. Larger files are recorded as unread.
const MAX_FILE_BYTES: u64 = 64 * 1024;
/// Maximum number of passes: a file that is read may run further files, which the next pass reads.
const MAX_PASSES: usize = 3;

const MAKEFILES: &[&str] = &["GNUmakefile", "makefile", "Makefile"];
const JUSTFILES: &[&str] = &["justfile", "Justfile", ".justfile"];

/// What the files of a call add to its judgement.
#[derive(Debug, Default)]
pub(crate) struct FileFindings {
    pub(crate) findings: Vec<Finding>,
    pub(crate) steps: Vec<TraceEntry>,
    /// The files that were read, for the record.
    pub(crate) observed: Option<Value>,
}

/// A file that was read.
#[derive(Debug)]
struct ReadFile {
    request: RunFile,
    path: String,
    bytes: usize,
    sha256: String,
}

/// The files of one call.
#[derive(Debug)]
struct RunFiles<'s> {
    state: &'s SessionState,
    requested: Vec<RunFile>,
    read: Vec<ReadFile>,
    texts: RunTexts,
    probe: SymlinkProbe,
}

/// Reads the files that a call would run and returns the findings that they add to `base`, the judgement of the call
/// alone.
pub(crate) fn judge_run_files(
    event: &Event,
    facts: &Facts,
    environment: &EvalEnvironment<'_>,
    state: &SessionState,
    rules: &RuleSet,
    base: &PolicyJudgement,
) -> FileFindings {
    if facts.run_files.is_empty() {
        return FileFindings::default();
    }
    let files = RunFiles::collect(event, facts, environment, state);
    if files.read.is_empty() {
        return FileFindings::default();
    }
    let is_own = |request: &RunFile| {
        let mut read = files.read.iter().filter(|file| file.request == *request);
        read.any(|file| state.files.contains_key(&file.path))
    };
    let judge = |texts: &RunTexts| {
        let environment = EvalEnvironment { run_texts: Some(texts), ..*environment };
        let mut with_files = symlinks::collect_facts(event, &environment);
        // Words in code that cannot be parsed are ignored here, because long files contain many words.
        with_files.unread.clone_from(&facts.unread);
        with_files.unparsed = facts.unparsed;
        tenterhook_policy::judge(event, &with_files, state, rules)
    };
    let mut added = FileFindings { observed: Some(files.observed()), ..FileFindings::default() };
    let own = files.texts.filtered(is_own);
    if !own.is_empty() {
        added.add(judge(&own), base, &files.names(is_own), |decision| decision);
    }
    if files.read.iter().any(|file| !is_own(&file.request)) {
        let names = files.names(|request| !is_own(request));
        added.add(judge(&files.texts), base, &names, weaken_decision);
    }
    added
}

/// Weakens the verdict on a file that the session did not write. A deny becomes an ask, because the user may know the
/// file. An ask is dropped: scripts of ordinary projects delete directories and download data whose names are known
/// only at run time, and asking about all of them would hide the rest.
fn weaken_decision(decision: Decision) -> Decision {
    if decision == Decision::Deny { Decision::Ask } else { Decision::None }
}

// === impl FileFindings ===

impl FileFindings {
    /// Adds the findings that the judgement with files has in addition to the judgement of the call alone.
    fn add(
        &mut self,
        judged: PolicyJudgement,
        base: &PolicyJudgement,
        names: &str,
        weaken: impl Fn(Decision) -> Decision,
    ) {
        for finding in judged.findings {
            let decision = weaken(finding.decision);
            let known = base.findings.iter().chain(&self.findings);
            let mut same = known.filter(|other| other.by == finding.by);
            if decision < Decision::Ask || same.any(|other| other.decision >= decision) {
                continue;
            }
            let steps = judged.steps.iter().filter(|step| step.by == finding.by);
            self.steps.extend(steps.cloned().map(|step| TraceEntry {
                decision,
                note: Some(match step.note {
                    Some(note) => format!("in {names}: {note}"),
                    None => format!("in {names}"),
                }),
                ..step
            }));
            let reason = finding.reason.as_deref().unwrap_or_default();
            self.findings.push(Finding {
                decision,
                reason: Some(format!("{names}, which this call runs: {reason}")),
                // A rewrite applies to the call, not to a file, and a file's content must not control the
                // agent.
                modifications: Vec::new(),
                flow: Flow::Go,
                ..finding
            });
        }
    }
}

// === impl RunFiles ===

impl<'s> RunFiles<'s> {
    /// Reads the files of a call, and the files that these run.
    fn collect(
        event: &Event,
        facts: &Facts,
        environment: &EvalEnvironment<'_>,
        state: &'s SessionState,
    ) -> Self {
        let (probe, texts) = (SymlinkProbe::default(), RunTexts::default());
        let mut files = Self { state, requested: Vec::new(), read: Vec::new(), texts, probe };
        let mut wanted = facts.run_files.clone();
        for _ in 0..MAX_PASSES {
            let before = files.read.len();
            for request in wanted {
                files.read_request(request);
            }
            if files.read.len() == before {
                break;
            }
            let environment = EvalEnvironment { run_texts: Some(&files.texts), ..*environment };
            wanted = tenterhook_facts::facts(event, &environment).run_files;
        }
        files
    }

    fn read_request(&mut self, request: RunFile) {
        if self.requested.len() >= MAX_FILES || self.requested.contains(&request) {
            return;
        }
        self.requested.push(request.clone());
        let names: &[&str] = match request.runner {
            FileRunner::Script => &[],
            FileRunner::Make => MAKEFILES,
            FileRunner::PackageScript => &["package.json"],
            FileRunner::Just => JUSTFILES,
        };
        let state = self.state;
        let is_downloaded = |path: &str| state.files.get(path) == Some(&FileOrigin::Downloaded);
        let found = self.find_file(&request, names);
        // The user is asked about a download that is too large to be read, as about any other download.
        let unread = || is_downloaded(&request.path).then(|| (request.path.clone(), Vec::new()));
        let Some((path, bytes)) = found.or_else(unread) else { return };
        let is_downloaded = is_downloaded(&path);
        let digits = |byte: &u8| format!("{byte:02x}");
        let sha256 = Sha256::digest(&bytes).iter().map(digits).collect::<Vec<_>>().concat();
        let text = String::from_utf8_lossy(&bytes);
        let texts = |pieces: Vec<CommandText>| pieces.into_iter().map(|piece| piece.text).collect();
        let texts: Vec<String> = match request.runner {
            // A program in machine code is not a script.
            FileRunner::Script if bytes.contains(&0) => Vec::new(),
            FileRunner::Script => vec![text.into_owned()],
            FileRunner::Make => texts(make_tasks(&text, &request.tasks)),
            FileRunner::PackageScript => {
                let scripts = request.tasks.iter().flat_map(|script| package_tasks(&text, script));
                texts(scripts.collect())
            }
            FileRunner::Just => texts(just_tasks(&text, &request.tasks)),
        };
        // Only these two runners start their tasks in the directory of the file.
        let changes_directory = matches!(request.runner, FileRunner::PackageScript | FileRunner::Just);
        let directory = path.rsplit_once('/').filter(|_| changes_directory);
        let directory = directory.map(|(directory, _)| directory.to_owned());
        self.texts.insert(request.clone(), RunText { directory, texts, is_downloaded });
        self.read.push(ReadFile { request, path, bytes: bytes.len(), sha256 });
    }

    /// Reads the requested file. If the path is a directory, reads the first of `names` that is found in it.
    /// Runners other than `make` also search the parent directories.
    fn find_file(&mut self, request: &RunFile, names: &[&str]) -> Option<(String, Vec<u8>)> {
        let is_directory = !names.is_empty() && Path::new(&request.path).is_dir();
        if !is_directory {
            return Some((request.path.clone(), self.read_bytes(&request.path)?));
        }
        let levels = if request.runner == FileRunner::Make { 1 } else { MAX_FILES };
        for directory in Path::new(&request.path).ancestors().take(levels) {
            for name in names {
                let path = directory.join(name).to_string_lossy().into_owned();
                if let Some(bytes) = self.read_bytes(&path) {
                    return Some((path, bytes));
                }
            }
        }
        None
    }

    /// Reads a regular file. Does not enter a directory that would have to be mounted first.
    fn read_bytes(&mut self, path: &str) -> Option<Vec<u8>> {
        if self.probe.may_block(path) {
            return None;
        }
        tenterhook_files::read_bytes(Path::new(path), FileClass::Named, MAX_FILE_BYTES).ok().flatten()
    }

    /// Returns the names of the files that `keep` selects, for use in a reason.
    fn names(&self, keep: impl Fn(&RunFile) -> bool) -> String {
        let names =
            self.read.iter().filter(|file| keep(&file.request)).map(|file| format!("`{}`", file.path));
        names.collect::<Vec<_>>().join(", ")
    }

    fn observed(&self) -> Value {
        let files = self.read.iter().map(|file| {
            json!({
                "path": file.path,
                "bytes": file.bytes,
                "sha256": file.sha256,
                "origin": self.state.files.get(&file.path),
            })
        });
        files.collect()
    }
}
