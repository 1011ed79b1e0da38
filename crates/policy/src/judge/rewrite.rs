// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Applies the `rewrite` of a rule to a tool call.

use serde_json::{Map, Value, json};
use tenterhook_event::{MergeMode, Modification, ToolCall, ToolClass, ToolCommand};

use crate::rule::RewriteAction;

const COMMAND_PLACEHOLDER: &str = "{command}";

impl RewriteAction {
    /// Returns the changes to a call, by the tool's own argument names.
    pub(super) fn modifications(&self, tool: &ToolCall) -> Vec<Modification> {
        let mut changed = self.set.clone();
        if let Some(template) = &self.command
            && tool.class == ToolClass::Shell
        {
            changed.extend(rewrite_commands(tool, template));
        }
        let merge = |value| Modification::ToolInput { merge: MergeMode::Shallow, value };
        if changed.is_empty() { Vec::new() } else { vec![merge(Value::Object(changed))] }
    }
}

/// Returns the arguments that contain a command, with the command rewritten.
fn rewrite_commands(tool: &ToolCall, template: &str) -> Map<String, Value> {
    let roles = tool.class.roles();
    let mut changed = Map::new();
    for key in roles.command {
        let Some(value) = tool.args.get(key) else { continue };
        match (value, tool.args.get("args").and_then(text_list)) {
            // The program and its arguments are separate values.
            (Value::String(program), Some(words))
                if !words.is_empty() && !program.contains(char::is_whitespace) =>
            {
                let words: Vec<_> = std::iter::once(program.as_str()).chain(words).collect();
                changed.insert((*key).to_owned(), json!("bash"));
                changed.insert(
                    "args".to_owned(),
                    json!(["-c", fill_template(template, &ToolCommand::Argv(words))]),
                );
            }
            _ => changed.extend(rewrite_command(value, template).map(|value| ((*key).to_owned(), value))),
        }
    }
    for key in roles.commands {
        let Some(Value::Array(items)) = tool.args.get(key) else { continue };
        let item = |item: &Value| match item {
            Value::Object(fields) => {
                let mut fields = fields.clone();
                for key in roles.command {
                    if let Some(value) = fields.get(*key).and_then(|value| rewrite_command(value, template)) {
                        fields.insert((*key).to_owned(), value);
                    }
                }
                Value::Object(fields)
            }
            item => rewrite_command(item, template).unwrap_or_else(|| item.clone()),
        };
        changed.insert((*key).to_owned(), items.iter().map(item).collect());
    }
    changed
}

/// Rewrites one command and keeps its form: a string stays a string, an argument list stays a list.
fn rewrite_command(value: &Value, template: &str) -> Option<Value> {
    match value {
        Value::String(text) => Some(json!(fill_template(template, &ToolCommand::Text(text)))),
        value => Some(json!(["bash", "-c", fill_template(template, &ToolCommand::Argv(text_list(value)?))])),
    }
}

fn text_list(value: &Value) -> Option<Vec<&str>> {
    value.as_array()?.iter().map(Value::as_str).collect()
}

fn fill_template(template: &str, command: &ToolCommand<'_>) -> String {
    let text = match command {
        ToolCommand::Text(text) => quote_word(text),
        ToolCommand::Argv(words) => {
            quote_word(&words.iter().map(|word| quote_word(word)).collect::<Vec<_>>().join(" "))
        }
    };
    template.replace(COMMAND_PLACEHOLDER, &text)
}

/// Quotes a string so that a shell reads it as one word.
fn quote_word(text: &str) -> String {
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
        let rewrite =
            RewriteAction { set: Map::new(), command: Some("timeout 300 bash -c {command}".to_owned()) };
        let tool = ToolCall::new(tool, args);
        let mut args = tool.args.clone();
        for change in rewrite.modifications(&tool) {
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
