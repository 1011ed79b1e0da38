// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Control sequences that do not change the screen.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Rings the terminal's bell.
pub(super) const BELL: &str = "\u{7}";

/// Returns the sequence that copies text to the clipboard of the terminal (OSC 52). It also works over ssh. The text
/// is encoded, so it cannot end the sequence.
pub(super) fn copy_sequence(text: &str) -> String {
    format!("\u{1b}]52;c;{}\u{7}", STANDARD.encode(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_end_the_sequence_that_copies_it() {
        assert_eq!(copy_sequence("ls"), "\u{1b}]52;c;bHM=\u{7}");
        let sequence = copy_sequence("a\u{7}\u{1b}\\b");
        assert_eq!(sequence.matches(['\u{7}', '\u{1b}']).count(), 2, "{sequence:?}");
    }
}
