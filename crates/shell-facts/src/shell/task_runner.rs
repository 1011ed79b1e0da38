// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Finds the tasks that `make`, `npm run` and similar programs run, and reads their commands.

use tenterhook_paths::resolve;
use tenterhook_programs::Role;

use super::super::described_command::DescribedCommand;
use super::super::effect::ExecLocation;
use super::super::run_file::{FileRunner, RunFile, RunText};
use super::ShellReader;
use super::scope::ShellScope;

/// Maximum number of files that are listed for one call.
const MAX_RUN_FILES: usize = 8;

/// Sub-commands of package managers that run the script of the same name.
const SCRIPT_COMMANDS: &[&str] = &["test", "start", "stop", "restart"];

impl ShellReader<'_> {
    /// Reads the tasks that a task runner runs, if the content of its file is known.
    pub(super) fn run_tasks(
        &mut self,
        described: Option<&DescribedCommand<'_>>,
        program: &str,
        scope: &ShellScope,
    ) {
        let Some(runner) = task_runner(program) else { return };
        let Some(described) = described else { return };
        let Some(file) = task_file(runner, described, scope) else { return };
        let Some(RunText { directory, texts, .. }) = self.request_file(file.clone(), scope) else { return };
        if !self.running_files.insert(file_key(&file)) {
            return;
        }
        for text in texts {
            let mut inner = scope.started_by(program);
            if let Some(directory) = &directory {
                inner.cwd.change(Some(directory), false);
            }
            self.read_text(&text, &mut inner);
        }
        self.running_files.remove(&file_key(&file));
    }

    /// Lists a file that runs on this machine, and returns its commands if the caller has read them.
    pub(super) fn request_file(&mut self, file: RunFile, scope: &ShellScope) -> Option<RunText> {
        if scope.site.on != ExecLocation::Here || self.run_files.len() >= MAX_RUN_FILES {
            return None;
        }
        let text = self.files.and_then(|files| files.get(&file)).cloned();
        if !self.run_files.contains(&file) {
            self.run_files.push(file);
        }
        if text.as_ref().is_some_and(|text| text.is_downloaded) {
            self.mark_act(self.last_command(), "runs-downloaded");
        }
        text
    }
}

fn task_runner(program: &str) -> Option<FileRunner> {
    match program {
        "make" | "gmake" => Some(FileRunner::Make),
        "npm" | "pnpm" | "yarn" | "yarnpkg" | "bun" => Some(FileRunner::PackageScript),
        "just" => Some(FileRunner::Just),
        _ => None,
    }
}

/// Returns the file and the tasks that a task runner runs; `None` if it runs no task, or one that is not known.
fn task_file(runner: FileRunner, described: &DescribedCommand<'_>, scope: &ShellScope) -> Option<RunFile> {
    let parsed = &described.parsed;
    if described.has(Role::Info) {
        return None;
    }
    let operands = || parsed.operands.iter().map(|operand| described.word(operand.part));
    if operands().any(|word| word.dynamic || word.pattern) {
        return None;
    }
    let tasks: Vec<String> = match runner {
        FileRunner::PackageScript => vec![package_script(described)?],
        // `NAME=value` sets a variable.
        _ => operands().map(|word| word.text).filter(|text| !text.contains('=')).collect(),
    };
    let known = |role: Role| {
        let value = described.values(role).next_back().map(|(word, _)| word);
        match value {
            Some(word) if word.dynamic || word.pattern => None,
            value => Some(value.map(|word| word.text)),
        }
    };
    let directory = match known(Role::Directory)? {
        Some(directory) => resolve(scope.cwd.expected(), &directory)?,
        None => scope.cwd.expected()?.to_owned(),
    };
    let path = match known(Role::Script)? {
        Some(file) => resolve(Some(&directory), &file)?,
        None => directory,
    };
    Some(RunFile { path, runner, tasks })
}

/// Returns the name of the script that a package manager runs: `npm test`, `npm run build`, `yarn build`.
fn package_script(described: &DescribedCommand<'_>) -> Option<String> {
    let parsed = &described.parsed;
    let first = || parsed.operands.first().map(|operand| described.word(operand.part).text);
    match parsed.path.as_slice() {
        ["run", ..] => first(),
        // `bun test` is a test runner of its own.
        [command, ..] if SCRIPT_COMMANDS.contains(command) && described.program.name() != "bun" => {
            Some((*command).to_owned())
        }
        // `npm build` runs nothing; the other managers run the script.
        [] if described.program.name() != "npm" => first(),
        _ => None,
    }
}

/// Returns the name under which a running task is remembered.
fn file_key(file: &RunFile) -> String {
    format!("{}\0{}", file.path, file.tasks.join("\0"))
}
