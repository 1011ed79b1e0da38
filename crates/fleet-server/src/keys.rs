// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Keys of a fleet: the NATS operator, two accounts for each tenant, and the witness.
//!
//! All copies of a server use the same directory of keys. A production server does not need the keys of the operator
//! and of the system account, which are only for writing the configuration of NATS. To revoke machines while NATS runs,
//! it has a signing key of the operator, and a user of the system account that may do nothing but update accounts.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use tenterhook_fleet_protocol::{
    AccountRole, CosignKey, JwtError, MachineId, Mailbox, NatsPermissions, NkeyKind, NkeyPair, NkeyPublic,
    account_jwt, operator_jwt, user_jwt,
};

use crate::error::FleetError;
use crate::files::{create_dir, decode_hex, encode_hex, random_bytes, read_private, write_private};

/// Maximum length of a tenant's name.
const MAX_TENANT_CHARS: usize = 40;

/// Name of the connection that updates accounts, and prefix of its inbox.
pub(crate) const REVOKER_INBOX: &str = "_INBOX_revoker";
/// Life of the token of the user that updates accounts. `nats-config` writes a new one each time.
const REVOKER_LIFE_SECONDS: u64 = 10 * 366 * 24 * 3600;

/// Keys of a fleet.
pub struct FleetKeys {
    operator: Option<NkeyPair>,
    system: Option<NkeyPublic>,
    signer: NkeyPair,
    revoker: (NkeyPair, String),
    tenants: BTreeMap<String, TenantAccounts>,
    witness: CosignKey,
}

/// The keys of a tenant's accounts.
#[derive(Clone)]
pub struct TenantAccounts {
    /// The account with the streams. Only the fleet server has users in it.
    pub streams: NkeyPair,
    /// The account of the machines.
    pub machines: NkeyPair,
}

impl TenantAccounts {
    /// Returns the mailbox of a machine of this tenant.
    pub(crate) fn mailbox(&self, machine: &MachineId) -> Mailbox {
        Mailbox::derive(&self.machines, machine)
    }
}

impl FleetKeys {
    /// Loads the keys from a directory, and creates those that are missing, with an account for each of these
    /// tenants.
    pub fn open_or_create(dir: &Path, tenants: &[String]) -> Result<Self, FleetError> {
        create_dir(dir, 0o700)?;
        for (file, kind) in [
            ("operator.nk", NkeyKind::Operator),
            ("system.nk", NkeyKind::Account),
            ("signer.nk", NkeyKind::Operator),
            ("revoker.nk", NkeyKind::User),
        ] {
            create_key(&dir.join(file), kind)?;
        }
        for tenant in tenants {
            check_tenant(tenant)?;
            create_key(&dir.join(format!("account-{tenant}.nk")), NkeyKind::Account)?;
        }
        for tenant in stored_tenants(dir)? {
            create_key(&dir.join(format!("machines-{tenant}.nk")), NkeyKind::Account)?;
        }
        write_revoker_token(dir)?;
        let witness = dir.join("witness.key");
        if read_private(&witness)?.is_none() {
            let name = format!("tenterhook-fleet-{}", encode_hex(&random_bytes::<6>()?));
            let seed = encode_hex(&random_bytes::<32>()?);
            write_private(&witness, format!("{name} {seed}\n").as_bytes())?;
        }
        Self::load(dir)
    }

    /// Loads the keys from a directory.
    pub fn load(dir: &Path) -> Result<Self, FleetError> {
        let required = |name: &str, kind| {
            let path = dir.join(name);
            load_key(&path, kind)?.ok_or_else(|| {
                FleetError::invalid(format!("`{}` does not exist", path.display()))
                    .with_hint("create missing keys with `tenterhook fleet nats-config`")
            })
        };
        let mut tenants = BTreeMap::new();
        for tenant in stored_tenants(dir)? {
            let accounts = TenantAccounts {
                streams: required(&format!("account-{tenant}.nk"), NkeyKind::Account)?,
                machines: required(&format!("machines-{tenant}.nk"), NkeyKind::Account)?,
            };
            tenants.insert(tenant, accounts);
        }
        if tenants.is_empty() {
            return Err(FleetError::invalid(format!("`{}` has no key of an account", dir.display()))
                .with_hint("create the keys with `tenterhook fleet nats-config`"));
        }
        let token = read_private(&dir.join(REVOKER_TOKEN_FILE))?.unwrap_or_default();
        Ok(Self {
            operator: load_key(&dir.join("operator.nk"), NkeyKind::Operator)?,
            system: load_key(&dir.join("system.nk"), NkeyKind::Account)?.map(|key| key.public()),
            signer: required("signer.nk", NkeyKind::Operator)?,
            revoker: (required("revoker.nk", NkeyKind::User)?, token.trim_end().to_owned()),
            tenants,
            witness: load_witness(&dir.join("witness.key"))?,
        })
    }

