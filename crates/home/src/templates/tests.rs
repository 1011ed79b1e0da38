// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::collections::BTreeMap;
use std::path::Path;

use tenterhook_engine::load::LoadContext;
use tenterhook_policy::{RuleSet, RuleSource, SourceLayer};

use super::*;
use crate::hook_packages;
use tenterhook_error::ErrorKind;

#[test]
fn no_template_is_forgotten() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../templates");
    for (kind, folder) in [(TemplateKind::Hook, "hooks"), (TemplateKind::Rule, "rules")] {
        let entries = std::fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap());
        for entry in entries {
            let name = entry.file_name().into_string().unwrap();
            let template = find(kind, name.trim_end_matches(".yaml")).unwrap();
            if kind == TemplateKind::Hook {
                let found = hook_packages::read_files(&entry.path()).unwrap();
                assert_eq!(found, template.package(template.name), "{name}");
            }
        }
    }
}

#[test]
fn every_template_says_what_it_is_for() {
    for template in TEMPLATES {
        let name = template.name;
        assert!(template.title().len() > 10, "{name}");
        assert!(template.about().len() > 30, "{name}: {}", template.about());
        assert!(!template.tags().is_empty(), "{name}");
        hook_packages::check_name(name).unwrap();
    }
    assert_eq!(find(TemplateKind::Rule, "env-guard").unwrap_err().kind, ErrorKind::User);
}

#[test]
fn every_rule_loads_with_its_examples() {
    let rules: Vec<_> = TEMPLATES.iter().filter(|template| template.kind == TemplateKind::Rule).collect();
    // The template `exception` refers to a rule in this pack.
    let mut sources: Vec<_> =
        RuleSet::packs().iter().filter(|pack| pack.name == "destructive").map(|pack| pack.source).collect();
    sources.extend(rules.iter().map(|template| RuleSource {
        name: template.name,
        text: template.rules(),
        layer: SourceLayer::User,
        trusted: true,
    }));
    let loaded = RuleSet::load(&sources);
    assert!(loaded.problems.is_empty(), "{:?}", loaded.problems);
    for template in rules {
        assert!(loaded.rules.rules().any(|rule| rule.source() == template.name), "{}", template.name);
    }
}

#[test]
fn every_kit_can_be_used_and_has_samples() {
    let env = BTreeMap::new();
    let context = LoadContext { dir: Path::new("/"), home: None, env: &env };
    for template in TEMPLATES.iter().filter(|template| template.kind == TemplateKind::Hook) {
        let files = template.package("another-name");
        let (manifest, hooks) = hook_packages::check(Path::new("/k"), &files, &context).unwrap();
        assert!(!manifest.samples.is_empty(), "{}", template.name);
        assert_eq!(hooks[0].id.as_ref(), "another-name", "{}", template.name);
        for sample in &manifest.samples {
            crate::hook_packages::sample_event(sample).unwrap();
        }
    }
}
