// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The rules of a bundle.

use tenterhook_policy::{LoadedRules, RuleSet, RuleSettings, RuleSource, SourceLayer};

use crate::bundle::Bundle;
use crate::error::BundleError;
use crate::manifest::BundleFileKind;

/// Id of the rule that applies once a bundle is stale.
pub const STALE_RULE: &str = "fleet-policy-stale";

/// Id of the rule that applies while an accepted bundle is lost.
pub const LOST_RULE: &str = "fleet-policy-lost";

/// Name of the file with that rule.
const STALE_FILE: &str = "/stale.yaml";

/// Start of the names of a bundle's files in messages and records; the version follows.
pub const FLEET_SOURCE: &str = "fleet@";

/// The rule files and descriptions of a bundle, with their names in messages and records.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BundleRules {
    /// Name and text of each rule file.
    pub rules: Vec<(String, String)>,
    /// Name and text of each file with descriptions of programs.
    pub programs: Vec<(String, String)>,
}

impl Bundle {
    /// Returns the rules and descriptions. Names contain the version, so that records name it.
    pub fn rules(&self) -> BundleRules {
        let version = self.manifest.version;
        // Rule files are in `rules/`, so none of them has the name of the file with the rule for a stale bundle.
        let named = |kind: BundleFileKind, directory: &str| -> Vec<(String, String)> {
            let files = self.files_of(kind);
            files
                .map(|(name, text)| {
                    (format!("{FLEET_SOURCE}{version}/{directory}/{name}.yaml"), text.to_owned())
                })
                .collect()
        };
        let mut rules = named(BundleFileKind::Rules, "rules");
        rules.extend(self.stale_rule().map(|text| (format!("{FLEET_SOURCE}{version}{STALE_FILE}"), text)));
        BundleRules { rules, programs: named(BundleFileKind::Programs, "programs") }
    }

    /// Loads the rules together with the built-in packs, without the rule that applies once the bundle is stale. Every
    /// rule and description must be usable: a machine does not apply half of a policy.
    pub(crate) fn load_rules(&self) -> Result<RuleSet, BundleError> {
        let BundleRules { mut rules, programs } = self.rules();
        rules.retain(|(name, _)| !name.ends_with(STALE_FILE));
        let LoadedRules { rules, problems } = load(&rules, &programs);
        if let Some(problem) = problems.iter().find(|problem| problem.source.starts_with(FLEET_SOURCE)) {
            return Err(BundleError::Rules(problem.to_string()));
        }
        match [STALE_RULE, LOST_RULE].into_iter().find(|id| rules.rule(id).is_some()) {
            Some(id) => Err(BundleError::Rules(format!("the id `{id}` is reserved"))),
            None => Ok(rules),
        }
    }
}

/// Loads the built-in packs that are on by default.
pub(crate) fn built_in_rules() -> RuleSet {
    load(&[], &[]).rules
}

fn load(rules: &[(String, String)], programs: &[(String, String)]) -> LoadedRules {
    let mut sources = RuleSet::baseline_sources().to_vec();
    sources.extend(rules.iter().map(source));
    let programs: Vec<_> = programs.iter().map(source).collect();
    let settings = RuleSettings { programs: &programs, ..RuleSettings::default() };
    RuleSet::load_with(&sources, &settings, tenterhook_baseline::trusted())
}

fn source((name, text): &(String, String)) -> RuleSource<'_> {
    RuleSource { name, text, layer: SourceLayer::Organisation, trusted: true }
}
