// SPDX-License-Identifier: Apache-2.0 OR MIT

//! One text → another text that is nearly as good.

use crate::chance::Chance;

/// Longer texts are only made by repeating, and not longer than this.
pub const LONGEST: usize = 16 * 1024;
/// What one text in a hundred may grow to.
pub const LONGEST_REPEATED: usize = 512 * 1024;

/// Pieces that mean something to a shell.
#[rustfmt::skip]
const SHELL: &[&str] = &[
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

/// Pieces that mean something to the other readers: code, JSON, YAML, conditions, addresses, secrets.
#[rustfmt::skip]
const OTHERS: &[&str] = &[
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
const AROUND: &[(&str, &str)] = &[
    ("(", ")"), ("{ ", "; }"), ("$(", ")"), ("`", "`"), ("\"", "\""), ("'", "'"), ("${x:-", "}"),
    ("$((", "))"), ("if ", "; then :; fi"), ("while ", "; do :; done"), ("for x in ", "; do $x; done"),
    ("case ", " in *) ;; esac"), ("f() { ", "; }; f"), ("eval '", "'"), ("bash -c '", "'"),
    ("bash <<E\n", "\nE\n"), ("<(", ")"), ("[[ ", " ]]"), ("x=(", ")"), ("[", "]"), ("{\"a\":", "}"),
    ("!(", ")"), ("a{", ",b}"), ("xargs ", ""), ("sudo ", ""), ("! ", ""), ("time ", ""), ("x=", " $x"),
];

/// Makes another text of one, with a second at hand to take from.
pub fn mutate(text: &str, other: &str, chance: &mut Chance) -> String {
    let mut text = text.to_owned();
    for _ in 0..=chance.below(4) {
        text = once(&text, other, chance);
    }
    if chance.below(100) == 0 {
        let times = LONGEST_REPEATED / text.len().max(1);
        return text.repeat(1 + chance.below(times));
    }
    cut(&text, LONGEST).to_owned()
}

fn once(text: &str, other: &str, chance: &mut Chance) -> String {
    let (from, to) = range(text, chance);
    let (before, within, after) = (part(text, 0, from), part(text, from, to), part(text, to, text.len()));
    match chance.below(11) {
        // Insertions are the most likely: they keep most of what the text means.
        0..=2 => format!("{before}{}{within}{after}", piece(chance)),
        3 => format!("{before}{}{after}", piece(chance)),
        4 => format!("{before}{after}"),
        5 => {
            let (from, to) = range(other, chance);
            format!("{before}{}{after}", part(other, from, to))
        }
        6 => {
            let most = if chance.below(10) == 0 { 200 } else { 4 };
            let times = 1 + chance.below(most);
            cut(&format!("{before}{}{after}", within.repeat(times)), LONGEST).to_owned()
        }
        7 => {
            let (open, close) = AROUND.get(chance.below(AROUND.len())).copied().unwrap_or_default();
            let most = if chance.below(10) == 0 { 80 } else { 2 };
            let times = 1 + chance.below(most);
            format!("{before}{}{within}{}{after}", open.repeat(times), close.repeat(times))
        }
        8 => before.to_owned(),
        9 => flip(text, chance),
        _ => format!(
            "{text}{}{other}",
            chance.one_of(&["\n", "; ", " | ", " && ", " ", ""]).unwrap_or_default()
        ),
    }
}

fn piece(chance: &mut Chance) -> &'static str {
    let pieces = if chance.below(3) == 0 { OTHERS } else { SHELL };
    chance.one_of(pieces).unwrap_or_default()
}

/// Changes one byte; what is no text any more is mended as everybody mends it.
fn flip(text: &str, chance: &mut Chance) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let at = chance.below(bytes.len());
    if let Some(byte) = bytes.get_mut(at) {
        *byte ^= 1 << chance.below(8);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A random part, more often a short one.
fn range(text: &str, chance: &mut Chance) -> (usize, usize) {
    let from = chance.below(text.len() + 1);
    let most = if chance.below(2) == 0 { 8 } else { text.len() };
    (from, (from + chance.below(most + 1)).min(text.len()))
}

/// The part between two places, moved to where letters begin.
fn part(text: &str, from: usize, to: usize) -> &str {
    let (from, to) = (text.floor_char_boundary(from), text.floor_char_boundary(to));
    text.get(from..to).unwrap_or_default()
}

fn cut(text: &str, most: usize) -> &str {
    part(text, 0, most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mutant_differs_and_stays_within_bounds() {
        let mut chance = Chance::new(1);
        let mut different = 0;
        for _ in 0..2_000 {
            let mutant = mutate("echo \"é $x\" | cat", "for x in a; do b; done", &mut chance);
            assert!(mutant.len() <= LONGEST_REPEATED + LONGEST);
            different += usize::from(mutant != "echo \"é $x\" | cat");
        }
        assert!(different > 1_500, "{different} of 2000");
    }
}
