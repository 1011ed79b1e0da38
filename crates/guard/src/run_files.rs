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
//! - For any other file, a `deny` becomes an `ask`, and an `ask` is dropped unless its rule has `project_scripts:
//!   true`.
//!
//! The record contains path, size and hash of each file, never its content. [`FileAccess`] decides whose rights are
//! used to read them. If a file cannot be read in time, the user is asked.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::path::{Component, Path, PathBuf};

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tenterhook_command_files::{local_imports, makefile_includes};
use tenterhook_event::{Decision, Event, Finding, Flow, Origin, TraceEntry};
use tenterhook_facts::{
    EvalEnvironment, Facts, FileRunner, RunFile, RunPiece, RunText, RunTexts, SessionFilePaths, UrlFact,
};
use tenterhook_policy::{FileOrigin, PolicyJudgement, Rule, RuleSet, SessionState};

use crate::file_access::{FileAccess, FileReader};
use crate::session_trees::FetchedTrees;
use crate::symlinks;
use crate::task_files;

/// Maximum number of files that are read for one call.
const MAX_FILES: usize = 8;
/// Maximum size of a file that is read. Larger files are recorded as unread.
const MAX_FILE_BYTES: u64 = 64 * 1024;
/// Maximum number of files that scripts load and that are read for one script.
const MAX_IMPORTED_FILES: usize = 4;
/// Maximum number of passes: a file that is read may run further files, which the next pass reads.
const MAX_PASSES: usize = 3;

/// Reason for asking about a call whose files could not be read in time.
const UNREAD_IN_TIME: &str = "the files that this call runs could not be read in time";

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

/// The files that a call would run, and what they contain.
#[derive(Debug)]
pub(crate) struct RunFiles<'s> {
    state: &'s SessionState,
    /// Directories that the session or this call cloned or unpacked.
    trees: FetchedTrees,
    /// Home directory of the account that runs the agent.
    home: Option<String>,
    requested: Vec<RunFile>,
    read: Vec<ReadFile>,
    texts: RunTexts,
    /// The facts derived with the commands of the files, and the number of these files.
    derived: Option<(usize, Facts)>,
    /// Whether a file could not be read in time.
    is_late: bool,
}

/// Evaluates the rules on a call together with the files that it would run. Returns the findings that are not in
/// `base`, the judgement of the call alone.
pub(crate) fn judge_run_files(
    files: &RunFiles<'_>,
    event: &Event,
    facts: &Facts,
    environment: &EvalEnvironment<'_>,
    rules: &RuleSet,
    base: &PolicyJudgement,
) -> FileFindings {
    let late = files.is_late.then(|| Finding::decided(Origin::Engine, Decision::Ask, UNREAD_IN_TIME));
    if files.read.is_empty() {
        return FileFindings { findings: late.into_iter().collect(), ..FileFindings::default() };
    }
    let state = files.state;
    let is_own = |request: &RunFile| {
        let mut read = files.read.iter().filter(|file| file.request == *request);
        read.any(|file| state.files.contains_key(&file.path) || files.is_downloaded(&file.path))
    };
    let judge = |texts: &RunTexts| {
        let mut with_files = files.facts(event, facts, texts, environment);
        let paths = SessionFilePaths { copies: &state.copies, created: &state.created };
        if !paths.is_empty() {
            with_files.apply_session_files(event, environment, paths);
        }
        let is_unverified = with_files.urls.iter().any(is_unverified);
        (judge_with_code(event, with_files, state, rules), is_unverified)
    };
    let (findings, observed) = (late.into_iter().collect(), Some(files.observed()));
    let mut added = FileFindings { findings, observed, ..FileFindings::default() };
    let own = files.texts.filtered(is_own);
    if !own.is_empty() {
        added.add(judge(&own).0, base, &files.names(is_own), |_, decision| decision);
    }
    if files.read.iter().any(|file| !is_own(&file.request)) {
        let names = files.names(|request| !is_own(request));
        let (judged, is_unverified) = judge(&files.texts);
        let weaken = |by: &Origin, decision| weaken_decision(rules, by, decision, is_unverified);
        added.add(judged, base, &names, weaken);
    }
    added
}

