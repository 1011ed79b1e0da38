// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads the commands of a project file, by the file's name: configuration that is code, sources that are compiled and
//! run, and descriptions of builds.

use std::collections::BTreeMap;

use super::literal_calls::{CallTable, GO_CALLS, RAKE_CALLS, RUST_CALLS, read_any_calls, read_calls};
use super::toml_tasks::script_texts;
use super::{TaskText, is_shell_shebang, quote_word, terraform_commands};

/// Calls that are looked for in code, in addition to those that the reader of its language knows.
#[derive(Clone, Copy)]
enum CodeCalls {
    None,
    /// Calls of any language.
    Any,
    /// Calls of one language.
    Table(&'static CallTable),
}

/// How a kind of file is read.
#[derive(Clone, Copy)]
enum ProjectReader {
    /// Code of a language with a reader; calls that start programs are written as shell commands too.
    Code(&'static str, CodeCalls),
    /// The whole file is text for a shell.
    Shell,
    /// A function extracts the commands from another format.
    Text(fn(&str) -> Vec<TaskText>),
}

/// Names of files, and ends of names that begin with a dot. The first row that matches applies.
const READERS: &[(&[&str], ProjectReader)] = &[
    (&["CMakeLists.txt", ".cmake"], ProjectReader::Text(cmake_commands)),
    (&["build.ninja"], ProjectReader::Text(ninja_commands)),
    (
        &["pom.xml", "build.xml", ".csproj", ".fsproj", ".vbproj", ".props", ".targets"],
        ProjectReader::Text(xml_commands),
    ),
    (&[".pre-commit-config.yaml"], ProjectReader::Text(pre_commit_commands)),
    (&["lefthook.yml", "lefthook.yaml", ".lefthook.yml"], ProjectReader::Text(yaml_runs)),
    (&["Pipfile", "pyproject.toml", "pixi.toml", "Cargo.toml"], ProjectReader::Text(toml_scripts)),
    (&["package.json"], ProjectReader::Text(package_lifecycle)),
    (&["Earthfile"], ProjectReader::Text(earthfile_commands)),
    (&[".tf", ".hcl"], ProjectReader::Text(hcl_commands)),
    (&[".nix"], ProjectReader::Text(nix_commands)),
    (&["BUILD", "BUILD.bazel", ".bzl"], ProjectReader::Text(bazel_commands)),
    (&[".bats"], ProjectReader::Text(bats_commands)),
    (&[".tmux.conf", ".conf", ".screenrc", ".rc"], ProjectReader::Text(multiplexer_commands)),
    (&[".py", "SConstruct", "SConscript", "wscript", ".pyw"], ProjectReader::Code("python", CodeCalls::None)),
    (
        &[".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx"],
        ProjectReader::Code("javascript", CodeCalls::None),
    ),
    (
        &[
            ".rb",
            "Gemfile",
            "Podfile",
            "Vagrantfile",
            "Fastfile",
            "Dangerfile",
            "Guardfile",
            "Brewfile",
            ".gemspec",
            ".rake",
            ".cr",
        ],
        ProjectReader::Code("ruby", CodeCalls::Table(&RAKE_CALLS)),
    ),
    (&[".php", "artisan"], ProjectReader::Code("php", CodeCalls::None)),
    (&[".pl", ".pm", ".t", ".PL"], ProjectReader::Code("perl", CodeCalls::None)),
    (&[".lua"], ProjectReader::Code("lua", CodeCalls::None)),
    (&[".R", ".r", ".Rprofile"], ProjectReader::Code("r", CodeCalls::None)),
    (&[".el", ".lisp", ".scm", ".rkt"], ProjectReader::Code("lisp", CodeCalls::None)),
    (&[".go"], ProjectReader::Code("go", CodeCalls::Table(&GO_CALLS))),
    (&[".rs"], ProjectReader::Code("rust", CodeCalls::Table(&RUST_CALLS))),
    (&[".swift"], ProjectReader::Code("swift", CodeCalls::Any)),
    (&[".scala", ".sbt", ".sc"], ProjectReader::Code("scala", CodeCalls::Any)),
    (&[".kt", ".kts"], ProjectReader::Code("kotlin", CodeCalls::Any)),
    (&[".groovy", ".gradle", "Jenkinsfile"], ProjectReader::Code("groovy", CodeCalls::Any)),
    (&[".ex", ".exs"], ProjectReader::Code("elixir", CodeCalls::None)),
    (&[".erl", ".escript"], ProjectReader::Code("erlang", CodeCalls::None)),
    (&[".hs"], ProjectReader::Code("haskell", CodeCalls::None)),
    (&[".sh", ".bash", ".zsh", ".envrc"], ProjectReader::Shell),
];

/// Returns the commands and the code of a project file with this name.
pub fn project_code(name: &str, text: &str) -> Vec<TaskText> {
    let is_named = |known: &&str| {
        name == *known || known.starts_with('.') && name.len() > known.len() && name.ends_with(known)
    };
    let found = READERS.iter().find(|(names, _)| names.iter().any(is_named));
    let reader = match found {
        Some((_, reader)) => *reader,
        // Git hooks have no extension. A hook without `#!` is run by a shell.
        None if !name.contains('.') || text.starts_with("#!") => script_reader(text),
        None => ProjectReader::Code("other", CodeCalls::Any),
    };
    match reader {
        ProjectReader::Shell => vec![TaskText::shell(text)],
        ProjectReader::Text(read) => read(text),
        ProjectReader::Code(language, table) => {
            let commands = match table {
                CodeCalls::None => Vec::new(),
                CodeCalls::Any => read_any_calls(text),
                CodeCalls::Table(table) => read_calls(text, table),
            };
            commands.into_iter().map(TaskText::shell).chain([TaskText::code(language, text)]).collect()
        }
    }
}

/// Returns the reader for a script without an extension, by its `#!` line.
fn script_reader(text: &str) -> ProjectReader {
    let first = text.lines().next().unwrap_or_default();
    let languages = ["python", "ruby", "perl", "php", "node", "lua"];
    match languages.iter().find(|language| first.starts_with("#!") && first.contains(**language)) {
        _ if is_shell_shebang(first) => ProjectReader::Shell,
        Some(&"node") => ProjectReader::Code("javascript", CodeCalls::None),
        Some(language) => ProjectReader::Code(language, CodeCalls::None),
        None => ProjectReader::Shell,
    }
}

/// Returns the files that a makefile includes.
pub fn makefile_includes(text: &str) -> Vec<String> {
    let is_name = |word: &&str| !word.contains(['$', '%', '#']);
    let lines = text.lines().filter_map(|line| {
        ["include ", "-include ", "sinclude "].iter().find_map(|start| line.strip_prefix(start))
    });
    lines.flat_map(|line| line.split_whitespace().filter(is_name)).map(str::to_owned).collect()
}

/// Returns the commands in `//go:generate` lines.
pub fn go_generate_commands(text: &str) -> Vec<TaskText> {
    text.lines().filter_map(|line| line.strip_prefix("//go:generate ")).map(TaskText::shell).collect()
}

/// Reads `execute_process(COMMAND …)`, `file(REMOVE_RECURSE …)` and similar calls of CMake.
fn cmake_commands(text: &str) -> Vec<TaskText> {
    let mut variables: BTreeMap<String, String> = BTreeMap::new();
    let mut commands = Vec::new();
    for (name, words) in cmake_calls(text) {
        let words: Vec<String> = words.iter().map(|word| expand_cmake(word, &variables)).collect();
        let texts: Vec<&str> = words.iter().map(String::as_str).collect();
        let quote = |words: &[&str]| words.iter().map(|word| quote_open(word)).collect::<Vec<_>>().join(" ");
        match (name.as_str(), texts.as_slice()) {
            ("set", [name, value, ..]) => {
                variables.insert((*name).to_owned(), (*value).to_owned());
            }
            ("foreach", [name, rest @ ..]) => {
                let list = rest.iter().rev().find(|word| !matches!(**word, "IN" | "LISTS" | "ITEMS"));
                let value =
                    list.map(|list| variables.get(*list).cloned().unwrap_or_else(|| (*list).to_owned()));
                variables.extend(value.map(|value| ((*name).to_owned(), value)));
            }
            ("file", ["GLOB" | "GLOB_RECURSE", name, rest @ ..]) => {
                variables.extend(rest.last().map(|pattern| ((*name).to_owned(), (*pattern).to_owned())));
            }
            ("file", ["REMOVE_RECURSE", paths @ ..]) => commands.push(format!("rm -rf {}", quote(paths))),
            ("file", ["REMOVE", paths @ ..]) => commands.push(format!("rm -f {}", quote(paths))),
            ("file", ["WRITE", path, ..]) => commands.push(format!("tee {}", quote(&[path]))),
            ("file", ["APPEND", path, ..]) => commands.push(format!("tee -a {}", quote(&[path]))),
            ("file", ["DOWNLOAD", url, path, ..]) => {
                commands.push(format!("curl -o {} {}", quote_open(path), quote_open(url)));
            }
            ("file", ["UPLOAD", path, url, ..]) => {
                commands.push(format!("curl -T {} {}", quote_open(path), quote_open(url)));
            }
            ("execute_process" | "add_custom_command" | "add_custom_target" | "exec_program", _) => {
                let keywords =
                    |word: &str| word.len() > 3 && word.chars().all(|c| c.is_ascii_uppercase() || c == '_');
                for part in texts.split(|word| *word == "COMMAND").skip(1) {
                    let end = part.iter().position(|word| keywords(word)).unwrap_or(part.len());
                    commands.push(quote(part.get(..end).unwrap_or_default()));
                }
            }
            _ => {}
        }
    }
    // A later command may run what an earlier one downloads.
    commands.retain(|command| !command.is_empty());
    let script = commands.join("\n");
    (!script.is_empty()).then(|| TaskText::shell(script)).into_iter().collect()
}

/// Splits CMake code into calls with their words.
fn cmake_calls(text: &str) -> Vec<(String, Vec<String>)> {
    let mut calls = Vec::new();
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let (mut name, mut depth) = (String::new(), 0_usize);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '#' => while letters.next_if(|c| *c != '\n').is_some() {},
            '"' => {
                while let Some(inner) = letters.next().filter(|c| *c != '"') {
                    word.extend(if inner == '\\' { letters.next() } else { Some(inner) });
                }
                words.push(std::mem::take(&mut word));
            }
            '(' if depth == 0 => {
                name = std::mem::take(&mut word).to_ascii_lowercase();
                words.clear();
                depth = 1;
            }
            '(' => depth += 1,
            ')' | ' ' | '\t' | '\n' | '\r' | ';' => {
                if !word.is_empty() && depth > 0 {
                    words.push(std::mem::take(&mut word));
                }
                if letter == ')' && depth == 1 {
                    calls.push((std::mem::take(&mut name), std::mem::take(&mut words)));
                }
                depth = depth.saturating_sub(usize::from(letter == ')'));
                if depth == 0 {
                    word.clear();
                }
            }
            letter => word.push(letter),
        }
    }
    calls
}

