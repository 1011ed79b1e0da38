// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Finds files whose content reaches a program that runs it: through standard input, a pipe, a copy, or an option.

use std::sync::Arc;

use tenterhook_code_facts::CodeLanguage;
use tenterhook_paths::PathFact;
use tenterhook_programs::{Location, Role, StandardInput};

use super::super::described_command::DescribedCommand;
use super::super::run_file::RunFile;
use super::ShellReader;
use super::command::ShellCommand;
use super::decode::decoder;
use super::invoke::Redirections;
use super::launch::shell_escape_text;
use super::scope::ShellScope;
use super::word::ShellWord;

/// Programs that print the files they are given, or their input, without changing the commands in it.
const FILE_PRINTERS: &[&str] = &[
    "cat", "bat", "batcat", "tac", "head", "tail", "tee", "envsubst", "sort", "uniq", "nl", "base64",
    "gbase64", "base32", "xxd", "rev", "tr", "<",
];

/// Programs that copy or move files.
const FILE_COPIERS: &[&str] = &["cp", "mv", "install", "ln", "rsync", "gcp", "gmv", "ginstall"];

/// Maximum number of files whose content is joined.
const MAX_JOINED_FILES: usize = 4;

impl ShellReader<'_> {
    /// Returns the content of the files on standard input, if the program runs its input or passes it to a command in
    /// a container or on another machine.
    pub(super) fn input_file_texts(
        &mut self,
        described: Option<&DescribedCommand<'_>>,
        io: &Redirections,
        scope: &ShellScope,
    ) -> Vec<Arc<str>> {
        let Some(described) = described else { return Vec::new() };
        let parsed = &described.parsed;
        let runs_input = parsed.stdin != StandardInput::Data || parsed.location != Location::Here;
        let is_open = scope.stdin.texts.is_empty() && (!io.inputs.is_empty() || !scope.stdin.from.is_empty());
        if !runs_input || !is_open {
            return Vec::new();
        }
        let mut texts = self.file_outputs(&scope.stdin.from.clone(), scope);
        for path in io.inputs.iter().filter_map(known_path).take(MAX_JOINED_FILES) {
            texts.extend(self.script_text(path, scope).map(Into::into));
        }
        let is_prompt = parsed.stdin == StandardInput::Prompt || parsed.location == Location::Container;
        if is_prompt {
            let (shared, local): (Vec<_>, Vec<_>) =
                texts.into_iter().partition(|text| reaches_shared_data(described, text));
            for command in local.iter().flat_map(|text| escaped_commands(text)) {
                self.read_text(&command, &mut scope.started_by(described.program.name()));
            }
            return shared;
        }
        texts
    }

    /// Returns the output of commands that print files: `cat f`, `base64 -d f`.
    pub(super) fn file_outputs(&mut self, from: &[usize], scope: &ShellScope) -> Vec<Arc<str>> {
        let mut text: Option<String> = None;
        for index in from {
            let Some(command) = self.commands.get(*index) else { continue };
            if !FILE_PRINTERS.contains(&command.program.as_str()) {
                continue;
            }
            let decode = decoder(&command.program, &command.words);
            let read: Vec<_> = command
                .operands
                .iter()
                .filter(|path| !path.is_not_read)
                .chain(&command.inputs)
                .filter_map(known_path)
                .take(MAX_JOINED_FILES)
                .map(str::to_owned)
                .collect();
            for path in read {
                if let Some(own) = self.script_text(&path, scope) {
                    text = Some(text.unwrap_or_default() + &own);
                }
            }
            if let (Some(decode), Some(known)) = (decode, &text)
                && self.spend_steps(known.len() / 64)
            {
                text = Some(decode(known));
            }
        }
        text.into_iter().map(Into::into).collect()
    }

    /// Returns the content of a file that commands of this call copy to a path before it is run.
    pub(super) fn copied_texts(
        &mut self,
        path: &str,
        writers: &[usize],
        is_started: bool,
        scope: &ShellScope,
    ) -> Vec<Arc<str>> {
        let sources: Vec<String> = self
            .commands
            .iter()
            .filter_map(|command| copy_source(command, path))
            .map(str::to_owned)
            .collect();
        let copied: Vec<Arc<str>> = sources
            .iter()
            .take(MAX_JOINED_FILES)
            .flat_map(|source| self.run_texts(source, is_started, scope))
            .collect();
        if copied.is_empty() { self.file_outputs(writers, scope) } else { copied }
    }

    /// Adds a script to the files that the call runs, and returns its content if the caller has read it.
    pub(super) fn script_text(&mut self, path: &str, scope: &ShellScope) -> Option<String> {
        let known = self.request_file(RunFile::script(path.to_owned()), scope)?;
        known.texts.into_iter().next().map(|piece| piece.text)
    }

    /// Adds a file that is run to the files that the call runs, and returns the texts that run: the file itself and what
    /// it imports. `is_started` is whether the kernel starts the file, without an interpreter in the command.
    pub(super) fn run_texts(&mut self, path: &str, is_started: bool, scope: &ShellScope) -> Vec<Arc<str>> {
        let known = self.request_file(RunFile::script(path.to_owned()), scope);
        let known = known.filter(|known| !(known.is_machine_code && is_started));
        known.into_iter().flat_map(|known| known.texts).map(|piece| piece.text.into()).collect()
    }

    /// Reads the files with commands that options and operands of a program name: `psql -f`, `awk -f`, `crontab f`.
    pub(super) fn run_script_values(
        &mut self,
        described: Option<&DescribedCommand<'_>>,
        program: &str,
        scope: &ShellScope,
    ) {
        let Some(described) = described else { return };
        let parsed = &described.parsed;
        if parsed.language.is_some() || parsed.runner.is_some() || described.has(Role::DryRun) {
            return;
        }
        let options = parsed.options.iter().filter(|option| option.role == Role::Script && !option.off);
        // The operand of a debugger is the program that it debugs.
        let operands = parsed.operands.iter().filter(|operand| {
            operand.role == Role::Script && !matches!(described.program.name(), "gdb" | "lldb")
        });
        let parts: Vec<_> =
            options.filter_map(|option| option.value).chain(operands.map(|operand| operand.part)).collect();
        for part in parts {
            let word = described.word(part);
            let Some(path) = (!word.dynamic && !word.pattern)
                .then(|| tenterhook_paths::resolve(scope.cwd.expected(), &word.text))
                .flatten()
            else {
                continue;
            };
            // The same call may have written the file.
            let writers = self.find_writers(&path, scope);
            let mut texts = self.printed_by(&writers);
            if texts.is_empty() {
                texts.extend(self.script_text(&path, scope).map(Into::into));
            }
            for text in texts {
                self.run_script_value(described, program, &text, scope);
            }
        }
    }

    fn run_script_value(
        &mut self,
        described: &DescribedCommand<'_>,
        program: &str,
        text: &Arc<str>,
        scope: &ShellScope,
    ) {
        let own = self.last_command();
        match described.program.name() {
            "at" => self.read_text(text, &mut scope.started_by(program)),
            "crontab" => {
                let mut inner = scope.clone();
                inner.stdin.texts = vec![Arc::clone(text)];
                self.run_crontab(&inner);
            }
            "curl" | "wget" => {
                let words = std::iter::once(ShellWord::literal(program)).chain(config_words(text));
                self.run_words(&words.collect::<Vec<_>>(), &mut scope.started_by(program));
            }
            "sftp" | "ftp" | "lftp" => self.read_uploads(text, program, scope),
            "sed" => self.run_sed(&[ShellWord::literal(text)], scope),
            "awk" => {
                if let Some(language) = CodeLanguage::from_name("awk") {
                    self.read_code(language, text, program, own, scope);
                }
            }
            _ => {
                // Statements in the file are treated like text on the standard input of the database client.
                if let Some(command) = own.and_then(|at| self.writable_command(at))
                    && reaches_shared_data(described, text)
                {
                    command.stdin_texts.push(Arc::clone(text));
                }
                for command in escaped_commands(text) {
                    self.read_text(&command, &mut scope.started_by(program));
                }
            }
        }
    }

    /// Analyses the commands of a script for `expect` or Tcl. Text that the script sends to a shell or to another
    /// machine is a command there.
    pub(super) fn run_tcl(&mut self, program: &str, code: &str, scope: &ShellScope) {
        let mut inner = scope.started_by(program);
        let mut spawned: Option<&str> = None;
        for line in code.split([';', '\n', '[']).map(str::trim) {
            if let Some(text) = line.strip_prefix("spawn ").or_else(|| line.strip_prefix("exec ")) {
                self.read_text(text, &mut inner);
                spawned = line.starts_with("spawn ").then_some(text);
                continue;
            }
            if let Some(paths) = line.strip_prefix("file delete ") {
                let paths = paths.trim_start().trim_start_matches("-force").trim_start();
                self.read_text(&format!("rm -r {paths}"), &mut inner);
                continue;
            }
            let sent = line
                .strip_prefix("send ")
                .map(|text| text.trim_start_matches("-- ").trim_matches(['"', '{', '}']));
            let Some(sent) = sent.map(|text| text.trim_end_matches("\\r").trim_end_matches("\\n")) else {
                continue;
            };
            let target = spawned.unwrap_or_default();
            match target.split_whitespace().next().and_then(|name| name.rsplit('/').next()) {
                Some("ssh") => {
                    self.read_text(&format!("{target} '{}'", sent.replace('\'', r"'\''")), &mut inner);
                }
                Some("sh" | "bash" | "zsh" | "dash" | "ksh" | "su" | "sudo") => {
                    self.read_text(sent, &mut inner);
                }
                _ => {}
            }
        }
    }
}

