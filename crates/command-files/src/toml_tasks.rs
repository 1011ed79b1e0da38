// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads the tasks of a `mise.toml`. Only tables, strings and lists of strings are understood.

use std::collections::BTreeSet;

use super::TaskText;

/// A key of a TOML file with its strings.
struct TomlEntry {
    /// Names of the table and the key, joined with dots.
    path: String,
    values: Vec<String>,
}

/// Returns the commands of these tasks, and of the tasks that they depend on.
pub fn mise_tasks(text: &str, tasks: &[String]) -> Vec<TaskText> {
    let entries = read_entries(text);
    let values = |task: &str, key: &str| -> Vec<String> {
        let path = format!("tasks.{task}{key}");
        entries.iter().filter(|entry| entry.path == path).flat_map(|entry| entry.values.clone()).collect()
    };
    let mut open: Vec<String> = tasks.to_vec();
    if open.is_empty() {
        open.push("default".to_owned());
    }
    let (mut seen, mut found) = (BTreeSet::new(), Vec::new());
    while let Some(task) = open.pop() {
        if !seen.insert(task.clone()) {
            continue;
        }
        for key in ["", ".run"] {
            found.extend(values(&task, key).into_iter().map(TaskText::shell));
        }
        open.extend(values(&task, ".depends"));
    }
    found
}

/// Returns the commands in the tables of scripts and tasks, such as `[tool.poe.tasks]` and `[tool.pdm.scripts]`.
pub(crate) fn script_texts(text: &str) -> Vec<String> {
    // `[project.scripts]` contains names of Python functions.
    let is_script = |entry: &TomlEntry| {
        let mut tables = entry.path.split('.');
        tables.any(|table| matches!(table, "scripts" | "tasks")) && !entry.path.starts_with("project.")
    };
    read_entries(text).into_iter().filter(is_script).flat_map(|entry| entry.values).collect()
}

/// Maximum number of scripts that one script may run, directly or through others.
const MAX_SCRIPTS: usize = 64;

/// Returns what the scripts with these names run. A Python function is written as `python3 -m a.b:main`. A script may
/// name others.
pub fn named_scripts(text: &str, names: &[String]) -> Vec<TaskText> {
    let entries: Vec<(Vec<String>, Vec<String>)> = read_entries(text)
        .into_iter()
        .filter_map(|entry| {
            let parts: Vec<String> = entry.path.split('.').map(str::to_owned).collect();
            let at = parts.iter().position(|part| matches!(part.as_str(), "scripts" | "tasks"))?;
            Some((parts.get(at + 1..)?.to_vec(), entry.values))
        })
        .collect();
    // `hatch run test:unit`
    let own = |name: &String| name.rsplit(':').next().unwrap_or_default().to_owned();
    let mut open: Vec<String> = names.iter().map(own).collect();
    let (mut seen, mut found) = (BTreeSet::new(), Vec::new());
    while let Some(name) = open.pop() {
        if seen.len() >= MAX_SCRIPTS || !seen.insert(name.clone()) {
            continue;
        }
        let values = entries.iter().filter(|(path, _)| path.first() == Some(&name));
        for value in values.flat_map(|(_, values)| values) {
            found.push(TaskText::shell(entry_point(value).unwrap_or_else(|| value.clone())));
            open.push(value.clone());
        }
    }
    found
}

/// Returns the command that runs a function: `a.b:main`.
fn entry_point(value: &str) -> Option<String> {
    let (module, function) = value.split_once(':')?;
    let function = function.trim_end_matches("()");
    let is_name = |text: &str| {
        !text.is_empty() && text.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '.'))
    };
    (is_name(module) && is_name(function)).then(|| format!("python3 -m {module}:{function}"))
}

fn read_entries(text: &str) -> Vec<TomlEntry> {
    let (mut entries, mut table, mut rest) = (Vec::new(), String::new(), text);
    while !rest.is_empty() {
        let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
        let own = line.trim();
        if let Some(name) = own.strip_prefix('[').and_then(|own| own.split_once(']')).map(|(name, _)| name) {
            table = key_path(name.trim_matches(['[', ']']));
            rest = after;
            continue;
        }
        let Some((key, _)) = line.split_once('=').filter(|_| !own.starts_with('#')) else {
            rest = after;
            continue;
        };
        let value = rest.get(key.len() + 1..).unwrap_or_default();
        let (values, left) = read_texts(value);
        let key = key_path(key.trim());
        let path = if table.is_empty() { key } else { format!("{table}.{key}") };
        // `build = { run = "a" }`
        let inner = line.split_once('{').and_then(|(_, inner)| inner.split_once('='));
        let path = match inner {
            Some((inner, _)) if line.trim_end().ends_with('}') => format!("{path}.{}", inner.trim()),
            _ => path,
        };
        entries.push(TomlEntry { path, values });
        rest = left;
    }
    entries
}

