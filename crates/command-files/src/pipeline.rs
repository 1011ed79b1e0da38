// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads YAML files with shell steps: GitHub, GitLab, CircleCI, Azure, Taskfiles, pre-commit.

use tenterhook_document::{Node, Spot, Value, parse};

use super::{CommandText, FileName, ReadResult, quote_word, replace_expressions, unknown_variable};

fn is_yaml(name: &FileName<'_>) -> bool {
    matches!(name.ending, "yml" | "yaml")
}

pub(crate) fn is_github(name: &FileName<'_>) -> bool {
    is_yaml(name)
        && (name.within == ["workflows", ".github"] || matches!(name.file, "action.yml" | "action.yaml"))
}

pub(crate) fn is_gitlab(name: &FileName<'_>) -> bool {
    name.file.ends_with(".gitlab-ci.yml") || name.file.ends_with(".gitlab-ci.yaml")
}

pub(crate) fn is_circle(name: &FileName<'_>) -> bool {
    is_yaml(name) && name.within.first() == Some(&".circleci")
}

pub(crate) fn is_azure(name: &FileName<'_>) -> bool {
    is_yaml(name) && name.file.starts_with("azure-pipelines")
}

pub(crate) fn is_taskfile(name: &FileName<'_>) -> bool {
    is_yaml(name) && name.file.to_ascii_lowercase().starts_with("taskfile")
}

pub(crate) fn is_pre_commit(name: &FileName<'_>) -> bool {
    is_yaml(name) && name.file.starts_with(".pre-commit-config")
}

pub(crate) fn read_github(text: &str) -> ReadResult {
    let file = PipelineFile::new(text)?;
    let variables = file.secret_variables();
    Ok(file.read_maps(|map| {
        let shell = map.get("shell").and_then(Node::text).unwrap_or("bash");
        let is_shell = ["bash", "sh"].iter().any(|name| shell.split(' ').next() == Some(*name));
        let expression = |text: &str| {
            let commands =
                replace_expressions(text, "${{", "}}", |inner| Some(expression_variable(inner, text)));
            let used = variables.iter().filter(|(name, _)| uses_variable(text, name));
            let set = used.map(|(name, value)| format!("{name}=\"{}\"; ", expression_variable(value, text)));
            set.collect::<String>() + &commands
        };
        let mut found = map
            .get("run")
            .filter(|_| is_shell)
            .map_or_else(Vec::new, |run| file.command_texts(run, expression));
        // The action `github-script` runs JavaScript.
        let script = map.get("script").filter(|_| map.get("run").is_none()).and_then(Node::text);
        found.extend(script.map(|script| {
            let code =
                replace_expressions(script, "${{", "}}", |inner| Some(expression_variable(inner, script)));
            CommandText::from_line(1, format!("node -e {}", quote_word(&code)))
        }));
        found
    }))
}

/// Returns the variable that stands for an expression of a workflow. A secret that is used for an address, in a header
/// or for the service that issued it is an ordinary unknown value.
fn expression_variable(expression: &str, text: &str) -> String {
    let lower = expression.trim().to_ascii_lowercase();
    if lower.contains("tojson(secrets)") {
        return format!("${{{WORKFLOW_SECRET}_ALL}}");
    }
    let Some((_, name)) = lower.split_once("secrets.") else { return unknown_variable() };
    let name: String = name.chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect();
    let is_address = ["url", "webhook", "host", "endpoint"].iter().any(|word| name.contains(word));
    let hosts =
        text.split("://").skip(1).filter_map(|rest| rest.split(['/', '"', '\'', ' ', '\n', '?']).next());
    let hosts: Vec<String> = hosts.map(str::to_ascii_lowercase).collect();
    let is_issuer = name
        .split('_')
        .filter(|word| word.len() > 2)
        .any(|word| hosts.iter().any(|host| host.contains(word)));
    let lines = text.lines().filter(|line| line.to_ascii_lowercase().contains(&name));
    let is_header = lines.clone().count() > 0
        && lines.into_iter().all(|line| {
            let line = line.to_ascii_lowercase();
            ["authorization", "-h ", "--header", "-u ", "--user", "login", "token:"]
                .iter()
                .any(|word| line.contains(word))
        });
    if is_address || is_issuer || is_header {
        return unknown_variable();
    }
    format!("${{{WORKFLOW_SECRET}_{}}}", name.to_ascii_uppercase())
}

/// Whether a command uses a variable.
fn uses_variable(text: &str, name: &str) -> bool {
    let with_braces = format!("${{{name}");
    let plain = format!("${name}");
    text.contains(&with_braces) || text.contains(&plain)
}

