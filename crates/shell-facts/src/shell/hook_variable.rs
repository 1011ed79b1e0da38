// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Analyses environment variables that make other programs run commands, load files or take options.

use tenterhook_paths::FileOp;
use tenterhook_programs::Role;

use super::super::described_command::DescribedCommand;
use super::super::description::extract_word;
use super::ShellReader;
use super::interpreter::language_of;
use super::scope::ShellScope;
use super::word::ShellWord;

/// What programs do with the value of a variable.
#[derive(Debug, Clone, Copy)]
enum VariableUse {
    /// Runs it as a command.
    Command,
    /// Runs the file that it names, with this interpreter.
    Script(&'static str),
    /// Loads the libraries that it names.
    Libraries,
    /// Adds it to the options of this program.
    Options(&'static str),
    /// Runs it as code, with this interpreter.
    Code(&'static str),
    /// Takes settings of git from it: `'alias.st=!ls' 'core.pager'='less'`.
    GitSettings,
    /// Prints it as a prompt, and runs the commands in `$(…)`.
    Prompt,
}

/// Variables whose value is run, sorted by name.
const HOOK_VARIABLES: &[(&str, VariableUse)] = &[
    ("AR", VariableUse::Command),
    ("AS", VariableUse::Command),
    ("AWS_PAGER", VariableUse::Command),
    ("BASH_ENV", VariableUse::Script("sh")),
    ("BAT_PAGER", VariableUse::Command),
    ("BORG_PASSCOMMAND", VariableUse::Command),
    ("BORG_RSH", VariableUse::Command),
    ("BROWSER", VariableUse::Command),
    ("CARGO_BUILD_RUSTC", VariableUse::Command),
    ("CARGO_BUILD_RUSTC_WRAPPER", VariableUse::Command),
    ("CC", VariableUse::Command),
    ("CCACHE_PREFIX", VariableUse::Command),
    ("CMAKE_CXX_COMPILER_LAUNCHER", VariableUse::Command),
    ("CMAKE_C_COMPILER_LAUNCHER", VariableUse::Command),
    ("CONFIG_SHELL", VariableUse::Command),
    ("CPP", VariableUse::Command),
    ("CXX", VariableUse::Command),
    ("DELTA_PAGER", VariableUse::Command),
    ("DYLD_INSERT_LIBRARIES", VariableUse::Libraries),
    ("EDITOR", VariableUse::Command),
    ("ENV", VariableUse::Script("sh")),
    ("FCEDIT", VariableUse::Command),
    ("FZF_DEFAULT_COMMAND", VariableUse::Command),
    ("FZF_DEFAULT_OPTS", VariableUse::Options("fzf")),
    ("GH_PAGER", VariableUse::Command),
    ("GIT_ASKPASS", VariableUse::Command),
    ("GIT_CONFIG_PARAMETERS", VariableUse::GitSettings),
    ("GIT_EDITOR", VariableUse::Command),
    ("GIT_EXTERNAL_DIFF", VariableUse::Command),
    ("GIT_PAGER", VariableUse::Command),
    ("GIT_PROXY_COMMAND", VariableUse::Command),
    ("GIT_SEQUENCE_EDITOR", VariableUse::Command),
    ("GIT_SSH", VariableUse::Command),
    ("GIT_SSH_COMMAND", VariableUse::Command),
    ("GOCACHEPROG", VariableUse::Command),
    ("GOFLAGS", VariableUse::Options("go")),
    ("GRADLE_OPTS", VariableUse::Options("java")),
    ("HGEDITOR", VariableUse::Command),
    ("JAVA_OPTS", VariableUse::Options("java")),
    ("JAVA_TOOL_OPTIONS", VariableUse::Options("java")),
    ("JDK_JAVA_OPTIONS", VariableUse::Options("java")),
    ("JJ_EDITOR", VariableUse::Command),
    ("KUBE_EDITOR", VariableUse::Command),
    ("LD", VariableUse::Command),
    ("LD_AUDIT", VariableUse::Libraries),
    ("LD_PRELOAD", VariableUse::Libraries),
    ("LESSCLOSE", VariableUse::Command),
    ("LESSOPEN", VariableUse::Command),
    ("MAKEFLAGS", VariableUse::Options("make")),
    ("MANPAGER", VariableUse::Command),
    ("MAVEN_OPTS", VariableUse::Options("java")),
    ("NODE_OPTIONS", VariableUse::Options("node")),
    ("NPM_CONFIG_SCRIPT_SHELL", VariableUse::Command),
    ("PAGER", VariableUse::Command),
    ("PERL5DB", VariableUse::Code("perl")),
    ("PERL5OPT", VariableUse::Options("perl")),
    ("PROMPT_COMMAND", VariableUse::Command),
    ("PS0", VariableUse::Prompt),
    ("PS1", VariableUse::Prompt),
    ("PS2", VariableUse::Prompt),
    ("PS4", VariableUse::Prompt),
    ("PSQL_EDITOR", VariableUse::Command),
    ("PSQL_PAGER", VariableUse::Command),
    ("PYTHONSTARTUP", VariableUse::Script("python")),
    ("RESTIC_PASSWORD_COMMAND", VariableUse::Command),
    ("RSYNC_RSH", VariableUse::Command),
    ("RUBYOPT", VariableUse::Options("ruby")),
    ("RUSTC", VariableUse::Command),
    ("RUSTC_WORKSPACE_WRAPPER", VariableUse::Command),
    ("RUSTC_WRAPPER", VariableUse::Command),
    ("RUSTDOC", VariableUse::Command),
    ("SBT_OPTS", VariableUse::Options("java")),
    ("SSH_ASKPASS", VariableUse::Command),
    ("SUDO_ASKPASS", VariableUse::Command),
    ("SUDO_EDITOR", VariableUse::Command),
    ("SVN_EDITOR", VariableUse::Command),
    ("SVN_SSH", VariableUse::Command),
    ("SYSTEMD_EDITOR", VariableUse::Command),
    ("SYSTEMD_PAGER", VariableUse::Command),
    ("VISUAL", VariableUse::Command),
    ("_JAVA_OPTIONS", VariableUse::Options("java")),
    ("npm_config_script_shell", VariableUse::Command),
];

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
        let Ok(at) = HOOK_VARIABLES.binary_search_by(|(own, _)| (*own).cmp(name)) else { return };
        let Some((name, used)) = HOOK_VARIABLES.get(at) else { return };
        match used {
            VariableUse::Command => self.run_command_variable(name, value, scope),
            VariableUse::Script(program) if value.text.contains('/') => {
                self.add_effect(FileOp::Run, value, name, scope);
                self.run_file(&value.text, program, scope);
            }
            VariableUse::Libraries => {
                for library in value.text.split([':', ' ']).filter(|library| library.contains('/')) {
                    self.add_effect(FileOp::Run, &ShellWord::literal(library), name, scope);
                }
            }
            VariableUse::Script(_) => {}
            VariableUse::Options(program) => self.run_option_variable(name, program, value, scope),
            VariableUse::Code(program) => {
                if let Some(language) = language_of(program, self.programs) {
                    self.run_other_language(language, program, &value.text, None, scope);
                }
            }
            VariableUse::GitSettings => {
                let settings = split_options(&value.text);
                for (key, value) in settings.iter().filter_map(|setting| setting.split_once('=')) {
                    self.run_git_settings(&[ShellWord::literal(key), ShellWord::literal(value)], scope);
                }
            }
            VariableUse::Prompt => self.run_substitutions(&value.text, name, scope),
        }
    }

    /// Analyses a value that other programs run as a command.
    fn run_command_variable(&mut self, name: &str, value: &ShellWord, scope: &ShellScope) {
        let text = value.text.trim_start_matches(['|', '-']);
        // A program name without arguments has no effects worth recording, unless it is a file.
        if text.contains(char::is_whitespace) {
            self.read_text(text, &mut scope.started_by(name));
        } else if text.contains('/') {
            self.add_effect(FileOp::Run, value, name, scope);
            self.run_file(text, "", scope);
        }
    }

    /// Reads options that a program takes from a variable: the files that it loads, and the texts that it runs.
    fn run_option_variable(&mut self, name: &str, program: &str, value: &ShellWord, scope: &ShellScope) {
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
        for part in options.filter_map(|option| option.value).filter(|part| part.text.contains('/')) {
            self.add_effect(FileOp::Run, &extract_word(&words, part), name, scope);
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
    use super::*;

    #[test]
    fn the_table_is_sorted() {
        assert!(HOOK_VARIABLES.is_sorted_by_key(|(name, _)| *name));
    }

    #[test]
    fn commands_in_variables_are_read() {
        for line in [
            "CC='sh -c \"rm -rf ~\"' make",
            "make CC='sh -c \"rm -rf ~\"'",
            "env 'BASH_FUNC_ls%%=() { rm -rf ~; }' bash -c ls",
            "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.fsmonitor GIT_CONFIG_VALUE_0='rm -rf ~' git status",
            "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.z GIT_CONFIG_VALUE_0='!rm -rf ~' git z",
            "PERL5DB='BEGIN{system(\"rm -rf ~\")}' perl -d -e 1",
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
