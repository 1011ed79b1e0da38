// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::fmt::Write as _;

use futures_util::future::BoxFuture;
use regex::RegexBuilder;
use serde_json::{Value, json};

use super::{Around, Output, Tool, ToolFailed, args, bounded, read, spec, walk};
use crate::provider::ToolSpec;

/// How many lines are given.
const MOST: usize = 500;

/// Finds text in files.
pub(super) struct Grep;

impl Tool for Grep {
    fn spec(&self) -> ToolSpec {
        let about = "Finds lines by a regular expression. Leaves out .git, node_modules and target.";
        let properties = json!({
            "pattern": {"type": "string", "description": "The regular expression"},
            "path": {"type": "string", "description": "Where to look; the working directory unless said"},
            "glob": {"type": "string", "description": "Only in files whose name fits, such as `*.rs`"},
            "output_mode": {"type": "string", "enum": ["content", "files_with_matches", "count"]},
            "-i": {"type": "boolean", "description": "Large and small letters are the same"},
        });
        spec("Grep", about, &properties, &["pattern"])
    }

    fn run<'a>(&'a self, args: &'a Value, around: &'a Around) -> BoxFuture<'a, Result<Output, ToolFailed>> {
        Box::pin(run(args, around))
    }
}

async fn run(args: &Value, around: &Around) -> Result<Output, ToolFailed> {
    let regex = RegexBuilder::new(args::text(args, "pattern")?)
        .case_insensitive(args::flag(args, "-i")?)
        .build()
        .map_err(|error| ToolFailed::new(format!("`pattern` cannot be read: {error}")))?;
    let glob = args::maybe_text(args, "glob")?.map(ToOwned::to_owned);
    let mode = args::maybe_text(args, "output_mode")?.unwrap_or("files_with_matches").to_owned();
    let (root, around) = (args::dir(args, around)?, around.clone());
    let text = walk::off_thread(move || {
        let (mut out, mut lines) = (String::new(), 0);
        for file in walk::files(&root, &around)? {
            let name = file.relative.rsplit('/').next().unwrap_or_default();
            let fits = |glob: &String| {
                [file.relative.as_str(), name]
                    .iter()
                    .any(|name| fast_glob::glob_match(glob.as_bytes(), name.as_bytes()))
            };
            if glob.as_ref().is_some_and(|glob| !fits(glob)) {
                continue;
            }
            // What is no text has no lines.
            let Ok(text) = read::whole(&file.path) else { continue };
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
            if lines >= MOST {
                out.push_str("… there is more; look for something narrower\n");
                break;
            }
        }
        Ok(out)
    })
    .await?;
    Ok(Output::text(bounded(if text.is_empty() { "nothing fits".to_owned() } else { text })))
}