fn key_path(text: &str) -> String {
    text.split('.').map(|part| part.trim().trim_matches(['"', '\''])).collect::<Vec<_>>().join(".")
}

/// Reads the strings of a value: one string, or all strings of a list. Also returns the text after the value.
fn read_texts(value: &str) -> (Vec<String>, &str) {
    let (mut values, mut rest, mut depth) = (Vec::new(), value, 0_usize);
    while let Some(letter) = rest.chars().next() {
        let marks = ["\"\"\"", "'''", "\"", "'"];
        if let Some(mark) = marks.iter().find(|mark| rest.starts_with(**mark)) {
            let body = rest.get(mark.len()..).unwrap_or_default();
            let (own, after) = split_closing(body, mark);
            values.push(if mark.starts_with('"') { own.replace("\\\"", "\"") } else { own.to_owned() });
            rest = after;
            continue;
        }
        rest = rest.get(letter.len_utf8()..).unwrap_or_default();
        match letter {
            '[' | '{' => depth += 1,
            ']' | '}' => depth = depth.saturating_sub(1),
            '#' => rest = rest.get(rest.find('\n').unwrap_or(rest.len())..).unwrap_or_default(),
            '\n' if depth == 0 => break,
            _ => {}
        }
    }
    (values, rest)
}

fn split_closing<'a>(body: &'a str, mark: &str) -> (&'a str, &'a str) {
    let mut is_escaped = false;
    for (at, letter) in body.char_indices() {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' if mark.starts_with('"') => is_escaped = true,
            _ => {
                let after = body.get(at..).and_then(|rest| rest.strip_prefix(mark));
                if let Some(after) = after {
                    return (body.get(..at).unwrap_or_default(), after);
                }
            }
        }
    }
    (body, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_script_runs_with_those_it_names() {
        let text = "[tool.poetry.scripts]\nwipe = \"a.b:main\"\nother = \"c:d\"\n[tool.poe.tasks]\nall = [\"x\"]\nx = \"rm a\"\n\
                    [tool.hatch.envs.default.scripts]\nunit = \"pytest {args}\"\n";
        let run = |name: &str| -> Vec<_> {
            named_scripts(text, &[name.to_owned()]).into_iter().map(|text| text.text).collect()
        };
        assert_eq!(run("wipe"), ["python3 -m a.b:main"]);
        assert_eq!(run("all"), ["x", "rm a"]);
        assert_eq!(run("default:unit"), ["pytest {args}"]);
        assert_eq!(run("pytest"), Vec::<String>::new());
    }

    #[test]
    fn a_task_of_mise_runs_with_those_it_depends_on() {
        let text = "[tools]\nnode = '22'\n[tasks]\nlint = \"a \\\"b\\\"\" # c\n[tasks.build]\ndepends = [\n  'lint', # x\n]\nrun = ['c', 'd']\n\
                    [tasks.\"db:wipe\"]\nrun = '''\nrm -rf /\n'''\n[tasks.last]\nrun = { x = 1 }\n";
        let run = |task: &str| -> Vec<_> {
            mise_tasks(text, &[task.to_owned()]).into_iter().map(|text| text.text.trim().to_owned()).collect()
        };
        assert_eq!(run("build"), ["c", "d", "a \"b\""]);
        assert_eq!(run("db:wipe"), ["rm -rf /"]);
        assert_eq!(run("none"), Vec::<String>::new());
        assert_eq!(mise_tasks("[tasks]\nx = { run = 'y' }\n", &["x".to_owned()]), [TaskText::shell("y")]);
        for hostile in ["[", "a=", "a = \"", "a = '''", "=[[[[", "[tasks.x]\nrun = [\"a\""] {
            mise_tasks(hostile, &["x".to_owned()]);
        }
    }
}
