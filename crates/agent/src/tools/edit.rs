// SPDX-License-Identifier: Apache-2.0 OR MIT

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use super::{AgentTool, ToolContext, ToolFailure, ToolOutput, arguments, read, tool_spec};
use crate::provider::ToolSpec;

/// The `Edit` tool: replaces text in a file.
pub(super) struct EditTool;

impl AgentTool for EditTool {
    fn spec(&self) -> ToolSpec {
        let properties = json!({
            "file_path": {"type": "string", "description": "Path of the file"},
            "old_string": {"type": "string", "description": "Text to replace, exactly as in the file; must occur once unless replace_all is set"},
            "new_string": {"type": "string", "description": "Replacement text"},
            "replace_all": {"type": "boolean", "description": "Replace every occurrence"},
        });
        let required = ["file_path", "old_string", "new_string"];
        tool_spec("Edit", "Replaces a text in a file.", &properties, &required)
    }

    fn run<'a>(
        &'a self,
        args: &'a Value,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolFailure>> {
        Box::pin(std::future::ready(run(args, context)))
    }
}

fn run(args: &Value, context: &ToolContext) -> Result<ToolOutput, ToolFailure> {
    let path = arguments::required_path(args, "file_path", context)?;
    let (old, new) =
        (arguments::required_text(args, "old_string")?, arguments::required_text(args, "new_string")?);
    if old.is_empty() {
        return Err(ToolFailure::new("`old_string` is empty; use Write to create a file"));
    }
    let text = read::read_whole_file(&path)?;
    let found = text.matches(old).count();
    let changed = match (found, arguments::optional_flag(args, "replace_all")?) {
        (0, _) => {
            return Err(ToolFailure::new("`old_string` does not occur in the file; read the file again"));
        }
        (1, _) | (_, true) => text.replace(old, new),
        (_, false) => {
            let why =
                format!("`old_string` occurs {found} times; add surrounding text, or set `replace_all`");
            return Err(ToolFailure::new(why));
        }
    };
    std::fs::write(&path, changed).map_err(|error| ToolFailure::file(&path, &error))?;
    let times = if found == 1 { "1 replacement".to_owned() } else { format!("{found} replacements") };
    Ok(ToolOutput::text(format!("changed `{}`: {times}", path.display())))
}
