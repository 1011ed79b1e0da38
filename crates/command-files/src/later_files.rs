// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads files whose commands another program runs later: an editor, a build tool, a service manager, a build service.
//!
//! There are many such programs, and each has keys of its own. Only the format of a file is read here: every string of
//! a tree, every literal of a program, every value of a line may be a command. Rules decide which of them are
//! dangerous, so a title or a path among them does no harm.

use std::path::Path;

use tenterhook_document::{Node, Spot, Value};

use super::autorun::strip_json_comments;
use super::code_tasks::{PythonDefault, python_tasks, rust_code};
use super::infrastructure::{compose_services, playbook_commands, terraform_commands};
use super::project_tasks::{install_tasks, notebook_cells};
use super::{RunLocation, TaskText, quote_word};

/// The commands of a file that another program runs later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaterFile {
    /// The commands and the code, in the order of the file.
    pub texts: Vec<TaskText>,
    /// Where they would run.
    pub location: RunLocation,
    /// Whether they run without a command of the user: when a folder is opened, a package is installed, a commit is
    /// made.
    pub is_automatic: bool,
}

/// Files of one format.
struct LaterRow {
    /// File names, with the names of directories above if these matter; `*` stands for any letters in a name.
    names: &'static [&'static str],
    format: LaterFormat,
    location: RunLocation,
    is_automatic: bool,
}

/// How the commands of a file are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LaterFormat {
    /// JSON with comments, or YAML: every string may be a command.
    Tree,
    /// A value after `=` or `:` in each line.
    LineValues,
    /// A schedule before the command in each line.
    Schedule,
    /// String literals of a language.
    Literals,
    /// Ruby code. Literals may be commands for another machine.
    Ruby,
    /// Python code. Literals may be commands, too.
    Python,
    /// The build script of a Cargo package.
    CargoBuild,
    /// Lines that begin with `!` or `shell`.
    ShellEscapes,
    /// Services of a compose file.
    Compose,
    /// Tasks of a playbook, which run on other machines.
    Playbook,
    /// Local commands of Terraform files.
    Terraform,
    /// Cells of a notebook, or the source of one cell.
    Notebook,
    /// Instructions for an agent, with commands in backticks.
    Instructions,
}

const fn automatic(names: &'static [&'static str], format: LaterFormat) -> LaterRow {
    LaterRow { names, format, location: RunLocation::Here, is_automatic: true }
}

const fn on_request(names: &'static [&'static str], format: LaterFormat) -> LaterRow {
    LaterRow { names, format, location: RunLocation::Here, is_automatic: false }
}

const fn build_service(names: &'static [&'static str], format: LaterFormat) -> LaterRow {
    LaterRow { names, format, location: RunLocation::BuildMachine, is_automatic: true }
}

