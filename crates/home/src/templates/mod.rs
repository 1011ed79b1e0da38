// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Hooks and rules to begin with, compiled in from the folder `templates` of the repository.

mod insert;

use tenterhook_api::{TemplateDetails, TemplateKind};

use crate::kits::{Files, MANIFEST, Manifest};
use tenterhook_error::Failure;

/// A template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Template {
    /// What it makes.
    pub kind: Kind,
    /// What it is called.
    pub name: &'static str,
    /// Its files and their texts. A rule has one.
    files: &'static [(&'static str, &'static str)],
}

/// What a template makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A kit of hooks.
    Hook,
    /// A file of rules.
    Rule,
}

/// The folder of a kit, file by file.
macro_rules! kit {
    ($name:literal, $($file:literal),+) => {
        Template {
            kind: Kind::Hook,
            name: $name,
            files: &[$(($file, include_str!(concat!("../../../../templates/hooks/", $name, "/", $file)))),+],
        }
    };
}

macro_rules! rule {
    ($name:literal) => {
        Template {
            kind: Kind::Rule,
            name: $name,
            files: &[("rule.yaml", include_str!(concat!("../../../../templates/rules/", $name, ".yaml")))],
        }
    };
}

/// Every template, in the order they are shown.
pub const TEMPLATES: &[Template] = &[
    kit!("security-policy", "hook.yaml", "policy.py"),
    kit!("env-guard", "hook.yaml", "guard.py"),
    kit!("permission-escalation", "hook.yaml", "answer.json"),
    kit!("secret-in-prompt", "hook.yaml", "prompt.mjs"),
    kit!("branch-guard", "hook.yaml", "guard.sh"),
    kit!("auto-format", "hook.yaml", "format.py"),
    kit!("tests-before-stop", "hook.yaml", "tests.sh"),
    kit!("timeout", "hook.yaml", "answer.json"),
    kit!("cost-tracking", "hook.yaml", "cost.py"),
    kit!("external-logging", "hook.yaml"),
    kit!("project-notes", "hook.yaml", "notes.sh"),
    kit!("desktop-notification", "hook.yaml", "notify.py"),
    rule!("no-destruction"),
    rule!("env-files"),
    rule!("ask-before-deploy"),
    rule!("no-push-to-main"),
    rule!("inside-the-project"),
    rule!("host-list"),
    rule!("no-sending-after-secrets"),
    rule!("not-too-often"),
    rule!("command-timeout"),
    rule!("exception"),
];

/// The template of this name.
pub fn find(kind: Kind, name: &str) -> Result<&'static Template, Failure> {
    TEMPLATES.iter().find(|template| template.kind == kind && template.name == name).ok_or_else(|| {
        Failure::user(format!("there is no template `{name}` for a {}", kind.word()))
            .hint(format!("`tenterhook new {} --list` shows them", kind.word()))
    })
}

impl Kind {
    /// How it is typed.
    pub fn word(self) -> &'static str {
        match self {
            Self::Hook => "hook",
            Self::Rule => "rule",
        }
    }
}

impl Template {
    /// The files of the kit under another name: its first hook is called so, too.
    pub fn kit(&self, name: &str) -> Files {
        let renamed =
            |text: &str| text.replace(&format!("- id: {}\n", self.name), &format!("- id: {name}\n"));
        self.files.iter().map(|(file, text)| ((*file).to_owned(), renamed(text))).collect()
    }

    /// The rules, as a file of their own.
    pub fn rules(&self) -> &'static str {
        self.files.first().map_or("", |(_, text)| text)
    }

    /// What the kit says about itself. Every template has been read by a test.
    pub fn manifest(&self) -> Option<Manifest> {
        let (_, text) = self.files.iter().find(|(file, _)| *file == MANIFEST)?;
        Manifest::read(self.name, text).ok()
    }

    /// What it is for, in a few words.
    pub fn title(&self) -> String {
        match self.kind {
            Kind::Hook => self.manifest().map(|manifest| manifest.title).unwrap_or_default(),
            Kind::Rule => {
                let title = self.rules().lines().find_map(|line| line.strip_prefix("title: "));
                title.unwrap_or_default().to_owned()
            }
        }
    }

    /// What it is for, in sentences.
    pub fn about(&self) -> String {
        match self.kind {
            Kind::Hook => self.manifest().map(|manifest| manifest.about).unwrap_or_default(),
            Kind::Rule => {
                let lines: Vec<_> = self.comments().filter(|line| !line.starts_with("tags: ")).collect();
                lines.join(" ")
            }
        }
    }

    /// Words to find it by.
    pub fn tags(&self) -> Vec<String> {
        match self.kind {
            Kind::Hook => self.manifest().map(|manifest| manifest.tags).unwrap_or_default(),
            Kind::Rule => {
                let tags = self.comments().find_map(|line| line.strip_prefix("tags: "));
                tags.into_iter().flat_map(|tags| tags.split(", ")).map(ToOwned::to_owned).collect()
            }
        }
    }

    /// The comment at the top of a file of rules.
    fn comments(&self) -> impl Iterator<Item = &'static str> {
        self.rules().lines().map_while(|line| line.strip_prefix("# "))
    }

    /// Whether a word stands somewhere in it.
    pub fn mentions(&self, word: &str) -> bool {
        let word = word.to_lowercase();
        let texts = [self.name.to_owned(), self.title(), self.about(), self.tags().join(" ")];
        texts.iter().any(|text| text.to_lowercase().contains(&word))
    }

    /// All there is, for programs.
    pub fn info(&self) -> TemplateDetails {
        let files = self.files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
        let manifest = self.manifest();
        TemplateDetails {
            kind: match self.kind {
                Kind::Hook => TemplateKind::Hook,
                Kind::Rule => TemplateKind::Rule,
            },
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