/// Whether statements in a file reach data that others depend on: on another machine, or in production. A schema that
/// drops and creates the tables of a local database is ordinary.
fn reaches_shared_data(described: &DescribedCommand<'_>, text: &str) -> bool {
    let is_local = |host: &str| {
        let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
        host.is_empty()
            || ["localhost", "127.", "::1", "[::1]", "/", "host.docker."]
                .iter()
                .any(|start| host.starts_with(start))
    };
    let hosts = described.values(Role::Host).map(|(word, _)| word.text);
    let urls = described.words.iter().filter_map(|word| word.text.split_once("://"));
    let urls = urls.map(|(_, rest)| rest.to_owned());
    let names_production = |text: &str| text.to_ascii_lowercase().contains("prod");
    hosts.chain(urls).any(|host| !is_local(&host))
        || described.words.iter().any(|word| names_production(&word.text))
        || drops_production(text)
}

/// Whether a statement names a production database: `DROP DATABASE production`.
fn drops_production(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let names = text.split("database").skip(1).chain(text.split("schema").skip(1));
    let name =
        |rest: &str| rest.split(';').next().is_some_and(|name| name.len() < 80 && name.contains("prod"));
    text.contains("drop") && names.into_iter().any(name)
}

/// Returns the absolute path, if every character of it is known.
fn known_path(path: &PathFact) -> Option<&str> {
    path.resolved.as_deref().filter(|_| !path.is_open())
}

