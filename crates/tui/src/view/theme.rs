// SPDX-License-Identifier: Apache-2.0 OR MIT

use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use tenterhook_event::Decision;

/// Styles for the screen. They use the terminal's sixteen colours, which suit light and dark backgrounds, or no
/// colours.
#[derive(Debug, Clone, Copy)]
pub(super) struct Theme {
    pub(super) colors: bool,
}

impl Theme {
    fn color(self, color: Color) -> Style {
        if self.colors { Style::new().fg(color) } else { Style::new() }
    }

    pub(super) fn good(self) -> Style {
        self.color(Color::Green)
    }

    pub(super) fn warn(self) -> Style {
        self.color(Color::Yellow)
    }

    pub(super) fn bad(self) -> Style {
        self.color(Color::Red).add_modifier(Modifier::BOLD)
    }

    pub(super) fn accent(self) -> Style {
        self.color(Color::Cyan)
    }

    pub(super) fn bold(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    pub(super) fn dim(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    pub(super) fn chosen(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    /// Style of a tab that needs an answer.
    pub(super) fn alert(self, is_chosen: bool) -> Style {
        let style = self.warn().add_modifier(Modifier::BOLD | Modifier::REVERSED);
        if is_chosen { style.add_modifier(Modifier::UNDERLINED) } else { style }
    }

    pub(super) fn verdict(self, verdict: Decision) -> Style {
        match verdict {
            Decision::None => self.dim(),
            Decision::Allow => self.good(),
            Decision::Defer | Decision::Ask => self.warn(),
            Decision::Deny => self.bad(),
        }
    }

    /// Formats the heading of a section.
    pub(super) fn heading(self, text: impl Into<String>) -> Line<'static> {
        Line::from(Span::styled(text.into(), self.accent().add_modifier(Modifier::BOLD)))
    }
}
