// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads text that bash evaluates a second time: subscripts in names that builtins receive, and callbacks.
//!
//! Quotes protect `$(…)` from the first evaluation only. `unset 'a[$(cmd)]'` runs `cmd`.

use tenterhook_paths::Certainty;

use super::ShellReader;
use super::scope::ShellScope;
use super::word::ShellWord;

/// Operators of `[[` whose operands are names of variables or numbers.
const EVALUATING_TESTS: &[&str] = &["-v", "-R", "-eq", "-ne", "-lt", "-le", "-gt", "-ge"];

impl ShellReader<'_> {
    /// Reads the commands in words that a builtin evaluates again.
    pub(super) fn run_evaluated_words(&mut self, program: &str, words: &[ShellWord], scope: &ShellScope) {
        let has = |option: &str| words.iter().any(|word| word.is(option));
        let names_are_evaluated = match program {
            "let" | "unset" | "read" | "wait" | "getopts" | "mapfile" | "readarray" => true,
            "test" => has("-v"),
            "printf" => words.first().is_some_and(|word| word.is("-v")),
            "compgen" | "complete" => false,
            _ => return,
        };
        if names_are_evaluated {
            for word in words.iter().filter(|word| word.text.contains('[')) {
                self.run_substitutions(&word.text, program, scope);
            }
        }
        for pair in words.windows(2) {
            let [option, value] = pair else { continue };
            match (program, option.text.as_str()) {
                ("compgen" | "complete" | "mapfile" | "readarray", "-C") => {
                    self.read_text(&value.text, &mut scope.started_by(program));
                }
                ("compgen" | "complete", "-W") => self.run_substitutions(&value.text, program, scope),
                _ => {}
            }
        }
    }

    /// Reads the commands in the subscript of a value such as `a[$(cmd)]`. The shell runs them when it uses the value
    /// as a number or as the name of a variable. Such a value has no other plausible use.
    pub(super) fn run_element_value(&mut self, name: &str, value: &ShellWord, scope: &ShellScope) {
        if is_element_with_command(&value.text) {
            let outer = std::mem::replace(&mut self.certainty, Certainty::Possible);
            self.run_substitutions(&value.text, name, scope);
            self.certainty = outer;
        }
    }

    /// Reads the commands in the subscripts of the operands of a test that evaluates them: `[[ -v x ]]`,
    /// `[[ x -eq y ]]`.
    pub(super) fn run_tested_words(&mut self, operator: &str, words: &[ShellWord], scope: &ShellScope) {
        if EVALUATING_TESTS.contains(&operator) {
            for word in words.iter().filter(|word| word.text.contains('[')) {
                self.run_substitutions(&word.text, "[[", scope);
            }
        }
    }

    /// Reads the commands of every `$(…)` and `` `…` `` in a text.
    pub(super) fn run_substitutions(&mut self, text: &str, program: &str, scope: &ShellScope) {
        for inner in find_substitutions(text) {
            self.read_text(inner, &mut scope.started_by(program));
        }
    }
}

/// Whether a text is an array element whose subscript contains a command: `a[$(cmd)]`.
fn is_element_with_command(text: &str) -> bool {
    let Some((name, subscript)) = text.split_once('[') else { return false };
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !name.is_empty()
        && name.chars().all(is_name)
        && subscript.ends_with(']')
        && (subscript.contains("$(") || subscript.contains('`'))
}

/// Returns the commands of the outermost substitutions in a text.
fn find_substitutions(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['$', '`']) {
        let (_, from) = rest.split_at_checked(at).unwrap_or_default();
        let (inner, after) = if let Some(body) = from.strip_prefix("$(") {
            let end = closing_parenthesis(body);
            (body.get(..end), body.get(end..))
        } else if let Some(body) = from.strip_prefix('`') {
            let end = body.find('`').unwrap_or(body.len());
            (body.get(..end), body.get(end + 1..))
        } else {
            (None, from.get(1..))
        };
        found.extend(inner);
        rest = after.unwrap_or_default();
    }
    found
}

/// Returns the position of the parenthesis that closes a substitution, or the length of the text.
fn closing_parenthesis(text: &str) -> usize {
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' if depth == 0 => return at,
            b')' => depth -= 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::super::tests::read_text;
    use super::*;

    #[test]
    fn substitutions_are_found() {
        for (text, expected) in [
            ("a[$(b (c) d)]=1", vec!["b (c) d"]),
            ("a[`b`] $(c", vec!["b", "c"]),
            ("$x ${y} $((1+1))", vec!["(1+1)"]),
            ("plain", vec![]),
            ("`", vec![""]),
        ] {
            assert_eq!(find_substitutions(text), expected, "{text}");
        }
    }

    #[test]
    fn builtins_run_the_commands_in_their_subscripts() {
        for line in [
            "let 'a[$(rm -rf ~)]=1'",
            "test -v 'a[$(rm -rf ~)]'",
            "printf -v 'a[$(rm -rf ~)]' x",
            "read 'a[$(rm -rf ~)]' <<< x",
            "unset 'a[$(rm -rf ~)]'",
            "compgen -C 'rm -rf ~' x",
            "compgen -W '$(rm -rf ~)'",
            "mapfile -c 1 -C 'rm -rf ~ #' a <<< x",
            "x='a[$(rm -rf ~)]'; ((x))",
            "x='a[`rm -rf ~`]'; echo $((x + 1))",
            "declare -i n='a[$(rm -rf ~)]'",
            "declare -n ref='a[$(rm -rf ~)]'; echo $ref",
            "[[ -v 'a[$(rm -rf ~)]' ]]",
            "[ -v 'a[$(rm -rf ~)]' ]",
            "[[ 'a[$(rm -rf ~)]' -eq 0 ]]",
            "x='$(rm -rf ~)'; echo \"${x@P}\"",
            "PS4='$(rm -rf ~)'; set -x; :",
            "hash -p /bin/rm ls; ls -rf ~",
        ] {
            let found = read_text(line);
            assert!(found.commands.iter().any(|command| command.program == "rm"), "{line}");
        }
        for line in [
            "echo 'a[$(rm -rf ~)]'",
            "test 'a[$(rm -rf ~)]' = x",
            "printf '%s' 'a[$(rm -rf ~)]'",
            "x='never run a[$(rm -rf ~)]'; echo \"$x\"",
            "[[ $x == 'a[$(rm -rf ~)]' ]]",
            "x='$(rm -rf ~)'; echo \"${x@Q}\"",
            "hash -r; ls -rf ~",
        ] {
            let found = read_text(line);
            assert!(!found.commands.iter().any(|command| command.program == "rm"), "{line}");
        }
    }
}