/// Rules that also search the code of files for patterns. Patterns of other rules also match ordinary programs.
const CODE_PATTERN_RULES: &[&str] = &["exfiltration", "hidden-code", "remote-code", "reverse-shell"];

/// Evaluates the rules on facts with files. A few rules also search the code of these files.
pub(crate) fn judge_with_code(
    event: &Event,
    mut facts: Facts,
    state: &SessionState,
    rules: &RuleSet,
) -> PolicyJudgement {
    let mut judged = tenterhook_policy::judge(event, &facts, state, rules);
    if !facts.include_code_texts() {
        return judged;
    }
    let with_code = tenterhook_policy::judge(event, &facts, state, rules);
    let sends = facts.urls.iter().any(|url| !url.loopback);
    let is_new = |by: &Origin, known: &[Finding]| {
        let Origin::Rule(id) = by else { return false };
        let is_searched = CODE_PATTERN_RULES.contains(&&**id) && (sends || &**id != "exfiltration");
        is_searched && known.iter().all(|finding| finding.by != *by)
    };
    let new: Vec<_> =
        with_code.findings.into_iter().filter(|finding| is_new(&finding.by, &judged.findings)).collect();
    let steps = with_code.steps.into_iter().filter(|step| is_new(&step.by, &judged.findings));
    judged.steps.extend(steps);
    judged.findings.extend(new);
    judged
}

/// Rules whose asks also apply to files that the session did not write, if such a file names an address without
/// encryption or without a name: it is not certain who answers there.
const UNVERIFIED_ASKS: &[&str] = &["remote-code-unknown"];

/// Whether an address on another network is not encrypted, or consists of numbers.
fn is_unverified(url: &UrlFact) -> bool {
    let is_private = url.host.parse::<Ipv4Addr>().is_ok_and(|address| address.is_private());
    !url.loopback && !url.dynamic && !is_private && (url.scheme == "http" || url.numeric)
}

/// Weakens the verdict on a file that the session did not write. A deny becomes an ask, because the user may know the
/// file. Most asks are dropped: scripts of ordinary projects delete directories and download data whose names are known
/// only at run time, and asking about all of them would hide the rest. Rules with `project_scripts: true` need facts that
/// ordinary scripts do not have.
fn weaken_decision(rules: &RuleSet, by: &Origin, decision: Decision, is_unverified: bool) -> Decision {
    let is_kept = || {
        let Origin::Rule(id) = by else { return false };
        is_unverified && UNVERIFIED_ASKS.contains(&&**id)
            || rules.rule(id).is_some_and(Rule::asks_about_project_scripts)
    };
    match decision {
        Decision::Deny => Decision::Ask,
        Decision::Ask if is_kept() => Decision::Ask,
        _ => Decision::None,
    }
}