const LATER_ROWS: &[LaterRow] = &[
    build_service(
        &[
            ".travis.yml",
            ".drone.y*ml",
            ".woodpecker.y*ml",
            ".woodpecker/*.y*ml",
            ".cirrus.yml",
            ".semaphore/*.yml",
            ".buildkite/*.y*ml",
            ".appveyor.yml",
            "appveyor.yml",
            ".forgejo/workflows/*.y*ml",
            ".gitea/workflows/*.y*ml",
            "amplify.yml",
            "appspec.yml",
            "bitbucket-pipelines.yml",
            "bitrise.yml",
            "buildspec*.y*ml",
            "cloudbuild*.y*ml",
            "cloudbuild.json",
            "codemagic.yaml",
            "netlify.toml",
            "render.yaml",
            "skaffold.yaml",
            "vercel.json",
            "wercker.yml",
        ],
        LaterFormat::Tree,
    ),
    build_service(&["Jenkinsfile*", "*.jenkinsfile"], LaterFormat::Literals),
    automatic(
        &[
            ".lefthook.y*ml",
            "lefthook.y*ml",
            "lefthook-local.y*ml",
            ".lintstagedrc*",
            "lint-staged.config.json",
            ".huskyrc*",
            ".overcommit.yml",
            ".cursor/*.json",
            ".zed/*.json",
            ".vscode/*.json",
            "*.code-workspace",
            ".gemini/*.json",
            ".qwen/*.json",
            ".roo/*.json",
            ".kiro/*.json",
            ".claude/*.json",
            ".codex/*.json",
            ".amazonq/*.json",
            ".opencode/*.json",
            "opencode.json*",
            ".gitpod.y*ml",
            ".devcontainer/*.json",
            ".fleet/*.json",
            "nodemon.json",
            ".nodemonrc*",
            "binding.gyp",
            ".watchmanconfig",
            ".releaserc*",
            "angular.json",
            "nx.json",
            "turbo.json",
            "project.json",
            "wrangler.json*",
            "supervisor.json",
            "ecosystem.config.json",
            "process.json",
            "app.json",
            "tauri.conf.json",
        ],
        LaterFormat::Tree,
    ),
    automatic(&["docker-compose*.y*ml", "compose*.y*ml"], LaterFormat::Compose),
    automatic(&["build.rs"], LaterFormat::CargoBuild),
    automatic(
        &[
            "Gemfile",
            "Vagrantfile",
            "Brewfile",
            "Podfile",
            "Guardfile",
            "Capfile",
            "Fastfile",
            "Dangerfile",
            "*.gemspec",
        ],
        LaterFormat::Ruby,
    ),
    on_request(&["Rakefile", "rakefile", "*.thor"], LaterFormat::Ruby),
    automatic(&["SConstruct", "SConscript", "wscript", "Tiltfile"], LaterFormat::Python),
    automatic(
        &[
            "*.gradle",
            "*.gradle.kts",
            "build.sbt",
            "build.sc",
            "pom.xml",
            "build.xml",
            "CMakeLists.txt",
            "*.cmake",
            "meson.build",
            "configure.ac",
            "*.bazel",
            "*.bzl",
            "*.nix",
            "mix.exs",
            "build.zig",
            "Package.swift",
            "*.cabal",
            "Setup.hs",
            "*.csproj",
            "*.vbproj",
            "*.fsproj",
            "Directory.Build.*",
            "*.targets",
            "*.pbxproj",
            ".idea/*.xml",
            "runConfigurations/*.xml",
            ".run/*.xml",
            "*.podspec",
            ".eslintrc*",
            ".babelrc*",
            ".dir-locals.el",
        ],
        LaterFormat::Literals,
    ),
    automatic(
        &[
            ".cargo/config*",
            ".mise.toml",
            "mise.toml",
            ".replit",
            "*.service",
            "*.desktop",
            ".direnvrc",
            "*.plist",
            ".tmux.conf",
            ".rtx.toml",
            "supervisord.conf",
            "*.pth",
        ],
        LaterFormat::LineValues,
    ),
    on_request(
        &[
            "Procfile*",
            "pyproject.toml",
            "tox.ini",
            "setup.cfg",
            "Cargo.toml",
            "fly.toml",
            "mprocs.yaml",
            "process-compose.y*ml",
            "deno.json*",
            "composer.json",
            "phpunit.xml*",
            "monit*",
            "*.justfile",
            "Earthfile",
            "bunfig.toml",
            "dodo.py",
        ],
        LaterFormat::LineValues,
    ),
    automatic(&["crontab*", "*.cron", "cron.d/*", "*.crontab"], LaterFormat::Schedule),
    automatic(&[".exrc", ".vimrc", "*.vim", ".gdbinit", ".lldbinit", ".psqlrc"], LaterFormat::ShellEscapes),
    on_request(&["playbook*.y*ml", "site.y*ml", "tasks/*.y*ml", "handlers/*.y*ml"], LaterFormat::Playbook),
    on_request(&["*.tf"], LaterFormat::Terraform),
    on_request(&["*.ipynb"], LaterFormat::Notebook),
    LaterRow {
        names: &[
            "CLAUDE.md",
            "CLAUDE.local.md",
            "AGENTS.md",
            "AGENT.md",
            "GEMINI.md",
            "QWEN.md",
            "SKILL.md",
            ".cursorrules",
            ".windsurfrules",
            ".clinerules",
            ".clinerules/*",
            ".roorules",
            ".goosehints",
            ".cursor/rules/*",
            ".windsurf/rules/*",
            ".roo/rules/*",
            ".kiro/steering/*",
            ".github/copilot-instructions.md",
            ".github/instructions/*",
            ".claude/commands/*",
            ".claude/agents/*",
            ".gemini/commands/*",
            ".codex/prompts/*",
        ],
        format: LaterFormat::Instructions,
        location: RunLocation::Instructed,
        is_automatic: true,
    },
];

