// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Formats a problem with its source lines and a caret under the column.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use tenterhook_policy::Problem;
use unicode_width::UnicodeWidthStr;

use crate::terminal::{BAD, BOLD, DIM, tame};

/// Formats a problem, with an excerpt if its source is known.
pub(in crate::commands) fn problem_excerpt(
    problem: &Problem,
    texts: &BTreeMap<&str, &str>,
    word: &str,
    style: anstyle::Style,
) -> String {
    let mut text = format!("{style}{word}{style:#} {}\n", tame(&problem.to_string()));
    let source = texts.get(problem.source.as_str()).copied();
    if let (Some(line), Some(source)) = (problem.line, source) {
        let lines: Vec<&str> = source.lines().collect();
        for number in line.saturating_sub(1).max(1)..=line {
            let Some(shown) = lines.get(number - 1) else { continue };
            let _ = writeln!(text, "  {DIM}{number:>5} │{DIM:#} {}", tame(shown));
        }
        if let (Some(column), Some(shown)) = (problem.column, lines.get(line - 1)) {
            let before: String = shown.chars().take(column.saturating_sub(1)).collect();
            let blank = " ".repeat(tame(&before).width());
            let _ = writeln!(text, "  {DIM}      │{DIM:#} {blank}{BAD}^{BAD:#}");
        }
    }
    if let Some(hint) = &problem.hint {
        let _ = writeln!(text, "        {BOLD}→{BOLD:#} {}", tame(hint));
    }
    text
}
