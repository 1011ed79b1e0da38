// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Analyses environment variables that make other programs run commands, load files or take options.

use tenterhook_paths::FileOp;
use tenterhook_programs::{Role, VariableUse, find_variable_use};

use super::super::described_command::DescribedCommand;
use super::super::description::extract_word;
use super::ShellReader;
use super::interpreter::language_of;
use super::scope::ShellScope;
use super::word::{ExpandedText, ShellWord};

/// Prefix of variables that contain a function for shells that are started later: `BASH_FUNC_ls%%=() { …; }`.
const EXPORTED_FUNCTION_PREFIX: &str = "BASH_FUNC_";

/// Start of the variables that name the programs of cargo for one platform: `CARGO_TARGET_…_RUNNER`.
const CARGO_TARGET_PREFIX: &str = "CARGO_TARGET_";

/// Options of Java that load the code at the path after a colon.
const JAVA_CODE_OPTIONS: &[&str] =
    &["-agentpath", "-javaagent", "-Xbootclasspath", "-Xbootclasspath/a", "-Xbootclasspath/p"];

/// Options of Java that contain a command for the time after an error.
const JAVA_ERROR_OPTIONS: &[&str] = &["OnError=", "OnOutOfMemoryError="];

impl ShellReader<'_> {
    /// Analyses a variable whose value other programs run.
    pub(super) fn run_hook_variable(&mut self, name: &str, value: &ShellWord, scope: &ShellScope) {
        if name.starts_with(EXPORTED_FUNCTION_PREFIX) {
            return self.read_text(&format!("f{}\nf", value.text), &mut scope.started_by(name));
        }
        if name.starts_with(CARGO_TARGET_PREFIX) && (name.ends_with("_RUNNER") || name.ends_with("_LINKER")) {
            return self.run_command_variable(name, value, scope);
        }
        let Some((name, used)) = find_variable_use(name) else { return };
        match used {
            VariableUse::Command => self.run_command_variable(name, value, scope),
            VariableUse::Script(program) if value.text.contains('/') => {
                self.run_loaded_file(name, program, value, scope);
            }
            VariableUse::Script(_) => {}
            VariableUse::Libraries | VariableUse::Directories | VariableUse::Settings => {
                for path in split_paths(&value.text) {
                    self.add_effect(FileOp::Run, &ShellWord::literal(path), name, scope);
                }
            }
            VariableUse::Modules(program, files) => {
                for path in split_paths(&value.text) {
                    self.add_effect(FileOp::Run, &ShellWord::literal(path), name, scope);
                    for file in files {
                        let file = format!("{}/{file}", path.trim_end_matches('/'));
                        self.run_loaded_file(name, program, &ShellWord::literal(&file), scope);
                    }
                }
            }
            VariableUse::CodeOrFile(program) => match value.text.strip_prefix('@') {
                Some(_) => self.run_loaded_file(name, program, &value.skip_bytes(1), scope),
                None => self.run_variable_code(program, &value.text, scope),
            },
            VariableUse::EditorCommands(program) => {
                let words = ["-c", &value.text].map(ShellWord::literal);
                let words: Vec<_> = std::iter::once(ShellWord::literal(program)).chain(words).collect();
                self.run_words(&words, &mut scope.started_by(name));
            }
            VariableUse::Options(program) => self.run_option_variable(name, program, value, scope),
            VariableUse::Code(program) => self.run_variable_code(program, &value.text, scope),
            VariableUse::GitSettings => {
                let settings = split_options(&value.text);
                for (key, value) in settings.iter().filter_map(|setting| setting.split_once('=')) {
                    self.run_git_settings(&[ShellWord::literal(key), ShellWord::literal(value)], scope);
                }
            }
            VariableUse::Prompt => self.run_substitutions(&value.text, name, scope),
        }
    }

    fn run_variable_code(&mut self, program: &str, code: &str, scope: &ShellScope) {
        if let Some(language) = language_of(program, self.programs) {
            self.run_other_language(language, program, code, None, scope);
        }
    }

    /// Analyses a file that an interpreter loads because of a variable, as if the interpreter ran it.
    fn run_loaded_file(&mut self, name: &str, program: &str, file: &ShellWord, scope: &ShellScope) {
        self.add_effect(FileOp::Run, file, name, scope);
        let words = [ShellWord::literal(program), file.clone()];
        let words = if program.is_empty() { words.get(1..).unwrap_or_default() } else { &words };
        self.run_words(words, &mut scope.started_by(name));
    }

    /// Analyses a value that other programs run as a command.
    fn run_command_variable(&mut self, name: &str, value: &ShellWord, scope: &ShellScope) {
        let text = value.text.trim_start_matches(['|', '-']);
        // A program name without arguments has no effects worth recording, unless it is a file.
        if text.contains(char::is_whitespace) {
            self.read_text(text, &mut scope.started_by(name));
        } else if text.contains('/') {
            self.run_loaded_file(name, "", &ShellWord { text: text.to_owned(), ..value.clone() }, scope);
        }
    }

    /// Reads options that a program takes from a variable: the files that it loads, and the texts that it runs.
    fn run_option_variable(&mut self, name: &str, program: &str, value: &ShellWord, scope: &ShellScope) {
        if let Some(code) = code_in_options(program, &value.text) {
            let words = [program, "-e", code].map(ShellWord::literal);
            self.run_words(&words, &mut scope.started_by(name));
        }
        let Some(description) = self.programs.find(program) else { return };
        let words: Vec<_> = split_options(&value.text).iter().map(|word| ShellWord::literal(word)).collect();
        let described = DescribedCommand::new(description, &words);
        self.launch_texts(&described, program, scope);
        let loads = |role: Role| matches!(role, Role::Module | Role::Script | Role::Read | Role::Command);
        let options = described.parsed.options.iter().filter(|option| loads(option.role) && !option.off);
        // Java writes the path of an agent after a colon: `-javaagent:/x.jar`.
        for (option, path) in words.iter().filter_map(|word| word.text.split_once(':')) {
            if JAVA_CODE_OPTIONS.contains(&option) && path.starts_with('/') {
                self.add_effect(FileOp::Run, &ShellWord::literal(path), name, scope);
            }
            for command in JAVA_ERROR_OPTIONS.iter().filter_map(|start| path.strip_prefix(start)) {
                self.run_command_variable(name, &ShellWord::literal(command), scope);
            }
        }
        let files: Vec<_> = options
            .filter_map(|option| option.value)
            .filter(|part| part.text.contains('/'))
            .map(|part| extract_word(&words, part))
            .collect();
        let modules = described.parsed.parts_with_role(Role::Module).map(|part| part.text.to_owned());
        let files: Vec<_> = modules
            .filter(|module| !module.contains('/'))
            .flat_map(|module| module_files(program, &module, scope))
            .chain(files)
            .collect();
        if program == "make" {
            self.run_launcher(None, program, &words, scope);
        }
        let interpreter = if language_of(program, self.programs).is_some() { program } else { "" };
        for file in files {
            self.run_loaded_file(name, interpreter, &file, scope);
        }
    }

    /// Reads settings of git in variables: `GIT_CONFIG_KEY_0=core.pager GIT_CONFIG_VALUE_0=…`.
    pub(super) fn run_git_variables(&mut self, pairs: &[String], scope: &ShellScope) {
        let value_of = |number: &str| {
            let mut pairs = pairs.iter().filter_map(|pair| pair.strip_prefix("GIT_CONFIG_VALUE_"));
            pairs.find_map(|pair| pair.split_once('=').filter(|(own, _)| *own == number))
        };
        for pair in pairs.iter().filter_map(|pair| pair.strip_prefix("GIT_CONFIG_KEY_")) {
            let Some((number, key)) = pair.split_once('=') else { continue };
            if let Some((_, value)) = value_of(number) {
                self.run_git_settings(&[ShellWord::literal(key), ShellWord::literal(value)], scope);
            }
        }
    }
}

