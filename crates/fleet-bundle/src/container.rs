// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The bytes of a bundle: a magic number, signed notes, and the compressed files.
//!
//! ```text
//! "THBUNDL1" | u8 number of notes | (u32 length | note)… | u32 length | zstd frame
//! ```
//!
//! All numbers are big-endian. The last note is the bundle's manifest; those before it are manifests of earlier bundles
//! that changed the signers, oldest first. A note is in the `c2sp.org/signed-note` format.

use tenterhook_ledger::note::Note;

use crate::bundle::MAX_BUNDLE_BYTES;
use crate::error::BundleError;
use crate::manifest::MAX_MANIFEST_BYTES;

const MAGIC: &[u8; 8] = b"THBUNDL1";
/// Maximum number of notes.
pub(crate) const MAX_NOTES: usize = 16;

/// A bundle whose signatures have not been verified.
pub(crate) struct Container {
    pub(crate) notes: Vec<Note>,
    pub(crate) payload: Vec<u8>,
}

impl Container {
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, BundleError> {
        if bytes.len() > MAX_BUNDLE_BYTES {
            return Err(BundleError::TooLarge { bytes: bytes.len(), max: MAX_BUNDLE_BYTES });
        }
        let mut rest =
            bytes.strip_prefix(MAGIC.as_slice()).ok_or(BundleError::Form("not a policy bundle"))?;
        let (count, after) = rest.split_first().ok_or(BundleError::Form("truncated"))?;
        rest = after;
        let count = usize::from(*count);
        if count == 0 || count > MAX_NOTES {
            return Err(BundleError::Form("invalid number of manifests"));
        }
        let mut notes = Vec::with_capacity(count);
        for _ in 0..count {
            let text = take_block(&mut rest, MAX_MANIFEST_BYTES)?;
            let text = std::str::from_utf8(text).map_err(|_| BundleError::Form("a manifest is not UTF-8"))?;
            notes.push(parse_note(text)?);
        }
        let payload = take_block(&mut rest, MAX_BUNDLE_BYTES)?.to_vec();
        if !rest.is_empty() {
            return Err(BundleError::Form("bytes after the end"));
        }
        Ok(Self { notes, payload })
    }

    pub(crate) fn encode(&self) -> Result<Vec<u8>, BundleError> {
        let mut bytes = MAGIC.to_vec();
        bytes.push(u8::try_from(self.notes.len()).map_err(|_| BundleError::Form("too many manifests"))?);
        for note in &self.notes {
            add_block(&mut bytes, note_text(note).as_bytes())?;
        }
        add_block(&mut bytes, &self.payload)?;
        if bytes.len() > MAX_BUNDLE_BYTES {
            return Err(BundleError::TooLarge { bytes: bytes.len(), max: MAX_BUNDLE_BYTES });
        }
        Ok(bytes)
    }
}

/// Parses a note, which has no signature lines before it is signed.
fn parse_note(text: &str) -> Result<Note, BundleError> {
    match text.strip_suffix("\n\n") {
        Some(unsigned) => Ok(Note { text: format!("{unsigned}\n"), signatures: Vec::new() }),
        None => Note::parse(text).map_err(|_| BundleError::Form("a manifest is not a signed note")),
    }
}

/// Returns the text of a note with its signature lines.
fn note_text(note: &Note) -> String {
    let text = format!("{}\n", note.text);
    note.signatures.iter().fold(text, |text, line| text + &line.to_string() + "\n")
}

fn take_block<'a>(rest: &mut &'a [u8], max: usize) -> Result<&'a [u8], BundleError> {
    let (length, after) = rest.split_first_chunk::<4>().ok_or(BundleError::Form("truncated"))?;
    let length = usize::try_from(u32::from_be_bytes(*length)).unwrap_or(usize::MAX);
    if length > max {
        return Err(BundleError::Form("a part is too large"));
    }
    let (block, after) = after.split_at_checked(length).ok_or(BundleError::Form("truncated"))?;
    *rest = after;
    Ok(block)
}

fn add_block(bytes: &mut Vec<u8>, block: &[u8]) -> Result<(), BundleError> {
    let length = u32::try_from(block.len()).map_err(|_| BundleError::Form("a part is too large"))?;
    bytes.extend(length.to_be_bytes());
    bytes.extend(block);
    Ok(())
}