/// Replaces variables in a word of CMake code; `$ENV{NAME}` becomes a variable of the shell.
fn expand_cmake(word: &str, variables: &BTreeMap<String, String>) -> String {
    let word = super::replace_expressions(word, "$ENV{", "}", |name| Some(format!("${{{name}}}")));
    let mut word = word;
    for (name, value) in variables {
        word = word.replace(&format!("${{{name}}}"), value);
    }
    let is_directory = ["${CMAKE_SOURCE_DIR}", "${CMAKE_CURRENT_SOURCE_DIR}", "${PROJECT_SOURCE_DIR}"];
    let is_output = ["${CMAKE_BINARY_DIR}", "${CMAKE_CURRENT_BINARY_DIR}", "${PROJECT_BINARY_DIR}"];
    let word = is_directory.iter().fold(word, |word, name| word.replace(name, "."));
    is_output.iter().fold(word, |word, name| word.replace(name, "build"))
}

/// Quotes a word in which variables of the shell and a pattern at its end may occur.
fn quote_open(word: &str) -> String {
    let is_open = word.contains("${");
    match word.strip_suffix("/*") {
        Some(start) if is_open => format!("\"{start}\"/*"),
        _ if is_open => format!("\"{}\"", word.replace('"', "\\\"")),
        _ if word.ends_with("/*") => word.to_owned(),
        _ => quote_word(word),
    }
}