/// Scripts that other programs load, by name. Their language follows from the extension.
const LOADED_SCRIPTS: &[&str] = &[
    "setup.py",
    "conftest.py",
    "sitecustomize.py",
    "usercustomize.py",
    "noxfile.py",
    "gunicorn.conf.py",
    "jupyter_*_config.py",
    "*.config.js",
    "*.config.cjs",
    "*.config.mjs",
    "*.config.ts",
    "*.config.mts",
    ".*rc.js",
    ".*rc.cjs",
    ".*rc.mjs",
    ".pnpmfile.cjs",
    "gulpfile.*",
    "Gruntfile.*",
    "karma.conf.*",
    "hooks/pre*",
    "hooks/post*",
    ".git/hooks/*",
    ".githooks/*",
    ".husky/*",
];

/// Maximum number of texts that are returned for one file.
const MAX_LATER_TEXTS: usize = 256;
/// Maximum length of one literal.
const MAX_LITERAL_BYTES: usize = 8 * 1024;
/// Keys of a program whose arguments are in another key.
const PROGRAM_KEYS: &[&str] =
    &["command", "cmd", "program", "path", "executable", "entrypoint", "runtimeExecutable", "exec", "shell"];
/// Keys of a program's arguments.
const WORDS_KEYS: &[&str] = &["args", "arguments", "runtimeArgs", "argv", "shellArgs"];
/// Words before a command in backticks that forbid it.
const FORBIDDING_WORDS: &[&str] =
    &["never", "not", "don't", "dont", "avoid", "forbidden", "instead", "refuse"];

/// Returns the commands of a file that another program runs later; `None` if no program is known to run a file with
/// this name.
pub fn later_file(path: &Path, text: &str) -> Option<LaterFile> {
    let row = LATER_ROWS.iter().find(|row| row.names.iter().any(|name| matches_path(path, name)))?;
    let mut texts = read_format(row.format, text);
    texts.truncate(MAX_LATER_TEXTS);
    Some(LaterFile { texts, location: row.location, is_automatic: row.is_automatic })
}

/// Whether other programs load a script with this name without a command of the user.
pub fn is_loaded_script(path: &Path) -> bool {
    LOADED_SCRIPTS.iter().any(|name| matches_path(path, name))
}

/// Returns the commands of a file with tasks in Python, for all of its tasks; `None` if its name is not one of these.
pub fn python_task_file(path: &Path, text: &str) -> Option<Vec<TaskText>> {
    let is_named = ["noxfile.py", "tasks.py", "fabfile.py"].iter().any(|name| matches_path(path, name));
    is_named.then(|| python_tasks(text, &[], PythonDefault::AllTasks))
}

/// Returns the scripts of a `package.json` that run when its packages are installed, also from a part of the file.
pub fn automatic_scripts(text: &str) -> Vec<TaskText> {
    let whole = install_tasks(text);
    if !whole.is_empty() || serde_json::from_str::<serde_json::Value>(text).is_ok() {
        return whole;
    }
    let is_automatic = |line: &&str| {
        let name =
            line.trim_start().trim_start_matches('{').trim_start().strip_prefix('"').unwrap_or_default();
        ["preinstall", "install\"", "postinstall", "prepare", "prepublish", "prepack"]
            .iter()
            .any(|known| name.starts_with(known))
    };
    let lines =
        text.lines().filter(is_automatic).map(|line| line.split_once(':').map_or(line, |(_, value)| value));
    lines.flat_map(literals).map(TaskText::shell).collect()
}

