// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The page itself.

use std::fmt::Write as _;

use tenterhook_event::{Decision, Timestamp};

use super::gather::{Gathered, Shown};
use crate::html::{self, chart, escape};

pub(super) fn page(gathered: &Gathered, about: &str, made: &str) -> String {
    let number = |decision: Decision| {
        let counts = gathered.verdicts.iter().find(|(name, _)| name == decision.word());
        counts.map_or(0, |(_, count)| *count)
    };
    let when = |ms: Option<u64>| ms.map(|ms| Timestamp::from_unix_ms(ms).to_string()).unwrap_or_default();
    let unit = chart::unit(gathered.step);
    let mut page = html::head("What was decided", about, made);
    page += "<ul class=\"sums\">\n";
    for (class, sum, what) in [
        ("", gathered.decisions, "decisions"),
        ("", u64::try_from(gathered.sessions).unwrap_or(0), "sessions"),
        ("deny", number(Decision::Deny), "denied"),
        ("ask", number(Decision::Ask), "asked about"),
    ] {
        let _ = writeln!(page, "<li class=\"{class}\"><b>{sum}</b> {what}</li>");
    }
    let _ = writeln!(
        page,
        "</ul>\n<p class=\"about\">from {} to {}</p>",
        when(gathered.first),
        when(gathered.last)
    );
    let _ = writeln!(
        page,
        "<h2>Decisions per {unit}</h2>\n{}<div class=\"time\">{}</div>",
        chart::legend(),
        chart::over_time(&gathered.bars, gathered.step)
    );
    page += "<div class=\"charts\">\n";
    for (title, counts) in
        [("By verdict", &gathered.verdicts), ("By rule", &gathered.rules), ("By tool", &gathered.tools)]
    {
        let _ = writeln!(page, "<section><h2>{title}</h2>\n{}</section>", chart::by_name(title, counts));
    }
    page += "</div>\n<h2>Denials, questions and changes of protection</h2>\n";
    page += &table(gathered);
    page += &proofs(gathered);
    page + "</body>\n</html>\n"
}

fn table(gathered: &Gathered) -> String {
    if gathered.shown.is_empty() {
        return "<p>There were none.</p>\n".to_owned();
    }
    let mut text = String::from(
        "<table>\n<thead><tr><th>leaf</th><th>time (UTC)</th><th>from</th><th>verdict</th><th>what</th><th>why</th></tr></thead>\n<tbody>\n",
    );
    for Shown { row, kind, .. } in &gathered.shown {
        let word = row.verdict.map_or(kind.as_str(), |verdict| verdict.word());
        let why = if row.by.is_empty() { row.reason.clone() } else { format!("{}: {}", row.by, row.reason) };
        let _ = writeln!(
            text,
            "<tr><td><a href=\"#leaf-{seq}\">{seq}</a></td><td>{}</td><td>{}</td><td class=\"{word}\">{word}</td><td><code>{}</code></td><td>{}</td></tr>",
            escape(&row.at),
            escape(&row.from),
            escape(&row.what),
            escape(&why),
            word = escape(word),
            seq = row.seq
        );
    }
    text += "</tbody>\n</table>\n";
    if gathered.left_out > 0 {
        let _ = writeln!(text, "<p>{} older ones are counted above but not listed.</p>", gathered.left_out);
    }
    text
}

fn proofs(gathered: &Gathered) -> String {
    let none = "none";
    let mut text = format!(
        "<h2>Proof</h2>\n<p>Each leaf above is in a log that was signed. Save this file and run</p>\n\
         <pre>tenterhook ledger verify-proof REPORT.html --key PUBLIC-KEY</pre>\n\
         <p>with the public key that you know to be the log's, not one from this file. It prints what the leaves themselves say: \
         compare that with the table. The arguments of a call are not in the leaf, only a commitment to them. \
         The proofs are in the form of c2sp.org/tlog-proof, the checkpoint in that of c2sp.org/tlog-checkpoint.</p>\n\
         <p>The log says that its key is</p>\n<pre>{}</pre>\n<p>Checkpoint</p>\n<pre>{}</pre>\n",
        escape(gathered.key.as_deref().unwrap_or(none)),
        escape(gathered.checkpoint.as_deref().unwrap_or(none))
    );
    text += "<p class=\"print\">The proof of each leaf is in the file that this was printed from.</p>\n";
    for Shown { row, proof, .. } in &gathered.shown {
        let _ = match proof {
            Some(proof) => writeln!(
                text,
                "<details id=\"leaf-{seq}\"><summary>leaf {seq}</summary><pre>{}</pre></details>",
                escape(proof),
                seq = row.seq
            ),
            None => writeln!(
                text,
                "<p id=\"leaf-{0}\">leaf {0} has no proof: it is pruned, or in no checkpoint yet.</p>",
                row.seq
            ),
        };
    }
    text
}
