// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Formats an audit for a terminal.

use std::fmt::Write as _;

use tenterhook_terminal_text::{BAD, BOLD, DIM, GOOD, TableLayout, WARN, count, tame};

use crate::{AuditFindings, ImportCounts, format_day};

/// Layout of an audit on a terminal.
#[derive(Debug, Clone, Copy)]
pub struct TerminalReport {
    /// Rules, projects, weeks and files that are listed.
    pub limit: usize,
    /// Layout of the tables.
    pub layout: TableLayout,
    /// Whether only events since a given time were read.
    pub is_recent_only: bool,
}

/// Formats an audit for a terminal.
pub fn terminal_text(
    findings: &AuditFindings,
    imported: Option<&ImportCounts>,
    report: TerminalReport,
) -> String {
    let mut text = String::new();
    if findings.harnesses.is_empty() {
        push_nothing_found(findings, report, &mut text);
    } else {
        push_harnesses(findings, &mut text);
        push_totals(findings, &mut text);
        push_rules(findings, report, &mut text);
        push_projects(findings, report, &mut text);
        push_weeks(findings, report.limit, &mut text);
    }
    push_unread_files(findings, report.limit, &mut text);
    if let Some(imported) = imported {
        text += &import_text(imported);
    }
    text
}

/// Lists the searched directories, and suggests what to do.
fn push_nothing_found(findings: &AuditFindings, report: TerminalReport, text: &mut String) {
    *text += if report.is_recent_only { "no transcripts since then\n" } else { "no transcripts found\n" };
    for (harness, directory) in &findings.searched {
        let _ = writeln!(text, "  {harness:<14}{DIM}{}{DIM:#}", tame(&directory.display().to_string()));
    }
    *text +=
        "next: run an agent and audit again, or try a command: `tenterhook explain --command 'rm -rf ~/'`\n";
}

fn push_harnesses(findings: &AuditFindings, text: &mut String) {
    let _ = writeln!(
        text,
        "{DIM}{:<14}{:>9}{:>9}{:>9}{:>9}{DIM:#}",
        "harness", "sessions", "calls", "denied", "asked"
    );
    for (name, share) in &findings.harnesses {
        let _ = writeln!(
            text,
            "{name:<14}{:>9}{:>9}{:>9}{:>9}",
            share.sessions, share.calls, share.denied, share.asked
        );
    }
}

fn push_totals(findings: &AuditFindings, text: &mut String) {
    let [_, asked, denied] = findings.verdicts;
    let interruptions = findings.interruptions();
    let _ = writeln!(
        text,
        "\n{}: {BAD}{denied}{BAD:#} would have been denied, {WARN}{asked}{WARN:#} asked",
        count(usize::try_from(findings.calls).unwrap_or(usize::MAX), "tool call")
    );
    if asked == 0 {
        *text += "no interruptions\n";
        return;
    }
    let _ = writeln!(
        text,
        "interruptions: {} per session, {} per day; at most {} in one session, {} on one day\n{} of {} sessions without an interruption",
        interruptions.per_session,
        interruptions.per_day,
        interruptions.most_in_a_session,
        interruptions.most_in_a_day,
        interruptions.sessions_without,
        interruptions.sessions
    );
}

fn push_rules(findings: &AuditFindings, report: TerminalReport, text: &mut String) {
    if findings.rules.is_empty() {
        let _ = writeln!(text, "{GOOD}✓{GOOD:#} no rule matches");
        return;
    }
    let width = report.layout.width.saturating_sub(47).max(20);
    let _ = writeln!(text, "\n{DIM}{:<30}{:>7}{:>7}  for example{DIM:#}", "rule", "denied", "asked");
    for (name, rule) in findings.rules_by_matches().into_iter().take(report.limit) {
        let mut examples = rule
            .examples
            .iter()
            .map(|example| report.layout.cell(&example.what, width).trim_end().to_owned());
        let first = examples.next().unwrap_or_default();
        let _ = writeln!(
            text,
            "{BOLD}{}{BOLD:#}{:>7}{:>7}  {first}",
            report.layout.cell(name, 30),
            rule.denied,
            rule.asked
        );
        for more in examples {
            let _ = writeln!(text, "{:46}{more}", "");
        }
    }
    push_remainder(findings.rules.len(), report.limit, text);
}

fn push_projects(findings: &AuditFindings, report: TerminalReport, text: &mut String) {
    let _ = writeln!(text, "\n{DIM}{:<42}{:>9}{:>9}{:>9}{DIM:#}", "project", "calls", "denied", "asked");
    for (name, [go, ask, deny]) in findings.projects_by_matches().into_iter().take(report.limit) {
        let _ =
            writeln!(text, "{}{:>9}{deny:>9}{ask:>9}", report.layout.cell(&tame(name), 42), go + ask + deny);
    }
    push_remainder(findings.projects.len(), report.limit, text);
}

fn push_weeks(findings: &AuditFindings, limit: usize, text: &mut String) {
    let _ = writeln!(text, "\n{DIM}{:<14}{:>9}{:>9}{:>9}{DIM:#}", "week of", "calls", "denied", "asked");
    for (ms, [go, ask, deny]) in findings.weeks.iter().rev().take(limit) {
        let _ = writeln!(text, "{:<14}{:>9}{deny:>9}{ask:>9}", format_day(*ms), go + ask + deny);
    }
    push_remainder(findings.weeks.len(), limit, text);
}

/// Lists parts and files that could not be read.
fn push_unread_files(findings: &AuditFindings, limit: usize, text: &mut String) {
    for ((harness, why), number) in findings.unread.iter().take(limit) {
        let parts = if *number == 1 { "part" } else { "parts" };
        let _ = writeln!(text, "{WARN}not read{WARN:#} {harness}: {number} {parts} {why}");
    }
    push_remainder(findings.unread.len(), limit, text);
    for (harness, one) in findings.left_out.iter().take(limit) {
        let path = tame(&one.path.to_string_lossy());
        let _ = writeln!(text, "{WARN}not read{WARN:#} {harness}: `{path}`: {}", tame(&one.why));
    }
    push_remainder(findings.left_out.len(), limit, text);
}

fn push_remainder(all: usize, limit: usize, text: &mut String) {
    if all > limit {
        let _ = writeln!(text, "{DIM}and {} more (`--limit`, `--json`){DIM:#}", all - limit);
    }
}

fn import_text(imported: &ImportCounts) -> String {
    let events = count(usize::try_from(imported.events).unwrap_or(usize::MAX), "event");
    let when = if imported.spooled { "; the daemon imports them" } else { "" };
    let mut text = format!("{GOOD}✓{GOOD:#} {events} imported, {} already recorded{when}\n", imported.known);
    if imported.guarded > 0 {
        text += &format!(
            "  {} belong to guarded sessions, whose decisions are already recorded\n",
            imported.guarded
        );
    }
    if let Some(why) = &imported.failed {
        text += &format!("{WARN}note{WARN:#}: the import failed: {why}\n");
    }
    text
}
