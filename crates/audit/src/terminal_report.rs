// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The audit as text for a terminal.

use std::fmt::Write as _;

use tenterhook_terminal_text::{BAD, BOLD, DIM, GOOD, WARN, count, fit, tame};

use crate::{AuditFindings, ImportCounts, format_day};

/// How an audit is shown on a terminal.
#[derive(Debug, Clone, Copy)]
pub struct TerminalReport {
    /// Rules, projects, weeks and files that are listed.
    pub limit: usize,
    /// Columns of the terminal.
    pub width: usize,
    /// Whether only events since a given time were read.
    pub is_recent_only: bool,
}

/// The audit as text for a terminal.
pub fn terminal_text(
    gathered: &AuditFindings,
    imported: Option<&ImportCounts>,
    report: TerminalReport,
) -> String {
    let mut text = String::new();
    if gathered.harnesses.is_empty() {
        push_nothing_found(gathered, report, &mut text);
    } else {
        push_harnesses(gathered, &mut text);
        push_totals(gathered, &mut text);
        push_rules(gathered, report, &mut text);
        push_projects(gathered, report.limit, &mut text);
        push_weeks(gathered, report.limit, &mut text);
    }
    push_unread_files(gathered, report.limit, &mut text);
    if let Some(imported) = imported {
        text += &import_text(imported);
    }
    text
}

/// Says where transcripts were searched and what to do without any.
fn push_nothing_found(gathered: &AuditFindings, report: TerminalReport, text: &mut String) {
    *text += if report.is_recent_only { "no transcripts since then\n" } else { "no transcripts found\n" };
    for (harness, directory) in &gathered.searched {
        let _ = writeln!(text, "  {harness:<14}{DIM}{}{DIM:#}", tame(&directory.display().to_string()));
    }
    *text +=
        "next: run an agent and audit again, or try a command: `tenterhook explain --command 'rm -rf ~/'`\n";
}

fn push_harnesses(gathered: &AuditFindings, text: &mut String) {
    let _ = writeln!(
        text,
        "{DIM}{:<14}{:>9}{:>9}{:>9}{:>9}{DIM:#}",
        "harness", "sessions", "calls", "denied", "asked"
    );
    for (name, share) in &gathered.harnesses {
        let _ = writeln!(
            text,
            "{name:<14}{:>9}{:>9}{:>9}{:>9}",
            share.sessions, share.calls, share.denied, share.asked
        );
    }
}

fn push_totals(gathered: &AuditFindings, text: &mut String) {
    let [_, asked, denied] = gathered.verdicts;
    let much = gathered.interruptions();
    let _ = writeln!(
        text,
        "\nOf {}, {BAD}{denied}{BAD:#} would have been denied and {WARN}{asked}{WARN:#} asked about.",
        count(usize::try_from(gathered.calls).unwrap_or(usize::MAX), "tool call")
    );
    if asked == 0 {
        *text += "A person would not have been interrupted at all.\n";
        return;
    }
    let _ = writeln!(
        text,
        "A person would have been interrupted {} times a session and {} times a day; at most {} times in one session, {} on one day.\n{} of {} sessions would have gone on without a question.",
        much.per_session,
        much.per_day,
        much.most_in_a_session,
        much.most_in_a_day,
        much.sessions_without,
        much.sessions
    );
}

fn push_rules(gathered: &AuditFindings, report: TerminalReport, text: &mut String) {
    if gathered.rules.is_empty() {
        let _ = writeln!(text, "{GOOD}✓{GOOD:#} no rule objects");
        return;
    }
    let width = report.width.saturating_sub(47).max(20);
    let _ = writeln!(text, "\n{DIM}{:<30}{:>7}{:>7}  for example{DIM:#}", "rule", "denied", "asked");
    for (name, rule) in gathered.rules_by_matches().into_iter().take(report.limit) {
        let mut examples =
            rule.examples.iter().map(|example| fit(&example.what, width).trim_end().to_owned());
        let first = examples.next().unwrap_or_default();
        let _ = writeln!(text, "{BOLD}{}{BOLD:#}{:>7}{:>7}  {first}", fit(name, 30), rule.denied, rule.asked);
        for more in examples {
            let _ = writeln!(text, "{:46}{more}", "");
        }
    }
    push_remainder(gathered.rules.len(), report.limit, text);
}

fn push_projects(gathered: &AuditFindings, limit: usize, text: &mut String) {
    let _ = writeln!(text, "\n{DIM}{:<42}{:>9}{:>9}{:>9}{DIM:#}", "project", "calls", "denied", "asked");
    for (name, [go, ask, deny]) in gathered.projects_by_matches().into_iter().take(limit) {
        let _ = writeln!(text, "{}{:>9}{deny:>9}{ask:>9}", fit(&tame(name), 42), go + ask + deny);
    }
    push_remainder(gathered.projects.len(), limit, text);
}

fn push_weeks(gathered: &AuditFindings, limit: usize, text: &mut String) {
    let _ = writeln!(text, "\n{DIM}{:<14}{:>9}{:>9}{:>9}{DIM:#}", "week of", "calls", "denied", "asked");
    for (ms, [go, ask, deny]) in gathered.weeks.iter().rev().take(limit) {
        let _ = writeln!(text, "{:<14}{:>9}{deny:>9}{ask:>9}", format_day(*ms), go + ask + deny);
    }
    push_remainder(gathered.weeks.len(), limit, text);
}

/// Nothing is dropped in silence.
fn push_unread_files(gathered: &AuditFindings, limit: usize, text: &mut String) {
    for ((harness, why), number) in gathered.unread.iter().take(limit) {
        let parts = if *number == 1 { "part" } else { "parts" };
        let _ = writeln!(text, "{WARN}not read{WARN:#} {harness}: {number} {parts} {why}");
    }
    push_remainder(gathered.unread.len(), limit, text);
    for (harness, one) in gathered.left_out.iter().take(limit) {
        let path = tame(&one.path.to_string_lossy());
        let _ = writeln!(text, "{WARN}not read{WARN:#} {harness}: `{path}`: {}", tame(&one.why));
    }
    push_remainder(gathered.left_out.len(), limit, text);
}

fn push_remainder(all: usize, limit: usize, text: &mut String) {
    if all > limit {
        let _ = writeln!(text, "{DIM}and {} more (`--limit`, `--json`){DIM:#}", all - limit);
    }
}

fn import_text(imported: &ImportCounts) -> String {
    let events = count(usize::try_from(imported.events).unwrap_or(usize::MAX), "event");
    let when = if imported.spooled { "; the daemon takes them in" } else { "" };
    let mut text = format!("{GOOD}✓{GOOD:#} {events} imported, {} were there before{when}\n", imported.known);
    if imported.guarded > 0 {
        text += &format!(
            "  {} are of sessions that were guarded, and are recorded as decided\n",
            imported.guarded
        );
    }
    if let Some(why) = &imported.failed {
        text += &format!("{WARN}note{WARN:#}: the import was broken off: {why}\n");
    }
    text
}
