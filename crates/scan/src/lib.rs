// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Finds the shell commands in project files and evaluates rules on them.
//!
//! [`ScanReport::add_path`] walks a directory or reads one file. The crate `tenterhook-command-files` knows which
//! files contain commands (scripts, Makefiles, Dockerfiles, justfiles, Taskfiles, package scripts, CI pipelines) and
//! extracts the commands with their lines. Each extracted script is evaluated with a [`Rulebook`]. [`report`] writes
//! the result as JSON and SARIF. Nothing is executed, and only the scanned files are read.

mod image;
mod locate;
pub mod report;
mod statements;
mod walk;

use std::path::Path;

use tenterhook_error::Failure;
use tenterhook_event::{Decision, Timestamp};
use tenterhook_files::FileClass;
use tenterhook_policy::Problem;
use tenterhook_rulebook::Rulebook;

/// Result of a scan.
#[derive(Debug, Default)]
pub struct ScanReport {
    /// Number of files that were read.
    pub files: usize,
    /// Number of shell scripts that were evaluated.
    pub texts: usize,
    /// Lines on which rules matched.
    pub found: Vec<ScanFinding>,
    /// Files that could not be read.
    pub problems: Vec<Problem>,
}

/// One rule that matched on one line.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct ScanFinding {
    /// Path of the file, as given by the caller or found in a directory.
    pub path: String,
    /// Line of the file, counted from one.
    pub line: usize,
    /// Verdict of the rule: ask or deny.
    pub verdict: Decision,
    /// Id of the rule.
    pub rule: String,
    /// Reason that the rule gives.
    pub reason: String,
    /// Suggestion that the rule gives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nudge: Option<String>,
    /// Text of the line.
    pub text: String,
}

// === impl ScanReport ===

impl ScanReport {
    /// Scans a file, or all files below a directory that contain commands. `here` is the current directory.
    pub fn add_path(
        &mut self,
        book: &Rulebook,
        path: &Path,
        here: &Path,
        now: Timestamp,
    ) -> Result<(), Failure> {
        let project = project_of(path, here)?;
        for file in walk::find_files(path, &mut self.problems)? {
            self.add_file(book, &file, &project, now);
        }
        Ok(())
    }

    /// Returns the strictest verdict of all findings.
    pub fn strictest(&self) -> Decision {
        self.found.iter().map(|found| found.verdict).max().unwrap_or_default()
    }

    fn add_file(&mut self, book: &Rulebook, file: &walk::CommandFile, project: &str, now: Timestamp) {
        let name = file.path.display().to_string();
        let name = name.strip_prefix("./").unwrap_or(&name);
        let text = match tenterhook_files::read_bytes(&file.path, FileClass::Named, walk::MAX_FILE_BYTES) {
            Ok(bytes) => String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned(),
            Err(error) => return self.problems.push(Problem::for_file(name, error.to_string())),
        };
        self.files += 1;
        let pieces = match file.kind.read(&text) {
            Ok(pieces) => pieces,
            Err((spot, message)) => return self.problems.push(Problem::new(name, spot, message)),
        };
        let lines: Vec<&str> = text.lines().collect();
        for piece in &pieces {
            self.texts += 1;
            for (line, finding) in locate::find_lines(book, piece, project, now) {
                let shown = lines.get(line.saturating_sub(1)).map_or("", |line| line.trim());
                self.found.push(ScanFinding {
                    path: name.to_owned(),
                    line,
                    verdict: finding.verdict,
                    rule: finding.rule.unwrap_or_default(),
                    reason: finding.reason.unwrap_or_default(),
                    nudge: finding.nudge,
                    text: shown.to_owned(),
                });
            }
        }
    }
}

/// Returns the directory in which the commands of a path would run. For a directory it is the directory itself; for a
/// file it is the current directory.
fn project_of(path: &Path, here: &Path) -> Result<String, Failure> {
    let whole = std::path::absolute(path)?;
    let project = if whole.is_dir() {
        whole.as_path()
    } else if whole.starts_with(here) {
        here
    } else {
        whole.parent().unwrap_or(Path::new("/"))
    };
    Ok(project.to_string_lossy().into_owned())
}
