// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Selects the tasks that run in files whose tasks are code: Rakefiles, Gradle builds, and tasks in Python.
//!
//! Code outside tasks always runs. The block of a task that is not selected is removed; the rest of the file is read as
//! code, and calls that start programs are written as shell commands.

use std::collections::BTreeSet;
use std::ops::Range;

use super::TaskText;
use super::literal_calls::{
    CallTable, GO_CALLS, GRADLE_CALLS, PYTHON_TASK_CALLS, RAKE_CALLS, RUST_CALLS, read_calls,
};

/// A task in code.
#[derive(Debug, PartialEq, Eq)]
struct TaskBlock {
    name: String,
    /// Names of the tasks that run before this one.
    needs: Vec<String>,
    /// Lines of the task, counted from zero.
    lines: Range<usize>,
}

/// Maximum number of tasks in one file. Further tasks are treated as code outside tasks.
const MAX_BLOCKS: usize = 256;

/// Returns what `rake` runs for these tasks, or for the task `default` if there are none.
pub fn rake_tasks(text: &str, tasks: &[String]) -> Vec<TaskText> {
    let lines: Vec<&str> = text.lines().collect();
    // `task[argument]`
    let names: Vec<&str> = tasks.iter().filter_map(|task| task.split('[').next()).collect();
    let names = if names.is_empty() { vec!["default"] } else { names };
    read_selected(&lines, &ruby_blocks(&lines), &names, "ruby", &RAKE_CALLS)
}

/// Returns what Gradle runs for these tasks. Settings outside tasks are evaluated in every build.
pub fn gradle_tasks(text: &str, tasks: &[String]) -> Vec<TaskText> {
    let lines: Vec<&str> = text.lines().collect();
    // `:app:test`
    let names: Vec<&str> = tasks.iter().filter_map(|task| task.rsplit(':').next()).collect();
    let mut blocks = gradle_blocks(&lines);
    blocks.extend(gradle_edges(&lines));
    let lifecycle = LIFECYCLE_TASKS.iter().map(|(name, needs)| TaskBlock {
        name: (*name).to_owned(),
        needs: needs.iter().map(|need| (*need).to_owned()).collect(),
        lines: 0..0,
    });
    blocks.extend(lifecycle);
    read_selected(&lines, &blocks, &names, "groovy", &GRADLE_CALLS)
}

/// Returns what Invoke, Fabric or nox runs for these tasks. If no task is named, `default` decides which tasks run.
pub fn python_tasks(text: &str, tasks: &[String], default: PythonDefault) -> Vec<TaskText> {
    let lines: Vec<&str> = text.lines().collect();
    let blocks = python_blocks(&lines);
    let named = tasks.iter().map(|task| task.replace('-', "_")).collect::<Vec<_>>();
    let all = || blocks.iter().map(|block| block.name.as_str());
    let names: Vec<&str> = match default {
        _ if !named.is_empty() => named.iter().map(String::as_str).collect(),
        PythonDefault::AllTasks => all().collect(),
        PythonDefault::NoTask => Vec::new(),
    };
    read_selected(&lines, &blocks, &names, "python", &PYTHON_TASK_CALLS)
}

/// Returns the code of one function of a Python file with the functions that it uses, as a command of a shell that runs
/// it. Classes and statements outside functions always run.
pub fn python_function(text: &str, function: &str) -> Vec<TaskText> {
    let lines: Vec<&str> = text.lines().collect();
    let blocks = function_blocks(&lines);
    let is_inside = |at: usize| blocks.iter().any(|block| block.lines.contains(&at));
    let outside: Vec<&str> =
        lines.iter().enumerate().filter(|(at, _)| !is_inside(*at)).map(|(_, line)| *line).collect();
    let mut open = vec![function];
    let mut selected = BTreeSet::new();
    while let Some(name) = open.pop() {
        let Some(block) = blocks.iter().find(|block| block.name == name) else { continue };
        if !selected.insert(name) {
            continue;
        }
        for line in lines.get(block.lines.clone()).unwrap_or_default() {
            let words = line.split(|letter: char| !(letter.is_alphanumeric() || letter == '_'));
            open.extend(words.filter(|word| !word.is_empty() && !selected.contains(word)));
        }
    }
    let kept = blocks.iter().filter(|block| selected.contains(block.name.as_str()));
    let kept = kept.flat_map(|block| lines.get(block.lines.clone()).unwrap_or_default().iter().copied());
    let code: Vec<&str> = outside.into_iter().chain(kept).collect();
    vec![python_script(&format!("{}\n{function}()\n", code.join("\n")))]
}

/// Returns Python code as a command of a shell.
pub fn python_script(code: &str) -> TaskText {
    TaskText::shell(format!("python3 - <<'END_OF_TASK'\n{code}\nEND_OF_TASK\n"))
}

