// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Formats numbers, times and strings for the screen.

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use tenterhook_event::Timestamp;

use super::TextLines;
use crate::message::WallClock;
use crate::plain;

/// Formats the local time of day: `20:13:15`.
pub(super) fn clock_time(ms: u64, clock: WallClock) -> String {
    local_timestamp(ms, clock).get(11..19).unwrap_or_default().to_owned()
}

/// Formats the local hour and minute: `20:13`.
pub(super) fn short_time(ms: u64, clock: WallClock) -> String {
    local_timestamp(ms, clock).get(11..16).unwrap_or_default().to_owned()
}

/// Formats the local date and time: `2026-11-15 20:13:15`.
pub(super) fn date_time(ms: u64, clock: WallClock) -> String {
    local_timestamp(ms, clock).get(..19).unwrap_or_default().replace('T', " ")
}

fn local_timestamp(ms: u64, clock: WallClock) -> String {
    Timestamp::from_unix_ms(ms.saturating_add_signed(clock.ahead_s * 1000)).to_string()
}

/// Formats microseconds: `850 µs`, `1.2 ms`, `3 s`.
pub(super) fn format_micros(us: u64) -> String {
    match us {
        0..1000 => format!("{us} µs"),
        1000..100_000 => format!("{}.{} ms", us / 1000, us % 1000 / 100),
        100_000..10_000_000 => format!("{} ms", us / 1000),
        _ => format!("{} s", us / 1_000_000),
    }
}

/// Formats the run time of a tool: `8 ms`, `1.2 s`, `3 min`.
pub(super) fn format_run_time(ms: u64) -> String {
    match ms {
        0..1000 => format!("{ms} ms"),
        1000..100_000 => format!("{}.{} s", ms / 1000, ms % 1000 / 100),
        _ => format_duration(ms),
    }
}

/// Formats milliseconds: `12 s`, `3 min`, `2 h 5 min`.
pub(super) fn format_duration(ms: u64) -> String {
    match ms / 1000 {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds @ 60..3600 => format!("{} min", seconds / 60),
        seconds => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

/// Formats a count: `12,345`.
pub(super) fn format_count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a size: `1.2 GB`.
pub(super) fn format_bytes(number: u64) -> String {
    let units = ["B", "kB", "MB", "GB", "TB"];
    let (mut rest, mut tenths, mut unit) = (number, 0, 0);
    while rest >= 1000 && unit + 1 < units.len() {
        (tenths, rest, unit) = (rest % 1000 / 100, rest / 1000, unit + 1);
    }
    let name = units.get(unit).copied().unwrap_or_default();
    if unit == 0 { format!("{rest} {name}") } else { format!("{rest}.{tenths} {name}") }
}

/// Wraps a string to the width, with an indent.
pub(super) fn wrapped_lines(text: &str, style: Style, width: usize) -> TextLines {
    let line = |piece: String| Line::from(vec![Span::raw("  "), Span::styled(piece, style)]);
    plain::wrap(text, width.saturating_sub(3)).into_iter().map(line).collect()
}

/// Truncates or pads a string to the width of its column.
pub(super) fn pad_cell(text: &str, width: usize) -> String {
    let text = plain::truncate(text, width);
    let missing = width.saturating_sub(unicode_width::UnicodeWidthStr::width(text.as_str()));
    text + &" ".repeat(missing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_times_are_short() {
        let clock = WallClock { now_ms: 0, ahead_s: 3600 };
        assert_eq!(
            (clock_time(0, clock), date_time(0, clock)),
            ("01:00:00".into(), "1970-01-01 01:00:00".into())
        );
        let micros =
            [format_micros(7), format_micros(1234), format_micros(250_000), format_micros(12_000_000)];
        assert_eq!(micros, ["7 µs", "1.2 ms", "250 ms", "12 s"]);
        assert_eq!(
            [format_run_time(8), format_run_time(1250), format_run_time(190_000)],
            ["8 ms", "1.2 s", "3 min"]
        );
        assert_eq!(
            [format_duration(999), format_duration(61_000), format_duration(7_500_000)],
            ["0 s", "1 min", "2 h 5 min"]
        );
        assert_eq!(
            [format_count(7), format_count(1234), format_count(1_234_567)],
            ["7", "1,234", "1,234,567"]
        );
        assert_eq!(
            [format_bytes(12), format_bytes(1_250), format_bytes(3_400_000_000)],
            ["12 B", "1.2 kB", "3.4 GB"]
        );
        assert_eq!([pad_cell("ab", 4), pad_cell("漢字漢", 4)], ["ab  ", "漢… "]);
    }
}
