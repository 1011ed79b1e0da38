// SPDX-License-Identifier: Apache-2.0 OR MIT

use serde_json::json;
use tenterhook_audit::{AuditFindings, AuditScope};
use tenterhook_home::call_meta;
use tenterhook_terminal_text::{count, fit};

use super::step::{InitSite, InitStep, StepPlan, StepReport, UserChoice};
use crate::commands::audit::{audit_transcripts, load_rules, readable_harnesses};
use crate::error::CommandError;
use crate::terminal::{BAD, BOLD, DIM, GOOD, Terminal, WARN, style_of, tame};

/// Days before today that the audit reads. Transcripts of years would take minutes.
const AUDITED_DAYS: u64 = 30;
const DAY_MS: u64 = 86_400_000;
/// Number of calls that are shown.
const SHOWN_CALLS: usize = 3;

/// Audits the sessions of the last weeks.
pub(super) struct AuditStep;

impl InitStep for AuditStep {
    fn name(&self) -> &'static str {
        "audit"
    }

    fn title(&self) -> &'static str {
        "what your agents did in the last 30 days"
    }

    fn plan(&self, _site: &InitSite<'_>) -> Result<StepPlan, CommandError> {
        Ok(StepPlan {
            found: vec!["Reads past sessions and shows which calls the rules would have stopped.".to_owned()],
            ..StepPlan::default()
        })
    }

    fn apply(&self, site: &InitSite<'_>, _chosen: &[UserChoice]) -> Result<StepReport, CommandError> {
        let from_ms = call_meta::now_ms().saturating_sub(AUDITED_DAYS * DAY_MS);
        let scope = AuditScope { from_ms, project: None };
        let chosen: Vec<_> = readable_harnesses().collect();
        let rules = load_rules(site.context, None)?;
        let findings = audit_transcripts(site.context, &chosen, &scope, &rules, None);
        let [_, asked, denied] = findings.verdicts;
        let detail = json!({
            "days": AUDITED_DAYS,
            "sessions": findings.session_count(),
            "calls": findings.calls,
            "asked": asked,
            "denied": denied,
        });
        Ok(StepReport { lines: summary_lines(&findings, Terminal::width()), detail, failures: Vec::new() })
    }
}

/// Describes an audit in a few lines.
fn summary_lines(findings: &AuditFindings, width: usize) -> Vec<String> {
    let calls = usize::try_from(findings.calls).unwrap_or(usize::MAX);
    if calls == 0 {
        return vec![format!("{DIM}no sessions of the last {AUDITED_DAYS} days were found{DIM:#}")];
    }
    let [_, asked, denied] = findings.verdicts;
    let (sessions, calls) = (count(findings.session_count(), "session"), count(calls, "tool call"));
    let mut lines = vec![format!("{sessions}, {calls}")];
    if asked + denied == 0 {
        lines.push(format!("{GOOD}✓{GOOD:#} no rule matches: nothing would have been stopped"));
        return lines;
    }
    lines.push(format!(
        "{BOLD}{}{BOLD:#} would have been stopped: {BAD}{denied}{BAD:#} denied, {WARN}{asked}{WARN:#} asked about",
        asked + denied
    ));
    for (rule, call) in findings.highlights(SHOWN_CALLS) {
        let (verdict, style) = (call.verdict.label(), style_of(call.verdict));
        let what = fit(&call.what, width.saturating_sub(10));
        lines.push(format!("  {style}{verdict:<7}{style:#} {}", what.trim_end()));
        lines.push(format!("          {DIM}{} · {}{DIM:#}", tame(rule), tame(&call.harness)));
    }
    lines.push(format!("{DIM}all of them: `tenterhook audit`{DIM:#}"));
    lines
}