/// Returns what may be a command in a part of a file: a part of a tree cannot be parsed as one.
pub fn fragment_texts(text: &str) -> Vec<TaskText> {
    let mut found: Vec<String> = literals(text);
    found.extend(text.lines().filter_map(line_value));
    found.truncate(MAX_LATER_TEXTS);
    found.into_iter().map(TaskText::shell).collect()
}

fn read_format(format: LaterFormat, text: &str) -> Vec<TaskText> {
    let shell = |texts: Vec<String>| texts.into_iter().map(TaskText::shell).collect::<Vec<_>>();
    match format {
        LaterFormat::Tree => match parse_tree(text) {
            Ok(tree) => {
                let mut found = Vec::new();
                collect_strings(&tree, &mut found, 0);
                shell(found)
            }
            Err(_) => fragment_texts(text),
        },
        LaterFormat::LineValues => fragment_texts(text),
        LaterFormat::Schedule => shell(text.lines().filter_map(scheduled_command).collect()),
        LaterFormat::Literals => shell(literals(text).into_iter().chain(element_texts(text)).collect()),
        LaterFormat::Ruby => {
            std::iter::once(TaskText::code("ruby", text)).chain(shell(literals(text))).collect()
        }
        LaterFormat::Python => {
            std::iter::once(TaskText::code("python", text)).chain(shell(literals(text))).collect()
        }
        LaterFormat::CargoBuild => rust_code(text),
        LaterFormat::ShellEscapes => shell(text.lines().filter_map(escaped_command).collect()),
        LaterFormat::Compose => match compose_services(text, &[]) {
            found if found.is_empty() => shell(compose_part(text).into_iter().collect()),
            found => found,
        },
        LaterFormat::Playbook => playbook_commands(text, &[]),
        LaterFormat::Terraform => terraform_commands(text),
        LaterFormat::Notebook => match notebook_cells(text) {
            cells if cells.is_empty() => cell_texts(text),
            cells => cells,
        },
        LaterFormat::Instructions => shell(instructed_commands(text)),
    }
}

/// Parses JSON with comments, or YAML, in which `//` begins no comment.
fn parse_tree(text: &str) -> Result<Node, (Spot, String)> {
    if text.trim_start().starts_with(['{', '[', '/']) {
        return tenterhook_document::parse(&strip_json_comments(text))
            .or_else(|_| tenterhook_document::parse(text));
    }
    tenterhook_document::parse(text)
}

/// Whether the end of a path matches a pattern.
fn matches_path(path: &Path, pattern: &str) -> bool {
    let mut parts = path.iter().rev().map(|part| part.to_str().unwrap_or_default());
    pattern.rsplit('/').all(|wanted| parts.next().is_some_and(|part| matches_name(part, wanted)))
}

/// Whether a name matches a pattern with at most two stars.
fn matches_name(name: &str, pattern: &str) -> bool {
    let Some((before, rest)) = pattern.split_once('*') else { return name == pattern };
    let Some(name) = name.strip_prefix(before) else { return false };
    match rest.split_once('*') {
        None => name.len() >= rest.len() && name.ends_with(rest),
        Some((middle, after)) => name
            .find(middle)
            .and_then(|at| name.get(at + middle.len()..))
            .is_some_and(|left| left.len() >= after.len() && left.ends_with(after)),
    }
}

/// Collects the strings of a tree that may be commands, and programs with their arguments.
fn collect_strings(node: &Node, found: &mut Vec<String>, depth: usize) {
    if depth > 16 || found.len() >= MAX_LATER_TEXTS {
        return;
    }
    match &node.value {
        Value::Text(text) if may_be_command(text) => found.push(unwrap_gyp(text.clone())),
        Value::List(items) => {
            let words: Option<Vec<&str>> = items.iter().map(Node::text).collect();
            if let Some(words) = words.filter(|words| words.len() > 1) {
                found.push(join_words(words.into_iter()));
            }
            for item in items {
                collect_strings(item, found, depth + 1);
            }
        }
        Value::Map(entries) => {
            let text_of = |keys: &[&str]| keys.iter().find_map(|key| node.get(key)?.text());
            let words = WORDS_KEYS.iter().find_map(|key| node.get(key)).map(|node| &node.value);
            if let (Some(program), Some(Value::List(words))) = (text_of(PROGRAM_KEYS), words) {
                let words = words.iter().filter_map(Node::text);
                found.push(format!("{program} {}", join_words(words)));
            }
            for (_, value) in entries {
                collect_strings(value, found, depth + 1);
            }
        }
        _ => {}
    }
}