/// Finds the functions outside classes.
fn function_blocks(lines: &[&str]) -> Vec<TaskBlock> {
    let mut blocks = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let rest = line.strip_prefix("def ").or_else(|| line.strip_prefix("async def "));
        let Some(name) = rest.and_then(|rest| rest.split('(').next()) else { continue };
        let is_body = |line: &&&str| line.starts_with([' ', '\t', ')', '#']) || line.trim().is_empty();
        let body = lines.iter().skip(at + 1).take_while(is_body).count();
        blocks.push(TaskBlock { name: name.to_owned(), needs: Vec::new(), lines: at..at + 1 + body });
        if blocks.len() >= MAX_BLOCKS {
            break;
        }
    }
    blocks
}

/// Which tasks run if none is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PythonDefault {
    /// Every task in the file runs.
    AllTasks,
    /// No task: the program lists them.
    NoTask,
}

/// Returns what the build script of a Cargo package runs.
pub fn rust_code(text: &str) -> Vec<TaskText> {
    read_program(text, "rust", &RUST_CALLS)
}

/// Returns what a Go program runs.
pub fn go_code(text: &str) -> Vec<TaskText> {
    read_program(text, "go", &GO_CALLS)
}

fn read_program(text: &str, language: &'static str, table: &CallTable) -> Vec<TaskText> {
    let commands = read_calls(text, table).into_iter().map(TaskText::shell);
    commands.chain([TaskText::code(language, text)]).collect()
}

/// Reads code without the blocks of tasks that do not run.
fn read_selected(
    lines: &[&str],
    blocks: &[TaskBlock],
    names: &[&str],
    language: &'static str,
    table: &CallTable,
) -> Vec<TaskText> {
    let mut open: Vec<&str> = names.to_vec();
    let mut selected = BTreeSet::new();
    while let Some(name) = open.pop() {
        if selected.insert(name) {
            let needs = blocks.iter().filter(|block| block.name == name).flat_map(|block| &block.needs);
            open.extend(needs.map(String::as_str));
        }
    }
    let mut skipped = vec![false; lines.len()];
    for block in blocks.iter().filter(|block| !selected.contains(block.name.as_str())) {
        for line in skipped.get_mut(block.lines.clone()).unwrap_or_default() {
            *line = true;
        }
    }
    let kept = lines.iter().zip(skipped).filter(|(_, skipped)| !skipped).map(|(line, _)| *line);
    read_program(&kept.collect::<Vec<_>>().join("\n"), language, table)
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Returns the names in a list such as `[:a, "b"]` or `a, b`.
fn listed_names(text: &str) -> Vec<String> {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | ':' | '.');
    let names = text.split(|c: char| !is_name(c)).map(|name| name.trim_matches([':', '.']));
    names.filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// Finds `task :name => [:needs] do … end`. The names of the namespaces around a task are part of its name.
fn ruby_blocks(lines: &[&str]) -> Vec<TaskBlock> {
    let mut blocks = Vec::new();
    let mut namespaces: Vec<(usize, String)> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let (own, depth) = (line.trim(), indent(line));
        if own == "end" {
            namespaces.retain(|(start, _)| *start < depth);
        } else if let Some(rest) = own.strip_prefix("namespace ") {
            namespaces.extend(listed_names(rest).into_iter().next().map(|name| (depth, name)));
        }
        let starts = ["task ", "task(", "multitask "];
        let Some(rest) = starts.iter().find_map(|start| own.strip_prefix(start)) else { continue };
        if blocks.len() >= MAX_BLOCKS {
            break;
        }
        let rest = rest.trim_end_matches(" do").split(" do |").next().unwrap_or_default();
        // The arguments of a task are written before its prerequisites.
        let (head, needs) = rest.split_once("=>").or_else(|| rest.split_once(": ")).unwrap_or((rest, ""));
        let Some(name) = listed_names(head).into_iter().next() else { continue };
        let needs = needs.split(['{', '#']).next().unwrap_or_default();
        let path: Vec<&str> =
            namespaces.iter().map(|(_, name)| name.as_str()).chain([name.as_str()]).collect();
        let is_block = own.contains(" do");
        let end = if is_block { closing_line(lines, at, depth, "end") } else { at + 1 };
        blocks.push(TaskBlock { name: path.join(":"), needs: listed_names(needs), lines: at..end });
    }
    blocks
}

/// Returns the line after the one that closes a block with the same indentation.
fn closing_line(lines: &[&str], start: usize, depth: usize, close: &str) -> usize {
    let is_end = |line: &&str| indent(line) == depth && line.trim_start().starts_with(close);
    let after = lines.iter().skip(start + 1).position(is_end);
    after.map_or(lines.len(), |at| start + 1 + at + 1)
}

