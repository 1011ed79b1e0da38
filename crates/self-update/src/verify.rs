// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Compares installed programs with the signed manifest of their release.

use std::path::{Path, PathBuf};

use minisign_verify::PublicKey;
use tenterhook_error::Failure;

use crate::release::{self, MANIFEST_FILE, PROGRAM, ReleaseManifest, ReleaseTarget, SIGNATURE_SUFFIX};
use crate::{build_target, shared_files};

/// A manifest with a verified signature.
pub struct VerifiedManifest {
    /// Content of the release.
    pub manifest: ReleaseManifest,
    /// The comment in the signature, which is signed too.
    pub comment: String,
}

/// Result of comparing one program with the manifest.
pub struct ProgramCheck {
    /// Path of the program.
    pub path: PathBuf,
    /// How the program differs from the released one; `None` if it does not.
    pub problem: Option<String>,
}

/// Reads a manifest and verifies the signature next to it.
pub fn read_manifest(path: &Path, key: &PublicKey) -> Result<VerifiedManifest, Failure> {
    let bytes = fs_err::read(path)?;
    let signature = fs_err::read_to_string(with_suffix(path, SIGNATURE_SUFFIX))?;
    let comment = release::verify_signature(MANIFEST_FILE, &bytes, &signature, key)?;
    Ok(VerifiedManifest { manifest: ReleaseManifest::parse(&bytes)?, comment })
}

/// Compares the main program and the hook programs in `bin` with the manifest's hashes for this machine's target.
pub fn check_programs(
    manifest: &ReleaseManifest,
    program: PathBuf,
    bin: Option<PathBuf>,
) -> Result<Vec<ProgramCheck>, Failure> {
    let target = manifest.target(&build_target())?;
    let mut checks = vec![check_program(PROGRAM, program, target)];
    if let Some(bin) = bin {
        checks.extend(hook_programs(bin).map(|(name, path)| check_program(name, path, target)));
    }
    Ok(checks)
}

/// The hook programs that exist in `bin`.
fn hook_programs(bin: PathBuf) -> impl Iterator<Item = (&'static str, PathBuf)> {
    [PROGRAM, "tenterhook-hook", "tenterhook-status"]
        .into_iter()
        .map(move |name| (name, bin.join(name)))
        .filter(|(_, path)| fs_err::symlink_metadata(path).is_ok())
}

fn check_program(name: &str, path: PathBuf, target: &ReleaseTarget) -> ProgramCheck {
    let problem = match (fs_err::read(&path), target.programs.get(name)) {
        (Err(error), _) => Some(error.to_string()),
        (_, None) => Some("not in the manifest".to_owned()),
        (Ok(bytes), Some(expected)) => {
            let found = release::sha256_hex(&bytes);
            (found != *expected).then(|| format!("differs from the release (SHA-256 {found})"))
        }
    };
    ProgramCheck { path, problem }
}

/// Path of the given manifest, or else of the manifest next to the program.
pub fn manifest_path(given: Option<&Path>, program: &Path) -> Result<PathBuf, Failure> {
    if let Some(path) = given {
        return Ok(path.to_owned());
    }
    let path = shared_files(program).map(|dir| dir.join(MANIFEST_FILE)).filter(|path| path.exists());
    path.ok_or_else(|| {
        Failure::internal("no release manifest beside this program").hint(
            "name one with `--manifest`; packages have it in share/tenterhook, builds from source have none",
        )
    })
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}