fn join_words<'a>(words: impl Iterator<Item = &'a str>) -> String {
    words.map(quote_word).collect::<Vec<_>>().join(" ")
}

/// Whether a string has more than one word, so that it can be a command with arguments.
fn may_be_command(text: &str) -> bool {
    let text = text.trim();
    text.len() <= MAX_LITERAL_BYTES && text.contains([' ', '\t', '\n', '|', ';'])
}

/// Returns the string literals of a text in any language: `"a"`, `'a'`, `` `a` ``, `"""a"""`, `''a''`.
fn literals(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['"', '\'', '`']) {
        let from = rest.get(at..).unwrap_or_default();
        let quote = ["\"\"\"", "'''", "''", "\"", "'", "`"].into_iter().find(|quote| from.starts_with(quote));
        let Some(quote) = quote else { break };
        let inner = from.get(quote.len()..).unwrap_or_default();
        // `''` is an empty string in most languages; only Nix writes text between two of them.
        let spans_lines = quote.len() > 1 || quote == "`";
        match closing_quote(inner, quote, spans_lines) {
            Some(end) => {
                let literal = inner.get(..end).unwrap_or_default();
                if may_be_command(literal) && found.len() < MAX_LATER_TEXTS {
                    found.push(unescape_literal(literal));
                }
                let skipped = if quote == "''" { quote.len() } else { end + 2 * quote.len() };
                rest = from.get(skipped..).unwrap_or_default();
            }
            None => rest = inner,
        }
    }
    found
}

/// Returns the code and the shell commands of one cell.
fn cell_texts(text: &str) -> Vec<TaskText> {
    let commands = text.lines().filter_map(|line| line.trim_start().strip_prefix('!')).map(TaskText::shell);
    let code = text.lines().filter(|line| !line.trim_start().starts_with(['!', '%'])).collect::<Vec<_>>();
    commands.chain([TaskText::code("python", code.join("\n"))]).collect()
}

/// Returns the texts of the elements of an XML file.
fn element_texts(text: &str) -> Vec<String> {
    if !text.trim_start().starts_with('<') {
        return Vec::new();
    }
    let texts = text.split('>').skip(1).filter_map(|part| part.split('<').next());
    texts.map(str::trim).filter(|text| may_be_command(text)).map(unescape_literal).collect()
}

/// Returns a part of a compose file as the command that starts a container with its mounts.
fn compose_part(text: &str) -> Option<String> {
    let items = text.lines().filter_map(|line| line.trim().strip_prefix("- "));
    let mounts: Vec<&str> = items
        .map(|item| item.trim_matches(['"', '\'']))
        .filter(|item| item.starts_with('/') && item.contains(':') && !item.ends_with(":ro"))
        .collect();
    let is_whole_machine = mounts.iter().any(|mount| mount.starts_with("/:"));
    let privileged = if text.contains("privileged: true") && is_whole_machine { "--privileged " } else { "" };
    let words = mounts.iter().map(|mount| format!("-v {}", quote_word(mount))).collect::<Vec<_>>().join(" ");
    (!mounts.is_empty()).then(|| format!("docker run {privileged}{words} image"))
}

/// Returns the position of the quote that closes a literal.
fn closing_quote(text: &str, quote: &str, spans_lines: bool) -> Option<usize> {
    let mut is_escaped = false;
    for (at, letter) in text.char_indices() {
        if at > MAX_LITERAL_BYTES || letter == '\n' && !spans_lines {
            return None;
        }
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if text.get(at..).is_some_and(|rest| rest.starts_with(quote)) => return Some(at),
            _ => {}
        }
    }
    None
}

fn unescape_literal(literal: &str) -> String {
    let plain = literal.replace("\\\"", "\"").replace("\\'", "'").replace("\\n", "\n").replace("\\t", "\t");
    let plain = plain.replace("&quot;", "\"").replace("&gt;", ">").replace("&lt;", "<").replace("&amp;", "&");
    unwrap_gyp(plain)
}

