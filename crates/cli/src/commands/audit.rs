// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `audit`: evaluates calls in transcripts of past sessions, prints a report, and imports the sessions on request.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use tenterhook_audit::{
    AuditFindings, AuditScope, TerminalReport, TranscriptImport, read_transcripts, terminal_text, write_page,
};
use tenterhook_event::Timestamp;
use tenterhook_guard::replay::EventReplay;
use tenterhook_harness::{HARNESSES, Harness};
use tenterhook_home::{Sources, WorkDirs, call_meta, write_atomic};
use tenterhook_policy::RuleSet;
use tenterhook_transcript::{self as transcript, TranscriptOutput, transcripts_of};

use crate::context::Context;
use crate::error::CommandError;
use crate::read_input;
use crate::terminal::{GOOD, Terminal};
use tenterhook_ledger_commands::ledger::{ProgressBar, parse_time};

/// Maximum number of sessions whose state is kept, because events of a subagent may come much later.
const MAX_OPEN_SESSIONS: usize = 4096;

const EXAMPLES: &str = "\
Reads the transcripts of Claude Code, Codex, Gemini CLI, OpenCode, Copilot CLI and pi, and evaluates every tool \
call as if it were made now: with the rule packs, the organisation's rules and your policy.yaml, or FILE in its \
place. Nothing has to be installed. Files are only read, nothing in them is run or sent anywhere, and secrets are \
redacted in the output. Paths are evaluated as written, and a project's own rules are not used, because the disk \
has changed since.

With --import the sessions are added to the ledger and shown like any other. These records have \
`origin: transcript`: they contain what happened, without a decision. The same event is never imported twice.

Exit codes: 0 done; 1 nothing could be read, or not everything was imported; 2 wrong usage.

Examples:
  tenterhook audit
  tenterhook audit --since 30d --harness claude-code,codex --html audit.html
  tenterhook audit --policy stricter.yaml --json
  tenterhook audit --project . --import";

/// Evaluate past sessions of agents from their transcripts
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Only these harnesses [default: all with transcripts]
    #[arg(long, value_name = "HARNESS", value_delimiter = ',')]
    harness: Vec<String>,
    /// Only events since: 15m, 24h, 30d, 2026-11-15 or 2026-11-15T08:00:00Z
    #[arg(long, value_name = "WHEN", value_parser = parse_time)]
    since: Option<Timestamp>,
    /// Only sessions in this directory or below it
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// Rule file to use instead of your policy.yaml
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// Maximum number of rules, projects, weeks and files to list
    #[arg(long, value_name = "N", default_value_t = 10)]
    limit: usize,
    /// Also write an HTML page with charts
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Import the sessions into the ledger
    #[arg(long)]
    import: bool,
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let chosen = args.harnesses()?;
    let scope = args.scope()?;
    let rules = load_rules(context, args.policy.as_deref())?;
    let mut import = if args.import { Some(TranscriptImport::begin(context.home()?)?) } else { None };
    let findings = audit_transcripts(context, &chosen, &scope, &rules, import.as_mut());
    let imported = import.map(TranscriptImport::end);

    if let Some(file) = &args.html {
        let page = write_page(&findings, &args.describe_selection(), &call_meta::now().to_string());
        // The page contains commands, so only its owner may read it.
        write_atomic(&std::path::absolute(file)?, page.as_bytes(), 0o600)?;
    }
    if context.terminal.json {
        context.terminal.print_json(&findings.to_json(imported.as_ref()))?;
    } else {
        let is_recent_only = args.since.is_some();
        let report = TerminalReport { limit: args.limit, layout: Terminal::table_layout(), is_recent_only };
        let mut text = terminal_text(&findings, imported.as_ref(), report);
        text.extend(
            args.html.iter().map(|file| format!("{GOOD}✓{GOOD:#} page written to `{}`\n", file.display())),
        );
        context.terminal.print(&text)?;
    }
    let failed = imported.is_some_and(|imported| imported.failed.is_some()) || findings.has_only_failures();
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Reads the transcripts of harnesses and evaluates their calls. Shows its progress on a terminal.
pub(super) fn audit_transcripts(
    context: &Context,
    chosen: &[&'static Harness],
    scope: &AuditScope,
    rules: &RuleSet,
    mut import: Option<&mut TranscriptImport>,
) -> AuditFindings {
    let person = context.env.home.as_deref().and_then(Path::to_str);
    let mut hindsight = EventReplay::new(rules, person, MAX_OPEN_SESSIONS);
    let mut findings = AuditFindings::default();
    let ground = context.env.machine();
    let mut work = Vec::new();
    for harness in chosen {
        let directories = transcript::transcript_directories(harness, &ground);
        findings.searched.extend(directories.into_iter().map(|directory| (harness.title, directory)));
        let (found, left_out) = transcript::find_transcripts(harness, &ground);
        findings.add_left_out(harness, left_out);
        // A file that was last written before the period contains no event from the period.
        let found: Vec<_> = found.into_iter().filter(|found| found.modified_ms >= scope.from_ms).collect();
        work.push((*harness, found));
    }
    let all: u64 = work.iter().flat_map(|(_, found)| found).map(|found| found.bytes).sum();
    let mut bar = ProgressBar::with_unit(context.terminal, "KiB");
    let began = std::time::Instant::now();
    let mut done = 0;
    for (harness, found) in &work {
        let mut take_item = |item: TranscriptOutput| match item {
            TranscriptOutput::Advanced(bytes) => {
                done += bytes;
                bar.show(done >> 10, Some(all >> 10));
            }
            TranscriptOutput::UnreadPart(why) => findings.add_unread(harness, why),
            TranscriptOutput::Event(event) if scope.contains(&event) => {
                let verdict = hindsight.judge(&event, None);
                findings.add_event(&event, &verdict);
                if let Some(import) = &mut import {
                    import.add_event(&event);
                }
            }
            TranscriptOutput::Event(_) => {}
        };
        let failures = read_transcripts(harness, found, &mut take_item);
        findings.add_files(harness, found.len() - failures.len());
        findings.add_left_out(harness, failures);
    }
    bar.clear();
    findings.took_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    findings
}

/// Harnesses whose transcripts can be read.
pub(super) fn readable_harnesses() -> impl Iterator<Item = &'static Harness> {
    HARNESSES.iter().filter(|harness| transcripts_of(harness).is_some())
}

