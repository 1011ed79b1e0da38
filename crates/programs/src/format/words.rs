// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The words of the data format and what they stand for.

use super::record::{Dashes, Location, PackageVerb, SpecStyle, StandardInput, Syntax};

/// Keys of a description.
pub(super) const COMMAND_KEYS: &[&str] = &[
    "about",
    "syntax",
    "stops",
    "bundle",
    "dashes",
    "location",
    "stdin",
    "prompt-operands",
    "language",
    "manager",
    "spec-style",
    "packages",
    "escape",
    "ignores-addresses",
    "always",
    "operands",
    "flags",
    "values",
    "options",
    "everywhere",
    "bsd",
    "commands",
    "examples",
    "replaces",
];

pub(super) const SYNTAXES: &[(&str, Syntax)] = &[
    ("gnu", Syntax::Gnu),
    ("plain", Syntax::Plain),
    ("words", Syntax::Words),
    ("powershell", Syntax::PowerShell),
    ("key-value", Syntax::KeyValue),
    ("none", Syntax::None),
];
pub(super) const DASHES: &[(&str, Dashes)] = &[
    ("end-options", Dashes::EndOptions),
    ("begin-command", Dashes::BeginCommand),
    ("only-command", Dashes::OnlyCommand),
    ("skipped", Dashes::Skipped),
    ("begin-arguments", Dashes::BeginArguments),
];
pub(super) const LOCATIONS: &[(&str, Location)] = &[
    ("here", Location::Here),
    ("remote", Location::Remote),
    ("container", Location::Container),
    ("root", Location::Root),
];
pub(super) const INPUTS: &[(&str, StandardInput)] = &[
    ("data", StandardInput::Data),
    ("code", StandardInput::Code),
    ("shell", StandardInput::Shell),
    ("prompt", StandardInput::Prompt),
    ("screen", StandardInput::Screen),
];
pub(super) const STYLES: &[(&str, SpecStyle)] = &[
    ("plain", SpecStyle::Plain),
    ("npm", SpecStyle::Npm),
    ("python", SpecStyle::Python),
    ("at", SpecStyle::At),
    ("colon", SpecStyle::Colon),
    ("equals", SpecStyle::Equals),
    ("go", SpecStyle::Go),
    ("brew", SpecStyle::Brew),
    ("nix", SpecStyle::Nix),
    ("deno", SpecStyle::Deno),
];
pub(super) const VERBS: &[(&str, PackageVerb)] = &[
    ("install", PackageVerb::Install),
    ("run", PackageVerb::Run),
    ("run-project", PackageVerb::RunProject),
    ("create", PackageVerb::Create),
    ("add-index", PackageVerb::AddIndex),
    ("add-repository", PackageVerb::AddRepository),
];

// === impl PackageVerb ===

impl PackageVerb {
    /// The name of the verb in a data file.
    pub fn name(self) -> &'static str {
        VERBS.iter().find(|(_, verb)| *verb == self).map_or("", |(name, _)| name)
    }
}