/// Reads the `command = …` lines of a Ninja file.
fn ninja_commands(text: &str) -> Vec<TaskText> {
    let commands = text.lines().filter_map(|line| line.trim_start().strip_prefix("command ="));
    commands.map(|command| TaskText::shell(command.trim())).collect()
}

/// Properties of Maven and Ant, with the text that a shell understands.
const BUILD_PROPERTIES: &[(&str, &str)] = &[
    ("user.home", "$HOME"),
    ("user.name", "$USER"),
    ("basedir", "."),
    ("project.basedir", "."),
    ("project.build.directory", "target"),
    ("java.io.tmpdir", "/tmp"),
];

/// Reads commands in the XML files of Maven, Ant and MSBuild.
fn xml_commands(text: &str) -> Vec<TaskText> {
    let text = &super::replace_expressions(text, "${", "}", |name| match name.strip_prefix("env.") {
        Some(name) => Some(format!("${{{name}}}")),
        None => BUILD_PROPERTIES.iter().find(|(own, _)| *own == name).map(|(_, value)| (*value).to_owned()),
    });
    let attribute = |element: &str, name: &str| -> Option<String> {
        let (_, rest) = element.split_once(&format!("{name}="))?;
        let quote = rest.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
        Some(unescape_xml(rest.get(1..)?.split(quote).next()?))
    };
    let mut commands = Vec::new();
    for element in text.split("<Exec ").skip(1) {
        commands.extend(attribute(element, "Command"));
    }
    for element in text.split("<exec ").skip(1) {
        let body = element.split("</exec>").next().unwrap_or_default();
        let words = body.split("<arg ").skip(1).filter_map(|arg| {
            attribute(arg, "value").map(|word| quote_word(&word)).or_else(|| attribute(arg, "line"))
        });
        let program = attribute(body, "executable").into_iter();
        commands.push(program.chain(words).collect::<Vec<_>>().join(" "));
    }
    for element in text.split("<executable>").skip(1) {
        let (program, rest) = element.split_once("</executable>").unwrap_or((element, ""));
        let rest = rest.split("</configuration>").next().unwrap_or_default();
        let words = rest.split("<argument>").skip(1).filter_map(|word| word.split("</argument>").next());
        let words = words.map(|word| quote_word(&unescape_xml(word)));
        let line = rest.split_once("<commandlineArgs>").and_then(|(_, line)| line.split('<').next());
        let all = std::iter::once(program.trim().to_owned()).chain(words).chain(line.map(unescape_xml));
        commands.push(all.collect::<Vec<_>>().join(" "));
    }
    commands.into_iter().map(TaskText::shell).collect()
}

