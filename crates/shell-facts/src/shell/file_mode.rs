// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads the mode operand of `chmod`.

use super::word::ShellWord;

/// Act of a `chmod` command after which its owner can read and run the files.
pub(super) const KEEPS_RUNNABLE_ACT: &str = "keeps-runnable";

/// Options that leave the first operand the mode. After `--reference`, all operands are files.
const PLAIN_OPTIONS: &[&str] =
    &["-c", "-f", "-v", "-R", "--changes", "--quiet", "--silent", "--verbose", "--recursive"];
/// Modes in octal that let the owner read and run a file.
const RUNNABLE_OCTAL_MODES: &[&str] = &["700", "744", "750", "755"];

/// Whether `chmod` with these words only sets modes with which a file can be read and run. In GNU `chmod`, a word such
/// as `-x` anywhere is the mode.
pub(super) fn keeps_runnable(program: &str, words: &[ShellWord]) -> bool {
    if !matches!(program, "chmod" | "gchmod") {
        return false;
    }
    let is_option = |word: &&ShellWord| PLAIN_OPTIONS.contains(&word.text.as_str());
    let options = words.iter().take_while(is_option).count();
    let Some((mode, files)) = words.get(options..).and_then(|rest| rest.split_first()) else { return false };
    let is_known = |word: &ShellWord| !word.dynamic && !word.text.starts_with('-');
    !mode.pattern && is_known(mode) && is_runnable_mode(&mode.text) && files.iter().all(is_known)
}

fn is_runnable_mode(mode: &str) -> bool {
    if let Some((who, what)) = mode.split_once('+') {
        return who.chars().all(|letter| matches!(letter, 'u' | 'g' | 'o' | 'a'))
            && matches!(what, "x" | "rx");
    }
    RUNNABLE_OCTAL_MODES.contains(&mode.strip_prefix('0').unwrap_or(mode))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_mode_operand_counts() {
        let keeps = |text: &str| {
            let words: Vec<_> = text.split(' ').map(ShellWord::literal).collect();
            keeps_runnable("chmod", &words)
        };
        for text in ["+x f", "755 f", "0755 a b", "-R u+x d", "-v ug+rx f"] {
            assert!(keeps(text), "{text}");
        }
        for text in [
            "000 f +x",
            "000 f 755",
            "755 -x f",
            "-x f 755",
            "755 f -x",
            "--reference=g f 755",
            "--reference g 755",
            "-- 000 755",
            "a-x+x f",
            "+x,a-r f",
            "4755 f",
            "644 f",
            "",
        ] {
            assert!(!keeps(text), "{text}");
        }
    }
}
