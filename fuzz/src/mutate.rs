// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Mutates a text into one that is nearly valid.

use crate::random_choices::RandomChoices;

/// Maximum length of a mutated text. Only repetition makes longer texts.
pub const MAX_TEXT_BYTES: usize = 16 * 1024;
/// Maximum length of a text made by repetition. One text in a hundred is made this way.
pub const MAX_REPEATED_BYTES: usize = 512 * 1024;

/// Tokens of the shell.
#[rustfmt::skip]
const SHELL_TOKENS: &[&str] = &[
    ";", "&", "|", "&&", "||", "|&", "(", ")", "{ ", ";}", "((", "))", "[[ ", " ]]", "$(", "`", "$((", "${",
    "}", "$[", "]", "<", ">", ">>", "<<E\n", "\nE\n", "<<-'E'\n", "<<<", "<(", ">(", "<>", ">|", ">&",
    "2>&1", "&>", "'", "\"", "\\", "\\\n", "$'", "$\"", "\n", "\t", " ", "#", " #", "!", "~", "~root", "*",
    "?", "[a-z]", "{a,b}", "{1..9}", "$x", "$@", "\"$@\"", "$*", "$#", "$?", "$$", "$0", "$1", "${x:-y}",
    "${x[@]}", "${!x}", "${#x}", "${x//a/b}", "${x@Q}", "x=", "x+=", "x=(", "x[0]=", "if ", "; then ",
    "; elif ", "; else ", "; fi", "for x in ", "for ((;;)) ", "; do ", "; done", "while ", "until ",
    "case x in ", "x) ", ";;", ";&", ";;&", " esac", "select x in ", "function f ", "f() ", "f; ",
    "coproc ", "time ", "eval ", "exec ", "source ", ". ", "alias ll=", "unset x", "export x=", "local x=",
    "declare -A ", "readonly ", "read x", "set -- ", "shift", "trap '", "' EXIT", "cd ", "cd ..", "pushd ",
    "sudo ", "env ", "env -S ", "xargs ", "xargs -I{} ", "find . -exec ", " {} \\;", " {} +", "bash -c ",
    "sh -c '", "python3 -c ", "perl -e ", "node -e ", "ssh host ", "docker exec c ", "nohup ", "timeout 5 ",
    "nice ", "base64 -d", "| sh", "| bash -s", "tee f", "rm -rf /", "rm -rf ~", "curl http://a/x",
    "/dev/tcp/a/1", "printf %s ", "echo ", "cat ", "-", "--", "-c", "-i", "=", "\0", "\r\n", "é",
    "\u{202e}", "\u{feff}", "😀", "$'\\x72\\x6d'", "IFS=", "0x", "08", "-1", "99999999999999999999",
];

/// Tokens of the other targets: code, JSON, YAML, conditions, addresses, secrets.
#[rustfmt::skip]
const OTHER_TOKENS: &[&str] = &[
    "import os\n", "os.system(", "open(", ",'w')", "f'{", "}'", "'''", "\"\"\"", "lambda: ", "exec(",
    "eval(", "b64decode(", "require('fs').", "`${", "}`", "system(", "qx{", "<<~E\n", "%w[", "<?php ", "?>",
    "BEGIN{", "subprocess.run([", "])", "{\"", "\":", "[", "]", "null", "1e999", "\\u0000", "\\ud800", "{}",
    "- id: a\n", "  match:\n", "verdict: deny\n", "&a ", "*a", "<<: *a", "!!binary ", "|\n", ">-\n",
    "any: [", "not: {", "examples:\n", "when: '", "expires: ", "regex: ", "event.", "args.", " in ", " ? ",
    " : ", ".map(x, ", ".all(x, ", ".matches(", "size(", "r'", "b'", "&&", "||", "==", "has(", "http://",
    "https://", "user:pw@", "@", ":80", ":99999", "/", "//", "?", "#", "%2e", "%", "[::1]", "[", "127.1",
    "0x7f000001", "0177.0.0.1", "xn--", "localhost", "ghp_", "AKIA", "-----BEGIN PRIVATE KEY-----\n", "sk-",
    "eyJ", ".", "..", "\\\\", "AAAAAAAAAAAAAAAAAAAA", "0123456789abcdef0123456789abcdef",
];