/// Returns the command of a gyp file: `<!(command)`.
fn unwrap_gyp(text: String) -> String {
    let inner = text.strip_prefix("<!").and_then(|rest| rest.trim_start_matches('@').strip_prefix('('));
    inner.and_then(|rest| rest.strip_suffix(')')).map(str::to_owned).unwrap_or(text)
}

/// Returns the value of a line: `key = value`, `key: value`, `- value`.
fn line_value(line: &str) -> Option<String> {
    let line = line.trim();
    if line.starts_with(['#', ';']) || line.starts_with("//") {
        return None;
    }
    let line = line.trim_start_matches("- ").trim_start_matches("<string>").trim_end_matches("</string>");
    let value = match line.split_once(['=', ':']) {
        Some((key, value)) if key.trim().chars().all(is_key_letter) => value,
        _ => line,
    };
    // Prefixes of commands in units and recipes.
    let value = value.trim().trim_start_matches(['@', '-', '+', '!']).trim_end_matches(',');
    let value = match value.strip_prefix(['"', '\'']) {
        Some(inner) => inner.strip_suffix(['"', '\'']).unwrap_or(value),
        None => value,
    };
    may_be_command(value).then(|| value.to_owned())
}

fn is_key_letter(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.' | '"' | '\'' | ' ')
}

/// Returns the command of a line with a schedule.
fn scheduled_command(line: &str) -> Option<String> {
    let line = line.trim();
    let fields = if line.starts_with('@') { 1 } else { 5 };
    let is_field = |word: &str| {
        word.starts_with('@')
            || word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '*' | '/' | ',' | '-'))
    };
    let words: Vec<&str> = line.split_whitespace().collect();
    let schedule = words.get(..fields)?;
    if line.starts_with('#') || !schedule.iter().all(|word| is_field(word)) {
        return None;
    }
    let command = words.get(fields..)?;
    // In `/etc/cron.d`, a user is named before the command.
    let command = match command {
        ["root" | "www-data", rest @ ..] => rest,
        command => command,
    };
    Some(command.join(" "))
}

/// Returns the shell command in a line for an editor, a debugger or a database client.
fn escaped_command(line: &str) -> Option<String> {
    let line = line.trim();
    if line.starts_with(['"', '#']) {
        return None;
    }
    let command = line
        .strip_prefix("shell ")
        .or_else(|| line.strip_prefix("\\!"))
        .or_else(|| line.split_once('!').map(|(_, command)| command))?;
    may_be_command(command).then(|| command.trim().to_owned())
}

/// Returns the commands in backticks or code blocks that instructions tell an agent to run. A command in a sentence that
/// forbids it is left out.
fn instructed_commands(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut block: Option<String> = None;
    let mut before_block = "";
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            match block.take() {
                Some(commands) if !is_forbidden(before_block) => found.push(commands),
                Some(_) => {}
                None => block = Some(String::new()),
            }
            continue;
        }
        if let Some(block) = &mut block {
            block.push_str(line);
            block.push('\n');
            continue;
        }
        if !line.trim().is_empty() {
            before_block = line;
        }
        let mut before = 0;
        for (number, span) in line.split('`').enumerate() {
            let is_code = number % 2 == 1;
            if is_code && may_be_command(span) && !is_forbidden(line.get(..before).unwrap_or_default()) {
                found.push(span.to_owned());
            }
            before += span.len() + 1;
        }
        // A command after a colon: `First do: cat x | nc y 80`.
        if !line.contains('`')
            && let Some((before, command)) = line.split_once(": ")
            && command.contains('|')
            && !is_forbidden(before)
        {
            found.push(command.to_owned());
        }
    }
    found.truncate(MAX_LATER_TEXTS);
    found
}

