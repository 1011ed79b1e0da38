// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Signed notes, as <https://c2sp.org/signed-note> has them: a text, and who signed it.

use std::fmt;
use std::str::FromStr;

use ed25519_dalek::{Signature as Ed25519, VerifyingKey};
use sha2::{Digest, Sha256};

use crate::hash::{base64, from_base64, hex};

/// The type byte of an Ed25519 signature.
pub const ED25519: u8 = 1;
/// The type byte of a witness's timestamped Ed25519 cosignature.
pub const COSIGNATURE: u8 = 4;
/// More signature lines than this are refused.
const MAX_SIGNATURES: usize = 64;
/// Longer notes are refused.
const MAX_NOTE: usize = 1 << 20;

/// A public key with its name: `<name>+<key id>+<base 64>`.
#[derive(Clone, PartialEq, Eq)]
pub struct VerifierKey {
    name: String,
    algorithm: u8,
    public: VerifyingKey,
    /// Worked out once: every signature line has it.
    key_id: u32,
}

/// A text and its signature lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// What is signed; ends in a newline.
    pub text: String,
    /// Who signed, in the order of the lines.
    pub signatures: Vec<Line>,
}

/// One signature line: `— <name> <base 64 of key id and signature>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The key's name.
    pub name: String,
    /// The key's id.
    pub key_id: u32,
    /// What the algorithm made. Algorithms that we do not know are carried along untouched.
    pub signature: Vec<u8>,
}

/// The text is no note, no key, or not signed as it should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoteError {
    /// The form is wrong.
    #[error("not a signed note: {0}")]
    Form(&'static str),
    /// The key cannot be read.
    #[error("`{0}` is no verifier key (`<name>+<key id>+<base 64>`)")]
    Key(String),
    /// Nobody we know signed it.
    #[error("signed by an unknown key: {found}, expected {expected}")]
    UnknownKey {
        /// Who signed.
        found: String,
        /// Whose signature was looked for.
        expected: String,
    },
    /// The signature of a key we know does not fit the text.
    #[error("the signature of `{0}` does not fit the text")]
    BadSignature(String),
}

// === impl VerifierKey ===

impl VerifierKey {
    /// The Ed25519 key that signs a log's checkpoints.
    pub fn ed25519(name: &str, public: VerifyingKey) -> Result<Self, NoteError> {
        Self::of(name, ED25519, public)
    }

    fn of(name: &str, algorithm: u8, public: VerifyingKey) -> Result<Self, NoteError> {
        let wrong =
            name.is_empty() || name.contains(|c: char| c.is_whitespace() || c.is_control() || c == '+');
        if wrong || !matches!(algorithm, ED25519 | COSIGNATURE) {
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

    /// The key's name; for a log, its origin.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The first four bytes of the hash of name, algorithm and key.
    pub fn key_id(&self) -> u32 {
        self.key_id
    }

    /// The key's id as leaves name it: eight hexadecimal digits.
    pub fn id(&self) -> String {
        format!("{:08x}", self.key_id())
    }

    /// Whether this signature over `message` is by this key.
    pub fn accepts(&self, message: &[u8], signature: &[u8]) -> bool {
        let Ok(signature) = Ed25519::from_slice(signature) else { return false };
        self.public.verify_strict(message, &signature).is_ok()
    }

    /// The time in a cosignature, when it is one by this witness over this text.
    pub fn cosigned(&self, text: &str, signature: &[u8]) -> Option<u64> {
        let (time, signature) = signature.split_first_chunk::<8>()?;
        let time = u64::from_be_bytes(*time);
        let message = format!("cosignature/v1\ntime {time}\n{text}");
        (self.algorithm == COSIGNATURE && self.accepts(message.as_bytes(), signature)).then_some(time)
    }

    fn signed(&self, text: &str, line: &Line) -> bool {
        match self.algorithm {
            ED25519 => self.accepts(text.as_bytes(), &line.signature),
            _ => self.cosigned(text, &line.signature).is_some(),
        }
    }
}

impl fmt::Display for VerifierKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let material: Vec<u8> = std::iter::once(self.algorithm).chain(*self.public.as_bytes()).collect();
        write!(f, "{}+{}+{}", self.name, self.id(), base64(&material))
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
        let material = from_base64(material).ok_or_else(refuse)?;
        let (algorithm, public) = material.split_first().ok_or_else(refuse)?;
        let public: [u8; 32] = public.try_into().map_err(|_| refuse())?;
        let public = VerifyingKey::from_bytes(&public).map_err(|_| refuse())?;
        let key = Self::of(name, *algorithm, public)?;
        if key.id() == id { Ok(key) } else { Err(refuse()) }
    }
}

