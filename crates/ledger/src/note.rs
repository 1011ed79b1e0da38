// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Signed notes in the <https://c2sp.org/signed-note> format: text that is followed by signature lines.

use std::fmt;
use std::str::FromStr;

use ed25519_dalek::{Signature as Ed25519, VerifyingKey};
use sha2::{Digest, Sha256};

use crate::hash::{decode_base64, encode_base64};

/// Type byte of an Ed25519 signature.
pub const ED25519_TYPE: u8 = 1;
/// Type byte of a witness's timestamped Ed25519 cosignature.
pub const COSIGNATURE_TYPE: u8 = 4;
/// Maximum number of signature lines.
const MAX_SIGNATURES: usize = 64;
/// Maximum length of a note.
const MAX_NOTE_BYTES: usize = 1 << 20;

/// A public key with its name: `<name>+<key id>+<base64>`.
#[derive(Clone, PartialEq, Eq)]
pub struct VerifierKey {
    name: String,
    algorithm: u8,
    public: VerifyingKey,
    /// The key id, computed once because every signature line contains it.
    key_id: u32,
}

/// A text and its signature lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// The signed text, which ends in a newline.
    pub text: String,
    /// Signature lines, in order.
    pub signatures: Vec<SignatureLine>,
}

/// One signature line: `— <name> <base64 of key id and signature>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignatureLine {
    /// The key's name.
    pub name: String,
    /// The key's id.
    pub key_id: u32,
    /// Signature bytes. Signatures with unknown algorithms are kept unchanged.
    pub signature: Vec<u8>,
}

/// Error for an invalid note, key or signature.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoteError {
    /// The note has an invalid format.
    #[error("not a signed note: {0}")]
    Form(&'static str),
    /// The string is not a verifier key.
    #[error("invalid verifier key `{0}`: expected `<name>+<key id>+<base 64>`")]
    Key(String),
    /// The note was not signed by any of the expected keys.
    #[error("signed by an unknown key: {found}, expected {expected}")]
    UnknownKey {
        /// Keys that signed the note.
        found: String,
        /// The expected keys, one of which must have signed.
        expected: String,
    },
    /// An expected key's signature does not match the text.
    #[error("the signature of `{0}` does not match the text")]
    BadSignature(String),
}

impl VerifierKey {
    /// Creates an Ed25519 key that signs a log's checkpoints.
    pub fn ed25519(name: &str, public: VerifyingKey) -> Result<Self, NoteError> {
        Self::with_algorithm(name, ED25519_TYPE, public)
    }

    fn with_algorithm(name: &str, algorithm: u8, public: VerifyingKey) -> Result<Self, NoteError> {
        let wrong =
            name.is_empty() || name.contains(|c: char| c.is_whitespace() || c.is_control() || c == '+');
        if wrong || !matches!(algorithm, ED25519_TYPE | COSIGNATURE_TYPE) {
            return Err(NoteError::Key(name.chars().take(200).collect()));
        }
        let digest: [u8; 32] = Sha256::new()
            .chain_update(name)
            .chain_update([b'\n', algorithm])
            .chain_update(public.as_bytes())
            .finalize()
            .into();
        let [a, b, c, d, ..] = digest;
        Ok(Self { name: name.to_owned(), algorithm, public, key_id: u32::from_be_bytes([a, b, c, d]) })
    }

    /// Returns the key's name. For a log this is its origin.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the first four bytes of the hash of name, algorithm and key.
    pub fn key_id(&self) -> u32 {
        self.key_id
    }

    /// Returns the key's id in the form used in leaves: eight hexadecimal digits.
    pub fn id(&self) -> String {
        format!("{:08x}", self.key_id())
    }

    /// Whether `signature` is this key's valid signature of `message`.
    pub fn is_valid_signature(&self, message: &[u8], signature: &[u8]) -> bool {
        let Ok(signature) = Ed25519::from_slice(signature) else { return false };
        self.public.verify_strict(message, &signature).is_ok()
    }

    /// Returns the time in a cosignature if it is this witness's valid cosignature of the text.
    pub fn cosignature_time(&self, text: &str, signature: &[u8]) -> Option<u64> {
        let (time, signature) = signature.split_first_chunk::<8>()?;
        let time = u64::from_be_bytes(*time);
        let message = format!("cosignature/v1\ntime {time}\n{text}");
        (self.algorithm == COSIGNATURE_TYPE && self.is_valid_signature(message.as_bytes(), signature))
            .then_some(time)
    }

    fn verifies_line(&self, text: &str, line: &SignatureLine) -> bool {
        match self.algorithm {
            ED25519_TYPE => self.is_valid_signature(text.as_bytes(), &line.signature),
            _ => self.cosignature_time(text, &line.signature).is_some(),
        }
    }
}

impl fmt::Display for VerifierKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let material: Vec<u8> = std::iter::once(self.algorithm).chain(*self.public.as_bytes()).collect();
        write!(f, "{}+{}+{}", self.name, self.id(), encode_base64(&material))
    }
}

impl fmt::Debug for VerifierKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "VerifierKey({self})")
    }
}

impl FromStr for VerifierKey {
    type Err = NoteError;

