// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The report as a page.

use std::fmt::Write as _;

use crate::findings::{AuditFindings, AuditedCall, WEEK};
use tenterhook_report::html::{self, chart, escape};

/// How many bars there are at most: a clock that was wrong would make thousands.
const MOST_WEEKS: usize = 200;

/// Writes the findings as an HTML page. `about` says what was audited, `made` is the present time.
pub fn write_page(gathered: &AuditFindings, about: &str, made: &str) -> String {
    let [_, asked, denied] = gathered.verdicts;
    let much = gathered.interruptions();
    let mut page = html::head("What would have been decided", about, made);
    page += "<ul class=\"sums\">\n";
    for (class, sum, what) in [
        ("", gathered.calls.to_string(), "tool calls"),
        ("", much.sessions.to_string(), "sessions"),
        ("deny", denied.to_string(), "would be denied"),
        ("ask", asked.to_string(), "would be asked about"),
        ("ask", much.per_session.to_string(), "questions a session"),
        ("ask", much.per_day.to_string(), "questions a day"),
    ] {
        let _ = writeln!(page, "<li class=\"{class}\"><b>{sum}</b> {what}</li>");
    }
    let when = |ts: Option<tenterhook_event::Timestamp>| ts.map(|ts| ts.to_string()).unwrap_or_default();
    let _ = writeln!(
        page,
        "</ul>\n<p class=\"about\">from {} to {}; {} of {} sessions without a question, at most {} in one session and {} on one day</p>",
        when(gathered.first),
        when(gathered.last),
        much.sessions_without,
        much.sessions,
        much.most_in_a_session,
        much.most_in_a_day
    );
    let _ = writeln!(
        page,
        "<h2>Tool calls per week</h2>\n{}<div class=\"time\">{}</div>",
        chart::legend(),
        chart::over_time(&bars(gathered), WEEK)
    );
    page += "<div class=\"charts\">\n";
    let rules = gathered.busiest().into_iter().map(|(name, rule)| (name.clone(), rule.denied + rule.asked));
    let projects = gathered.troubled().into_iter().map(|(name, [_, ask, deny])| (name.clone(), ask + deny));
    let harnesses = gathered.harnesses.iter().map(|(name, share)| ((*name).to_owned(), share.calls));
    let charts: [(&str, Vec<(String, u64)>); 3] = [
        ("Objections by rule", rules.collect()),
        ("Objections by project", projects.filter(|(_, many)| *many > 0).collect()),
        ("Calls by harness", harnesses.collect()),
    ];
    for (title, counts) in charts {
        let _ = writeln!(page, "<section><h2>{title}</h2>\n{}</section>", chart::by_name(title, &counts));
    }
    page += "</div>\n<h2>Examples</h2>\n";
    page += &examples(gathered);
    page += &not_read(gathered);
    page + "</body>\n</html>\n"
}

/// Weeks without gaps.
fn bars(gathered: &AuditFindings) -> Vec<(u64, chart::Counts)> {
    let (Some((first, _)), Some((last, _))) =
        (gathered.weeks.first_key_value(), gathered.weeks.last_key_value())
    else {
        return Vec::new();
    };
    let weeks = (*first..=*last).step_by(usize::try_from(WEEK).unwrap_or(usize::MAX)).take(MOST_WEEKS);
    weeks.map(|week| (week, gathered.weeks.get(&week).copied().unwrap_or_default())).collect()
}

fn examples(gathered: &AuditFindings) -> String {
    if gathered.rules.is_empty() {
        return "<p>No rule objects.</p>\n".to_owned();
    }
    let mut text = String::from(
        "<table>\n<thead><tr><th>rule</th><th>time (UTC)</th><th>from</th><th>verdict</th><th>what</th><th>where and why</th></tr></thead>\n<tbody>\n",
    );
    for (name, rule) in gathered.busiest() {
        for AuditedCall { at, harness, project, verdict, what, .. } in &rule.examples {
            let _ = writeln!(
                text,
                "<tr><td>{}</td><td>{at}</td><td>{}</td><td class=\"{word}\">{word}</td><td><code>{}</code></td><td>{}: {}</td></tr>",
                escape(name),
                escape(harness),
                escape(what),
                escape(project.as_deref().unwrap_or_default()),
                escape(rule.reason.as_deref().unwrap_or_default()),
                word = verdict.word()
            );
        }
    }
    text + "</tbody>\n</table>\n"
}

fn not_read(gathered: &AuditFindings) -> String {
    if gathered.unread.is_empty() && gathered.left_out.is_empty() {
        return String::new();
    }
    let mut text = String::from("<h2>What was not read</h2>\n<ul>\n");
    for ((harness, why), number) in &gathered.unread {
        let _ = writeln!(text, "<li>{harness}: {number} × {}</li>", escape(why));
    }
    for (harness, one) in &gathered.left_out {
        let path = escape(&one.path.to_string_lossy());
        let _ = writeln!(text, "<li>{harness}: <code>{path}</code>: {}</li>", escape(&one.why));
    }
    text + "</ul>\n"
}
