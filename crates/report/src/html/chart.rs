// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Charts as inline SVG: bars over time, and bars by name.

use std::fmt::Write as _;

use tenterhook_event::Timestamp;

use super::escape;

/// Counts by verdict: none or allowed, asked, denied.
pub type Counts = [u64; 3];

const DAY: u64 = 86_400_000;

const WIDTH: u64 = 900;
const HEIGHT: u64 = 160;
/// Room for the days below the bars.
const BELOW: u64 = 22;
/// The classes of the parts of a bar, from below.
const PARTS: [&str; 3] = ["go", "ask", "deny"];

/// Bars over time, stacked by verdict. Coordinates are whole thousandths, so that they print the same
/// everywhere.
pub fn over_time(bars: &[(u64, Counts)], step: u64) -> String {
    let most = bars.iter().map(|(_, counts)| counts.iter().sum()).max().unwrap_or(1).max(1);
    let number = u64::try_from(bars.len()).unwrap_or(1).max(1);
    let unit = unit(step);
    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH} {}\" role=\"img\" aria-label=\"decisions per {unit}, at most {most}\">\n",
        HEIGHT + BELOW
    );
    let _ = writeln!(svg, "<text x=\"0\" y=\"10\" class=\"axis\">{most}</text>");
    let left = 40;
    let slot = (WIDTH - left) * 1000 / number;
    // A few labels tell where one is.
    let every = number.div_ceil(8);
    for (at, (begin, counts)) in (0..).zip(bars) {
        let x = left * 1000 + at * slot;
        let mut top = HEIGHT * 1000;
        let label = moment(*begin, step);
        for (part, count) in PARTS.iter().zip(counts) {
            let height = (HEIGHT - 12) * 1000 * count / most;
            top -= height;
            if *count > 0 {
                let _ = writeln!(
                    svg,
                    "<rect class=\"{part}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"><title>{label}: {count} {}</title></rect>",
                    decimal(x),
                    decimal(top),
                    decimal((slot * 4 / 5).min(40_000)),
                    decimal(height),
                    words(part)
                );
            }
        }
        if at % every == 0 {
            // The last one would run out of the picture.
            let late = x > (WIDTH - 70) * 1000;
            let (x, anchor) = if late { (WIDTH * 1000, "end") } else { (x, "start") };
            let _ = writeln!(
                svg,
                "<text x=\"{}\" y=\"{}\" text-anchor=\"{anchor}\" class=\"axis\">{label}</text>",
                decimal(x),
                HEIGHT + 16
            );
        }
    }
    let _ = writeln!(
        svg,
        "<line x1=\"{left}\" y1=\"{HEIGHT}\" x2=\"{WIDTH}\" y2=\"{HEIGHT}\" class=\"base\"/>\n</svg>"
    );
    svg
}

/// Bars by name, the longest first.
pub fn by_name(title: &str, counts: &[(String, u64)]) -> String {
    const ROW: u64 = 20;
    const MOST: usize = 12;
    let rows = u64::try_from(counts.len().min(MOST)).unwrap_or(0).max(1);
    let most = counts.iter().map(|(_, count)| *count).max().unwrap_or(1).max(1);
    let mut svg =
        format!("<svg viewBox=\"0 0 430 {}\" role=\"img\" aria-label=\"{}\">\n", rows * ROW, escape(title));
    if counts.is_empty() {
        svg += "<text x=\"0\" y=\"14\" class=\"axis\">none</text>\n";
    }
    for (at, (name, count)) in (0..).zip(counts.iter().take(MOST)) {
        let class = if PARTS.contains(&name.as_str()) { name.as_str() } else { "go" };
        let short = shortened(name);
        let _ = writeln!(
            svg,
            "<text x=\"0\" y=\"{y}\">{}</text><rect class=\"{class}\" x=\"190\" y=\"{}\" width=\"{}\" height=\"12\"><title>{}: {count}</title></rect><text x=\"{}\" y=\"{y}\" class=\"axis\">{count}</text>",
            escape(&short),
            at * ROW + 4,
            (180 * count / most).max(1),
            escape(name),
            196 + 180 * count / most,
            y = at * ROW + 14
        );
    }
    svg + "</svg>\n"
}

/// What the colours mean.
pub fn legend() -> String {
    let entry = |part: &&str| {
        format!(
            "<li><svg viewBox=\"0 0 10 10\" aria-hidden=\"true\"><rect class=\"{part}\" width=\"10\" height=\"10\"/></svg>{}</li>\n",
            words(part)
        )
    };
    format!("<ul class=\"legend\">\n{}</ul>\n", PARTS.iter().map(entry).collect::<String>())
}

/// As much of a name as there is room for.
fn shortened(name: &str) -> String {
    const ROOM: usize = 26;
    if name.chars().count() <= ROOM {
        return name.to_owned();
    }
    name.chars().take(ROOM - 1).chain(['…']).collect()
}

fn words(part: &str) -> &str {
    match part {
        "go" => "not objected to",
        "ask" => "asked about",
        _ => "denied",
    }
}

/// What a bar of this length is called.
pub fn unit(step: u64) -> &'static str {
    match step {
        step if step >= 7 * DAY => "week",
        DAY.. => "day",
        _ => "hour",
    }
}

fn decimal(thousandths: u64) -> String {
    format!("{}.{:03}", thousandths / 1000, thousandths % 1000)
}

/// `11-15 08:00`, or `11-15` for a day.
fn moment(ms: u64, step: u64) -> String {
    let text = Timestamp::from_unix_ms(ms).to_string();
    let length = if step >= DAY { 5 } else { 11 };
    text.chars().skip(5).take(length).collect::<String>().replace('T', " ")
}
