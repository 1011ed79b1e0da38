// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Contains the rule packs in `/rules` in their compiled form: `packs.bin`, which `make generate` writes.
//!
//! A pack whose text has changed since `packs.bin` was written is loaded from its text, so a stale file only costs
//! time. A test fails until the file is generated again. The file is not in `tenterhook-policy`, because that crate
//! compiles it.
//!
//! ```
//! use tenterhook_policy::{RuleSettings, RuleSet};
//!
//! let sources = RuleSet::baseline_sources();
//! let loaded = RuleSet::load_with(sources, &RuleSettings::default(), tenterhook_baseline::trusted());
//! assert!(loaded.rules.rule("recursive-delete").is_some());
//! ```

use std::sync::{Arc, LazyLock};

use tenterhook_policy::{CompiledRules, LoadMode, RuleBytes};

/// The compiled packs.
static BYTES: &[u8] = include_bytes!("packs.bin");

static PACKS: LazyLock<Option<Arc<CompiledRules>>> =
    LazyLock::new(|| CompiledRules::open(RuleBytes::Static(BYTES)).map(Arc::new));

/// Loads built-in packs from their compiled form and checks all other files.
pub fn trusted() -> LoadMode<'static> {
    PACKS.as_ref().map_or(LoadMode::Checked, LoadMode::Trusted)
}

/// Returns the number of rules in the file of a pack, such as `rules/system.yaml`.
pub fn rules_of(file: &str) -> Option<usize> {
    PACKS.as_ref()?.rule_count_of(file)
}

#[cfg(test)]
mod tests {
    use tenterhook_policy::{RuleSet, RuleSettings, compile_packs};

    use super::*;

    #[test]
    fn generated_packs_are_fresh() {
        let fresh = compile_packs().unwrap_or_else(|problems| panic!("{problems:?}"));
        #[expect(clippy::disallowed_methods, reason = "`make generate` asks for it")]
        if std::env::var_os("TENTERHOOK_GENERATE").is_some() {
            std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/src/packs.bin"), fresh).unwrap();
        } else {
            assert!(fresh == BYTES, "`crates/baseline/src/packs.bin` is stale: run `make generate`");
        }
    }

    #[test]
    fn every_pack_is_loaded_from_its_compiled_form() {
        assert!(matches!(trusted(), LoadMode::Trusted(_)));
        for pack in RuleSet::packs() {
            let trusted = RuleSet::load_with(&[pack.source], &RuleSettings::default(), trusted()).rules;
            assert_eq!(Some(trusted.count()), rules_of(pack.source.name), "{}", pack.name);
        }
    }
}