    /// Returns the names of the tenants.
    pub fn tenants(&self) -> impl Iterator<Item = &str> {
        self.tenants.keys().map(String::as_str)
    }

    /// Returns the keys of a tenant's accounts.
    pub fn accounts(&self, tenant: &str) -> Option<&TenantAccounts> {
        self.tenants.get(tenant)
    }

    /// Returns the key and the token of the user that updates accounts.
    pub(crate) fn revoker(&self) -> &(NkeyPair, String) {
        &self.revoker
    }

    /// Returns the token of a tenant's machines' account, with the keys of machines that may not connect any more.
    pub(crate) fn machines_jwt(
        &self,
        tenant: &str,
        revoked: &[(NkeyPublic, u64)],
    ) -> Result<(NkeyPublic, String), FleetError> {
        let accounts = self.accounts(tenant);
        let accounts = accounts.ok_or_else(|| FleetError::internal("the key of the tenant is missing"))?;
        let (account, streams) = (accounts.machines.public(), accounts.streams.public());
        let role = AccountRole::Machines { streams, revoked };
        let name = format!("{tenant}-machines");
        let jwt = account_jwt(&self.signer, &account, &name, role, crate::store::unix_seconds());
        Ok((account, jwt.map_err(|error| FleetError::internal(error.to_string()))?))
    }

    /// Returns the key of the witness.
    pub fn witness(&self) -> &CosignKey {
        &self.witness
    }

    /// Returns the part of NATS' configuration that names the operator and the accounts.
    pub fn nats_accounts_config(&self) -> Result<String, FleetError> {
        let missing =
            || FleetError::invalid("the keys of the operator and of the system account are missing");
        let operator = self.operator.as_ref().ok_or_else(missing)?;
        let system = self.system.ok_or_else(missing)?;
        let now = crate::store::unix_seconds();
        let fail = |error: JwtError| FleetError::internal(error.to_string());
        let mut text = format!(
            "operator: {}\nsystem_account: {system}\nresolver: MEMORY\nresolver_preload: {{\n",
            operator_jwt(operator, "tenterhook", &system, &self.signer.public(), now).map_err(fail)?
        );
        let system_jwt =
            account_jwt(&self.signer, &system, "system", AccountRole::System, now).map_err(fail)?;
        let mut write = |key: NkeyPublic, jwt: &str| writeln!(text, "  {key}: {jwt}");
        // Writing to a string cannot fail.
        let _ = write(system, &system_jwt);
        for (tenant, accounts) in &self.tenants {
            let streams = accounts.streams.public();
            let jwt = account_jwt(&self.signer, &streams, tenant, AccountRole::Streams, now).map_err(fail)?;
            let _ = write(streams, &jwt);
            let (machines, jwt) = self.machines_jwt(tenant, &[])?;
            let _ = write(machines, &jwt);
        }
        text.push_str("}\n");
        Ok(text)
    }
}

/// File with the token of the user that updates accounts.
const REVOKER_TOKEN_FILE: &str = "revoker.jwt";

