// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What a call should be instead.

use serde_json::{Map, Value, json};
use tenterhook_event::{Command, Merge, Modification, ToolCall, ToolClass};

use crate::rule::Rewrite;

const ORIGINAL: &str = "{command}";

impl Rewrite {
    /// The changes to a call, in the tool's own argument keys.
    pub(super) fn of(&self, tool: &ToolCall) -> Vec<Modification> {
        let mut changed = self.set.clone();
        if let Some(template) = &self.command
            && tool.class == ToolClass::Shell
        {
            changed.extend(commands(tool, template));
        }
        let merge = |value| Modification::ToolInput { merge: Merge::Shallow, value };
        if changed.is_empty() { Vec::new() } else { vec![merge(Value::Object(changed))] }
    }
}

/// The keys of the arguments that hold a command, with the new ones.
fn commands(tool: &ToolCall, template: &str) -> Map<String, Value> {
    let roles = tool.class.roles();
    let mut changed = Map::new();
    for key in roles.command {
        let Some(value) = tool.args.get(key) else { continue };
        match (value, tool.args.get("args").and_then(texts)) {
            // An argv in two pieces.
            (Value::String(program), Some(words))
                if !words.is_empty() && !program.contains(char::is_whitespace) =>
            {
                let words: Vec<_> = std::iter::once(program.as_str()).chain(words).collect();
                changed.insert((*key).to_owned(), json!("bash"));
                changed.insert("args".to_owned(), json!(["-c", fill(template, &Command::Argv(words))]));
            }
            _ => changed.extend(renewed(value, template).map(|value| ((*key).to_owned(), value))),
        }
    }
    for key in roles.commands {
        let Some(Value::Array(items)) = tool.args.get(key) else { continue };
        let item = |item: &Value| match item {
            Value::Object(fields) => {
                let mut fields = fields.clone();
                for key in roles.command {
                    if let Some(value) = fields.get(*key).and_then(|value| renewed(value, template)) {
                        fields.insert((*key).to_owned(), value);
                    }
                }
                Value::Object(fields)
            }
            item => renewed(item, template).unwrap_or_else(|| item.clone()),
        };
        changed.insert((*key).to_owned(), items.iter().map(item).collect());
    }
    changed
}

/// A text becomes a text, an argv an argv.
fn renewed(value: &Value, template: &str) -> Option<Value> {
    match value {
        Value::String(text) => Some(json!(fill(template, &Command::Text(text)))),
        value => Some(json!(["bash", "-c", fill(template, &Command::Argv(texts(value)?))])),
    }
}

fn texts(value: &Value) -> Option<Vec<&str>> {
    value.as_array()?.iter().map(Value::as_str).collect()
}

fn fill(template: &str, command: &Command<'_>) -> String {
    let text = match command {
        Command::Text(text) => quoted(text),
        Command::Argv(words) => quoted(&words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")),
    };
    template.replace(ORIGINAL, &text)
}

/// One word for a shell, whatever is in it.
fn quoted(text: &str) -> String {
    let plain = |c: char| {
        c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | '=' | ':' | ',' | '+' | '@')
    };
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(tool: &str, args: Value) -> Value {
        let rewrite = Rewrite { set: Map::new(), command: Some("timeout 300 bash -c {command}".to_owned()) };
        let tool = ToolCall::new(tool, args);
        let mut args = tool.args.clone();
        for change in rewrite.of(&tool) {
            let Modification::ToolInput { merge, value } = change else { panic!() };
            merge.apply(&mut args, &value);
        }
        args
    }

    #[test]
    fn a_command_is_wrapped_in_the_shape_it_came_in() {
        assert_eq!(
            changed("Bash", json!({"command": "echo 'a b' | wc", "timeout": 5})),
            json!({"command": "timeout 300 bash -c 'echo '\\''a b'\\'' | wc'", "timeout": 5})
        );
        assert_eq!(changed("exec_command", json!({"cmd": "ls"})), json!({"cmd": "timeout 300 bash -c ls"}));
        assert_eq!(
            changed("shell", json!({"command": ["ls", "a b"]})),
            json!({"command": ["bash", "-c", "timeout 300 bash -c 'ls '\\''a b'\\'''"]})
        );
        assert_eq!(
            changed("run_commands", json!({"commands": ["a b", {"command": "c"}, ["d"], 7]})),
            json!({"commands": [
                "timeout 300 bash -c 'a b'",
                {"command": "timeout 300 bash -c c"},
                ["bash", "-c", "timeout 300 bash -c d"],
                7
            ]})
        );
        assert_eq!(
            changed("Bash", json!({"command": "rm", "args": ["-r", "x"]})),
            json!({"command": "bash", "args": ["-c", "timeout 300 bash -c 'rm -r x'"]})
        );
    }

    #[test]
    fn only_a_shell_tool_has_a_command() {
        let args = json!({"command": "not a command here"});
        assert_eq!(changed("Read", args.clone()), args);
    }
}
