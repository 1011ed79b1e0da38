// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Renders the report page.

use std::fmt::Write as _;

use tenterhook_event::{Decision, Timestamp};

use super::report_counts::{ListedRecord, ReportCounts};
use crate::html::{self, chart, escape};

pub(super) fn render_page(report: &ReportCounts, about: &str, made: &str) -> String {
    let number = |decision: Decision| {
        let counts = report.verdicts.iter().find(|(name, _)| name == decision.label());
        counts.map_or(0, |(_, count)| *count)
    };
    let when = |ms: Option<u64>| ms.map(|ms| Timestamp::from_unix_ms(ms).to_string()).unwrap_or_default();
    let unit = chart::step_unit(report.step);
    let mut page = html::page_head("Decisions", about, made);
    page += "<ul class=\"sums\">\n";
    for (class, sum, what) in [
        ("", report.decisions, "decisions"),
        ("", u64::try_from(report.sessions).unwrap_or(0), "sessions"),
        ("deny", number(Decision::Deny), "denied"),
        ("ask", number(Decision::Ask), "asked"),
    ] {
        let _ = writeln!(page, "<li class=\"{class}\"><b>{sum}</b> {what}</li>");
    }
    let _ =
        writeln!(page, "</ul>\n<p class=\"about\">from {} to {}</p>", when(report.first), when(report.last));
    let _ = writeln!(
        page,
        "<h2>Decisions per {unit}</h2>\n{}<div class=\"time\">{}</div>",
        chart::render_legend(),
        chart::bars_over_time(&report.bars, report.step)
    );
    page += "<div class=\"charts\">\n";
    for (title, counts) in
        [("By verdict", &report.verdicts), ("By rule", &report.rules), ("By tool", &report.tools)]
    {
        let _ = writeln!(page, "<section><h2>{title}</h2>\n{}</section>", chart::bars_by_name(title, counts));
    }
    page += "</div>\n<h2>Denied calls, asked calls and changes of protection</h2>\n";
    page += &render_table(report);
    page += &render_proofs(report);
    page + "</body>\n</html>\n"
}

fn render_table(report: &ReportCounts) -> String {
    if report.shown.is_empty() {
        return "<p>None.</p>\n".to_owned();
    }
    let mut text = String::from(
        "<table>\n<thead><tr><th>record</th><th>time (UTC)</th><th>source</th><th>verdict</th><th>call</th><th>reason</th></tr></thead>\n<tbody>\n",
    );
    for ListedRecord { row, kind, .. } in &report.shown {
        let word = row.verdict.map_or(kind.as_str(), |verdict| verdict.as_str());
        let label = row.verdict.map_or(kind.as_str(), |verdict| verdict.label());
        let why = if row.by.is_empty() { row.reason.clone() } else { format!("{}: {}", row.by, row.reason) };
        let _ = writeln!(
            text,
            "<tr><td><a href=\"#leaf-{seq}\">{seq}</a></td><td>{}</td><td>{}</td><td class=\"{word}\">{label}</td><td><code>{}</code></td><td>{}</td></tr>",
            escape(&row.at),
            escape(&row.from),
            escape(&row.what),
            escape(&why),
            word = escape(word),
            label = escape(label),
            seq = row.seq
        );
    }
    text += "</tbody>\n</table>\n";
    if report.left_out > 0 {
        let _ = writeln!(text, "<p>{} older ones are counted above but not listed.</p>", report.left_out);
    }
    text
}

fn render_proofs(report: &ReportCounts) -> String {
    let none = "none";
    let mut text = format!(
        "<h2>Proof</h2>\n<p>Each record above is in a signed ledger. Save this file and run</p>\n\
         <pre>tenterhook ledger verify-proof REPORT.html --key PUBLIC-KEY</pre>\n\
         <p>with the public key of the ledger from a source you trust, not from this file. The command prints the records: \
         compare them with the table. A record contains only a commitment to the arguments of a call, not the arguments. \
         The proofs have the format c2sp.org/tlog-proof, the checkpoint has the format c2sp.org/tlog-checkpoint.</p>\n\
         <p>Key as stated by the ledger</p>\n<pre>{}</pre>\n<p>Checkpoint</p>\n<pre>{}</pre>\n",
        escape(report.key.as_deref().unwrap_or(none)),
        escape(report.checkpoint.as_deref().unwrap_or(none))
    );
    text += "<p class=\"print\">The proof of each record is in the file that this was printed from.</p>\n";
    for ListedRecord { row, proof, .. } in &report.shown {
        let _ = match proof {
            Some(proof) => writeln!(
                text,
                "<details id=\"leaf-{seq}\"><summary>record {seq}</summary><pre>{}</pre></details>",
                escape(proof),
                seq = row.seq
            ),
            None => writeln!(
                text,
                "<p id=\"leaf-{0}\">record {0} has no proof: it was pruned, or no checkpoint covers it yet.</p>",
                row.seq
            ),
        };
    }
    text
}
