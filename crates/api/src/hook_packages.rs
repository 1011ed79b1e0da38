// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Hook packages and templates. API paths and keys call a hook package a kit.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{AuthorityProof, HookSample};

/// File contents by file name.
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
    /// Name of the hook package and of its directory.
    pub name: String,
    /// Where the hook package came from: a template, a directory or a URL.
    pub from: String,
    /// Git commit that the hook package was installed from.
    pub commit: Option<String>,
    /// Whether the package's hooks may run.
    pub trusted: bool,
    /// SHA-256 of the package's files at the time they were trusted.
    pub sha256: String,
    /// Whether the package's hooks run.
    pub standing: HookPackageStatus,
    /// Why the package's hooks do not run.
    pub why: Option<String>,
    /// Path of the package's directory.
    pub folder: String,
    /// The package's manifest; null if it cannot be read.
    pub manifest: Option<HookPackageManifest>,
    /// Contents of the package's files.
    pub files: HookPackageFiles,
}

/// Whether a hook package's hooks run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum HookPackageStatus {
    /// The hooks run.
    #[serde(rename = "trusted")]
    Trusted,
    /// The package has not been trusted yet.
    #[serde(rename = "not trusted")]
    NotTrusted,
    /// The package's files have changed since it was trusted.
    #[serde(rename = "changed")]
    Changed,
}

/// A hook package's manifest (`hook.yaml`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HookPackageManifest {
    /// What the package does, in a few words.
    pub title: String,
    /// What the package does, in a few sentences.
    pub about: String,
    /// Programming language of the hooks.
    pub language: String,
    /// Keywords for searching.
    pub tags: Vec<String>,
    /// Programs that the hooks need.
    pub needs: Vec<String>,
    /// The hooks, as in `tenterhook.yaml`.
    pub hooks: Vec<Value>,
    /// Events to test the hooks with.
    pub samples: Vec<HookSample>,
}

/// Request to check a hook package's files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct HookPackageFilesRequest {
    /// Files in the hook package.
    #[serde(default)]
    pub files: HookPackageFiles,
}

/// Result of checking a hook package.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HookPackageValidation {
    /// Whether the files are a usable hook package.
    pub ok: bool,
    /// Ids of the package's hooks.
    pub hooks: Vec<String>,
    /// Why the files cannot be used.
    pub problem: Option<String>,
}

/// Contents of a new hook package: exactly one of `files` and `template`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct HookPackageRequest {
    /// Files in the hook package.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<HookPackageFiles>,
    /// Name of the template to copy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<String>,
    /// Proof that a user sends the request.
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
    /// Whether the template creates a hook package or a rule.
    pub kind: TemplateKind,
    /// Name of the template.
    pub name: String,
    /// What the template does, in a few words.
    pub title: String,
    /// What the template does, in a few sentences.
    pub about: String,
    /// Keywords for searching.
    pub tags: Vec<String>,
    /// Programming language; `rules` for a rule.
    pub language: String,
    /// Programs that the hooks need; null for a rule.
    pub needs: Option<Vec<String>>,
    /// Events to test the hooks with; null for a rule.
    pub samples: Option<Vec<HookSample>>,
    /// Contents of the template's files.
    pub files: HookPackageFiles,
}

/// What a template creates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum TemplateKind {
    /// A hook package.
    Hook,
    /// A policy rule.
    Rule,
}
