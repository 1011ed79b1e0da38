// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Finds the tasks that `make`, `npm run`, `pytest` and similar programs run, and reads their commands.

use tenterhook_code_facts::CodeLanguage;
use tenterhook_paths::resolve;
use tenterhook_programs::{FileRunner, Role, find_project_files};

use super::super::described_command::DescribedCommand;
use super::super::effect::ExecLocation;
use super::super::run_file::{RunFile, RunText};
use super::ShellReader;
use super::scope::ShellScope;
use super::word::ShellWord;

/// Maximum number of words of a program that are kept to find its files.
const MAX_TASK_WORDS: usize = 16;
/// Maximum number of files that are listed for one call.
const MAX_RUN_FILES: usize = 8;

impl ShellReader<'_> {
    /// Reads the tasks that a task runner runs, if the content of its file is known.
    pub(super) fn run_tasks(
        &mut self,
        described: Option<&DescribedCommand<'_>>,
        program: &str,
        scope: &ShellScope,
    ) {
        let Some(described) = described else { return };
        let Some(runner) = described.parsed.runner else { return };
        if runner == FileRunner::PythonModule {
            self.run_module_tasks(described, scope);
        }
        if let Some(file) = task_file(runner, described, scope) {
            self.run_task_file(&file, program, scope);
        }
    }

    /// Reads the files of the project that a program runs or loads without being given their names.
    pub(super) fn run_project_files(&mut self, program: &str, words: &[ShellWord], scope: &ShellScope) {
        let known = words.iter().filter(|word| !word.dynamic && !word.pattern).map(|word| word.text.as_str());
        if find_project_files(program, &known).next().is_none() {
            return;
        }
        let Some(path) = scope.cwd.expected().map(str::to_owned) else { return };
        let tasks = std::iter::once(program).chain(known.take(MAX_TASK_WORDS)).map(str::to_owned).collect();
        self.run_task_file(&RunFile { path, runner: FileRunner::ProjectFiles, tasks }, program, scope);
    }

    /// Reads the commands of a task runner's file, if its content is known.
    fn run_task_file(&mut self, file: &RunFile, program: &str, scope: &ShellScope) {
        let Some(RunText { directory, texts, .. }) = self.request_file(file.clone(), scope) else { return };
        if !self.running_files.insert(file_key(file)) {
            return;
        }
        let own = self.last_command();
        for piece in texts {
            let mut inner = scope.started_by(program);
            if let Some(directory) = &directory {
                inner.cwd.change(Some(directory), false);
            }
            match piece.language {
                None => self.read_text(&piece.text, &mut inner),
                Some(language) => self.run_task_code(language, &piece.text, program, own, &inner),
            }
        }
        self.running_files.remove(&file_key(file));
    }

    /// Reads the code of a task. Languages without a reader are skipped.
    fn run_task_code(
        &mut self,
        language: &str,
        text: &str,
        program: &str,
        own: Option<usize>,
        scope: &ShellScope,
    ) {
        self.mark_signs(text, own);
        let Some(language) = CodeLanguage::from_name(language) else { return };
        self.read_code(language, text, program, own, scope);
    }

    /// Reads the tasks of a program that is run as a module: `python -m pytest`.
    fn run_module_tasks(&mut self, described: &DescribedCommand<'_>, scope: &ShellScope) {
        let mut modules = described.parsed.options.iter().filter(|option| option.role == Role::Module);
        let Some(module) = modules.next().and_then(|option| option.value) else { return };
        let programs = self.programs;
        let words = described.words.get(module.word + 1..).unwrap_or_default();
        let Some(inner) = programs.find(module.text) else { return };
        let inner = DescribedCommand::new(inner, words);
        if inner.parsed.runner != Some(FileRunner::PythonModule) {
            self.run_tasks(Some(&inner), module.text, scope);
        }
    }

    /// Adds a file to those that the call runs on this machine, and returns its commands if the caller has read them.
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

