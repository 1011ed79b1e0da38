// SPDX-License-Identifier: Apache-2.0 OR MIT

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use super::{AgentTool, ToolContext, ToolFailure, ToolOutput, arguments, tool_spec, truncate_output, walk};
use crate::provider::ToolSpec;

/// Maximum number of paths in the output.
const MAX_MATCHES: usize = 500;

/// The `Glob` tool: finds files by name.
pub(super) struct GlobTool;

impl AgentTool for GlobTool {
    fn spec(&self) -> ToolSpec {
        let about = "Finds files by a pattern such as `**/*.rs`, most recently changed first. Skips .git, node_modules and target.";
        let properties = json!({
            "pattern": {"type": "string", "description": "Glob pattern"},
            "path": {"type": "string", "description": "Directory to search; default: the working directory"},
        });
        tool_spec("Glob", about, &properties, &["pattern"])
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
    let pattern = arguments::required_text(args, "pattern")?.to_owned();
    let (root, context) = (arguments::search_dir(args, context)?, context.clone());
    let mut found = walk::run_blocking(move || {
        let mut found = walk::list_files(&root, &context)?;
        found.retain(|file| fast_glob::glob_match(pattern.as_bytes(), file.relative.as_bytes()));
        Ok(found)
    })
    .await?;
    found.sort_by(|one, other| other.changed.cmp(&one.changed).then_with(|| one.path.cmp(&other.path)));
    let more = found.len().saturating_sub(MAX_MATCHES);
    let mut names: Vec<_> =
        found.iter().take(MAX_MATCHES).map(|file| file.path.display().to_string()).collect();
    if more > 0 {
        names.push(format!("… and {more} more"));
    }
    let text = if names.is_empty() { "no matching files".to_owned() } else { names.join("\n") };
    Ok(ToolOutput::text(truncate_output(text)))
}
