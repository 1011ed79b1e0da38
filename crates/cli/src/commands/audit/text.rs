// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The report for a terminal.

use std::fmt::Write as _;

use super::Args;
use crate::terminal::{BAD, BOLD, DIM, GOOD, Terminal, WARN, count, tame};
use tenterhook_audit::{AuditFindings, ImportCounts, day};
use tenterhook_terminal_text::fit;

pub(super) fn text(gathered: &AuditFindings, imported: Option<&ImportCounts>, args: &Args) -> String {
    let mut text = String::new();
    if gathered.harnesses.is_empty() {
        nothing_found(gathered, args, &mut text);
    } else {
        harnesses(gathered, &mut text);
        sums(gathered, &mut text);
        rules(gathered, args.limit, &mut text);
        projects(gathered, args.limit, &mut text);
        weeks(gathered, args.limit, &mut text);
    }
    unread(gathered, args.limit, &mut text);
    if let Some(imported) = imported {
        text += &import_text(imported);
    }
    if let Some(file) = &args.html {
        let _ = writeln!(text, "{GOOD}✓{GOOD:#} the page is in `{}`", file.display());
    }
    text
}

/// Says where transcripts were searched and what to do without any.
fn nothing_found(gathered: &AuditFindings, args: &Args, text: &mut String) {
    *text += if args.since.is_some() { "no transcripts since then\n" } else { "no transcripts found\n" };
    for (harness, directory) in &gathered.searched {
        let _ = writeln!(text, "  {harness:<14}{DIM}{}{DIM:#}", tame(&directory.display().to_string()));
    }
    *text +=
        "next: run an agent and audit again, or try a command: `tenterhook explain --command 'rm -rf ~/'`\n";
}

fn harnesses(gathered: &AuditFindings, text: &mut String) {
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

fn sums(gathered: &AuditFindings, text: &mut String) {
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

fn rules(gathered: &AuditFindings, limit: usize, text: &mut String) {
    if gathered.rules.is_empty() {
        let _ = writeln!(text, "{GOOD}✓{GOOD:#} no rule objects");
        return;
    }
    let width = Terminal::width().saturating_sub(47).max(20);
    let _ = writeln!(text, "\n{DIM}{:<30}{:>7}{:>7}  for example{DIM:#}", "rule", "denied", "asked");
    for (name, rule) in gathered.busiest().into_iter().take(limit) {
        let mut examples =
            rule.examples.iter().map(|example| fit(&example.what, width).trim_end().to_owned());
        let first = examples.next().unwrap_or_default();
        let _ = writeln!(text, "{BOLD}{}{BOLD:#}{:>7}{:>7}  {first}", fit(name, 30), rule.denied, rule.asked);
        for more in examples {
            let _ = writeln!(text, "{:46}{more}", "");
        }
    }
    more(gathered.rules.len(), limit, text);
}

fn projects(gathered: &AuditFindings, limit: usize, text: &mut String) {
    let _ = writeln!(text, "\n{DIM}{:<42}{:>9}{:>9}{:>9}{DIM:#}", "project", "calls", "denied", "asked");
    for (name, [go, ask, deny]) in gathered.troubled().into_iter().take(limit) {
        let _ = writeln!(text, "{}{:>9}{deny:>9}{ask:>9}", fit(&tame(name), 42), go + ask + deny);
    }
    more(gathered.projects.len(), limit, text);
}

fn weeks(gathered: &AuditFindings, limit: usize, text: &mut String) {
    let _ = writeln!(text, "\n{DIM}{:<14}{:>9}{:>9}{:>9}{DIM:#}", "week of", "calls", "denied", "asked");
    for (ms, [go, ask, deny]) in gathered.weeks.iter().rev().take(limit) {
        let _ = writeln!(text, "{:<14}{:>9}{deny:>9}{ask:>9}", day(*ms), go + ask + deny);
    }
    more(gathered.weeks.len(), limit, text);
}

/// Nothing is dropped in silence.
fn unread(gathered: &AuditFindings, limit: usize, text: &mut String) {
    for ((harness, why), number) in gathered.unread.iter().take(limit) {
        let parts = if *number == 1 { "part" } else { "parts" };
        let _ = writeln!(text, "{WARN}not read{WARN:#} {harness}: {number} {parts} {why}");
    }
    more(gathered.unread.len(), limit, text);
    for (harness, one) in gathered.left_out.iter().take(limit) {
        let path = tame(&one.path.to_string_lossy());
        let _ = writeln!(text, "{WARN}not read{WARN:#} {harness}: `{path}`: {}", tame(&one.why));
    }
    more(gathered.left_out.len(), limit, text);
}

fn more(all: usize, limit: usize, text: &mut String) {
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