/// Tasks of the plugins for Java and Kotlin, with the tasks that they run.
const LIFECYCLE_TASKS: &[(&str, &[&str])] = &[
    ("build", &["assemble", "check"]),
    ("assemble", &["jar", "bootJar", "shadowJar", "distZip"]),
    ("check", &["test"]),
    ("test", &["classes", "testClasses"]),
    ("testClasses", &["compileTestJava", "compileTestKotlin", "processTestResources"]),
    ("jar", &["classes"]),
    ("bootJar", &["classes"]),
    ("bootRun", &["classes"]),
    ("run", &["classes"]),
    ("classes", &["compileJava", "compileKotlin", "processResources"]),
    ("publish", &["assemble"]),
];

/// Finds `name.dependsOn other` and `tasks.name.finalizedBy(other)` outside blocks.
fn gradle_edges(lines: &[&str]) -> Vec<TaskBlock> {
    let edges = lines.iter().filter_map(|line| {
        let at = [".dependsOn", ".finalizedBy", ".mustRunAfter"].iter().find_map(|word| line.find(word))?;
        let name = listed_names(line.get(..at)?).pop()?;
        let name = name.rsplit('.').next()?.to_owned();
        Some(TaskBlock { name, needs: needs_in_line(line), lines: 0..0 })
    });
    edges.take(MAX_BLOCKS).collect()
}

/// Finds `task name { … }` and `tasks.register("name") { … }`.
fn gradle_blocks(lines: &[&str]) -> Vec<TaskBlock> {
    const HEADERS: &[&str] = &["task ", "task(", "tasks.register", "tasks.create", "tasks.named", "val "];
    let mut blocks: Vec<TaskBlock> = Vec::new();
    let mut end_of_last = 0;
    for (at, line) in lines.iter().enumerate() {
        if at < end_of_last {
            continue;
        }
        let own = line.trim_start();
        let Some(header) = HEADERS.iter().find(|header| own.starts_with(**header)) else { continue };
        let rest = own.get(header.len()..).unwrap_or_default();
        // `val name by tasks.registering { … }`
        if *header == "val " && !rest.contains("tasks.registering") {
            continue;
        }
        // `tasks.register<Delete>("name")`
        let rest =
            rest.strip_prefix('<').and_then(|rest| rest.split_once('>')).map_or(rest, |(_, rest)| rest);
        let Some(name) = listed_names(rest).into_iter().next() else { continue };
        let end = braces_end(lines, at);
        let needs =
            lines.get(at..end).unwrap_or_default().iter().flat_map(|line| needs_in_line(line)).collect();
        blocks.push(TaskBlock { name, needs, lines: at..end });
        end_of_last = end;
    }
    blocks
}

/// Returns the tasks in `dependsOn 'a', 'b'` or `finalizedBy("a")`.
fn needs_in_line(line: &str) -> Vec<String> {
    let found = ["dependsOn", "finalizedBy"].iter().filter_map(|word| line.split_once(word));
    let text = |rest: &str| rest.split(['{', '}']).next().unwrap_or_default().to_owned();
    found.flat_map(|(_, rest)| listed_names(&text(rest))).collect()
}

/// Returns the line after the block whose first brace opens on or after this line.
fn braces_end(lines: &[&str], start: usize) -> usize {
    let mut depth = 0_usize;
    for (at, line) in lines.iter().enumerate().skip(start) {
        let opens = line.matches('{').count();
        depth = (depth + opens).saturating_sub(line.matches('}').count());
        let has_block = at > start || opens > 0;
        if depth == 0 && has_block {
            return at + 1;
        }
        // A task without a block.
        if depth == 0 && !lines.get(at + 1).is_some_and(|next| next.trim_start().starts_with('{')) {
            return at + 1;
        }
    }
    lines.len()
}

