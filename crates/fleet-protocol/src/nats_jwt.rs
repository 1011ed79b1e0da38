// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Credentials of the message bus: JSON Web Tokens with the claims of NATS, version 2.
//!
//! An operator signs accounts, two for each tenant, and an account signs users, which expire.
//!
//! The streams of a tenant are in an account of the server's. Machines are users of a second account without streams,
//! which reaches the first one only through imports. In one account, a machine could name any subject for the answer to
//! a request, also one that deletes a stream; across an import, the answer stays in the machines' account.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::base32;
use crate::mailbox::Mailbox;
use crate::nkey::{NkeyKind, NkeyPair, NkeyPublic};
use crate::subject::{Ring, StreamName, Subject};

/// Error for credentials that cannot be created.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum JwtError {
    /// A key has another role than the credentials require.
    #[error("a key of the message bus has the wrong role")]
    Kind,
    /// The claims cannot be written.
    #[error("the claims cannot be written")]
    Claims,
}

/// Subjects that a user may publish and subscribe to. Everything else is refused.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NatsPermissions {
    /// Subjects that the user may publish to.
    pub publish: Vec<String>,
    /// Subjects that the user may subscribe to.
    pub subscribe: Vec<String>,
}

/// What an account is for.
#[derive(Debug, Clone, Copy)]
pub enum AccountRole<'a> {
    /// The account of the message bus itself.
    System,
    /// The streams of a tenant.
    Streams,
    /// The machines of a tenant.
    Machines {
        /// The account with the tenant's streams.
        streams: NkeyPublic,
        /// Keys of users whose tokens are not valid if they were issued up to a time in Unix seconds.
        revoked: &'a [(NkeyPublic, u64)],
    },
}

/// Subjects on which machines send requests that the account with the streams answers.
const MACHINE_SERVICES: &[&str] = &[
    "th.ev.*.*",
    "th.st.*",
    "th.ask.*",
    "$JS.API.DIRECT.GET.*.th.ev.*.*",
    "$JS.API.DIRECT.GET.COSIGN.th.cosign.*.*",
    "$JS.API.DIRECT.GET.POLICY.th.pol.*",
    "$JS.API.DIRECT.GET.BUNDLE.th.bundle.*",
];
/// Subjects on which the account with the streams sends messages to machines.
const MACHINE_DELIVERIES: &[&str] = &["th.cmd.all", "th.cmd.*.*", "th.ans.*.*", "th.cosign.*.*", "th.pol.*"];

/// Maximum number of subscriptions of a machine; it needs seven.
const MAX_MACHINE_SUBSCRIPTIONS: u32 = 32;
/// Maximum length of a machine's message: a batch with its headers.
const MAX_MACHINE_PAYLOAD_BYTES: u32 = (512 << 10) + (4 << 10);

/// Returns what a machine in this ring may do: publish and receive on its own subjects, and read its own last
/// messages and the policy.
pub fn machine_permissions(mailbox: &Mailbox, ring: &Ring) -> NatsPermissions {
    let machine = mailbox.machine();
    let evidence = Subject::Evidence(machine);
    let stream = StreamName::Evidence(machine.partition());
    NatsPermissions {
        publish: vec![
            evidence.to_string(),
            Subject::Status(machine).to_string(),
            Subject::Ask(machine).to_string(),
            stream.last_message_request(&evidence),
            StreamName::Cosign.last_message_request(&Subject::Cosign(mailbox)),
            format!("$JS.API.DIRECT.GET.{}.th.pol.>", StreamName::Policy),
            format!("$JS.API.DIRECT.GET.{}.th.bundle.>", StreamName::Bundle),
        ],
        subscribe: vec![
            format!("{}.>", Subject::inbox_prefix(machine)),
            Subject::Command(mailbox).to_string(),
            Subject::CommandAll.to_string(),
            Subject::Answer(mailbox).to_string(),
            Subject::Cosign(mailbox).to_string(),
            Subject::Policy(ring).to_string(),
        ],
    }
}

/// Creates the token of an operator, signed by itself. Its accounts may also be signed with the second key, which is
/// the one that servers have.
pub fn operator_jwt(
    operator: &NkeyPair,
    name: &str,
    system_account: &NkeyPublic,
    signing_key: &NkeyPublic,
    now: u64,
) -> Result<String, JwtError> {
    require(operator.public(), NkeyKind::Operator)?;
    require(*system_account, NkeyKind::Account)?;
    require(*signing_key, NkeyKind::Operator)?;
    let claims = json!({
        "system_account": system_account.to_string(), "signing_keys": [signing_key.to_string()],
        "type": "operator", "version": 2,
    });
    sign(operator, &operator.public(), (name, now, None), &claims)
}

