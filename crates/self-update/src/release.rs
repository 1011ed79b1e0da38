// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The two signed files of a release: the manifest of its programs and the list of its packages.
//!
//! `packaging/assemble` writes both. `manifest.json` is inside every package; `SHA256SUMS` lists the
//! packages.

use std::collections::BTreeMap;
use std::path::Path;

use minisign_verify::{PublicKey, Signature};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use tenterhook_error::Failure;

/// File name of the manifest.
pub const MANIFEST_FILE: &str = "manifest.json";
/// File name of the list of packages with their hashes.
pub const CHECKSUMS_FILE: &str = "SHA256SUMS";
/// Suffix of a signature file.
pub const SIGNATURE_SUFFIX: &str = ".minisig";
/// Name of the main program in a manifest.
pub const PROGRAM: &str = "tenterhook";

/// Public key that `make dist` compiles in. Builds from source have none.
const COMPILED_IN_KEY: Option<&str> = option_env!("TENTERHOOK_RELEASE_KEY");
const SUPPORTED_FORMAT: u32 = 1;

/// Content of a release.
#[derive(Debug, Deserialize)]
pub struct ReleaseManifest {
    format: u32,
    /// Version of the release.
    pub version: String,
    targets: BTreeMap<String, ReleaseTarget>,
}

/// A release for one Rust target.
#[derive(Debug, Deserialize)]
pub struct ReleaseTarget {
    /// File name of the archive.
    pub archive: String,
    /// SHA-256 of each program, in hexadecimal.
    pub programs: BTreeMap<String, String>,
}

impl ReleaseManifest {
    /// Parses a manifest.
    pub fn parse(bytes: &[u8]) -> Result<Self, Failure> {
        let manifest: Self = serde_json::from_slice(bytes)
            .map_err(|error| Failure::internal(format!("invalid release manifest: {error}")))?;
        if manifest.format != SUPPORTED_FORMAT {
            let format = manifest.format;
            return Err(Failure::internal(format!("release manifest has unknown format {format}"))
                .hint("install the new release by hand: this program is too old to read it"));
        }
        Ok(manifest)
    }

    /// The release for a target.
    pub fn target(&self, target: &str) -> Result<&ReleaseTarget, Failure> {
        self.targets.get(target).ok_or_else(|| {
            let known: Vec<_> = self.targets.keys().map(String::as_str).collect();
            Failure::internal(format!("release {} has no build for {target}", self.version))
                .hint(format!("builds: {}", known.join(", ")))
        })
    }
}

impl ReleaseTarget {
    /// Name of the archive. Fails unless it is a plain file name without directories.
    pub fn archive_name(&self) -> Result<&str, Failure> {
        let plain = Path::new(&self.archive).file_name().is_some_and(|name| name == self.archive.as_str());
        if plain { Ok(&self.archive) } else { Err(Failure::internal("invalid archive name in the manifest")) }
    }
}

/// The public key that signatures are verified with: the given key, or else the compiled-in key.
pub fn release_key(given: Option<&str>) -> Result<PublicKey, Failure> {
    let text = given.or(COMPILED_IN_KEY).ok_or_else(|| {
        Failure::internal("this build has no release key")
            .hint("it was built from source; packages made by `make dist` carry the key they are signed with")
    })?;
    let decoded = if text.trim().contains('\n') {
        PublicKey::decode(text)
    } else {
        PublicKey::from_base64(text.trim())
    };
    decoded.map_err(|error| Failure::user(format!("invalid minisign public key: {error}")))
}

/// The compiled-in public key, in base64.
pub fn compiled_in_key() -> Option<&'static str> {
    COMPILED_IN_KEY
}

/// Verifies a file against its signature and returns the signed comment.
pub fn verify_signature(
    name: &str,
    bytes: &[u8],
    signature: &str,
    key: &PublicKey,
) -> Result<String, Failure> {
    let decoded = Signature::decode(signature)
        .map_err(|error| Failure::internal(format!("invalid signature of {name}: {error}")))?;
    key.verify(bytes, &decoded, false).map_err(|error| {
        Failure::internal(format!("signature of {name} does not match: {error}"))
            .hint("the file was changed, or signed with a different key: do not use it")
    })?;
    Ok(decoded.trusted_comment().to_owned())
}

/// SHA-256 in hexadecimal.
pub fn sha256_hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

/// The hash that `SHA256SUMS` lists for a file.
pub fn listed_hash<'a>(checksums: &'a str, name: &str) -> Option<&'a str> {
    checksums.lines().find_map(|line| {
        let (hash, listed) = line.split_once("  ")?;
        (listed == name).then_some(hash)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_name_is_a_file_name() {
        let named = |archive: &str| ReleaseTarget { archive: archive.to_owned(), programs: BTreeMap::new() };
        assert!(named("tenterhook-0.1.0-x.tar.gz").archive_name().is_ok());
        for name in ["../x.tar.gz", "/etc/passwd", "a/b", "", ".."] {
            assert!(named(name).archive_name().is_err(), "{name}");
        }
    }

    #[test]
    fn a_hash_is_found_by_the_whole_name() {
        let list = "aa  manifest.json\nbb  manifest.json.minisig\n";
        assert_eq!(listed_hash(list, "manifest.json"), Some("aa"));
        assert_eq!(listed_hash(list, "manifest"), None);
    }
}
