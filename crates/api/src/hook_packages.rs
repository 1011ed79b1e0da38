// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Hook packages and templates. In paths and keys of the API a hook package is called a kit.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{AuthorityProof, HookSample};

/// Files by their names.
pub type HookPackageFiles = BTreeMap<String, String>;

/// All hook packages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HookPackageList {
    /// The hook packages.
    pub kits: Vec<HookPackage>,
}

/// A hook package.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HookPackage {
    /// Its name, and that of its directory.
    pub name: String,
    /// A template, a directory or an address.
    pub from: String,
    /// Commit it was taken from.
    pub commit: Option<String>,
    /// Whether its hooks may run.
    pub trusted: bool,
    /// SHA-256 over its files as they were trusted.
    pub sha256: String,
    /// Whether it runs.
    pub standing: HookPackageStatus,
    /// Why it does not run.
    pub why: Option<String>,
    /// Path of its directory.
    pub folder: String,
    /// Its manifest; null if it cannot be read.
    pub manifest: Option<HookPackageManifest>,
    /// Content of its files.
    pub files: HookPackageFiles,
}

/// Whether a hook package runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum HookPackageStatus {
    /// Its hooks run.
    #[serde(rename = "trusted")]
    Trusted,
    /// It was not trusted yet.
    #[serde(rename = "not trusted")]
    NotTrusted,
    /// Its files changed since it was trusted.
    #[serde(rename = "changed")]
    Changed,
}

/// Manifest of a hook package (`hook.yaml`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HookPackageManifest {
    /// What it does, in a few words.
    pub title: String,
    /// What it does, in a few sentences.
    pub about: String,
    /// Language it is written in.
    pub language: String,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// Programs that it needs.
    pub needs: Vec<String>,
    /// The hooks, as in `tenterhook.yaml`.
    pub hooks: Vec<Value>,
    /// Events to test it with.
    pub samples: Vec<HookSample>,
}

/// Files to check.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct HookPackageFilesRequest {
    /// Files of the hook package.
    #[serde(default)]
    pub files: HookPackageFiles,
}

/// Result of a check.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HookPackageValidation {
    /// Whether the files are a usable hook package.
    pub ok: bool,
    /// Ids of its hooks.
    pub hooks: Vec<String>,
    /// What is wrong.
    pub problem: Option<String>,
}

/// Content of a hook package: exactly one of `files` and `template`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct HookPackageRequest {
    /// Files of the hook package.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<HookPackageFiles>,
    /// Name of a template.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<String>,
    /// Proof of the user.
    #[serde(default)]
    pub proof: AuthorityProof,
}

/// All available templates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TemplateList {
    /// Templates with their files.
    pub templates: Vec<TemplateDetails>,
}

/// A hook package or a rule to start from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "TemplateInfo"))]
pub struct TemplateDetails {
    /// What it makes.
    pub kind: TemplateKind,
    /// Name of the template.
    pub name: String,
    /// What it does, in a few words.
    pub title: String,
    /// What it does, in a few sentences.
    pub about: String,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// Language it is written in; `rules` for a rule.
    pub language: String,
    /// Programs that it needs; null for a rule.
    pub needs: Option<Vec<String>>,
    /// Events to test it with; null for a rule.
    pub samples: Option<Vec<HookSample>>,
    /// Content of its files.
    pub files: HookPackageFiles,
}

/// What a template makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum TemplateKind {
    /// A hook package.
    Hook,
    /// A policy rule.
    Rule,
}