/// Creates the token of an account.
pub fn account_jwt(
    operator: &NkeyPair,
    account: &NkeyPublic,
    name: &str,
    role: AccountRole<'_>,
    now: u64,
) -> Result<String, JwtError> {
    require(operator.public(), NkeyKind::Operator)?;
    require(*account, NkeyKind::Account)?;
    let mut claims = json!({
        "limits": {
            "subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1, "wildcards": true,
            "conn": -1, "leaf": -1,
        },
        "default_permissions": { "pub": {}, "sub": {} },
        "type": "account",
        "version": 2,
    });
    match role {
        AccountRole::System => {}
        AccountRole::Streams => {
            // The account stores streams without a limit of its own.
            for unlimited in ["mem_storage", "disk_storage", "streams", "consumer"] {
                set_claim(&mut claims, &["limits", unlimited], json!(-1));
            }
            set_claim(&mut claims, &["exports"], Value::Array(shared_subjects(None)));
        }
        AccountRole::Machines { streams, revoked } => {
            require(streams, NkeyKind::Account)?;
            set_claim(&mut claims, &["imports"], Value::Array(shared_subjects(Some(&streams))));
            let revoked = revoked.iter().map(|(user, until)| (user.to_string(), json!(until)));
            set_claim(&mut claims, &["revocations"], Value::Object(revoked.collect()));
        }
    }
    sign(operator, account, (name, now, None), &claims)
}

/// Returns the exports of the account with the streams, or the imports of the machines' account from it.
fn shared_subjects(from: Option<&NkeyPublic>) -> Vec<Value> {
    let services = MACHINE_SERVICES.iter().map(|subject| (*subject, "service"));
    let deliveries = MACHINE_DELIVERIES.iter().map(|subject| (*subject, "stream"));
    let shared = services.chain(deliveries).map(|(subject, kind)| {
        let mut shared = json!({ "name": subject, "subject": subject, "type": kind });
        if let Some(account) = from {
            set_claim(&mut shared, &["account"], json!(account.to_string()));
        }
        shared
    });
    shared.collect()
}

/// Sets a field of an object, along a path of fields.
fn set_claim(claims: &mut Value, path: &[&str], value: Value) {
    if let [name, rest @ ..] = path
        && let Value::Object(fields) = claims
    {
        let field = fields.entry(*name).or_insert_with(|| json!({}));
        if rest.is_empty() { *field = value } else { set_claim(field, rest, value) }
    }
}

/// Creates the token of a user, which expires. `permissions` of `None` allow everything in the account.
pub fn user_jwt(
    account: &NkeyPair,
    user: &NkeyPublic,
    name: &str,
    permissions: Option<&NatsPermissions>,
    (now, expires): (u64, u64),
) -> Result<String, JwtError> {
    require(account.public(), NkeyKind::Account)?;
    require(*user, NkeyKind::User)?;
    let allowed = |subjects: Option<&Vec<String>>| match subjects {
        // An empty list would allow everything.
        Some(subjects) if subjects.is_empty() => json!({ "deny": [">"] }),
        Some(subjects) => json!({ "allow": subjects }),
        None => json!({}),
    };
    let (subs, payload) = match permissions {
        Some(_) => (json!(MAX_MACHINE_SUBSCRIPTIONS), json!(MAX_MACHINE_PAYLOAD_BYTES)),
        None => (json!(-1), json!(-1)),
    };
    let claims = json!({
        "pub": allowed(permissions.map(|permissions| &permissions.publish)),
        "sub": allowed(permissions.map(|permissions| &permissions.subscribe)),
        "subs": subs, "data": -1, "payload": payload,
        "type": "user",
        "version": 2,
    });
    sign(account, user, (name, now, Some(expires)), &claims)
}

fn require(key: NkeyPublic, kind: NkeyKind) -> Result<(), JwtError> {
    if key.kind() == kind { Ok(()) } else { Err(JwtError::Kind) }
}