/// Loads the rules of an audit: those of the user's policy, or those of `file` in its place.
pub(super) fn load_rules(context: &Context, file: Option<&Path>) -> Result<RuleSet, CommandError> {
    let home = context.home()?;
    let mut sources = Sources::collect(home, &context.env, &WorkDirs::default());
    if let Some(file) = file {
        sources = sources.with_policy(home, file)?;
    }
    let loaded = sources.load();
    match sources.problems.iter().chain(&loaded.problems).next() {
        // One invalid rule is an error: an evaluation without it would look like one with all rules.
        Some(problem) => Err(CommandError::user(problem.to_string())
            .hint("list all problems: `tenterhook check`, with the file if you named one")),
        None => Ok(loaded.rules),
    }
}

impl Args {
    fn harnesses(&self) -> Result<Vec<&'static Harness>, CommandError> {
        if self.harness.is_empty() {
            return Ok(readable_harnesses().collect());
        }
        let mut chosen = Vec::new();
        for id in &self.harness {
            let harness = read_input::parse_harness(id)?;
            if transcripts_of(harness).is_none() {
                let known: Vec<_> = readable_harnesses().map(|harness| harness.id).collect();
                let error = CommandError::user(format!("transcripts of {} cannot be read", harness.title));
                return Err(error.hint(format!("supported: {}", known.join(", "))));
            }
            chosen.push(harness);
        }
        Ok(chosen)
    }

    fn scope(&self) -> Result<AuditScope, CommandError> {
        let project = self.project.as_deref().map(std::path::absolute).transpose()?;
        // Harnesses record the resolved path of a directory.
        let project = project.map(|path| path.canonicalize().unwrap_or(path));
        Ok(AuditScope { from_ms: self.since.map_or(0, Timestamp::unix_ms), project })
    }

    /// Describes the selection for the heading of the page.
    fn describe_selection(&self) -> String {
        let mut parts = Vec::new();
        if !self.harness.is_empty() {
            parts.push(format!("harness {}", self.harness.join(", ")));
        }
        parts.extend(self.since.map(|since| format!("since {since}")));
        parts.extend(self.project.as_ref().map(|project| format!("project {}", project.display())));
        parts.extend(self.policy.as_ref().map(|policy| format!("rules of {}", policy.display())));
        if parts.is_empty() { "all transcripts on this machine".to_owned() } else { parts.join(", ") }
    }
}