pub(crate) fn read_gitlab(text: &str) -> ReadResult {
    let file = PipelineFile::new(text)?;
    Ok(file.read_maps(|map| {
        // `before_script` and `script` run in one shell; `after_script` runs in another.
        let mut first: Option<CommandText> = None;
        for key in ["before_script", "script"] {
            for piece in map.get(key).map_or_else(Vec::new, |node| file.command_texts(node, str::to_owned)) {
                match &mut first {
                    Some(first) => first.append(&piece),
                    None => first = Some(piece),
                }
            }
        }
        let after =
            map.get("after_script").map_or_else(Vec::new, |node| file.command_texts(node, str::to_owned));
        first.into_iter().chain(join_texts(after)).collect()
    }))
}

pub(crate) fn read_circle(text: &str) -> ReadResult {
    let file = PipelineFile::new(text)?;
    let expression = |text: &str| {
        replace_expressions(text, "<<", ">>", |inner| is_word(inner.trim()).then(unknown_variable))
    };
    Ok(file.read_maps(|map| {
        let run = map.get("run").map(|run| run.get("command").unwrap_or(run));
        run.map_or_else(Vec::new, |run| file.command_texts(run, expression))
    }))
}

pub(crate) fn read_azure(text: &str) -> ReadResult {
    let file = PipelineFile::new(text)?;
    let expression = |text: &str| {
        let text = replace_expressions(text, "${{", "}}", |_| Some(unknown_variable()));
        replace_expressions(&text, "$(", ")", |inner| is_word(inner).then(unknown_variable))
    };
    Ok(file.read_maps(|map| {
        let texts = ["script", "bash"].into_iter().filter_map(|key| map.get(key));
        texts.flat_map(|node| file.command_texts(node, expression)).collect()
    }))
}

pub(crate) fn read_taskfile(text: &str) -> ReadResult {
    let file = PipelineFile::new(text)?;
    let expression = |text: &str| replace_expressions(text, "{{", "}}", |_| Some(unknown_variable()));
    Ok(file.read_maps(|map| {
        let texts =
            ["cmds", "cmd", "sh", "status", "preconditions"].into_iter().filter_map(|key| map.get(key));
        texts.flat_map(|node| file.command_texts(node, expression)).collect()
    }))
}

pub(crate) fn read_pre_commit(text: &str) -> ReadResult {
    let file = PipelineFile::new(text)?;
    Ok(file.read_maps(|map| {
        let Some(entry) = map.get("entry") else { return Vec::new() };
        let mut pieces = file.command_texts(entry, str::to_owned);
        if let (Some(piece), Some(Value::List(args))) =
            (pieces.first_mut(), map.get("args").map(|args| &args.value))
        {
            for word in args.iter().filter_map(Node::text) {
                piece.text += &format!(" '{}'", word.replace('\'', r"'\''"));
            }
        }
        pieces
    }))
}

/// Whether a text is a variable name in a template expression.
fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '_' | '-'))
}

/// Whether a line ends with a block scalar indicator: `|`, `>-`, `|2+`.
fn opens_block(line: &str) -> bool {
    let code = line.split(" #").next().unwrap_or_default();
    let sign = code.split_whitespace().next_back().and_then(|word| word.strip_prefix(['|', '>']));
    sign.is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit() || matches!(c, '+' | '-')))
}

fn join_texts(pieces: Vec<CommandText>) -> Option<CommandText> {
    let mut pieces = pieces.into_iter();
    let mut first = pieces.next()?;
    pieces.for_each(|piece| first.append(&piece));
    Some(first)
}

/// Start of the name of a variable that stands for a secret of a workflow. Rules refer to it.
const WORKFLOW_SECRET: &str = "WORKFLOW_SECRET";

struct PipelineFile<'a> {
    tree: Node,
    lines: Vec<&'a str>,
}

impl<'a> PipelineFile<'a> {
    fn new(text: &'a str) -> Result<Self, (Spot, String)> {
        Ok(Self { tree: parse(text)?, lines: text.lines().collect() })
    }

    /// Returns the variables of the file whose value is a secret, with the expression.
    fn secret_variables(&self) -> Vec<(String, String)> {
        let mut found = Vec::new();
        let mut rest = vec![&self.tree];
        while let Some(node) = rest.pop() {
            match &node.value {
                Value::Map(entries) => {
                    let variables = node.get("env").map(|env| &env.value);
                    if let Some(Value::Map(variables)) = variables {
                        found.extend(variables.iter().filter_map(|(name, value)| {
                            let value = value.text().filter(|value| value.contains("secrets"))?;
                            Some((name.text()?.to_owned(), value.to_owned()))
                        }));
                    }
                    rest.extend(entries.iter().map(|(_, value)| value));
                }
                Value::List(items) => rest.extend(items),
                _ => {}
            }
        }
        found
    }

