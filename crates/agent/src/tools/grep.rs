// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::fmt::Write as _;

use futures_util::future::BoxFuture;
use regex::RegexBuilder;
use serde_json::{Value, json};

use super::{
    AgentTool, ToolContext, ToolFailure, ToolOutput, arguments, read, tool_spec, truncate_output, walk,
};
use crate::provider::ToolSpec;

/// Maximum number of lines in the output.
const MAX_OUTPUT_LINES: usize = 500;

/// The `Grep` tool: finds text in files.
pub(super) struct GrepTool;

impl AgentTool for GrepTool {
    fn spec(&self) -> ToolSpec {
        let about = "Finds lines that match a regular expression. Skips .git, node_modules and target.";
        let properties = json!({
            "pattern": {"type": "string", "description": "Regular expression"},
            "path": {"type": "string", "description": "File or directory to search; default: the working directory"},
            "glob": {"type": "string", "description": "Search only files that match this glob, such as `*.rs`"},
            "output_mode": {"type": "string", "enum": ["content", "files_with_matches", "count"]},
            "-i": {"type": "boolean", "description": "Ignore case"},
        });
        tool_spec("Grep", about, &properties, &["pattern"])
    }

    fn run<'a>(
        &'a self,
        args: &'a Value,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolFailure>> {
        Box::pin(run(args, context))
    }
}

async fn run(args: &Value, context: &ToolContext) -> Result<ToolOutput, ToolFailure> {
    let regex = RegexBuilder::new(arguments::required_text(args, "pattern")?)
        .case_insensitive(arguments::optional_flag(args, "-i")?)
        .build()
        .map_err(|error| ToolFailure::new(format!("invalid `pattern`: {error}")))?;
    let glob = arguments::optional_text(args, "glob")?.map(ToOwned::to_owned);
    let mode = arguments::optional_text(args, "output_mode")?.unwrap_or("files_with_matches").to_owned();
    let (root, context) = (arguments::search_dir(args, context)?, context.clone());
    let text = walk::run_blocking(move || {
        let (mut out, mut lines) = (String::new(), 0);
        for file in walk::list_files(&root, &context)? {
            let name = file.relative.rsplit('/').next().unwrap_or_default();
            let fits = |glob: &String| {
                [file.relative.as_str(), name]
                    .iter()
                    .any(|name| fast_glob::glob_match(glob.as_bytes(), name.as_bytes()))
            };
            if glob.as_ref().is_some_and(|glob| !fits(glob)) {
                continue;
            }
            // Binary and unreadable files are skipped.
            let Ok(text) = read::read_whole_file(&file.path) else { continue };
            let hits: Vec<_> = (1..).zip(text.lines()).filter(|(_, line)| regex.is_match(line)).collect();
            if hits.is_empty() {
                continue;
            }
            let path = file.path.display();
            match mode.as_str() {
                "content" => {
                    for (number, line) in &hits {
                        let _ = writeln!(out, "{path}:{number}:{line}");
                    }
                }
                "count" => drop(writeln!(out, "{path}:{}", hits.len())),
                _ => drop(writeln!(out, "{path}")),
            }
            lines += if mode == "content" { hits.len() } else { 1 };
            if lines >= MAX_OUTPUT_LINES {
                out.push_str("… more matches were left out; use a narrower pattern\n");
                break;
            }
        }
        Ok(out)
    })
    .await?;
    Ok(ToolOutput::text(truncate_output(if text.is_empty() { "no matches".to_owned() } else { text })))
}