/// Variables with the directories in which an interpreter searches modules, and the extension of a module's file.
const MODULE_PATHS: &[(&str, &str, &str)] =
    &[("perl", "PERL5LIB", "pm"), ("ruby", "RUBYLIB", "rb"), ("node", "NODE_PATH", "js")];

/// Returns the files that a module may be loaded from, if a variable names the directories.
fn module_files(program: &str, module: &str, scope: &ShellScope) -> Vec<ShellWord> {
    let Some((_, name, extension)) = MODULE_PATHS.iter().find(|(own, ..)| *own == program) else {
        return Vec::new();
    };
    let Some(paths) = scope.get(name).map(ExpandedText::into_word) else { return Vec::new() };
    // `-MName=argument`
    let module = module.split('=').next().unwrap_or_default().replace("::", "/");
    let file = |path: &str| ShellWord::literal(&format!("{path}/{module}.{extension}"));
    paths.text.split(':').filter(|path| !path.is_empty()).map(file).collect()
}

/// Returns the code that options contain: a module of Node in a `data:` address, or what follows `;` after a module of
/// Perl.
fn code_in_options<'t>(program: &str, options: &'t str) -> Option<&'t str> {
    match program {
        "node" => options.split_once("data:text/javascript")?.1.split_once(',').map(|(_, code)| code),
        "perl" => options
            .split_once("-M")
            .or_else(|| options.split_once("-m"))?
            .1
            .split_once(';')
            .map(|(_, code)| code),
        _ => None,
    }
}

/// Returns the paths in a list with colons or spaces between them. Names without a directory are left out.
fn split_paths(text: &str) -> impl Iterator<Item = &str> {
    text.split([':', ' ']).filter(|path| path.contains('/'))
}

