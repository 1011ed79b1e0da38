// SPDX-License-Identifier: Apache-2.0 OR MIT

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::TextLines;
use super::format::{pad_cell, wrapped_lines};
use super::theme::Theme;
use crate::parse::{ExplanationDetail, RuleDraft};

/// Renders what the current rules decide about a call.
pub(super) fn explanation_lines(found: Option<&ExplanationDetail>, theme: Theme, width: usize) -> TextLines {
    let Some(found) = found else { return vec![Line::from(Span::styled("  …", theme.dim()))] };
    let by = if found.rule.is_empty() { String::new() } else { format!(" by {}", found.rule) };
    let mut lines = vec![
        theme.heading("Your current rules"),
        Line::from(vec![
            Span::raw("  "),
            Span::styled(found.verdict.label(), theme.verdict(found.verdict)),
            Span::styled(by, theme.bold()),
        ]),
    ];
    lines.extend(found.says.iter().flat_map(|text| wrapped_lines(text, Style::new(), width)));
    lines.push(theme.heading(format!("Matching rules · {} of {}", found.rules.len(), found.considered)));
    for rule in &found.rules {
        let name = width.saturating_sub(24).clamp(12, 44);
        let applies = if rule.counts { "" } else { "does not apply" };
        lines.push(Line::from(vec![
            Span::styled(format!("  {}", pad_cell(rule.verdict.label(), 9)), theme.verdict(rule.verdict)),
            Span::raw(pad_cell(&rule.rule, name) + " "),
            Span::styled(applies, theme.dim()),
        ]));
        lines.extend(wrapped_lines(&format!("      {}", rule.why), theme.dim(), width));
    }
    if found.rules.is_empty() {
        lines.push(Line::from(Span::styled("  none", theme.dim())));
    }
    lines.push(theme.heading("Facts about the call"));
    lines.extend(found.facts.iter().flat_map(|text| wrapped_lines(text, theme.dim(), width)));
    lines
}

/// Renders a drafted rule.
pub(super) fn draft_lines(found: Option<&RuleDraft>, theme: Theme, width: usize) -> TextLines {
    let Some(found) = found else { return vec![Line::from(Span::styled("  …", theme.dim()))] };
    let mut lines = vec![theme.heading(format!("Rule {}", found.id))];
    lines.extend(found.yaml.iter().flat_map(|text| wrapped_lines(text, Style::new(), width)));
    if found.change.is_none() {
        lines.push(theme.heading("The rule cannot be added"));
        lines.extend(found.problems.iter().flat_map(|text| wrapped_lines(text, theme.bad(), width)));
    } else {
        let text = "Press enter to add it to your policy. It applies to all agents from the next call on.";
        lines.extend(wrapped_lines(text, theme.good(), width));
    }
    lines
}
