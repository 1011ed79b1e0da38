// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Keys of a fleet: the NATS operator, one account for each tenant, and the witness.
//!
//! All copies of a server use the same directory of keys. A production server needs the accounts' keys and the
//! witness; the operator's key is only needed to write the configuration of NATS.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use tenterhook_fleet_protocol::{
    CosignKey, JwtError, NkeyKind, NkeyPair, NkeyPublic, account_jwt, operator_jwt,
};

use crate::error::FleetError;
use crate::files::{create_dir, decode_hex, encode_hex, random_bytes, read_private, write_private};

/// Maximum length of a tenant's name.
const MAX_TENANT_CHARS: usize = 40;

/// Keys of a fleet.
pub struct FleetKeys {
    operator: Option<NkeyPair>,
    system: Option<NkeyPublic>,
    accounts: BTreeMap<String, NkeyPair>,
    witness: CosignKey,
}

impl FleetKeys {
    /// Loads the keys from a directory, and creates those that are missing, with an account for each of these
    /// tenants.
    pub fn open_or_create(dir: &Path, tenants: &[String]) -> Result<Self, FleetError> {
        create_dir(dir, 0o700)?;
        for (file, kind) in [("operator.nk", NkeyKind::Operator), ("system.nk", NkeyKind::Account)] {
            create_key(&dir.join(file), kind)?;
        }
        for tenant in tenants {
            check_tenant(tenant)?;
            create_key(&dir.join(format!("account-{tenant}.nk")), NkeyKind::Account)?;
        }
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
        let mut accounts = BTreeMap::new();
        let entries = std::fs::read_dir(dir).map_err(|error| FleetError::file(dir, &error))?;
        for entry in entries {
            let path = entry.map_err(|error| FleetError::file(dir, &error))?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let tenant = name.strip_prefix("account-").and_then(|name| name.strip_suffix(".nk"));
            let Some(tenant) = tenant else { continue };
            if let Some(key) = load_key(&path, NkeyKind::Account)? {
                check_tenant(tenant)?;
                accounts.insert(tenant.to_owned(), key);
            }
        }
        if accounts.is_empty() {
            return Err(FleetError::invalid(format!("`{}` has no key of an account", dir.display()))
                .with_hint("create the keys with `tenterhook-fleet keys create`"));
        }
        Ok(Self {
            operator: load_key(&dir.join("operator.nk"), NkeyKind::Operator)?,
            system: load_key(&dir.join("system.nk"), NkeyKind::Account)?.map(|key| key.public()),
            accounts,
            witness: load_witness(&dir.join("witness.key"))?,
        })
    }

    /// Returns the names of the tenants.
    pub fn tenants(&self) -> impl Iterator<Item = &str> {
        self.accounts.keys().map(String::as_str)
    }

    /// Returns the key of a tenant's account.
    pub fn account(&self, tenant: &str) -> Option<&NkeyPair> {
        self.accounts.get(tenant)
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
            operator_jwt(operator, "tenterhook", &system, now).map_err(fail)?
        );
        let system_jwt = account_jwt(operator, &system, "system", false, now).map_err(fail)?;
        let mut write = |key: NkeyPublic, jwt: &str| writeln!(text, "  {key}: {jwt}");
        // Writing to a string cannot fail.
        let _ = write(system, &system_jwt);
        for (tenant, key) in &self.accounts {
            let jwt = account_jwt(operator, &key.public(), tenant, true, now).map_err(fail)?;
            let _ = write(key.public(), &jwt);
        }
        text.push_str("}\n");
        Ok(text)
    }
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
        let account = |keys: &FleetKeys| keys.account("shop").unwrap().public();
        assert_eq!(account(&first), account(&again));
        assert_eq!(first.witness().public(), again.witness().public());
        assert_eq!(again.tenants().collect::<Vec<_>>(), ["labs", "shop"]);
        assert_eq!(again.nats_accounts_config().unwrap().lines().count(), 8);
        std::fs::copy(dir.path().join("operator.nk"), dir.path().join("account-labs.nk")).unwrap();
        let error = FleetKeys::load(dir.path()).err().unwrap();
        assert!(
            error.to_string().ends_with("account-labs.nk` does not contain this key: it has another role"),
            "{error}"
        );
        assert!(FleetKeys::open_or_create(dir.path(), &["a/b".to_owned()]).is_err());
    }
}
