// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Draws QR codes for terminals.

use anstyle::{AnsiColor, Color, Style};
use qrcode::{Color as Module, EcLevel, QrCode};

/// Width of the light margin around the code, in modules.
const MARGIN: usize = 2;
/// Style of the code: dark on light, on every terminal.
const INK: Style = Style::new()
    .fg_color(Some(Color::Ansi(AnsiColor::Black)))
    .bg_color(Some(Color::Ansi(AnsiColor::BrightWhite)));

/// Draws a QR code, two modules per character. Returns `None` if the string is too long.
pub fn draw_qr_code(text: &str) -> Option<String> {
    let code = QrCode::with_error_correction_level(text, EcLevel::L).ok()?;
    let (width, modules) = (code.width(), code.to_colors());
    let is_dark = |x: usize, y: usize| {
        let (x, y) = (x.checked_sub(MARGIN)?, y.checked_sub(MARGIN)?);
        (x < width).then(|| modules.get(y * width + x).copied())?
    };
    let is_dark = |x, y| is_dark(x, y) == Some(Module::Dark);
    let side = width + 2 * MARGIN;
    let line = |y: usize| -> String {
        let half = |x: usize| match (is_dark(x, y), is_dark(x, y + 1)) {
            (true, true) => '█',
            (true, false) => '▀',
            (false, true) => '▄',
            (false, false) => ' ',
        };
        format!("{INK}{}{INK:#}\n", (0..side).map(half).collect::<String>())
    };
    Some((0..side).step_by(2).map(line).collect())
}

/// Returns the modules of a QR code, row by row: `1` is dark and `0` is light. Returns `None` if the string is too long.
pub fn qr_code_rows(text: &str) -> Option<Vec<String>> {
    let code = QrCode::with_error_correction_level(text, EcLevel::L).ok()?;
    let modules = code.to_colors();
    let digit = |module: &Module| if *module == Module::Dark { '1' } else { '0' };
    Some(modules.chunks(code.width()).map(|row| row.iter().map(digit).collect()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_picture_has_every_module_in_its_place() {
        let text =
            "otpauth://totp/Tenterhook:dev@host?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Tenterhook";
        let drawn = anstream::adapter::strip_str(&draw_qr_code(text).unwrap()).to_string();
        let rows: Vec<Vec<char>> = drawn.lines().map(|line| line.chars().collect()).collect();
        let code = QrCode::with_error_correction_level(text, EcLevel::L).unwrap();
        let side = code.width() + 2 * MARGIN;
        assert_eq!((rows.len(), rows[0].len()), (side.div_ceil(2), side));
        for y in 0..side {
            for x in 0..side {
                let halves = if y % 2 == 0 { ['█', '▀'] } else { ['█', '▄'] };
                let dark = halves.contains(&rows[y / 2][x]);
                let inside = (MARGIN..side - MARGIN).contains(&x) && (MARGIN..side - MARGIN).contains(&y);
                let expected = inside && code[(x - MARGIN.min(x), y - MARGIN.min(y))] == Module::Dark;
                assert_eq!(dark, expected, "{x} {y}");
            }
        }
        assert!(draw_qr_code(&"x".repeat(5000)).is_none());
    }
}
