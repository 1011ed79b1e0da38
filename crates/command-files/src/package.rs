// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads the scripts of a `package.json`.

use serde_json::Value;
use tenterhook_document::Spot;

use super::{CommandText, FileName, ReadResult};

pub(crate) fn matches_name(name: &FileName<'_>) -> bool {
    name.file == "package.json"
}

/// Returns the commands of a script, with the scripts that run before and after it. A file that cannot be parsed has
/// none.
pub fn read_tasks(text: &str, script: &str) -> Vec<CommandText> {
    let Ok(tree) = parse(text) else { return Vec::new() };
    let scripts = tree.get("scripts");
    let names = [format!("pre{script}"), script.to_owned(), format!("post{script}")];
    let texts = names.iter().filter_map(|name| scripts?.get(name)?.as_str());
    texts.map(|text| CommandText::from_line(1, text.to_owned())).collect()
}

fn parse(text: &str) -> Result<Value, (Spot, String)> {
    serde_json::from_str(text.trim_start_matches('\u{feff}'))
        .map_err(|error| (Spot { line: error.line(), column: error.column() }, error.to_string()))
}

pub(crate) fn read(text: &str) -> ReadResult {
    let tree = parse(text)?;
    let Some(scripts) = tree.get("scripts").and_then(Value::as_object) else { return Ok(Vec::new()) };
    let lines: Vec<&str> = text.lines().collect();
    // The JSON parser returns no positions, so the line of the quoted name after `scripts` is reported.
    let start = lines.iter().position(|line| line.contains("\"scripts\"")).unwrap_or(0);
    let place = |name: &str| {
        let name = Value::from(name).to_string();
        let is = |line: &&str| {
            line.trim_start().strip_prefix(&name).is_some_and(|rest| rest.trim_start().starts_with(':'))
        };
        lines.iter().skip(start).position(is).unwrap_or(0) + start + 1
    };
    let scripts = scripts.iter().filter_map(|(name, script)| {
        Some(CommandText {
            lines: vec![place(name)],
            ..CommandText::from_line(1, script.as_str()?.to_owned())
        })
    });
    let mut pieces: Vec<_> = scripts.collect();
    pieces.sort_by_key(|piece| piece.file_line(0));
    Ok(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_runs_with_the_scripts_around_it() {
        let text =
            r#"{"scripts": {"build": "b", "prebuild": "a", "postbuild": "c", "clean": "rm -rf /", "x": 1}}"#;
        let run = |script: &str| -> Vec<_> {
            read_tasks(text, script).into_iter().map(|piece| piece.text).collect()
        };
        assert_eq!(run("build"), ["a", "b", "c"]);
        assert_eq!((run("x"), run("none")), (Vec::new(), Vec::new()));
        assert_eq!(read_tasks("{", "build"), []);
    }
}