/// First bytes of programs that the kernel runs: ELF, Mach-O (three formats).
const MACHINE_CODE: &[&[u8]] = &[b"\x7fELF", b"\xfe\xed\xfa", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe"];

/// Whether the kernel runs a file, so that no shell reads it. A shell that is given a file with a NUL byte in its first
/// line refuses it as well.
fn is_machine_code(bytes: &[u8]) -> bool {
    let first_line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    MACHINE_CODE.iter().any(|start| bytes.starts_with(start)) && first_line.contains(&0)
}

/// Returns the hash of a file's content, in hexadecimal digits.
pub(crate) fn hash_bytes(bytes: &[u8]) -> String {
    let digits = |byte: &u8| format!("{byte:02x}");
    Sha256::digest(bytes).iter().map(digits).collect::<Vec<_>>().concat()
}

/// Reads the files of a request, at most `max_files`, with their paths.
fn find_files(
    request: &RunFile,
    home: Option<&str>,
    max_files: usize,
    reader: &mut FileReader,
) -> Vec<(String, Vec<u8>)> {
    let mut found: Vec<(String, Vec<u8>)> = Vec::new();
    for alternatives in task_files::find_candidates(request, home, reader.probe()) {
        if found.len() >= max_files {
            break;
        }
        let read = |path: PathBuf| {
            let path = normalize_path(&path);
            reader.read(&path, MAX_FILE_BYTES).map(|bytes| (path, bytes))
        };
        found.extend(alternatives.into_iter().find_map(read));
    }
    if matches!(request.runner, FileRunner::Make | FileRunner::MakeDryRun) {
        add_included_makefiles(&mut found, reader);
    }
    if matches!(request.runner, FileRunner::Script | FileRunner::PythonModule) {
        add_imported_files(&mut found, max_files, reader);
    }
    found
}

/// Adds files of the same project that a script loads, and files that these load.
fn add_imported_files(found: &mut Vec<(String, Vec<u8>)>, max_files: usize, reader: &mut FileReader) {
    let max_files = max_files.min(found.len() + MAX_IMPORTED_FILES);
    let mut at = 0;
    while let Some((path, bytes)) = found.get(at) {
        at += 1;
        let imports = local_imports(path, &String::from_utf8_lossy(bytes));
        let directory = Path::new(path).parent().unwrap_or(Path::new("/")).to_owned();
        for alternatives in imports {
            if found.len() >= max_files {
                return;
            }
            let read = |name: String| {
                let path = normalize_path(&directory.join(name));
                reader.read(&path, MAX_FILE_BYTES).map(|bytes| (path, bytes))
            };
            let imported = alternatives.into_iter().find_map(read);
            found.extend(imported.filter(|(path, _)| found.iter().all(|(other, _)| other != path)));
        }
    }
}

/// Appends the content of the files that a makefile includes to its text, because rules may refer to each other.
fn add_included_makefiles(found: &mut [(String, Vec<u8>)], reader: &mut FileReader) {
    let Some((path, bytes)) = found.first_mut() else { return };
    let directory = path.rsplit_once('/').map_or("/", |(directory, _)| directory).to_owned();
    let includes = makefile_includes(&String::from_utf8_lossy(bytes));
    for include in includes.iter().take(MAX_FILES) {
        let files = task_files::listed_files(Path::new(&directory), include, reader.probe());
        for file in files.into_iter().flatten() {
            if let Some(text) = reader.read(&normalize_path(&file), MAX_FILE_BYTES) {
                bytes.push(b'\n');
                bytes.extend(text);
            }
        }
    }
}

/// Adds the code of imported files followed by the code of the script, which calls it. Each of them also stays a text of
/// its own: a file that ends in an open string or comment must not hide the code behind it.
fn join_imported_texts(texts: &mut Vec<RunPiece>) {
    let Some((script, imported)) = texts.split_first().filter(|(_, imported)| !imported.is_empty()) else {
        return;
    };
    let all = imported.iter().map(|piece| piece.text.as_str()).chain([script.text.as_str()]);
    let joined = all.collect::<Vec<_>>().join("\n");
    texts.push(joined.into());
}

/// Joins a directory and a path, without `.` and `..`.
pub(crate) fn join_paths(directory: impl AsRef<Path>, path: &str) -> String {
    normalize_path(&directory.as_ref().join(path))
}

/// Removes `.` and `..` from an absolute path.
pub(crate) fn normalize_path(path: &Path) -> String {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain.to_string_lossy().into_owned()
}

// === impl FileFindings ===

impl FileFindings {
    /// Adds the findings that the judgement with files has in addition to the judgement of the call alone.
    fn add(
        &mut self,
        judged: PolicyJudgement,
        base: &PolicyJudgement,
        names: &str,
        weaken: impl Fn(&Origin, Decision) -> Decision,
    ) {
        for finding in judged.findings {
            let decision = weaken(&finding.by, finding.decision);
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
    pub(crate) fn collect(
        event: &Event,
        facts: &Facts,
        environment: &EvalEnvironment<'_>,
        state: &'s SessionState,
        access: &mut FileAccess,
    ) -> Self {
        let (texts, home) = (RunTexts::default(), environment.home.map(str::to_owned));
        let (requested, read, derived) = (Vec::new(), Vec::new(), None);
        let trees = FetchedTrees::collect(facts, state, event.cwd.as_deref());
        let mut files = Self { state, trees, home, requested, read, texts, derived, is_late: false };
        let mut wanted = facts.run_files.clone();
        for _ in 0..MAX_PASSES {
            let before = files.read.len();
            for request in wanted {
                files.read_request(request, access);
            }
            if files.read.len() == before {
                break;
            }
            let environment = EvalEnvironment { run_texts: Some(&files.texts), ..*environment };
            let derived = tenterhook_facts::facts(event, &environment);
            let found = derived.run_files.clone();
            files.derived = Some((files.read.len(), derived));
            wanted = found;
        }
        files.is_late = access.is_late();
        files
    }

    /// Returns the commands of the files.
    pub(crate) fn texts(&self) -> &RunTexts {
        &self.texts
    }

    /// Derives the facts of the call again, with the commands of these files. `facts` are those of the call alone.
    pub(crate) fn facts(
        &self,
        event: &Event,
        facts: &Facts,
        texts: &RunTexts,
        environment: &EvalEnvironment<'_>,
    ) -> Facts {
        let environment = EvalEnvironment { run_texts: Some(texts), ..*environment };
        // Text in files that is not understood is ignored: rules would match by chance one of its many words.
        let (unread, unparsed) = (facts.unread.clone(), facts.unparsed);
        // The facts with all files were already derived after the last file was read.
        let is_derived = |(count, _): &&(usize, Facts)| *count == self.read.len() && *texts == self.texts;
        let with_files = match self.derived.as_ref().filter(is_derived) {
            Some((_, derived)) => {
                symlinks::resolve_links(event, derived.clone(), &environment, &BTreeMap::new())
            }
            None => symlinks::collect_facts(event, &environment),
        };
        Facts { unread, unparsed, ..with_files }
    }

    /// Returns the hash of each file by its path. Files that the call itself changes are left out.
    pub(crate) fn hashes(&self) -> impl Iterator<Item = (&str, &str)> {
        let is_changed =
            |runner: FileRunner| matches!(runner, FileRunner::PackageInstall | FileRunner::Composer);
        let read = self.read.iter().filter(move |file| !is_changed(file.request.runner));
        read.map(|file| (file.path.as_str(), file.sha256.as_str()))
    }

    fn read_request(&mut self, request: RunFile, access: &mut FileAccess) {
        if self.requested.len() >= MAX_FILES || self.requested.contains(&request) {
            return;
        }
        self.requested.push(request.clone());
        let (wanted, home, count) = (request.clone(), self.home.clone(), MAX_FILES - self.read.len());
        let found = access.run(move |reader| find_files(&wanted, home.as_deref(), count, reader));
        let found = found.unwrap_or_default();
        // The user is asked about a downloaded file even if it is too large to be read.
        let unread = || self.is_downloaded(&request.path).then(|| (request.path.clone(), Vec::new()));
        let found = if found.is_empty() { unread().into_iter().collect() } else { found };
        let Some((first, _)) = found.first() else { return };
        let directory = first.rsplit_once('/').filter(|_| task_files::changes_directory(request.runner));
        let directory = directory.map(|(directory, _)| directory.to_owned());
        let is_downloaded = found.iter().any(|(path, _)| self.is_downloaded(path));
        let is_machine_code = found.first().is_some_and(|(_, bytes)| is_machine_code(bytes));
        let mut texts = Vec::new();
        for (path, bytes) in found {
            // Shells skip NUL bytes.
            let text = String::from_utf8_lossy(&bytes).replace('\0', "");
            let tasks = task_files::read_tasks(request.runner, &path, &text, &request.tasks);
            texts.extend(tasks.into_iter().map(|task| RunPiece { text: task.text, language: task.language }));
            let (request, sha256) = (request.clone(), hash_bytes(&bytes));
            self.read.push(ReadFile { request, path, bytes: bytes.len(), sha256 });
        }
        if request.runner == FileRunner::Script {
            join_imported_texts(&mut texts);
        }
        self.texts.insert(request, RunText { directory, texts, is_downloaded, is_machine_code });
    }

    fn is_downloaded(&self, path: &str) -> bool {
        self.state.files.get(path) == Some(&FileOrigin::Downloaded) || self.trees.contains(path)
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