/// Returns the file that a command copies to this path.
fn copy_source<'c>(command: &'c ShellCommand, path: &str) -> Option<&'c str> {
    if !FILE_COPIERS.contains(&command.program.as_str()) {
        return None;
    }
    let mut sources = command.operands.iter().filter(|fact| !fact.is_not_read).filter_map(known_path);
    let targets = || {
        command.operands.iter().chain(&command.named).filter(|fact| fact.is_not_read).filter_map(known_path)
    };
    let is_target = |source: &&str| {
        let name = source.rsplit('/').next().unwrap_or_default();
        targets().any(|target| {
            let rest = path.strip_prefix(target);
            rest.is_some_and(|rest| rest.is_empty() || rest.strip_prefix('/') == Some(name))
        })
    };
    sources.find(is_target)
}

/// Returns the options in a settings file of curl or wget: `upload-file = "x"`, `post_file = x`.
fn config_words(text: &str) -> Vec<ShellWord> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let split = |line: &str| {
        let (name, value) = line.split_once(['=', ' ', ':']).unwrap_or((line, ""));
        let name = name.trim().trim_start_matches('-').replace('_', "-");
        let value = value.trim().trim_start_matches(['=', ' ']).trim_matches(['"', '\'']);
        let name = if name.len() == 1 { format!("-{name}") } else { format!("--{name}") };
        let words = [name, value.to_owned()];
        words
            .into_iter()
            .filter(|word| !word.is_empty())
            .map(|word| ShellWord::literal(&word))
            .collect::<Vec<_>>()
    };
    lines.flat_map(split).collect()
}

