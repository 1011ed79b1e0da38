// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads justfiles: the lines of recipes.

use super::{CommandText, FileName, is_shell_shebang, replace_expressions, unknown_variable};

pub(super) fn matches_name(name: &FileName<'_>) -> bool {
    let small = name.file.to_ascii_lowercase();
    matches!(small.as_str(), "justfile" | ".justfile") || name.ending == "just"
}

pub(super) fn read(text: &str) -> Vec<CommandText> {
    let mut pieces: Vec<CommandText> = Vec::new();
    // Set inside a recipe that begins with `#!`: whether it is a shell script.
    let mut script: Option<bool> = None;
    let mut open = false;
    let mut first = false;
    for (at, line) in text.lines().enumerate() {
        if !line.starts_with([' ', '\t']) {
            first = !line.trim().is_empty();
            script = script.filter(|_| line.trim().is_empty());
            open = false;
            continue;
        }
        let own = replace_expressions(line.trim(), "{{", "}}", |_| Some(unknown_variable()));
        if first && own.starts_with("#!") {
            let shell = is_shell_shebang(&own);
            script = Some(shell);
            if shell {
                pieces.push(CommandText::from_line(at + 1, String::new()));
            }
        } else {
            let next = CommandText::from_line(at + 1, own.trim_start_matches(['@', '-']).to_owned());
            match pieces.last_mut() {
                Some(last) if open || script == Some(true) => last.append(&next),
                _ if script.is_none() => pieces.push(next),
                _ => {}
            }
            open = own.ends_with('\\');
        }
        first = false;
    }
    pieces.retain(|piece| !piece.text.trim().is_empty());
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recipes_and_scripts_are_read() {
        let text = "x := 'a'\nclean dir:\n    @rm -rf {{dir}}\n    -a \\\n      b\n\nbig:\n    #!/usr/bin/env bash\n    c\n    d\n\npy:\n    #!/usr/bin/python\n    e\n";
        let found: Vec<_> = read(text).into_iter().map(|piece| (piece.file_line(0), piece.text)).collect();
        assert_eq!(
            found,
            [
                (3, format!("rm -rf {}", unknown_variable())),
                (4, "a \\\nb".to_owned()),
                (8, "c\nd".to_owned()),
            ]
        );
    }
}