fn unescape_xml(text: &str) -> String {
    let pairs =
        [("&quot;", "\""), ("&apos;", "'"), ("&lt;", "<"), ("&gt;", ">"), ("&#10;", "\n"), ("&amp;", "&")];
    pairs.iter().fold(text.to_owned(), |text, (escaped, plain)| text.replace(escaped, plain))
}

fn pre_commit_commands(text: &str) -> Vec<TaskText> {
    super::pipeline::read_pre_commit(text).unwrap_or_default().into_iter().map(TaskText::from).collect()
}

/// Reads the values of `run:` in a YAML file.
fn yaml_runs(text: &str) -> Vec<TaskText> {
    let lines =
        text.lines().filter_map(|line| line.trim_start().trim_start_matches("- ").strip_prefix("run:"));
    lines.map(|line| TaskText::shell(line.trim().trim_matches(['"', '\'']))).collect()
}

/// Reads every script in a TOML file, because the name of the script that runs is not known here.
fn toml_scripts(text: &str) -> Vec<TaskText> {
    script_texts(text).into_iter().map(TaskText::shell).collect()
}

/// Reads the scripts of a `package.json` that run when a package is packed or published.
fn package_lifecycle(text: &str) -> Vec<TaskText> {
    const SCRIPTS: &[&str] = &[
        "prepublishOnly",
        "prepublish",
        "prepack",
        "prepare",
        "postpack",
        "publish",
        "postpublish",
        "preversion",
        "version",
        "postversion",
    ];
    let tasks = SCRIPTS.iter().flat_map(|script| super::package_tasks(text, script));
    tasks.map(TaskText::from).collect()
}

