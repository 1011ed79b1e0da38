// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Charts as inline SVG: bars over time, and bars by name.

use std::fmt::Write as _;

use tenterhook_event::Timestamp;

use super::escape;

/// Counts by verdict: no match or allowed, asked, denied.
pub type VerdictCounts = [u64; 3];

const DAY_MS: u64 = 86_400_000;

const CHART_WIDTH: u64 = 900;
const CHART_HEIGHT: u64 = 160;
/// Height of the labels below the bars.
const AXIS_HEIGHT: u64 = 22;
/// CSS classes of the parts of a bar, from the bottom.
const BAR_CLASSES: [&str; 3] = ["go", "ask", "deny"];

/// Draws bars over time, stacked by verdict. Coordinates are integers in thousandths, so that the output is the same
/// on every platform.
pub fn bars_over_time(bars: &[(u64, VerdictCounts)], step: u64) -> String {
    let max = bars.iter().map(|(_, counts)| counts.iter().sum()).max().unwrap_or(1).max(1);
    let number = u64::try_from(bars.len()).unwrap_or(1).max(1);
    let unit = step_unit(step);
    let mut svg = format!(
        "<svg viewBox=\"0 0 {CHART_WIDTH} {}\" role=\"img\" aria-label=\"decisions per {unit}, maximum {max}\">\n",
        CHART_HEIGHT + AXIS_HEIGHT
    );
    let _ = writeln!(svg, "<text x=\"0\" y=\"10\" class=\"axis\">{max}</text>");
    let left = 40;
    let slot = (CHART_WIDTH - left) * 1000 / number;
    // Label every n-th bar, so that labels do not overlap.
    let every = number.div_ceil(8);
    for (at, (begin, counts)) in (0..).zip(bars) {
        let x = left * 1000 + at * slot;
        let mut top = CHART_HEIGHT * 1000;
        let label = time_label(*begin, step);
        for (part, count) in BAR_CLASSES.iter().zip(counts) {
            let height = (CHART_HEIGHT - 12) * 1000 * count / max;
            top -= height;
            if *count > 0 {
                let _ = writeln!(
                    svg,
                    "<rect class=\"{part}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"><title>{label}: {count} {}</title></rect>",
                    decimal(x),
                    decimal(top),
                    decimal((slot * 4 / 5).min(40_000)),
                    decimal(height),
                    class_label(part)
                );
            }
        }
        if at % every == 0 {
            // Right-align labels near the right edge, so that they do not extend beyond the chart.
            let late = x > (CHART_WIDTH - 70) * 1000;
            let (x, anchor) = if late { (CHART_WIDTH * 1000, "end") } else { (x, "start") };
            let _ = writeln!(
                svg,
                "<text x=\"{}\" y=\"{}\" text-anchor=\"{anchor}\" class=\"axis\">{label}</text>",
                decimal(x),
                CHART_HEIGHT + 16
            );
        }
    }
    let _ = writeln!(
        svg,
        "<line x1=\"{left}\" y1=\"{CHART_HEIGHT}\" x2=\"{CHART_WIDTH}\" y2=\"{CHART_HEIGHT}\" class=\"base\"/>\n</svg>"
    );
    svg
}

/// Draws bars by name, longest first.
pub fn bars_by_name(title: &str, counts: &[(String, u64)]) -> String {
    const ROW_HEIGHT: u64 = 20;
    const MAX_ROWS: usize = 12;
    let rows = u64::try_from(counts.len().min(MAX_ROWS)).unwrap_or(0).max(1);
    let max = counts.iter().map(|(_, count)| *count).max().unwrap_or(1).max(1);
    let mut svg = format!(
        "<svg viewBox=\"0 0 430 {}\" role=\"img\" aria-label=\"{}\">\n",
        rows * ROW_HEIGHT,
        escape(title)
    );
    if counts.is_empty() {
        svg += "<text x=\"0\" y=\"14\" class=\"axis\">none</text>\n";
    }
    for (at, (name, count)) in (0..).zip(counts.iter().take(MAX_ROWS)) {
        let class = match name.as_str() {
            "denied" => "deny",
            "asked" | "deferred" => "ask",
            _ => "go",
        };
        let short = truncate_name(name);
        let _ = writeln!(
            svg,
            "<text x=\"0\" y=\"{y}\">{}</text><rect class=\"{class}\" x=\"190\" y=\"{}\" width=\"{}\" height=\"12\"><title>{}: {count}</title></rect><text x=\"{}\" y=\"{y}\" class=\"axis\">{count}</text>",
            escape(&short),
            at * ROW_HEIGHT + 4,
            (180 * count / max).max(1),
            escape(name),
            196 + 180 * count / max,
            y = at * ROW_HEIGHT + 14
        );
    }
    svg + "</svg>\n"
}

/// Renders the legend of the colors.
pub fn render_legend() -> String {
    let entry = |part: &&str| {
        format!(
            "<li><svg viewBox=\"0 0 10 10\" aria-hidden=\"true\"><rect class=\"{part}\" width=\"10\" height=\"10\"/></svg>{}</li>\n",
            class_label(part)
        )
    };
    format!("<ul class=\"legend\">\n{}</ul>\n", BAR_CLASSES.iter().map(entry).collect::<String>())
}

/// Truncates a name to the width of its column.
fn truncate_name(name: &str) -> String {
    const MAX_NAME_CHARS: usize = 26;
    if name.chars().count() <= MAX_NAME_CHARS {
        return name.to_owned();
    }
    name.chars().take(MAX_NAME_CHARS - 1).chain(['…']).collect()
}

fn class_label(part: &str) -> &str {
    match part {
        "go" => "no match or allowed",
        "ask" => "asked",
        _ => "denied",
    }
}

/// Name of a bar's period.
pub fn step_unit(step: u64) -> &'static str {
    match step {
        step if step >= 7 * DAY_MS => "week",
        DAY_MS.. => "day",
        _ => "hour",
    }
}

fn decimal(thousandths: u64) -> String {
    format!("{}.{:03}", thousandths / 1000, thousandths % 1000)
}

/// Label of a bar: `11-15 08:00`, or `11-15` for a day.
fn time_label(ms: u64, step: u64) -> String {
    let text = Timestamp::from_unix_ms(ms).to_string();
    let length = if step >= DAY_MS { 5 } else { 11 };
    text.chars().skip(5).take(length).collect::<String>().replace('T', " ")
}