// === impl Note ===

impl Note {
    /// Reads a note. Signatures are not checked yet.
    pub fn parse(note: &str) -> Result<Self, NoteError> {
        if note.len() > MAX_NOTE || note.bytes().any(|byte| byte < 0x20 && byte != b'\n') {
            return Err(NoteError::Form("it is too long, or has control characters"));
        }
        let (text, lines) =
            note.rsplit_once("\n\n").ok_or(NoteError::Form("no empty line before signatures"))?;
        let lines = lines.strip_suffix('\n').ok_or(NoteError::Form("it does not end in a newline"))?;
        let signatures = lines.split('\n').map(str::parse).collect::<Result<Vec<Line>, _>>()?;
        if signatures.len() > MAX_SIGNATURES {
            return Err(NoteError::Form("too many signatures"));
        }
        Ok(Self { text: format!("{text}\n"), signatures })
    }

    /// Whether one of these keys signed. A known key whose signature does not fit spoils the note.
    pub fn check<'k>(&self, keys: &[&'k VerifierKey]) -> Result<&'k VerifierKey, NoteError> {
        let mut signer = None;
        for line in &self.signatures {
            let known = keys.iter().find(|key| key.name == line.name && key.key_id() == line.key_id);
            match known {
                Some(key) if key.signed(&self.text, line) => signer = signer.or(Some(*key)),
                Some(key) => return Err(NoteError::BadSignature(key.name.clone())),
                None => {}
            }
        }
        signer.ok_or_else(|| NoteError::UnknownKey {
            found: listed(self.signatures.iter().map(|line| format!("`{}+{:08x}`", line.name, line.key_id))),
            expected: listed(keys.iter().map(|key| format!("`{}+{}`", key.name, key.id()))),
        })
    }
}

fn listed(items: impl Iterator<Item = String>) -> String {
    let text = items.collect::<Vec<_>>().join(", ");
    if text.is_empty() { "nobody".to_owned() } else { text }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.text)?;
        self.signatures.iter().try_for_each(|line| writeln!(f, "{line}"))
    }
}

// === impl Line ===

impl Line {
    /// The line of a signature by this key.
    pub fn new(key: &VerifierKey, signature: Vec<u8>) -> Self {
        Self { name: key.name.clone(), key_id: key.key_id(), signature }
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let material = [self.key_id.to_be_bytes().as_slice(), &self.signature].concat();
        write!(f, "— {} {}", self.name, base64(&material))
    }
}

impl FromStr for Line {
    type Err = NoteError;

    fn from_str(line: &str) -> Result<Self, NoteError> {
        let form = NoteError::Form("a signature line is not `— <name> <base 64>`");
        let parts = line.strip_prefix("— ").and_then(|rest| rest.split_once(' '));
        let Some((name, material)) = parts.filter(|(name, _)| !name.is_empty()) else { return Err(form) };
        let material = from_base64(material).ok_or(form.clone())?;
        let (id, signature) = material.split_first_chunk::<4>().ok_or(form)?;
        Ok(Self { name: name.to_owned(), key_id: u32::from_be_bytes(*id), signature: signature.to_vec() })
    }
}

/// A short name for random bytes: lower-case hexadecimal.
pub(crate) fn short(bytes: &[u8]) -> String {
    hex(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    // The example of the specification.
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
    fn an_edited_text_is_refused_and_so_is_a_key_nobody_knows() {
        let key: VerifierKey = KEY.parse().unwrap();
        let edited = Note::parse(&NOTE.replace("example message", "edited message")).unwrap();
        assert_eq!(edited.check(&[&key]), Err(NoteError::BadSignature("example.com/foo".into())));
        let error = Note::parse(NOTE).unwrap().check(&[]).unwrap_err().to_string();
        assert_eq!(error, "signed by an unknown key: `example.com/foo+530d903a`, expected nobody");
    }

    #[test]
    fn what_is_no_note_and_no_key_is_refused() {
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