/// Finds functions whose decorator makes them a task: `@task`, `@nox.session`.
fn python_blocks(lines: &[&str]) -> Vec<TaskBlock> {
    let mut blocks = Vec::new();
    let mut decorators: Option<(usize, String)> = None;
    for (at, line) in lines.iter().enumerate() {
        if line.starts_with('@') {
            let (_, text) = decorators.get_or_insert((at, String::new()));
            *text += line;
            continue;
        }
        let Some(rest) = line.strip_prefix("def ").or_else(|| line.strip_prefix("async def ")) else {
            let is_inside = line.starts_with([' ', '\t', ')']) || line.trim().is_empty();
            if !is_inside {
                decorators = None;
            }
            continue;
        };
        let Some((start, text)) = decorators.take() else { continue };
        let is_task = text.contains("task") || text.contains("session");
        let Some(name) = rest.split('(').next().filter(|_| is_task) else { continue };
        let is_body = |line: &&&str| line.starts_with([' ', '\t', ')', '#']) || line.trim().is_empty();
        let body = lines.iter().skip(at + 1).take_while(is_body).count();
        let named = text.split_once("name=").map(|(_, rest)| listed_names(rest));
        let own = named.and_then(|names| names.into_iter().next()).unwrap_or_else(|| name.trim().to_owned());
        let needs = text.split_once('(').map(|(_, rest)| listed_names(rest)).unwrap_or_default();
        blocks.push(TaskBlock { name: own.replace('-', "_"), needs, lines: start..at + 1 + body });
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell_texts(texts: Vec<TaskText>) -> Vec<String> {
        texts.into_iter().filter(|text| text.language.is_none()).map(|text| text.text).collect()
    }

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn rake_runs_a_task_and_those_it_needs() {
        let text = "require 'rake'\ntask default: :test\ntask :test => [:prepare] do\n  sh 'a'\nend\ntask :prepare do |t|\n  sh 'b'\nend\n\
                    namespace :db do\n  task :drop do\n    sh 'rm -rf /'\n  end\nend\ntask :one { sh 'c' }\n";
        let run = |tasks: &[&str]| shell_texts(rake_tasks(text, &names(tasks)));
        assert_eq!(run(&[]), ["a", "b"]);
        assert_eq!(run(&["prepare"]), ["b"]);
        assert_eq!(run(&["db:drop"]), ["rm -rf /"]);
        assert_eq!(run(&["one[x]"]), ["c"]);
        let code = rake_tasks(text, &names(&["prepare"]));
        let ruby = code.iter().find(|text| text.language == Some("ruby")).unwrap();
        assert!(ruby.text.contains("require") && !ruby.text.contains("rm -rf"), "{ruby:?}");
    }

    #[test]
    fn gradle_runs_a_task_and_those_it_needs() {
        let text = "plugins { id 'java' }\ntask purge { doLast { delete '/home/u/x' } }\ntask out(type: Delete) {\n  dependsOn 'prepare'\n  delete 'out'\n}\n\
                    tasks.register('prepare') {\n  exec { commandLine 'a' }\n}\ntasks.register<Exec>(\"kt\") {\n  commandLine(\"b\", \"c\")\n}\n";
        let run = |tasks: &[&str]| shell_texts(gradle_tasks(text, &names(tasks)));
        assert_eq!(run(&["build"]), Vec::<String>::new());
        assert_eq!(run(&[":app:purge"]), ["rm -rf '/home/u/x'"]);
        assert_eq!(run(&["out"]), ["rm -rf 'out'", "'a'"]);
        assert_eq!(run(&["kt"]), ["'b' 'c'"]);
        let edges = "tasks.register('warm') {\n  exec { commandLine 'a' }\n}\ntask late {\n  exec { commandLine 'b' }\n}\n\
                     assemble.dependsOn warm\ntasks.named('test').finalizedBy(late)\n";
        let run = |tasks: &[&str]| shell_texts(gradle_tasks(edges, &names(tasks)));
        assert_eq!(run(&["assemble"]), ["'a'"]);
        assert_eq!(run(&["build"]), ["'a'", "'b'"]);
        assert_eq!(run(&["jar"]), Vec::<String>::new());
    }

    #[test]
    fn a_function_of_a_python_file_runs_with_those_it_uses() {
        let text = "import os\n\ndef helper():\n    os.system('a')\n\ndef other():\n    os.system('b')\n\ndef main():\n    helper()\n";
        let found = python_function(text, "main");
        let code = &found.first().unwrap().text;
        assert!(
            code.contains("system('a')") && code.contains("import os") && code.contains("main()\n"),
            "{code}"
        );
        assert!(!code.contains("system('b')"), "{code}");
    }

    #[test]
    fn tasks_in_python_are_functions_with_a_decorator() {
        let text = "from invoke import task\n\ndef helper(c):\n    c.run('h')\n\n@task\ndef clean(c):\n    c.run('a')\n\n@task(clean)\ndef all_of_it(c):\n    c.run('b')\n\n\
                    @task(pre=[clean], name='x-y')\ndef z(c):\n    c.run('c')\n";
        let run = |tasks: &[&str]| shell_texts(python_tasks(text, &names(tasks), PythonDefault::NoTask));
        assert_eq!(run(&[]), ["h"]);
        assert_eq!(run(&["all-of-it"]), ["h", "a", "b"]);
        assert_eq!(run(&["x-y"]), ["h", "a", "c"]);
        let nox = "import nox\n@nox.session(python='3.12')\ndef tests(session):\n    session.run('pytest')\n@nox.session\ndef wipe(session):\n    session.run('rm', '-rf', '/')\n";
        let run = |tasks: &[&str]| shell_texts(python_tasks(nox, &names(tasks), PythonDefault::AllTasks));
        assert_eq!(run(&["tests"]), ["pytest"]);
        assert_eq!(run(&[]), ["pytest", "'rm' '-rf' '/'"]);
    }
}
