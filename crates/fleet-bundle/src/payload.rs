// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Compresses and decompresses the files of a bundle.

use std::collections::BTreeMap;
use std::io::Read;

use ruzstd::decoding::StreamingDecoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use sha2::{Digest, Sha256};

use crate::error::BundleError;
use crate::manifest::{BundleManifest, FileEntry, MAX_CONTENT_BYTES};

/// Compresses the files, in the order of the manifest.
pub(crate) fn compress(files: &BTreeMap<String, String>) -> Vec<u8> {
    let content: Vec<u8> = files.values().flat_map(|text| text.bytes()).collect();
    compress_to_vec(content.as_slice(), CompressionLevel::Fastest)
}

/// Decompresses the files that a manifest lists. The manifest must be verified: it states how many bytes there are, and
/// no more are decompressed.
pub(crate) fn decompress(
    payload: &[u8],
    manifest: &BundleManifest,
) -> Result<BTreeMap<String, String>, BundleError> {
    let damaged = |_| BundleError::Form("the files cannot be decompressed");
    let expected = manifest.content_bytes().min(MAX_CONTENT_BYTES);
    let mut input = payload;
    let decoder = StreamingDecoder::new_with_max_window_size(&mut input, MAX_CONTENT_BYTES)
        .map_err(|_| BundleError::Form("the files cannot be decompressed"))?;
    let mut content = Vec::with_capacity(usize::try_from(expected).unwrap_or_default());
    // One more byte than expected, so that a longer content is noticed.
    decoder.take(expected + 1).read_to_end(&mut content).map_err(damaged)?;
    if u64::try_from(content.len()).unwrap_or(u64::MAX) != expected || !input.is_empty() {
        return Err(BundleError::Form("the files do not have the size that the manifest states"));
    }
    let mut rest = content.as_slice();
    let mut files = BTreeMap::new();
    for entry in &manifest.files {
        let FileEntry { path, sha256: expected, bytes } = entry;
        let refuse = || BundleError::File(path.clone());
        let length = usize::try_from(*bytes).map_err(|_| refuse())?;
        let (text, after) = rest.split_at_checked(length).ok_or_else(refuse)?;
        rest = after;
        if sha256(text) != *expected {
            return Err(refuse());
        }
        let text = String::from_utf8(text.to_vec()).map_err(|_| refuse())?;
        files.insert(path.clone(), text);
    }
    Ok(files)
}

/// Returns the SHA-256 of bytes, in hexadecimal.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    let digest: [u8; 32] = Sha256::digest(bytes).into();
    digest.iter().fold(String::with_capacity(64), |mut text, byte| {
        let digit = |half: u8| char::from_digit(u32::from(half), 16).unwrap_or('0');
        text.extend([digit(byte >> 4), digit(byte & 15)]);
        text
    })
}