/// Brackets to put around a text.
#[rustfmt::skip]
const BRACKETS: &[(&str, &str)] = &[
    ("(", ")"), ("{ ", "; }"), ("$(", ")"), ("`", "`"), ("\"", "\""), ("'", "'"), ("${x:-", "}"),
    ("$((", "))"), ("if ", "; then :; fi"), ("while ", "; do :; done"), ("for x in ", "; do $x; done"),
    ("case ", " in *) ;; esac"), ("f() { ", "; }; f"), ("eval '", "'"), ("bash -c '", "'"),
    ("bash <<E\n", "\nE\n"), ("<(", ")"), ("[[ ", " ]]"), ("x=(", ")"), ("[", "]"), ("{\"a\":", "}"),
    ("!(", ")"), ("a{", ",b}"), ("xargs ", ""), ("sudo ", ""), ("! ", ""), ("time ", ""), ("x=", " $x"),
];

/// Mutates a text, with a second text to take parts from.
pub fn mutate(text: &str, other: &str, random: &mut RandomChoices) -> String {
    let mut text = text.to_owned();
    for _ in 0..=random.below(4) {
        text = mutate_once(&text, other, random);
    }
    if random.below(100) == 0 {
        let times = MAX_REPEATED_BYTES / text.len().max(1);
        return text.repeat(1 + random.below(times));
    }
    truncate_text(&text, MAX_TEXT_BYTES).to_owned()
}

fn mutate_once(text: &str, other: &str, random: &mut RandomChoices) -> String {
    let (from, to) = random_range(text, random);
    let (before, within, after) =
        (char_slice(text, 0, from), char_slice(text, from, to), char_slice(text, to, text.len()));
    match random.below(11) {
        // Insertions are the most likely mutation, because they keep most of the text's meaning.
        0..=2 => format!("{before}{}{within}{after}", random_token(random)),
        3 => format!("{before}{}{after}", random_token(random)),
        4 => format!("{before}{after}"),
        5 => {
            let (from, to) = random_range(other, random);
            format!("{before}{}{after}", char_slice(other, from, to))
        }
        6 => {
            let most = if random.below(10) == 0 { 200 } else { 4 };
            let times = 1 + random.below(most);
            truncate_text(&format!("{before}{}{after}", within.repeat(times)), MAX_TEXT_BYTES).to_owned()
        }
        7 => {
            let (open, close) = BRACKETS.get(random.below(BRACKETS.len())).copied().unwrap_or_default();
            let most = if random.below(10) == 0 { 80 } else { 2 };
            let times = 1 + random.below(most);
            format!("{before}{}{within}{}{after}", open.repeat(times), close.repeat(times))
        }
        8 => before.to_owned(),
        9 => flip_bit(text, random),
        _ => format!(
            "{text}{}{other}",
            random.choose(&["\n", "; ", " | ", " && ", " ", ""]).unwrap_or_default()
        ),
    }
}

fn random_token(random: &mut RandomChoices) -> &'static str {
    let pieces = if random.below(3) == 0 { OTHER_TOKENS } else { SHELL_TOKENS };
    random.choose(pieces).unwrap_or_default()
}

/// Flips one bit; invalid UTF-8 is replaced.
fn flip_bit(text: &str, random: &mut RandomChoices) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let at = random.below(bytes.len());
    if let Some(byte) = bytes.get_mut(at) {
        *byte ^= 1 << random.below(8);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A random range, usually a short one.
fn random_range(text: &str, random: &mut RandomChoices) -> (usize, usize) {
    let from = random.below(text.len() + 1);
    let most = if random.below(2) == 0 { 8 } else { text.len() };
    (from, (from + random.below(most + 1)).min(text.len()))
}

/// The part between two offsets, moved to character boundaries.
fn char_slice(text: &str, from: usize, to: usize) -> &str {
    let (from, to) = (text.floor_char_boundary(from), text.floor_char_boundary(to));
    text.get(from..to).unwrap_or_default()
}

fn truncate_text(text: &str, most: usize) -> &str {
    char_slice(text, 0, most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mutant_differs_and_stays_within_bounds() {
        let mut random = RandomChoices::new(1);
        let mut different = 0;
        for _ in 0..2_000 {
            let mutant = mutate("echo \"é $x\" | cat", "for x in a; do b; done", &mut random);
            assert!(mutant.len() <= MAX_REPEATED_BYTES + MAX_TEXT_BYTES);
            different += usize::from(mutant != "echo \"é $x\" | cat");
        }
        assert!(different > 1_500, "{different} of 2000");
    }
}
