// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The rule packs in `/rules`, compiled into the program.

use std::sync::LazyLock;

use tenterhook_document::Problem;

use super::loading::{ExampleCheck, RuleLoader};
use crate::source::{BuiltInPack, RuleSettings, RuleSource, SourceLayer};

macro_rules! files {
    ($($file:literal)*) => {
        const FILES: &[RuleSource<'static>] = &[$(RuleSource {
            name: concat!("rules/", $file),
            text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../rules/", $file)),
            layer: SourceLayer::Baseline,
            trusted: true,
        },)*];
    };
}

// Every file in `/rules`; a test checks that the list is complete.
files! {
    "destructive.yaml"
    "remote-code.yaml"
    "credentials.yaml"
    "exfiltration.yaml"
    "version-control.yaml"
    "system.yaml"
    "persistence.yaml"
    "elsewhere.yaml"
    "infrastructure.yaml"
    "databases-destructive.yaml"
    "security.yaml"
    "packages.yaml"
    "self-protection.yaml"
    // Off unless the user turns them on.
    "git-strict.yaml"
    "cloud.yaml"
    "databases.yaml"
    "containers.yaml"
    "node.yaml"
    "python.yaml"
    "secrets.yaml"
    "network-allow-list.yaml"
    "paranoid.yaml"
}

/// Every rule pack, active or not.
pub(super) static PACKS: LazyLock<Vec<BuiltInPack>> =
    LazyLock::new(|| FILES.iter().map(read_pack_header).collect());

/// The files of the packs that are on by default.
pub(super) static BASELINE: LazyLock<Vec<RuleSource<'static>>> =
    LazyLock::new(|| PACKS.iter().filter(|pack| pack.on_by_default).map(|pack| pack.source).collect());

/// Reads the keys at the top of a pack without parsing the whole file.
fn read_pack_header(source: &RuleSource<'static>) -> BuiltInPack {
    let header = source.text.lines().take_while(|line| !matches!(*line, "lists:" | "rules:"));
    let value = |key: &str| {
        let line = header.clone().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
        line.map(|value| value.trim().trim_matches(['"', '\'']))
    };
    let stem = source.name.trim_start_matches("rules/").trim_end_matches(".yaml");
    BuiltInPack {
        name: value("pack").unwrap_or(stem),
        title: value("title").unwrap_or_default(),
        on_by_default: value("enabled") != Some("false"),
        source: *source,
    }
}

/// Compiles every pack to the form that [`CompiledRules::open`](crate::CompiledRules::open) reads. Examples are not
/// checked here; a test checks them.
pub fn compile_packs() -> Result<Vec<u8>, Vec<Problem>> {
    RuleLoader::new(FILES, &RuleSettings::default(), None, ExampleCheck::Skip).compile()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tenterhook_document::Value;
    use tenterhook_event::Timestamp;

    use super::*;
    use crate::{CompiledRules, LoadMode, RuleSet};

    /// Whether an exception matches the raw text of a call.
    fn has_raw_exception(matcher: &crate::conditions::RuleMatcher, within: bool) -> bool {
        within && matcher.regex.is_some()
            || matcher.not().iter().any(|inner| has_raw_exception(inner, true))
            || matcher.any().iter().any(|inner| has_raw_exception(inner, within))
    }

    #[test]
    fn no_exception_of_a_pack_is_decided_on_raw_text() {
        let rules = RuleSet::load(FILES).rules;
        let raw = rules.rules().filter(|rule| has_raw_exception(&rule.matcher, false));
        let raw: Vec<_> = raw.map(|rule| rule.id.to_string()).collect();
        assert_eq!(raw, [""; 0], "a comment would satisfy the exception");
    }

    #[test]
    fn compiled_packs_are_the_packs() {
        let compiled = Arc::new(CompiledRules::open(compile_packs().unwrap().into()).unwrap());
        let checked = RuleSet::load(FILES);
        let trusted = RuleSet::load_with(FILES, &RuleSettings::default(), LoadMode::Trusted(&compiled));
        for loaded in [&checked, &trusted] {
            let problems: Vec<_> = loaded.problems.iter().map(ToString::to_string).collect();
            assert_eq!(problems.join("\n"), "");
            assert_eq!(loaded.rules.warnings(Timestamp::from_unix_ms(0)).len(), 0);
        }
        let shown = |set: &RuleSet| set.rules().map(|rule| format!("{rule:?}")).collect::<Vec<_>>();
        assert_eq!(shown(&trusted.rules), shown(&checked.rules));
        assert_eq!(trusted.rules.digest(), checked.rules.digest());
    }

    #[test]
    fn a_pack_whose_text_has_changed_is_read_from_its_text() {
        let compiled = Arc::new(CompiledRules::open(compile_packs().unwrap().into()).unwrap());
        let file = FILES.first().unwrap();
        let text = file.text.replacen("verdict: deny", "verdict: ask", 1);
        let changed = [RuleSource { text: &text, ..*file }, *FILES.get(1).unwrap()];
        let set = RuleSet::load_with(&changed, &RuleSettings::default(), LoadMode::Trusted(&compiled)).rules;
        let expected = RuleSet::load(&changed).rules;
        assert_eq!(set.count(), expected.count());
        let first = |set: &RuleSet, layer| set.rules().filter(|rule| rule.source() == layer).count();
        assert_eq!(first(&set, file.name), first(&expected, file.name));
        let verdict =
            |set: &RuleSet| set.rule(expected.rules().next().unwrap().id()).map(crate::Rule::verdict);
        assert_eq!(verdict(&set), verdict(&expected));
    }

    #[test]
    fn every_file_of_rules_is_a_pack_and_says_which() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../rules");
        let names =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let others = ["README.md", "levels.yaml", "prices.yaml"];
        let mut there: Vec<_> = names.filter(|name| !others.contains(&name.as_str())).collect();
        let mut listed: Vec<_> =
            FILES.iter().map(|file| file.name.trim_start_matches("rules/").to_owned()).collect();
        there.sort();
        listed.sort();
        assert_eq!(listed, there);
        let names: std::collections::BTreeSet<_> = PACKS.iter().map(|pack| pack.name).collect();
        assert_eq!(names.len(), PACKS.len(), "no two packs have the same name");
        for pack in PACKS.iter() {
            assert!(!pack.title.is_empty(), "{} has no title", pack.source.name);
            let document = tenterhook_document::parse(pack.source.text).unwrap();
            let off = document.get("enabled").map(|node| &node.value) == Some(&Value::Bool(false));
            assert_eq!(pack.on_by_default, !off, "{}", pack.source.name);
        }
    }
}
