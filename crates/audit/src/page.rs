// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Renders the audit report as an HTML page.

use std::fmt::Write as _;

use crate::findings::{AuditFindings, AuditedCall, WEEK_MS};
use tenterhook_report::html::{self, chart, escape};

/// Maximum number of bars, because a wrong clock would produce thousands.
const MAX_WEEK_BARS: usize = 200;

/// Writes the findings as an HTML page. `about` describes the scope of the audit, `made` is the current time.
pub fn write_page(findings: &AuditFindings, about: &str, made: &str) -> String {
    let [_, asked, denied] = findings.verdicts;
    let interruptions = findings.interruptions();
    let mut page = html::page_head("Audit of past sessions", about, made);
    page += "<ul class=\"sums\">\n";
    for (class, sum, what) in [
        ("", findings.calls.to_string(), "tool calls"),
        ("", interruptions.sessions.to_string(), "sessions"),
        ("deny", denied.to_string(), "would be denied"),
        ("ask", asked.to_string(), "would be asked"),
        ("ask", interruptions.per_session.to_string(), "asked per session"),
        ("ask", interruptions.per_day.to_string(), "asked per day"),
    ] {
        let _ = writeln!(page, "<li class=\"{class}\"><b>{sum}</b> {what}</li>");
    }
    let when = |ts: Option<tenterhook_event::Timestamp>| ts.map(|ts| ts.to_string()).unwrap_or_default();
    let _ = writeln!(
        page,
        "</ul>\n<p class=\"about\">from {} to {}; {} of {} sessions without asked calls; maximum {} per session and {} per day</p>",
        when(findings.first),
        when(findings.last),
        interruptions.sessions_without,
        interruptions.sessions,
        interruptions.most_in_a_session,
        interruptions.most_in_a_day
    );
    let _ = writeln!(
        page,
        "<h2>Tool calls per week</h2>\n{}<div class=\"time\">{}</div>",
        chart::render_legend(),
        chart::bars_over_time(&week_bars(findings), WEEK_MS)
    );
    page += "<div class=\"charts\">\n";
    let rules =
        findings.rules_by_matches().into_iter().map(|(name, rule)| (name.clone(), rule.denied + rule.asked));
    let projects =
        findings.projects_by_matches().into_iter().map(|(name, [_, ask, deny])| (name.clone(), ask + deny));
    let harnesses = findings.harnesses.iter().map(|(name, share)| ((*name).to_owned(), share.calls));
    let charts: [(&str, Vec<(String, u64)>); 3] = [
        ("Denied or asked by rule", rules.collect()),
        ("Denied or asked by project", projects.filter(|(_, many)| *many > 0).collect()),
        ("Calls by harness", harnesses.collect()),
    ];
    for (title, counts) in charts {
        let _ =
            writeln!(page, "<section><h2>{title}</h2>\n{}</section>", chart::bars_by_name(title, &counts));
    }
    page += "</div>\n<h2>Examples</h2>\n";
    page += &render_examples(findings);
    page += &render_unread(findings);
    page + "</body>\n</html>\n"
}

/// Returns one bar per week, including weeks without calls.
fn week_bars(findings: &AuditFindings) -> Vec<(u64, chart::VerdictCounts)> {
    let (Some((first, _)), Some((last, _))) =
        (findings.weeks.first_key_value(), findings.weeks.last_key_value())
    else {
        return Vec::new();
    };
    let weeks = (*first..=*last).step_by(usize::try_from(WEEK_MS).unwrap_or(usize::MAX)).take(MAX_WEEK_BARS);
    weeks.map(|week| (week, findings.weeks.get(&week).copied().unwrap_or_default())).collect()
}

fn render_examples(findings: &AuditFindings) -> String {
    if findings.rules.is_empty() {
        return "<p>No rule matched.</p>\n".to_owned();
    }
    let mut text = String::from(
        "<table>\n<thead><tr><th>rule</th><th>time (UTC)</th><th>harness</th><th>verdict</th><th>call</th><th>project and reason</th></tr></thead>\n<tbody>\n",
    );
    for (name, rule) in findings.rules_by_matches() {
        for AuditedCall { at, harness, project, verdict, what, .. } in &rule.examples {
            let _ = writeln!(
                text,
                "<tr><td>{}</td><td>{at}</td><td>{}</td><td class=\"{word}\">{label}</td><td><code>{}</code></td><td>{}: {}</td></tr>",
                escape(name),
                escape(harness),
                escape(what),
                escape(project.as_deref().unwrap_or_default()),
                escape(rule.reason.as_deref().unwrap_or_default()),
                word = verdict.as_str(),
                label = verdict.label()
            );
        }
    }
    text + "</tbody>\n</table>\n"
}

fn render_unread(findings: &AuditFindings) -> String {
    if findings.unread.is_empty() && findings.left_out.is_empty() {
        return String::new();
    }
    let mut text = String::from("<h2>Unread parts</h2>\n<ul>\n");
    for ((harness, why), number) in &findings.unread {
        let _ = writeln!(text, "<li>{harness}: {number} × {}</li>", escape(why));
    }
    for (harness, one) in &findings.left_out {
        let path = escape(&one.path.to_string_lossy());
        let _ = writeln!(text, "<li>{harness}: <code>{path}</code>: {}</li>", escape(&one.why));
    }
    text + "</ul>\n"
}