    fn from_str(text: &str) -> Result<Self, NoteError> {
        let text = text.trim();
        let refuse = || NoteError::Key(text.chars().take(200).collect());
        let mut parts = text.splitn(3, '+');
        let (Some(name), Some(id), Some(material)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(refuse());
        };
        let material = decode_base64(material).ok_or_else(refuse)?;
        let (algorithm, public) = material.split_first().ok_or_else(refuse)?;
        let public: [u8; 32] = public.try_into().map_err(|_| refuse())?;
        let public = VerifyingKey::from_bytes(&public).map_err(|_| refuse())?;
        let key = Self::with_algorithm(name, *algorithm, public)?;
        if key.id() == id { Ok(key) } else { Err(refuse()) }
    }
}

impl Note {
    /// Parses a note without checking its signatures; [`Note::check`] does that.
    pub fn parse(note: &str) -> Result<Self, NoteError> {
        if note.len() > MAX_NOTE_BYTES || note.bytes().any(|byte| byte < 0x20 && byte != b'\n') {
            return Err(NoteError::Form("too long, or has control characters"));
        }
        let (text, lines) =
            note.rsplit_once("\n\n").ok_or(NoteError::Form("no empty line before signatures"))?;
        let lines = lines.strip_suffix('\n').ok_or(NoteError::Form("does not end in a newline"))?;
        let signatures = lines.split('\n').map(str::parse).collect::<Result<Vec<SignatureLine>, _>>()?;
        if signatures.len() > MAX_SIGNATURES {
            return Err(NoteError::Form("too many signatures"));
        }
        Ok(Self { text: format!("{text}\n"), signatures })
    }

    /// Returns the first of these keys that signed. An invalid signature by any of them is an error.
    pub fn check<'k>(&self, keys: &[&'k VerifierKey]) -> Result<&'k VerifierKey, NoteError> {
        let mut signer = None;
        for line in &self.signatures {
            let known = keys.iter().find(|key| key.name == line.name && key.key_id() == line.key_id);
            match known {
                Some(key) if key.verifies_line(&self.text, line) => signer = signer.or(Some(*key)),
                Some(key) => return Err(NoteError::BadSignature(key.name.clone())),
                None => {}
            }
        }
        signer.ok_or_else(|| NoteError::UnknownKey {
            found: join_names(
                self.signatures.iter().map(|line| format!("`{}+{:08x}`", line.name, line.key_id)),
            ),
            expected: join_names(keys.iter().map(|key| format!("`{}+{}`", key.name, key.id()))),
        })
    }
}

fn join_names(items: impl Iterator<Item = String>) -> String {
    let text = items.collect::<Vec<_>>().join(", ");
    if text.is_empty() { "no key".to_owned() } else { text }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.text)?;
        self.signatures.iter().try_for_each(|line| writeln!(f, "{line}"))
    }
}

impl SignatureLine {
    /// Creates the signature line for a signature by this key.
    pub fn new(key: &VerifierKey, signature: Vec<u8>) -> Self {
        Self { name: key.name.clone(), key_id: key.key_id(), signature }
    }
}

impl fmt::Display for SignatureLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let material = [self.key_id.to_be_bytes().as_slice(), &self.signature].concat();
        write!(f, "— {} {}", self.name, encode_base64(&material))
    }
}

impl FromStr for SignatureLine {
    type Err = NoteError;

    fn from_str(line: &str) -> Result<Self, NoteError> {
        let form = NoteError::Form("a signature line is not `— <name> <base 64>`");
        let parts = line.strip_prefix("— ").and_then(|rest| rest.split_once(' '));
        let Some((name, material)) = parts.filter(|(name, _)| !name.is_empty()) else { return Err(form) };
        let material = decode_base64(material).ok_or(form.clone())?;
        let (id, signature) = material.split_first_chunk::<4>().ok_or(form)?;
        Ok(Self { name: name.to_owned(), key_id: u32::from_be_bytes(*id), signature: signature.to_vec() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // The example from the specification.
    const KEY: &str = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k";
    const NOTE: &str = "This is an example message.\n\n— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n";

    #[test]
    fn the_published_example_verifies_and_is_written_back_to_the_byte() {
        let key: VerifierKey = KEY.parse().unwrap();
        let note = Note::parse(NOTE).unwrap();
        assert_eq!(note.check(&[&key]), Ok(&key));
        assert_eq!((key.to_string(), note.to_string()), (KEY.to_owned(), NOTE.to_owned()));
    }

    #[test]
    fn an_edited_text_and_an_unknown_key_are_refused() {
        let key: VerifierKey = KEY.parse().unwrap();
        let edited = Note::parse(&NOTE.replace("example message", "edited message")).unwrap();
        assert_eq!(edited.check(&[&key]), Err(NoteError::BadSignature("example.com/foo".into())));
        let error = Note::parse(NOTE).unwrap().check(&[]).unwrap_err().to_string();
        assert_eq!(error, "signed by an unknown key: `example.com/foo+530d903a`, expected no key");
    }

    #[test]
    fn invalid_notes_and_keys_are_refused() {
        for text in [
            "",
            "text\n",
            "text\n\n",
            "text\n\n- name AAAA\n",
            "text\n\n— name AAAA",
            "a\tb\n\n— n AAAAAA==\n",
        ] {
            assert!(Note::parse(text).is_err(), "{text:?}");
        }
        for text in
            ["", "name", "name+00000000+AAAA", &KEY.replace("530d", "530e"), &KEY.replace("foo", "bar")]
        {
            assert!(text.parse::<VerifierKey>().is_err(), "{text:?}");
        }
    }
}
