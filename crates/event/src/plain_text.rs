// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Makes untrusted text safe to print. Text from agents and harnesses may contain terminal escape sequences and
//! invisible characters.

/// Returns whether a character is invisible but may change how the text around it is displayed.
pub fn is_invisible(letter: char) -> bool {
    matches!(letter,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// Returns the text on one line, without control characters or invisible characters.
pub fn strip_control_characters(text: &str) -> String {
    let visible = |letter: char| if letter.is_whitespace() { ' ' } else { letter };
    text.chars().map(visible).filter(|letter| !letter.is_control() && !is_invisible(*letter)).collect()
}