/// Writes the token of the user that updates accounts, if the key of the system account is in the directory.
fn write_revoker_token(dir: &Path) -> Result<(), FleetError> {
    let keys = load_key(&dir.join("system.nk"), NkeyKind::Account)?
        .zip(load_key(&dir.join("revoker.nk"), NkeyKind::User)?);
    let Some((system, revoker)) = keys else { return Ok(()) };
    let permissions = NatsPermissions {
        publish: vec!["$SYS.REQ.ACCOUNT.*.CLAIMS.UPDATE".to_owned()],
        subscribe: vec![format!("{REVOKER_INBOX}.>")],
    };
    let now = crate::store::unix_seconds();
    let life = (now, now.saturating_add(REVOKER_LIFE_SECONDS));
    let token = user_jwt(&system, &revoker.public(), "tenterhook-fleet-revoker", Some(&permissions), life);
    let token = token.map_err(|error| FleetError::internal(error.to_string()))?;
    write_private(&dir.join(REVOKER_TOKEN_FILE), format!("{token}\n").as_bytes())
}

/// Returns the tenants whose keys are in a directory.
fn stored_tenants(dir: &Path) -> Result<Vec<String>, FleetError> {
    let entries = std::fs::read_dir(dir).map_err(|error| FleetError::file(dir, &error))?;
    let mut tenants = Vec::new();
    for entry in entries {
        let name = entry.map_err(|error| FleetError::file(dir, &error))?.file_name();
        let name = name.to_str().unwrap_or_default();
        let tenant = name.strip_prefix("account-").and_then(|name| name.strip_suffix(".nk"));
        if let Some(tenant) = tenant {
            check_tenant(tenant)?;
            tenants.push(tenant.to_owned());
        }
    }
    Ok(tenants)
}

/// Checks the name of a tenant, which is part of file names and of lock names.
fn check_tenant(name: &str) -> Result<(), FleetError> {
    let valid = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if !name.is_empty() && name.len() <= MAX_TENANT_CHARS && name.bytes().all(valid) {
        return Ok(());
    }
    let error = FleetError::invalid(format!("invalid tenant `{name}`"));
    Err(error.with_hint("use up to 40 lower-case letters, digits and `-`"))
}

fn create_key(path: &Path, kind: NkeyKind) -> Result<(), FleetError> {
    if read_private(path)?.is_some() {
        return Ok(());
    }
    let key = NkeyPair::from_seed(kind, &random_bytes()?);
    write_private(path, format!("{}\n", key.seed_text()).as_bytes())
}

fn load_key(path: &Path, kind: NkeyKind) -> Result<Option<NkeyPair>, FleetError> {
    let Some(text) = read_private(path)? else { return Ok(None) };
    let invalid =
        |why: &str| FleetError::invalid(format!("`{}` does not contain this key: {why}", path.display()));
    let key = NkeyPair::parse_seed(&text).map_err(|error| invalid(&error.to_string()))?;
    if key.public().kind() == kind { Ok(Some(key)) } else { Err(invalid("it has another role")) }
}

fn load_witness(path: &Path) -> Result<CosignKey, FleetError> {
    let invalid =
        || FleetError::invalid(format!("`{}` does not contain the key of a witness", path.display()));
    let text = read_private(path)?.ok_or_else(invalid)?;
    let (name, seed) = text.trim_end().split_once(' ').ok_or_else(invalid)?;
    let seed = decode_hex(seed).and_then(|seed| seed.try_into().ok()).ok_or_else(invalid)?;
    CosignKey::from_seed(name, &seed).map_err(|_| invalid())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_exist_are_kept_and_a_file_with_another_key_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let first = FleetKeys::open_or_create(dir.path(), &["shop".to_owned()]).unwrap();
        let again = FleetKeys::open_or_create(dir.path(), &["shop".to_owned(), "labs".to_owned()]).unwrap();
        let account = |keys: &FleetKeys| keys.accounts("shop").unwrap().streams.public();
        assert_eq!(account(&first), account(&again));
        assert_eq!(first.witness().public(), again.witness().public());
        assert_eq!(again.tenants().collect::<Vec<_>>(), ["labs", "shop"]);
        assert_eq!(again.nats_accounts_config().unwrap().lines().count(), 10);
        std::fs::copy(dir.path().join("operator.nk"), dir.path().join("account-labs.nk")).unwrap();
        let error = FleetKeys::load(dir.path()).err().unwrap();
        assert!(
            error.to_string().ends_with("account-labs.nk` does not contain this key: it has another role"),
            "{error}"
        );
        assert!(FleetKeys::open_or_create(dir.path(), &["a/b".to_owned()]).is_err());
    }
}
