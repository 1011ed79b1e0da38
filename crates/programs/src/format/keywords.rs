// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Lists the keywords of the data format.

use super::record::{
    DoubleDashRule, FileRunner, Location, OptionSyntax, PackageVerb, SpecStyle, StandardInput,
};

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
    "task-file",
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

pub(super) const SYNTAXES: &[(&str, OptionSyntax)] = &[
    ("gnu", OptionSyntax::Gnu),
    ("plain", OptionSyntax::Plain),
    ("words", OptionSyntax::Words),
    ("powershell", OptionSyntax::PowerShell),
    ("key-value", OptionSyntax::KeyValue),
    ("none", OptionSyntax::None),
];
pub(super) const DASHES: &[(&str, DoubleDashRule)] = &[
    ("end-options", DoubleDashRule::EndOptions),
    ("begin-command", DoubleDashRule::BeginCommand),
    ("only-command", DoubleDashRule::OnlyCommand),
    ("skipped", DoubleDashRule::Skipped),
    ("begin-arguments", DoubleDashRule::BeginArguments),
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

pub(super) const RUNNERS: &[(&str, FileRunner)] = &[
    ("make", FileRunner::Make),
    ("package-script", FileRunner::PackageScript),
    ("package-install", FileRunner::PackageInstall),
    ("just", FileRunner::Just),
    ("python-module", FileRunner::PythonModule),
    ("pytest", FileRunner::Pytest),
    ("python-setup", FileRunner::PythonSetup),
    ("cargo", FileRunner::Cargo),
    ("go-run", FileRunner::GoRun),
    ("rake", FileRunner::Rake),
    ("gradle", FileRunner::Gradle),
    ("invoke", FileRunner::Invoke),
    ("fabric", FileRunner::Fabric),
    ("nox", FileRunner::Nox),
    ("tox", FileRunner::Tox),
    ("composer", FileRunner::Composer),
    ("deno", FileRunner::Deno),
    ("taskfile", FileRunner::Taskfile),
    ("mise", FileRunner::Mise),
    ("compose", FileRunner::Compose),
    ("dockerfile", FileRunner::Dockerfile),
    ("playbook", FileRunner::Playbook),
    ("terraform", FileRunner::Terraform),
    ("git-alias", FileRunner::GitAlias),
    ("notebook", FileRunner::Notebook),
];

// === impl PackageVerb ===

impl PackageVerb {
    /// Returns the name of the verb in a data file.
    pub fn name(self) -> &'static str {
        VERBS.iter().find(|(_, verb)| *verb == self).map_or("", |(name, _)| name)
    }
}