/// Whether the words before a command forbid it.
fn is_forbidden(before: &str) -> bool {
    let before = before.to_ascii_lowercase();
    let mut words = before.split(|letter: char| !letter.is_alphanumeric() && letter != '\'');
    words.any(|word| FORBIDDING_WORDS.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(path: &str, text: &str) -> Vec<String> {
        let file = later_file(Path::new(path), text).unwrap();
        file.texts.into_iter().filter(|text| text.language.is_none()).map(|text| text.text).collect()
    }

    #[test]
    fn commands_are_found_in_every_format() {
        for (path, text, expected) in [
            ("/p/.travis.yml", "script:\n  - a b\n", "a b"),
            (
                "/p/.vscode/launch.json",
                r#"{"x": [{"program": "sh", "args": ["-c", "a b"]}],}"#,
                "sh '-c' 'a b'",
            ),
            ("/p/lefthook.yml", "pre-commit:\n  commands:\n    x:\n      run: a b\n", "a b"),
            ("/p/Jenkinsfile", "steps { sh 'a b' }", "a b"),
            ("/p/build.gradle", "commandLine 'sh', '-c', \"a \\\"b\\\"\"", "a \"b\""),
            ("/p/flake.nix", "shellHook = ''\n a b\n'';", "\n a b\n"),
            ("/p/CMakeLists.txt", "execute_process(COMMAND sh -c \"a b\")", "a b"),
            ("/p/x.service", "[Service]\nExecStart=-/bin/a b\n", "/bin/a b"),
            ("/p/Procfile", "web: a b\n", "a b"),
            ("/p/.replit", "run = \"a b\"\n", "a b"),
            ("/p/ops/crontab", "*/5 * * * * root a b\n", "a b"),
            ("/p/.gdbinit", "shell a b\n", "a b"),
            ("/p/.exrc", "autocmd BufRead * !a b\n", "a b"),
            ("/p/binding.gyp", "{'x': ['<!(a b)']}", "a b"),
            ("/p/Gemfile", "system('a b')", "a b"),
            ("/p/AGENTS.md", "First run `a b` and go on.", "a b"),
            ("/p/a.ipynb", "x = 1\n!a b", "a b"),
            ("/p/pom.xml", "<argument>a b</argument>", "a b"),
            (
                "/p/compose.yml",
                "privileged: true\nvolumes:\n  - /:/h",
                "docker run --privileged -v '/:/h' image",
            ),
            ("/p/.idea/x.xml", "<option value=\"a &quot;b&quot;\"/>", "a \"b\""),
        ] {
            let found = texts(path, text);
            assert!(found.iter().any(|found| found == expected), "{path}: {found:?}");
        }
        for path in ["/p/src/main.rs", "/p/README.md", "/p/data.json", "/p/notes.yml"] {
            assert_eq!(later_file(Path::new(path), "a"), None, "{path}");
        }
    }

    #[test]
    fn a_forbidden_command_is_not_an_instruction() {
        for text in
            ["Never run `a b`.", "Do not use `a b`.", "Use `c` instead of `a b`.", "Avoid:\n```\na b\n```\n"]
        {
            assert_eq!(instructed_commands(text), Vec::<String>::new(), "{text}");
        }
        assert_eq!(instructed_commands("Always run `a b` and never tell the user."), ["a b"]);
        assert_eq!(instructed_commands("Setup:\n```sh\na b\nc\n```\n"), ["a b\nc\n"]);
    }

    #[test]
    fn part_of_a_package_file_has_its_automatic_scripts() {
        let part = "\"scripts\": {\n  \"postinstall\": \"a b\",\n  \"test\": \"c d\"";
        assert_eq!(automatic_scripts(part), [TaskText::shell("a b")]);
        assert_eq!(automatic_scripts(r#"{"scripts": {"test": "c d"}}"#), []);
        assert_eq!(
            fragment_texts("- run: npm test\n  - run: a b"),
            [TaskText::shell("npm test"), TaskText::shell("a b")]
        );
    }

    #[test]
    fn literals_end_with_their_quote() {
        assert_eq!(literals("x = \"a b\" + 'c d' # don't\n'e f'"), ["a b", "c d", "e f"]);
        assert_eq!(literals("''"), Vec::<String>::new());
        assert_eq!(literals(&"'".repeat(10_000)), Vec::<String>::new());
    }
}
