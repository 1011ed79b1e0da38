// SPDX-License-Identifier: Apache-2.0 OR MIT

mod claude;
mod judged;
mod loads;
mod openagentlock;

use super::ImportedRules;

/// Returns what was not converted, one line each.
fn left_out(imported: &ImportedRules) -> Vec<String> {
    imported.left_out.iter().map(ToString::to_string).collect()
}

/// Returns the lines of the file below `rules:`.
fn rules(imported: &ImportedRules) -> &str {
    imported.yaml.split_once("rules:\n").map_or("", |(_, rules)| rules)
}
