// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Signed requests of operators. The signature covers the fleet, method, path, time, a nonce and the body, so that a
//! request cannot be sent twice, to another fleet or with other content.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::FleetError;
use crate::files::{decode_hex, encode_hex, random_bytes, read_secret, write_private};
use crate::store::{operator_id, unix_seconds};

/// Name of the header with the signature.
pub const SIGNATURE_HEADER: &str = "tenterhook-signature";
/// Maximum difference between the clocks of an operator and of the server, in seconds.
pub(super) const MAX_CLOCK_SKEW_SECONDS: u64 = 300;
const NONCE_BYTES: usize = 16;

/// The key of an operator, with the fleet that it belongs to. Its file is all that a command needs.
#[derive(Clone, Serialize, Deserialize)]
pub struct OperatorKey {
    /// URL of the fleet server.
    pub server: String,
    /// The fleet: the key of its witness.
    pub fleet: String,
    /// Name of the operator.
    pub name: String,
    /// Secret seed, in hexadecimal.
    seed: String,
}

/// The parts of a request that are signed.
pub(super) struct SignedParts<'a> {
    pub(super) fleet: &'a str,
    pub(super) method: &'a str,
    pub(super) path: &'a str,
    pub(super) body: &'a [u8],
}

/// A signature header.
pub(super) struct SignatureHeader {
    pub(super) operator: String,
    pub(super) time: u64,
    pub(super) nonce: Vec<u8>,
    signature: Vec<u8>,
}

fn signed_digest(parts: &SignedParts<'_>, time: u64, nonce: &[u8]) -> [u8; 32] {
    let mut digest = Sha256::new().chain_update("tenterhook-operator-request/1\n");
    let time = time.to_be_bytes();
    for field in
        [parts.fleet.as_bytes(), parts.method.as_bytes(), parts.path.as_bytes(), &time, nonce, parts.body]
    {
        digest.update(u64::try_from(field.len()).unwrap_or(u64::MAX).to_be_bytes());
        digest.update(field);
    }
    digest.finalize().into()
}

impl OperatorKey {
    /// Generates a key.
    pub fn generate(server: &str, fleet: &str, name: &str) -> Result<Self, FleetError> {
        let seed = encode_hex(&random_bytes::<32>()?);
        Ok(Self { server: server.to_owned(), fleet: fleet.to_owned(), name: name.to_owned(), seed })
    }

    /// Loads a key from a file that only its owner may read.
    pub fn load(path: &Path) -> Result<Self, FleetError> {
        let invalid =
            |_| FleetError::invalid(format!("`{}` does not contain the key of an operator", path.display()));
        let key: Self = serde_json::from_str(&read_secret(path)?).map_err(invalid)?;
        key.secret().map(|_| key)
    }

    /// Writes the key to a file that only its owner may read.
    pub fn save(&self, path: &Path) -> Result<(), FleetError> {
        write_private(path, &serde_json::to_vec_pretty(self).unwrap_or_default())
    }

    fn secret(&self) -> Result<SigningKey, FleetError> {
        let seed: Option<[u8; 32]> = decode_hex(&self.seed).and_then(|seed| seed.try_into().ok());
        seed.map(|seed| SigningKey::from_bytes(&seed))
            .ok_or_else(|| FleetError::invalid("the seed of the key is invalid"))
    }

    /// Returns the public key.
    pub fn public(&self) -> Result<[u8; 32], FleetError> {
        Ok(self.secret()?.verifying_key().to_bytes())
    }

    /// Returns the public key in base 64.
    pub fn public_text(&self) -> Result<String, FleetError> {
        Ok(STANDARD.encode(self.public()?))
    }

    /// Reads a public key in base 64; `None` if it is invalid.
    pub fn parse_public(text: &str) -> Option<[u8; 32]> {
        STANDARD.decode(text).ok()?.try_into().ok()
    }

    /// Signs a request. Returns the value of the header [`SIGNATURE_HEADER`].
    pub fn sign(&self, method: &str, path: &str, body: &[u8]) -> Result<String, FleetError> {
        let (secret, time, nonce) = (self.secret()?, unix_seconds(), random_bytes::<NONCE_BYTES>()?);
        let parts = SignedParts { fleet: &self.fleet, method, path, body };
        let signature = secret.sign(&signed_digest(&parts, time, &nonce)).to_bytes();
        let id = operator_id(&secret.verifying_key().to_bytes());
        Ok(format!("{id}.{time}.{}.{}", URL_SAFE_NO_PAD.encode(nonce), URL_SAFE_NO_PAD.encode(signature)))
    }
}

impl SignatureHeader {
    /// Parses the header; `None` if it is invalid.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let parts: Vec<&str> = text.splitn(5, '.').collect();
        let [operator, time, nonce, signature] = parts.as_slice() else { return None };
        let nonce = URL_SAFE_NO_PAD.decode(nonce).ok().filter(|nonce| nonce.len() == NONCE_BYTES)?;
        let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
        Some(Self { operator: (*operator).to_owned(), time: time.parse().ok()?, nonce, signature })
    }

    /// Whether the header is this key's signature of a request that is sent now.
    pub(super) fn is_valid(&self, key: &[u8; 32], parts: &SignedParts<'_>) -> bool {
        let (Ok(key), Ok(signature)) =
            (VerifyingKey::from_bytes(key), Signature::from_slice(&self.signature))
        else {
            return false;
        };
        self.time.abs_diff(unix_seconds()) <= MAX_CLOCK_SKEW_SECONDS
            && key.verify_strict(&signed_digest(parts, self.time, &self.nonce), &signature).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_covers_every_part_of_a_request() {
        let key = OperatorKey::generate("http://x", "fleet", "dev").unwrap();
        let header = key.sign("POST", "/v1/tokens?a=b", b"{}").unwrap();
        let public = key.public().unwrap();
        let check = |header: &str, fleet, method, path, body: &[u8]| {
            SignatureHeader::parse(header)
                .is_some_and(|header| header.is_valid(&public, &SignedParts { fleet, method, path, body }))
        };
        assert!(check(&header, "fleet", "POST", "/v1/tokens?a=b", b"{}"));
        assert!(!check(&header, "other", "POST", "/v1/tokens?a=b", b"{}"));
        assert!(!check(&header, "fleet", "GET", "/v1/tokens?a=b", b"{}"));
        assert!(!check(&header, "fleet", "POST", "/v1/tokens?a=c", b"{}"));
        assert!(!check(&header, "fleet", "POST", "/v1/tokens?a=b", b"{ }"));
        let parts: Vec<&str> = header.split('.').collect();
        let old = (unix_seconds() - MAX_CLOCK_SKEW_SECONDS - 5).to_string();
        assert!(!check(
            &[parts[0], &old, parts[2], parts[3]].join("."),
            "fleet",
            "POST",
            "/v1/tokens?a=b",
            b"{}"
        ));
        assert!(SignatureHeader::parse("").is_none() && SignatureHeader::parse("a.1.AA.AA").is_none());
    }
}