/// Reads the commands of an Earthfile that run on this machine.
fn earthfile_commands(text: &str) -> Vec<TaskText> {
    let mut is_local = false;
    let mut commands = Vec::new();
    for line in text.lines() {
        let own = line.trim();
        is_local = own == "LOCALLY" || is_local && line.starts_with(char::is_whitespace);
        let command = own.strip_prefix("RUN ").filter(|_| is_local);
        commands.extend(command.map(TaskText::shell));
    }
    commands
}

/// Reads local commands of Terraform and Packer files.
fn hcl_commands(text: &str) -> Vec<TaskText> {
    terraform_commands(&text.replace("\"shell-local\"", "\"local-exec\""))
}

/// Reads the shell texts of a Nix file: `shellHook = ''…''`, `args = [ "-c" "…" ]`.
fn nix_commands(text: &str) -> Vec<TaskText> {
    let blocks = text.split("''").skip(1).step_by(2).map(|block| block.replace("${", "${UNKNOWN_"));
    let arguments = text.split("\"-c\"").skip(1).filter_map(|rest| rest.split('"').nth(1).map(str::to_owned));
    blocks.chain(arguments).map(TaskText::shell).collect()
}

/// Reads the commands of `genrule(cmd = "…")`.
fn bazel_commands(text: &str) -> Vec<TaskText> {
    let read = |rest: &str| {
        let value = rest.trim_start().strip_prefix('=')?.trim_start();
        let quote = value.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
        Some(TaskText::shell(value.get(1..)?.split(quote).next()?))
    };
    text.split("cmd").skip(1).chain(text.split("cmd_bash").skip(1)).filter_map(read).collect()
}

/// Returns the sources that the targets of a package run or test, as commands.
pub fn bazel_targets(text: &str, targets: &[String]) -> Vec<TaskText> {
    let runs = |kind: &str| ["_binary", "_test"].iter().any(|end| kind.ends_with(end));
    let mut found = bazel_commands(text);
    // `kind(name = "…", srcs = ["…"])`
    for (at, _) in text.match_indices("name") {
        let (before, rest) = text.split_at_checked(at).unwrap_or((text, ""));
        let kind = before.trim_end().strip_suffix('(').unwrap_or_default();
        let kind = kind.rsplit(|letter: char| !(letter.is_alphanumeric() || letter == '_')).next();
        let block = rest.split("\n)").next().unwrap_or_default();
        let name = block.split(['"', '\'']).nth(1).unwrap_or_default();
        if !kind.is_some_and(runs)
            || !targets.iter().any(|target| target == name)
            || found.len() >= MAX_SOURCES
        {
            continue;
        }
        let sources =
            block.split_once("srcs").map_or("", |(_, rest)| rest.split(']').next().unwrap_or_default());
        let names = sources.split(['"', '\'']).skip(1).step_by(2);
        found.extend(names.filter_map(source_command).map(TaskText::shell));
    }
    found
}