    /// Applies `read` to every map of the file, in order.
    fn read_maps(&self, read: impl Fn(&Node) -> Vec<CommandText>) -> Vec<CommandText> {
        let mut found = Vec::new();
        let mut rest = vec![&self.tree];
        while let Some(node) = rest.pop() {
            match &node.value {
                Value::Map(entries) => {
                    found.extend(read(node));
                    rest.extend(entries.iter().rev().map(|(_, value)| value));
                }
                Value::List(items) => rest.extend(items.iter().rev()),
                _ => {}
            }
        }
        found.retain(|piece| !piece.text.trim().is_empty());
        // Commands behind a YAML anchor are listed once, even if the anchor is used twice.
        found.sort_by(|one, other| one.lines.cmp(&other.lines));
        found.dedup();
        found
    }

    /// Returns the text of a node, or the texts of its list.
    fn command_texts(&self, node: &Node, change: impl Fn(&str) -> String + Copy) -> Vec<CommandText> {
        match &node.value {
            Value::Text(text) => {
                vec![CommandText {
                    lines: self.file_lines(node.spot, text),
                    ..CommandText::from_line(1, change(text))
                }]
            }
            Value::List(items) => items.iter().flat_map(|item| self.command_texts(item, change)).collect(),
            // In a Taskfile, `- cmd: …` is a separate map, which `read_maps` visits by itself.
            _ => Vec::new(),
        }
    }

    /// Returns the line in the file for every line of a text. A block scalar begins below its key.
    fn file_lines(&self, spot: Spot, text: &str) -> Vec<usize> {
        let filled = text.lines().position(|line| !line.trim().is_empty()).unwrap_or(0);
        let shown = text.lines().nth(filled).unwrap_or_default().trim();
        let start = shown.split_whitespace().next().unwrap_or_default();
        let from = spot.line.saturating_sub(1);
        let below = self.lines.iter().skip(from).take(8 + filled).collect::<Vec<_>>();
        let header = below.first().is_some_and(|line| opens_block(line));
        let skip = usize::from(header);
        let at = below.iter().skip(skip).position(|line| line.contains(start)).map_or(0, |at| at + skip);
        let first = (spot.line + at).saturating_sub(filled).max(1);
        (first..first + text.lines().count().max(1)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(read: ReadResult) -> Vec<(Vec<usize>, String)> {
        read.unwrap().into_iter().map(|piece| (piece.lines, piece.text)).collect()
    }

    #[test]
    fn steps_of_github_know_their_lines() {
        let text = "jobs:\n  a:\n    steps:\n      - run: one ${{ github.ref }}\n      - name: x\n        run: |\n          two\n\n          three\n      \
                    - run: no\n        shell: pwsh\n      - run: \"four\"\n";
        assert_eq!(
            found(read_github(text)),
            [
                (vec![4], format!("one {}", unknown_variable())),
                (vec![7, 8, 9], "two\n\nthree\n".to_owned()),
                (vec![12], "four".to_owned()),
            ]
        );
    }

    #[test]
    fn a_job_of_gitlab_is_one_shell() {
        let text = "x:\n  before_script:\n    - a\n  script:\n    - b\n    - |\n      c\n      d\n  after_script: e\n";
        assert_eq!(
            found(read_gitlab(text)),
            [(vec![3, 5, 7, 8], "a\nb\nc\nd\n".to_owned()), (vec![9], "e".to_owned())]
        );
    }

    #[test]
    fn other_pipelines_keep_their_commands_elsewhere() {
        let text = "steps:\n  - run: a << parameters.x >>\n  - run:\n      name: n\n      command: b <<EOF\n";
        assert_eq!(
            found(read_circle(text)),
            [(vec![2], format!("a {}", unknown_variable())), (vec![5], "b <<EOF".to_owned())]
        );
        let text = "steps:\n- script: cd $(Build.Dir) && x $(pwd -P)\n- bash: y\n";
        assert_eq!(
            found(read_azure(text)),
            [(vec![2], format!("cd {} && x $(pwd -P)", unknown_variable())), (vec![3], "y".to_owned())]
        );
        let text = "tasks:\n  a:\n    cmds:\n      - one {{.X}}\n      - cmd: two\n      - task: b\n  b: {cmd: three}\n";
        assert_eq!(
            found(read_taskfile(text)),
            [
                (vec![4], format!("one {}", unknown_variable())),
                (vec![5], "two".to_owned()),
                (vec![7], "three".to_owned())
            ]
        );
        let text = "repos:\n- repo: local\n  hooks:\n  - id: x\n    entry: run me\n    args: [a b]\n";
        assert_eq!(found(read_pre_commit(text)), [(vec![5], "run me 'a b'".to_owned())]);
    }
}
