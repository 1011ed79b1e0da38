// SPDX-License-Identifier: Apache-2.0 OR MIT

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use super::{Around, Output, Tool, ToolFailed, args, bounded, spec, walk};
use crate::provider::ToolSpec;

/// How many names are given.
const MOST: usize = 500;

/// Finds files by their names.
pub(super) struct Glob;

impl Tool for Glob {
    fn spec(&self) -> ToolSpec {
        let about = "Finds files by a pattern such as `**/*.rs`, the latest first. Leaves out .git, node_modules and target.";
        let properties = json!({
            "pattern": {"type": "string", "description": "The pattern"},
            "path": {"type": "string", "description": "Where to look; the working directory unless said"},
        });
        spec("Glob", about, &properties, &["pattern"])
    }

    fn run<'a>(&'a self, args: &'a Value, around: &'a Around) -> BoxFuture<'a, Result<Output, ToolFailed>> {
        Box::pin(run(args, around))
    }
}

async fn run(args: &Value, around: &Around) -> Result<Output, ToolFailed> {
    let pattern = args::text(args, "pattern")?.to_owned();
    let (root, around) = (args::dir(args, around)?, around.clone());
    let mut found = walk::off_thread(move || {
        let mut found = walk::files(&root, &around)?;
        found.retain(|file| fast_glob::glob_match(pattern.as_bytes(), file.relative.as_bytes()));
        Ok(found)
    })
    .await?;
    found.sort_by(|one, other| other.changed.cmp(&one.changed).then_with(|| one.path.cmp(&other.path)));
    let more = found.len().saturating_sub(MOST);
    let mut names: Vec<_> = found.iter().take(MOST).map(|file| file.path.display().to_string()).collect();
    if more > 0 {
        names.push(format!("… and {more} more"));
    }
    let text = if names.is_empty() { "no file fits".to_owned() } else { names.join("\n") };
    Ok(Output::text(bounded(text)))
}
