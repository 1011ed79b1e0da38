// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Lists libraries of interpreters whose functions do the work of a command: `ruby -run -e rm -- -r x`.

/// A library whose functions take the remaining words as a command does.
#[derive(Debug)]
pub struct CommandLibrary {
    program: &'static str,
    /// Options that load the library.
    options: &'static [&'static str],
    /// Functions, each with the words that it replaces.
    functions: &'static [(&'static str, &'static [&'static str])],
}

const COMMAND_LIBRARIES: &[CommandLibrary] = &[
    CommandLibrary {
        program: "ruby",
        options: &["-run", "-run.rb"],
        functions: &[
            ("rm", &["rm"]),
            ("rmdir", &["rmdir"]),
            ("mv", &["mv"]),
            ("cp", &["cp"]),
            ("ln", &["ln"]),
            ("install", &["install"]),
            ("chmod", &["chmod"]),
            ("mkdir", &["mkdir"]),
            ("touch", &["touch"]),
        ],
    },
    CommandLibrary {
        program: "perl",
        options: &["-MExtUtils::Command"],
        functions: &[
            ("rm_rf", &["rm", "-rf"]),
            ("rm_f", &["rm", "-f"]),
            ("mv", &["mv"]),
            ("cp", &["cp"]),
            ("cat", &["cat"]),
            ("chmod", &["chmod"]),
            ("mkpath", &["mkdir", "-p"]),
            ("touch", &["touch"]),
        ],
    },
];

/// Returns the library of commands that an interpreter has, if there is one.
pub fn find_command_library(program: &str) -> Option<&'static CommandLibrary> {
    COMMAND_LIBRARIES.iter().find(|library| library.program == program)
}

impl CommandLibrary {
    /// Returns the words that start the command, and the number of words that they replace. `None` if the words do
    /// not load the library or call none of its functions.
    pub fn find_command(&self, words: &[&str]) -> Option<(&'static [&'static str], usize)> {
        if !words.iter().any(|word| self.options.contains(word)) {
            return None;
        }
        let function = words.iter().position(|word| *word == "-e")? + 1;
        let name = words.get(function)?.trim();
        let (_, command) = self.functions.iter().find(|(function, _)| *function == name)?;
        let dashes = words.get(function + 1).is_some_and(|word| *word == "--");
        Some((command, function + 1 + usize::from(dashes)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_libraries_are_commands() {
        let find = |line: &str| {
            let words: Vec<_> = line.split(' ').collect();
            let (program, rest) = words.split_first()?;
            let (command, count) = find_command_library(program)?.find_command(rest)?;
            Some([command, rest.get(count..)?].concat().join(" "))
        };
        for (line, expected) in [
            ("ruby -run -e rm -- -r x", Some("rm -r x")),
            ("perl -MExtUtils::Command -e mkpath x", Some("mkdir -p x")),
            ("ruby -rjson -e rm -- x", None),
            ("perl -MFile::Copy -e mv x y", None),
            ("perl -MExtUtils::Command -e", None),
            ("python -e rm", None),
        ] {
            assert_eq!(find(line).as_deref(), expected, "{line}");
        }
    }
}
