// SPDX-License-Identifier: Apache-2.0 OR MIT

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use super::{Around, Output, Tool, ToolFailed, args, spec};
use crate::provider::ToolSpec;

/// Writes a whole file.
pub(super) struct Write;

impl Tool for Write {
    fn spec(&self) -> ToolSpec {
        let properties = json!({
            "file_path": {"type": "string", "description": "The file"},
            "content": {"type": "string", "description": "All of it"},
        });
        spec("Write", "Writes a file, in place of what was there.", &properties, &["file_path", "content"])
    }

    fn run<'a>(&'a self, args: &'a Value, around: &'a Around) -> BoxFuture<'a, Result<Output, ToolFailed>> {
        Box::pin(std::future::ready(run(args, around)))
    }
}

fn run(args: &Value, around: &Around) -> Result<Output, ToolFailed> {
    let path = args::path(args, "file_path", around)?;
    let content = args::text(args, "content")?;
    let failed = |error: std::io::Error| ToolFailed::file(&path, &error);
    if let Some(dir) = path.parent() {
        std::fs::create_dir_all(dir).map_err(failed)?;
    }
    let was = path.exists();
    std::fs::write(&path, content).map_err(failed)?;
    let what = if was { "replaced" } else { "written" };
    Ok(Output::text(format!("`{}` was {what}: {} lines", path.display(), content.lines().count())))
}