/// Returns the file and the tasks that a task runner runs; `None` if it runs no task, or if the task is unknown.
fn task_file(runner: FileRunner, described: &DescribedCommand<'_>, scope: &ShellScope) -> Option<RunFile> {
    let is_dry_run = described.has(Role::DryRun);
    let runner = match runner {
        FileRunner::Make if is_dry_run => FileRunner::MakeDryRun,
        runner => runner,
    };
    if described.has(Role::Info) || is_dry_run && runner != FileRunner::MakeDryRun {
        return None;
    }
    let tasks = task_names(runner, described)?;
    let is_open = |word: &ShellWord| word.dynamic || word.pattern;
    if tasks.iter().any(is_open) {
        return None;
    }
    let tasks = tasks.into_iter().map(|word| word.text).collect();
    let known = |role: Role| {
        let value = described.values(role).next_back().map(|(word, _)| word);
        match value {
            Some(word) if is_open(&word) => None,
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

/// Returns the tasks, scripts, modules or paths that a runner was asked for; `None` if it runs nothing of the project.
fn task_names(runner: FileRunner, described: &DescribedCommand<'_>) -> Option<Vec<ShellWord>> {
    let parsed = &described.parsed;
    let parts = |roles: &[Role]| -> Vec<ShellWord> {
        let options = parsed.options.iter().filter(|option| roles.contains(&option.role) && !option.off);
        let operands = parsed.operands.iter().filter(|operand| roles.contains(&operand.role));
        let parts = options.filter_map(|option| option.value).chain(operands.map(|operand| operand.part));
        parts.map(|part| described.word(part)).collect()
    };
    let some = |words: Vec<ShellWord>| (!words.is_empty()).then_some(words);
    match runner {
        // `npm test` runs the script of that name.
        FileRunner::PackageScript | FileRunner::Composer => {
            // `bun run` takes a script or a file; `node` takes only a file.
            let roles: &[Role] =
                if parsed.manager.is_empty() { &[Role::Task] } else { &[Role::Task, Role::Script] };
            let first = parts(roles).into_iter().next();
            let own = parsed.path.last().filter(|name| !RUN_COMMANDS.contains(*name));
            Some(vec![first.or_else(|| own.map(|name| ShellWord::literal(name)))?])
        }
        // If a package is added, the scripts of that package run, and those of the project do not.
        FileRunner::PackageInstall => {
            let is_plain = parts(&[Role::Package]).is_empty() && !parsed.has_any(&["--ignore-scripts"]);
            is_plain.then(Vec::new)
        }
        FileRunner::PythonModule => some(parts(&[Role::Module])),
        FileRunner::PythonSetup => {
            let mut local = parts(&[Role::Package, Role::PackageFile]);
            local.retain(|word| word.text.starts_with(['.', '/']));
            some(local)
        }
        FileRunner::GoRun => {
            let mut local = parts(&[Role::Package]);
            local.retain(|word| word.text.starts_with(['.', '/']) || word.text.strip_suffix(".go").is_some());
            some(local)
        }
        FileRunner::Notebook | FileRunner::Playbook | FileRunner::Deno => some(parts(&[Role::Task])),
        FileRunner::Dockerfile => {
            Some(parsed.operands.iter().take(1).map(|operand| described.word(operand.part)).collect())
        }
        // A known sub-command is not an alias.
        FileRunner::GitAlias => Some(vec![described.word(parsed.operands.first()?.part)]),
        // Only the tasks of `fab` come before `--`.
        FileRunner::Fabric => some(parts(&[Role::Text])),
        // `NAME=value` sets a variable.
        _ => {
            let mut tasks = parts(&[Role::Task]);
            tasks.retain(|word| !word.text.contains('='));
            Some(tasks)
        }
    }
}

/// Sub-commands of package managers that run the script that their operand names.
const RUN_COMMANDS: &[&str] = &["run", "run-script"];

/// Returns the key of a file and its tasks in the set of files that are being read.
fn file_key(file: &RunFile) -> String {
    format!("{}\0{}", file.path, file.tasks.join("\0"))
}
