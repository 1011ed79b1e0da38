// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads a signed release, unpacks it and replaces an installed program.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use minisign_verify::PublicKey;
use tenterhook_error::Failure;
use tenterhook_home::{make_public_dir, write_atomic};

use crate::build_target;
use crate::release::{self, CHECKSUMS_FILE, MANIFEST_FILE, PROGRAM, ReleaseManifest, SIGNATURE_SUFFIX};
use crate::release_source::ReleaseSource;

/// A release with a verified signature.
pub struct VerifiedRelease {
    /// Content of the release.
    pub manifest: ReleaseManifest,
    checksums: String,
}

/// Reads the checksums and the manifest of a release. Neither file is used before its signature is verified.
pub fn read_release(source: &ReleaseSource, key: &PublicKey) -> Result<VerifiedRelease, Failure> {
    let checksums = source.read(CHECKSUMS_FILE)?;
    let signature = source.read_text(&format!("{CHECKSUMS_FILE}{SIGNATURE_SUFFIX}"))?;
    release::verify_signature(CHECKSUMS_FILE, &checksums, &signature, key)?;
    let checksums = String::from_utf8(checksums)
        .map_err(|_| Failure::internal(format!("{CHECKSUMS_FILE} is not a text file")))?;
    let manifest = read_listed(source, &checksums, MANIFEST_FILE)?;
    Ok(VerifiedRelease { manifest: ReleaseManifest::parse(&manifest)?, checksums })
}

/// Reads a file and compares its hash with the signed list.
fn read_listed(source: &ReleaseSource, checksums: &str, name: &str) -> Result<Vec<u8>, Failure> {
    let expected = release::listed_hash(checksums, name)
        .ok_or_else(|| Failure::internal(format!("{name} is not part of the signed release")))?;
    let bytes = source.read(name)?;
    if release::sha256_hex(&bytes) != expected {
        return Err(Failure::internal(format!("{name} differs from the signed release"))
            .hint("the download is incomplete or was changed; nothing was installed"));
    }
    Ok(bytes)
}

/// An unpacked archive in a temporary directory. The directory is deleted when this value is dropped.
pub struct UnpackedArchive {
    /// Directory with the files of the release.
    pub root: PathBuf,
    _dir: tempfile::TempDir,
}

/// Unpacks the archive for this machine, compares the program with the manifest, and checks that the program starts.
pub fn unpack(source: &ReleaseSource, found: &VerifiedRelease) -> Result<UnpackedArchive, Failure> {
    let target = found.manifest.target(&build_target())?;
    let name = target.archive_name()?;
    let bytes = read_listed(source, &found.checksums, name)?;
    let dir = tempfile::Builder::new().prefix("tenterhook-update-").tempdir()?;
    let archive = dir.path().join("archive.tar.gz");
    fs_err::write(&archive, bytes)?;
    let root = dir.path().join("root");
    fs_err::create_dir(&root)?;
    let unpacked = Command::new("tar")
        .args(["-x", "-z", "-f"])
        .arg(&archive)
        .arg("-C")
        .arg(&root)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| Failure::internal(format!("`tar` could not be run: {error}")))?;
    if !unpacked.status.success() {
        let why = String::from_utf8_lossy(&unpacked.stderr).trim().to_owned();
        return Err(Failure::internal(format!("{name} could not be unpacked: {why}")));
    }
    let root = root.join(name.trim_end_matches(".tar.gz"));
    let program = root.join("bin").join(PROGRAM);
    let expected = target.programs.get(PROGRAM);
    if expected != Some(&release::sha256_hex(&fs_err::read(&program)?)) {
        return Err(Failure::internal(format!("the program in {name} differs from the manifest")));
    }
    let started = Command::new(&program).arg("--version").stdin(Stdio::null()).output();
    if !started.as_ref().is_ok_and(|output| output.status.success()) {
        return Err(Failure::internal("the new program does not start on this machine; nothing was changed"));
    }
    Ok(UnpackedArchive { root, _dir: dir })
}

/// Replaces the program atomically. If `<prefix>/share/tenterhook` exists, the files in `share` are replaced too.
pub fn replace_program(unpacked: &Path, program: &Path) -> Result<(), Failure> {
    write_atomic(program, &fs_err::read(unpacked.join("bin").join(PROGRAM))?, 0o755)?;
    let prefix = program.parent().filter(|dir| dir.ends_with("bin")).and_then(Path::parent);
    match prefix.map(|prefix| prefix.join("share")).filter(|share| share.join(PROGRAM).is_dir()) {
        Some(share) => copy_tree(&unpacked.join("share"), &share),
        None => Ok(()),
    }
}

fn copy_tree(from: &Path, to: &Path) -> Result<(), Failure> {
    make_public_dir(to)?;
    for entry in fs_err::read_dir(from)? {
        let entry = entry?;
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type()?.is_dir() {
            copy_tree(&path, &target)?;
        } else {
            write_atomic(&target, &fs_err::read(&path)?, 0o644)?;
        }
    }
    Ok(())
}
