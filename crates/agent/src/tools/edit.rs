// SPDX-License-Identifier: Apache-2.0 OR MIT

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use super::{Around, Output, Tool, ToolFailed, args, read, spec};
use crate::provider::ToolSpec;

/// Changes a part of a file.
pub(super) struct Edit;

impl Tool for Edit {
    fn spec(&self) -> ToolSpec {
        let properties = json!({
            "file_path": {"type": "string", "description": "The file"},
            "old_string": {"type": "string", "description": "What is there now, exactly; it has to be there once"},
            "new_string": {"type": "string", "description": "What is to be there"},
            "replace_all": {"type": "boolean", "description": "Wherever it is"},
        });
        let required = ["file_path", "old_string", "new_string"];
        spec("Edit", "Replaces a text in a file by another.", &properties, &required)
    }

    fn run<'a>(&'a self, args: &'a Value, around: &'a Around) -> BoxFuture<'a, Result<Output, ToolFailed>> {
        Box::pin(std::future::ready(run(args, around)))
    }
}

fn run(args: &Value, around: &Around) -> Result<Output, ToolFailed> {
    let path = args::path(args, "file_path", around)?;
    let (old, new) = (args::text(args, "old_string")?, args::text(args, "new_string")?);
    if old.is_empty() {
        return Err(ToolFailed::new("`old_string` is empty; use Write for a new file"));
    }
    let text = read::whole(&path)?;
    let found = text.matches(old).count();
    let changed = match (found, args::flag(args, "replace_all")?) {
        (0, _) => return Err(ToolFailed::new("`old_string` is not in the file; read it again")),
        (1, _) | (_, true) => text.replace(old, new),
        (_, false) => {
            let why = format!("`old_string` is in the file {found} times; give more of what is around it");
            return Err(ToolFailed::new(why));
        }
    };
    std::fs::write(&path, changed).map_err(|error| ToolFailed::file(&path, &error))?;
    let times = if found == 1 { "once".to_owned() } else { format!("{found} times") };
    Ok(Output::text(format!("`{}` was changed, {times}", path.display())))
}
