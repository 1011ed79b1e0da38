// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Charts of blocks, one column of the screen per value.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::format::{format_micros, short_time};
use super::theme::Theme;
use crate::decision_stats::MinuteStats;
use crate::state::TuiState;

/// Blocks by height; the first one stands for zero.
const BLOCKS: [&str; 9] = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
/// Number of columns of the chart above the lists, without its labels.
const HEADER_COLUMNS: usize = 30;
/// Number of columns from which the header also shows the decision time.
const WIDE_HEADER_COLUMNS: u16 = 100;

/// Stretches or shrinks minutes to columns. A column of several minutes has the statistics of the busiest minute.
pub(super) fn fit_columns(minutes: &[MinuteStats], columns: usize) -> Vec<MinuteStats> {
    let length = minutes.len();
    if length == 0 {
        return Vec::new();
    }
    let minutes_of = |column: usize| {
        let first = column * length / columns;
        let end = ((column + 1) * length).div_ceil(columns).max(first + 1);
        minutes.get(first..end.min(length)).unwrap_or_default()
    };
    (0..columns)
        .map(|column| {
            minutes_of(column).iter().max_by_key(|minute| minute.decided).cloned().unwrap_or_default()
        })
        .collect()
}

/// Draws the chart above the lists: decisions per minute, with the time range, the counts and the decision time.
pub(super) fn draw_header_chart(state: &TuiState, theme: Theme, frame: &mut Frame<'_>, area: Rect) {
    let now_ms = state.clock.now_ms;
    let shown = state.stats.shown_minutes(now_ms);
    let minutes = state.stats.last_minutes(shown, now_ms);
    let sum = MinuteStats::sum(&minutes);
    let columns = fit_columns(&minutes, HEADER_COLUMNS);
    let peak = columns.iter().map(|column| column.decided).max().unwrap_or_default();
    let start = now_ms.saturating_sub(shown as u64 * 60_000);
    let mut spans = vec![Span::styled(format!("{} ", short_time(start, state.clock)), theme.dim())];
    for column in &columns {
        let style = match (column.denied, column.asked) {
            (1.., _) => theme.bad(),
            (0, 1..) => theme.warn(),
            _ => theme.accent(),
        };
        spans.push(Span::styled(block(column.decided, peak), style));
    }
    let rate = minutes.last().map_or(0, |minute| minute.decided);
    spans.push(Span::styled(format!(" {}  ", short_time(now_ms, state.clock)), theme.dim()));
    spans.push(Span::raw(format!("{rate}/min")));
    for (number, what, style) in [(sum.denied, "denied", theme.bad()), (sum.asked, "asked", theme.warn())] {
        spans.push(Span::styled(" · ", theme.dim()));
        let style = if number > 0 { style } else { theme.dim() };
        spans.push(Span::styled(format!("{number} {what}"), style));
    }
    if area.width >= WIDE_HEADER_COLUMNS {
        let percentile = |percent| sum.percentile_us(percent).map_or_else(|| "–".to_owned(), format_micros);
        let text = format!(" · decided in {} (p50), {} (p99)", percentile(50), percentile(99));
        spans.push(Span::styled(text, theme.dim()));
    }
    frame.render_widget(Paragraph::new(Line::from(spans)), area);
}

/// Returns the block for a value; any value above zero is visible.
fn block(value: u64, peak: u64) -> &'static str {
    let height = if peak == 0 { 0 } else { (value * 8).div_ceil(peak) };
    usize::try_from(height).ok().and_then(|height| BLOCKS.get(height)).copied().unwrap_or("█")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn minutes(counts: &[u64]) -> Vec<MinuteStats> {
        let minute = |decided: &u64| {
            let mut minute = MinuteStats::default();
            minute.decided = *decided;
            minute
        };
        counts.iter().map(minute).collect()
    }

    fn fitted(counts: &[u64], columns: usize) -> Vec<u64> {
        fit_columns(&minutes(counts), columns).iter().map(|column| column.decided).collect()
    }

    #[test]
    fn minutes_fill_the_columns_and_no_peak_disappears() {
        assert_eq!(fitted(&[1, 2, 3], 6), [1, 1, 2, 2, 3, 3]);
        assert_eq!(fitted(&[1, 9, 3, 4], 2), [9, 4]);
        assert_eq!(fitted(&[5], 3), [5, 5, 5]);
        assert!(fitted(&[], 3).is_empty());
        for (length, columns) in [(240, 30), (15, 80), (7, 3), (1, 1)] {
            let counts: Vec<u64> = (0..length).map(|at| u64::from(at == length / 2)).collect();
            assert!(fitted(&counts, columns).contains(&1), "{length} {columns}");
        }
    }

    #[test]
    fn a_block_is_as_high_as_its_value() {
        assert_eq!([block(0, 100), block(1, 100), block(50, 100), block(100, 100)], [" ", "▁", "▄", "█"]);
        assert_eq!(block(0, 0), " ");
    }
}