/// Splits the options in a variable at spaces. A backslash protects the next character, and quotes protect a text.
fn split_options(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut letters = text.chars();
    let mut open = None;
    while let Some(letter) = letters.next() {
        match (letter, words.last_mut()) {
            (quote, _) if open == Some(quote) => open = None,
            ('"' | '\'', _) if open.is_none() => open = Some(letter),
            ('\\', Some(word)) => word.extend(letters.next()),
            (letter, _) if letter.is_whitespace() && open.is_none() => words.push(String::new()),
            (letter, Some(word)) => word.push(letter),
            (_, None) => {}
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use tenterhook_paths::FileOp;

    use super::super::tests::read_text;

    #[test]
    fn commands_in_variables_are_read() {
        for line in [
            "CC='sh -c \"rm -rf ~\"' make",
            "make CC='sh -c \"rm -rf ~\"'",
            "env 'BASH_FUNC_ls%%=() { rm -rf ~; }' bash -c ls",
            "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.fsmonitor GIT_CONFIG_VALUE_0='rm -rf ~' git status",
            "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.z GIT_CONFIG_VALUE_0='!rm -rf ~' git z",
            "PERL5DB='BEGIN{system(\"rm -rf ~\")}' perl -d -e 1",
            "PERL5OPT='-Mbase;system(\"rm -rf ~\")' perl -v",
            "NODE_OPTIONS=\"--import=data:text/javascript,require('child_process').execSync('rm -rf ~')\" npm test",
            "export PAGER='sh -c \"rm -rf ~\"'",
            "env GIT_CONFIG_PARAMETERS=\"'alias.st=!rm -rf ~/x'\" git st",
            "GIT_CONFIG_PARAMETERS=\"'core.pager'='rm -rf ~'\" git log",
            "MAVEN_OPTS='-XX:OnOutOfMemoryError=\"rm -rf ~\" -Xmx4m' mvn package",
            "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER='sh -c \"rm -rf ~\"' cargo run",
            "MAKEFLAGS='--eval=x:;rm\\ -rf\\ ~' make",
        ] {
            assert!(read_text(line).commands.iter().any(|command| command.program == "rm"), "{line}");
        }
        for line in [
            "CC=gcc make",
            "PAGER='less -R' git log",
            "PS1='$(git branch) $ '",
            "MSG='rm -rf ~' make",
            "GIT_CONFIG_PARAMETERS=\"'user.name=rm -rf ~'\" git log",
            "GRADLE_OPTS='-Da=\"rm -rf ~\"' gradle x",
        ] {
            assert!(!read_text(line).commands.iter().any(|command| command.program == "rm"), "{line}");
        }
    }

    #[test]
    fn files_that_variables_load_are_run() {
        let runs = |line: &str| {
            let read = read_text(line);
            let by_variable =
                |by: &str| by.bytes().all(|byte| byte.is_ascii_uppercase() || b"_5".contains(&byte));
            let mut effects = read.effects.iter().filter(|effect| by_variable(&effect.by));
            effects.find(|effect| effect.does == FileOp::Run).map(|effect| effect.path.text.clone())
        };
        for (line, file) in [
            ("LD_PRELOAD=/tmp/x.so ls", "/tmp/x.so"),
            ("NODE_OPTIONS='--max-old-space-size=4096 --require /tmp/x.js' npm test", "/tmp/x.js"),
            ("RUBYOPT='-r/tmp/x.rb' bundle exec rake", "/tmp/x.rb"),
            ("PERL5OPT='-I/tmp/p -MEvil' perl -v", "/tmp/p"),
            ("RUSTC_WRAPPER=/tmp/w.sh cargo build", "/tmp/w.sh"),
            ("JAVA_TOOL_OPTIONS='-javaagent:/tmp/agent.jar' mvn test", "/tmp/agent.jar"),
            ("GIT_ASKPASS=/tmp/grab.sh git fetch", "/tmp/grab.sh"),
            ("PYTHONSTARTUP=/tmp/s.py python3", "/tmp/s.py"),
            ("GOFLAGS='-toolexec=/tmp/t.sh' go build ./...", "/tmp/t.sh"),
            ("NPM_CONFIG_SCRIPT_SHELL=/tmp/sh npm run build", "/tmp/sh"),
        ] {
            assert_eq!(runs(line).as_deref(), Some(file), "{line}");
        }
        for line in [
            "NODE_OPTIONS=--max-old-space-size=4096 npm test",
            "RUSTC_WRAPPER=sccache cargo build",
            "RUBYOPT=-W0 rake",
            "JAVA_TOOL_OPTIONS=-Xmx2g mvn test",
            "MAVEN_OPTS='-Xloggc:/tmp/gc.log' mvn test",
            "CC=clang make",
            "GOFLAGS='-mod=mod -tags=a/b' go build ./...",
            "GRADLE_OPTS='-Xmx2g -Dorg.gradle.daemon=false' gradle build",
            "CARGO_TARGET_DIR=/tmp/target cargo build",
        ] {
            assert_eq!(runs(line), None, "{line}");
        }
    }
}
