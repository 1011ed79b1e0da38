// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Templates for hooks and rules, compiled in from the repository's `templates` directory.

mod insert;

use tenterhook_api::TemplateDetails;
pub use tenterhook_api::TemplateKind;

use crate::hook_packages::{MANIFEST, Manifest, PackageFiles};
use tenterhook_error::Failure;

/// A template for a hook package or a rule file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Template {
    /// What the template creates.
    pub kind: TemplateKind,
    /// Name of the template.
    pub name: &'static str,
    /// Name and content of each file. A rule template has exactly one file.
    files: &'static [(&'static str, &'static str)],
}

/// Creates a hook package template from its files.
macro_rules! hook_package {
    ($name:literal, $($file:literal),+) => {
        Template {
            kind: TemplateKind::Hook,
            name: $name,
            files: &[$(($file, include_str!(concat!("../../../../templates/hooks/", $name, "/", $file)))),+],
        }
    };
}

macro_rules! rule_file {
    ($name:literal) => {
        Template {
            kind: TemplateKind::Rule,
            name: $name,
            files: &[("rule.yaml", include_str!(concat!("../../../../templates/rules/", $name, ".yaml")))],
        }
    };
}

/// All templates, in display order.
pub const TEMPLATES: &[Template] = &[
    hook_package!("security-policy", "hook.yaml", "policy.py"),
    hook_package!("env-guard", "hook.yaml", "guard.py"),
    hook_package!("permission-escalation", "hook.yaml", "answer.json"),
    hook_package!("secret-in-prompt", "hook.yaml", "prompt.mjs"),
    hook_package!("branch-guard", "hook.yaml", "guard.sh"),
    hook_package!("auto-format", "hook.yaml", "format.py"),
    hook_package!("tests-before-stop", "hook.yaml", "tests.sh"),
    hook_package!("timeout", "hook.yaml", "answer.json"),
    hook_package!("cost-tracking", "hook.yaml", "cost.py"),
    hook_package!("external-logging", "hook.yaml"),
    hook_package!("project-notes", "hook.yaml", "notes.sh"),
    hook_package!("desktop-notification", "hook.yaml", "notify.py"),
    rule_file!("no-destruction"),
    rule_file!("env-files"),
    rule_file!("ask-before-deploy"),
    rule_file!("no-push-to-main"),
    rule_file!("inside-the-project"),
    rule_file!("host-list"),
    rule_file!("no-sending-after-secrets"),
    rule_file!("not-too-often"),
    rule_file!("command-timeout"),
    rule_file!("exception"),
];

/// Finds a template by kind and name.
pub fn find(kind: TemplateKind, name: &str) -> Result<&'static Template, Failure> {
    TEMPLATES.iter().find(|template| template.kind == kind && template.name == name).ok_or_else(|| {
        Failure::user(format!("there is no template `{name}` for a {}", kind_word(kind)))
            .hint(format!("`tenterhook {}s new --list` shows them", kind_word(kind)))
    })
}

/// Name of a template kind on the command line.
pub fn kind_word(kind: TemplateKind) -> &'static str {
    match kind {
        TemplateKind::Hook => "hook",
        TemplateKind::Rule => "rule",
    }
}

impl Template {
    /// The files of the hook package, renamed to `name`. The hook whose id is the template's name gets the new name
    /// too.
    pub fn package(&self, name: &str) -> PackageFiles {
        let renamed =
            |text: &str| text.replace(&format!("- id: {}\n", self.name), &format!("- id: {name}\n"));
        self.files.iter().map(|(file, text)| ((*file).to_owned(), renamed(text))).collect()
    }

    /// The content of the rule file.
    pub fn rules(&self) -> &'static str {
        self.files.first().map_or("", |(_, text)| text)
    }

    /// The manifest of the hook package. Errors are ignored because a test reads the manifest of every template.
    pub fn manifest(&self) -> Option<Manifest> {
        let (_, text) = self.files.iter().find(|(file, _)| *file == MANIFEST)?;
        Manifest::read(self.name, text).ok()
    }

    /// Purpose of the template, in a few words.
    pub fn title(&self) -> String {
        match self.kind {
            TemplateKind::Hook => self.manifest().map(|manifest| manifest.title).unwrap_or_default(),
            TemplateKind::Rule => {
                let title = self.rules().lines().find_map(|line| line.strip_prefix("title: "));
                title.unwrap_or_default().to_owned()
            }
        }
    }

    /// Purpose of the template, in sentences.
    pub fn about(&self) -> String {
        match self.kind {
            TemplateKind::Hook => self.manifest().map(|manifest| manifest.about).unwrap_or_default(),
            TemplateKind::Rule => {
                let lines: Vec<_> = self.comments().filter(|line| !line.starts_with("tags: ")).collect();
                lines.join(" ")
            }
        }
    }

    /// Search terms of the template.
    pub fn tags(&self) -> Vec<String> {
        match self.kind {
            TemplateKind::Hook => self.manifest().map(|manifest| manifest.tags).unwrap_or_default(),
            TemplateKind::Rule => {
                let tags = self.comments().find_map(|line| line.strip_prefix("tags: "));
                tags.into_iter().flat_map(|tags| tags.split(", ")).map(ToOwned::to_owned).collect()
            }
        }
    }

    /// The comment lines at the top of a rule file.
    fn comments(&self) -> impl Iterator<Item = &'static str> {
        self.rules().lines().map_while(|line| line.strip_prefix("# "))
    }

    /// Whether the name, title, description or tags contain `word`.
    pub fn mentions(&self, word: &str) -> bool {
        let word = word.to_lowercase();
        let texts = [self.name.to_owned(), self.title(), self.about(), self.tags().join(" ")];
        texts.iter().any(|text| text.to_lowercase().contains(&word))
    }

    /// Converts the template to its API type.
    pub fn info(&self) -> TemplateDetails {
        let files = self.files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
        let manifest = self.manifest();
        TemplateDetails {
            kind: self.kind,
            name: self.name.to_owned(),
            title: self.title(),
            about: self.about(),
            tags: self.tags(),
            language: manifest.as_ref().map_or("rules", |manifest| manifest.language.as_str()).to_owned(),
            needs: manifest.as_ref().map(|manifest| manifest.needs.clone()),
            samples: manifest.map(|manifest| manifest.samples),
            files: files.collect(),
        }
    }
}

#[cfg(test)]
mod tests;