/// Writes and signs a token: name, time of issue and expiry in Unix seconds, and the claims of NATS.
fn sign(
    issuer: &NkeyPair,
    subject: &NkeyPublic,
    (name, now, expires): (&str, u64, Option<u64>),
    claims: &Value,
) -> Result<String, JwtError> {
    let mut body = json!({
        "iat": now, "iss": issuer.public().to_string(), "name": name, "sub": subject.to_string(), "nats": claims,
    });
    let unnamed = serde_json::to_vec(&body).map_err(|_| JwtError::Claims)?;
    if let Value::Object(fields) = &mut body {
        fields.insert("jti".to_owned(), json!(base32::encode(&Sha256::digest(&unnamed))));
        if let Some(expires) = expires {
            fields.insert("exp".to_owned(), json!(expires));
        }
    }
    let encode = |value: &Value| serde_json::to_vec(value).map(|bytes| URL_SAFE_NO_PAD.encode(bytes));
    let head = encode(&json!({ "typ": "JWT", "alg": "ed25519-nkey" })).map_err(|_| JwtError::Claims)?;
    let text = format!("{head}.{}", encode(&body).map_err(|_| JwtError::Claims)?);
    let signature = URL_SAFE_NO_PAD.encode(issuer.sign(text.as_bytes()));
    Ok(format!("{text}.{signature}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine_id::MachineId;

    fn pair(kind: NkeyKind, seed: u8) -> NkeyPair {
        NkeyPair::from_seed(kind, &[seed; 32])
    }

    fn claims(token: &str) -> Value {
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(token.split('.').nth(1).unwrap()).unwrap()).unwrap()
    }

    #[test]
    fn a_token_is_signed_by_its_issuer_and_names_its_subject() {
        let (operator, account) = (pair(NkeyKind::Operator, 1), pair(NkeyKind::Account, 2));
        let token = account_jwt(&operator, &account.public(), "acme", AccountRole::Streams, 1000).unwrap();
        let (text, signature) = token.rsplit_once('.').unwrap();
        let signature = URL_SAFE_NO_PAD.decode(signature).unwrap();
        assert!(operator.public().is_valid_signature(text.as_bytes(), &signature));
        let claims = claims(&token);
        assert_eq!(claims["sub"], account.public().to_string());
        assert_eq!(claims["nats"]["limits"]["disk_storage"], -1);
        let revoked = [(pair(NkeyKind::User, 3).public(), 900)];
        let roles =
            [AccountRole::System, AccountRole::Machines { streams: account.public(), revoked: &revoked }];
        for role in roles {
            let without =
                account_jwt(&operator, &pair(NkeyKind::Account, 4).public(), "x", role, 1000).unwrap();
            let without = self::claims(&without);
            assert_eq!(without["nats"]["limits"].get("disk_storage"), None, "{role:?} stores no streams");
            let is_machines = matches!(role, AccountRole::Machines { .. });
            assert_eq!(without["nats"]["revocations"][revoked[0].0.to_string()] == 900, is_machines);
        }
    }

    #[test]
    fn a_machine_may_use_only_its_own_subjects() {
        let (machine, other) = (pair(NkeyKind::User, 3).public(), pair(NkeyKind::User, 4).public());
        let (own, other) = (MachineId::of_key(&machine), MachineId::of_key(&other));
        let mailbox = Mailbox::derive(&pair(NkeyKind::Account, 2), &own);
        let permissions = machine_permissions(&mailbox, &"all".parse().unwrap());
        for subject in permissions.publish.iter().chain(&permissions.subscribe) {
            assert!(!subject.contains(other.as_str()));
            let is_shared =
                subject == "th.cmd.all" || subject.contains("th.pol") || subject.contains("th.bundle");
            assert!(is_shared || subject.contains(own.as_str()), "{subject}");
            assert!(!subject.starts_with('>') && !subject.starts_with('*'), "{subject}");
        }
        let token =
            user_jwt(&pair(NkeyKind::Account, 2), &machine, own.as_str(), Some(&permissions), (1000, 2000));
        let claims = claims(&token.unwrap());
        assert_eq!((&claims["exp"], &claims["nats"]["type"]), (&json!(2000), &json!("user")));
        assert_eq!(claims["nats"]["pub"]["allow"], json!(permissions.publish));
    }

    #[test]
    fn empty_permissions_allow_nothing() {
        let none = NatsPermissions::default();
        let user = pair(NkeyKind::User, 3).public();
        let token = user_jwt(&pair(NkeyKind::Account, 2), &user, "u", Some(&none), (1, 2)).unwrap();
        assert_eq!(claims(&token)["nats"]["pub"], json!({ "deny": [">"] }));
    }

    #[test]
    fn keys_with_the_wrong_role_are_refused() {
        let (account, user) = (pair(NkeyKind::Account, 2), pair(NkeyKind::User, 3));
        assert_eq!(user_jwt(&user, &user.public(), "u", None, (1, 2)), Err(JwtError::Kind));
        assert_eq!(user_jwt(&account, &account.public(), "u", None, (1, 2)), Err(JwtError::Kind));
        assert_eq!(
            account_jwt(&account, &account.public(), "a", AccountRole::System, 1),
            Err(JwtError::Kind)
        );
    }
}