/// Returns the command in a statement or instruction of a database client: `COPY … FROM PROGRAM 'cmd'`, `.once |cmd`,
/// `pager cmd`. A command that receives the results is written as the end of a pipeline.
pub(super) fn client_command(line: &str) -> Option<String> {
    const PIPES: &[(&str, &str)] = &[
        ("pager ", "mysqldump db"),
        ("\\P ", "mysqldump db"),
        ("\\o |", "pg_dump db"),
        ("\\g |", "pg_dump db"),
        (".output |", "sqlite3 db .dump"),
        (".once |", "sqlite3 db .dump"),
        (".output '|", "sqlite3 db .dump"),
        (".import '|", ""),
        (".import |", ""),
        (".import \"|", ""),
    ];
    let pipe = PIPES.iter().find_map(|(start, source)| Some((line.strip_prefix(start)?, source)));
    if let Some((command, source)) = pipe {
        let command = command.split(['\'', '"']).next().unwrap_or_default().trim();
        return Some(if source.is_empty() { command.to_owned() } else { format!("{source} | {command}") });
    }
    let lower = line.to_ascii_lowercase();
    let at = lower.find(" program '").filter(|_| lower.contains("copy "))?;
    let rest = line.get(at + " program '".len()..)?;
    Some(rest.split('\'').next()?.to_owned())
}

/// Returns the shell commands in a script for an editor, a debugger or a database client: `!cmd`, `shell cmd`,
/// `\! cmd`, `system("cmd")`.
fn escaped_commands(text: &str) -> Vec<String> {
    let mut commands = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.starts_with(['"', '#'])) {
        if let Some(command) =
            shell_escape_text(line).filter(|command| !command.starts_with(['"', '\'', '(']))
        {
            commands.push(command.to_owned());
            continue;
        }
        if let Some(command) = client_command(line) {
            commands.push(command);
            continue;
        }
        for (at, _) in line.match_indices("system").take(MAX_JOINED_FILES) {
            let rest = line.get(at + "system".len()..).unwrap_or_default().trim_start_matches([' ', '(']);
            let quoted = rest.chars().next().filter(|quote| matches!(quote, '"' | '\''));
            let inner =
                quoted.and_then(|quote| rest.get(1..)?.split_once(quote)).map(|(inner, _)| inner.to_owned());
            commands.extend(inner);
        }
    }
    commands
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_in_scripts_of_other_programs_are_found() {
        for (text, expected) in [
            ("set nu\n!rm -rf x\n:silent !ls\nwq", vec!["rm -rf x", "ls"]),
            ("shell rm x\nbreak main", vec!["rm x"]),
            ("select 1;\n\\! rm x", vec!["rm x"]),
            ("call system('rm x')\nlet a = system(\"ls\")", vec!["rm x", "ls"]),
            ("system \"rm x\"", vec!["rm x"]),
            ("\" !rm x\n# shell rm x\n%s/a/b/e", vec![]),
        ] {
            assert_eq!(escaped_commands(text), expected, "{text}");
        }
    }
}