/// Maximum number of sources of one package that are read.
const MAX_SOURCES: usize = 16;

/// Returns the command that runs a source file.
fn source_command(name: &str) -> Option<String> {
    let programs = [("sh", "bash"), ("bash", "bash"), ("py", "python3"), ("js", "node"), ("mjs", "node")];
    let (_, ending) = name.rsplit_once('.')?;
    let (_, program) = programs.iter().find(|(own, _)| *own == ending)?;
    Some(format!("{program} {}", quote_word(name)))
}

/// Reads the tests of a Bats file as blocks of a shell script.
fn bats_commands(text: &str) -> Vec<TaskText> {
    let lines = text.lines().map(|line| if line.starts_with("@test ") { "{" } else { line });
    vec![TaskText::shell(lines.collect::<Vec<_>>().join("\n"))]
}

/// Reads the commands in the settings of tmux and screen.
fn multiplexer_commands(text: &str) -> Vec<TaskText> {
    let lines = text.lines().map(str::trim).filter(|line| !line.starts_with('#'));
    let tmux =
        ["run-shell ", "run ", "if-shell ", "new-session ", "new-window ", "set-hook ", "bind ", "bind-key "];
    let read = |line: &str| {
        if tmux.iter().any(|start| line.starts_with(start)) {
            return Some(format!("tmux {line}"));
        }
        let rest = line.strip_prefix("screen ").or_else(|| line.strip_prefix("exec "));
        rest.map(str::to_owned)
    };
    lines.filter_map(read).map(TaskText::shell).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands(name: &str, text: &str) -> Vec<String> {
        let texts = project_code(name, text).into_iter().filter(|task| task.language.is_none());
        texts.map(|task| task.text).collect()
    }

    #[test]
    fn commands_of_build_descriptions_are_found() {
        for (name, text, expected) in [
            (
                "x.cmake",
                "set(r \"$ENV{HOME}\")\nfile(GLOB a \"${r}/*\")\nforeach(f IN LISTS a)\nfile(REMOVE_RECURSE \"${f}\")\nendforeach()",
                "rm -rf \"${HOME}\"/*",
            ),
            (
                "CMakeLists.txt",
                "# x()\nexecute_process(COMMAND sh -c \"a | b\" OUTPUT_VARIABLE c)",
                "'sh' '-c' 'a | b'",
            ),
            ("build.ninja", "rule x\n  command = a b\n", "a b"),
            ("a.csproj", "<Exec Command='a &quot;b&quot;'/>", "a \"b\""),
            (
                "build.xml",
                "<exec executable='sh'><arg value='-c'/><arg value='a b'/></exec>",
                "sh '-c' 'a b'",
            ),
            (
                "pom.xml",
                "<executable>sh</executable><arguments><argument>-c</argument><argument>a b</argument></arguments>",
                "sh '-c' 'a b'",
            ),
            ("pyproject.toml", "[tool.poe.tasks]\nx = \"a b\"\n[project]\nname = \"c\"\n", "a b"),
            ("Earthfile", "a:\n  RUN x\nb:\n  LOCALLY\n  RUN y\n", "y"),
            ("shell.nix", "mkShell { shellHook = ''a b''; }", "a b"),
            (
                "A.java",
                "Runtime.getRuntime().exec(new String[]{\"sh\", \"-c\", \"a b\"});",
                "'sh' '-c' 'a b'",
            ),
            ("a.c", "int main() { system(\"a b\"); }", "a b"),
        ] {
            assert_eq!(commands(name, text), [expected], "{name}");
        }
        assert_eq!(commands("pyproject.toml", "[project]\nname = \"rm -rf /\"\n"), Vec::<String>::new());
    }

    #[test]
    fn hostile_text_ends() {
        for (names, _) in READERS {
            for name in *names {
                for text in ["", "(", "\"", "((((", "<exec ", "<executable>", "''", "set(a", "#!", "[", "}"] {
                    let _ = project_code(name, text);
                }
            }
        }
    }
}
