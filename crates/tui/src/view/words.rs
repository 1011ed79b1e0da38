// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Numbers and times, as people read them.

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use tenterhook_event::Timestamp;

use super::Lines;
use crate::message::Clock;
use crate::plain;

/// `20:13:15`, on the person's clock.
pub(super) fn time(ms: u64, clock: Clock) -> String {
    written(ms, clock).get(11..19).unwrap_or_default().to_owned()
}

/// `2026-11-15 20:13:15`.
pub(super) fn day_and_time(ms: u64, clock: Clock) -> String {
    written(ms, clock).get(..19).unwrap_or_default().replace('T', " ")
}

fn written(ms: u64, clock: Clock) -> String {
    Timestamp::from_unix_ms(ms.saturating_add_signed(clock.ahead_s * 1000)).to_string()
}

/// `850 µs`, `1.2 ms`, `3 s`.
pub(super) fn took(us: u64) -> String {
    match us {
        0..1000 => format!("{us} µs"),
        1000..100_000 => format!("{}.{} ms", us / 1000, us % 1000 / 100),
        100_000..10_000_000 => format!("{} ms", us / 1000),
        _ => format!("{} s", us / 1_000_000),
    }
}

/// `12 s`, `3 min`, `2 h 5 min`.
pub(super) fn lasted(ms: u64) -> String {
    match ms / 1000 {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds @ 60..3600 => format!("{} min", seconds / 60),
        seconds => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

/// `12,345`.
pub(super) fn count(number: u64) -> String {
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

/// `1.2 GB`.
pub(super) fn bytes(number: u64) -> String {
    let units = ["B", "kB", "MB", "GB", "TB"];
    let (mut rest, mut tenths, mut unit) = (number, 0, 0);
    while rest >= 1000 && unit + 1 < units.len() {
        (tenths, rest, unit) = (rest % 1000 / 100, rest / 1000, unit + 1);
    }
    let name = units.get(unit).copied().unwrap_or_default();
    if unit == 0 { format!("{rest} {name}") } else { format!("{rest}.{tenths} {name}") }
}

/// A text that is broken at the end of the screen, a little to the right.
pub(super) fn paragraph(text: &str, style: Style, width: usize) -> Lines {
    let line = |piece: String| Line::from(vec![Span::raw("  "), Span::styled(piece, style)]);
    plain::wrap(text, width.saturating_sub(3)).into_iter().map(line).collect()
}

/// A text as wide as its column.
pub(super) fn cell(text: &str, width: usize) -> String {
    let text = plain::fit(text, width);
    let missing = width.saturating_sub(unicode_width::UnicodeWidthStr::width(text.as_str()));
    text + &" ".repeat(missing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_times_are_short() {
        let clock = Clock { now_ms: 0, ahead_s: 3600 };
        assert_eq!(
            (time(0, clock), day_and_time(0, clock)),
            ("01:00:00".into(), "1970-01-01 01:00:00".into())
        );
        let tooks = [took(7), took(1234), took(250_000), took(12_000_000)];
        assert_eq!(tooks, ["7 µs", "1.2 ms", "250 ms", "12 s"]);
        assert_eq!([lasted(999), lasted(61_000), lasted(7_500_000)], ["0 s", "1 min", "2 h 5 min"]);
        assert_eq!([count(7), count(1234), count(1_234_567)], ["7", "1,234", "1,234,567"]);
        assert_eq!([bytes(12), bytes(1_250), bytes(3_400_000_000)], ["12 B", "1.2 kB", "3.4 GB"]);
        assert_eq!([cell("ab", 4), cell("漢字漢", 4)], ["ab  ", "漢… "]);
    }
}
