// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Connects to NATS with a short-lived user of a tenant's account.

use std::sync::Arc;
use std::time::Duration;

use async_nats::{Auth, AuthError, Client, ConnectOptions, Event, ServerAddr};
use tenterhook_fleet_protocol::{NkeyKind, NkeyPair, user_jwt};

use super::BusOptions;
use crate::error::{FleetError, nats_error};
use crate::files::random_bytes;
use crate::keys::{FleetKeys, REVOKER_INBOX};
use crate::store::unix_seconds;
use crate::trial::check_nats_version;

/// Life of the server's own credentials. Each connection uses new ones.
const USER_LIFE_SECONDS: u64 = 24 * 3600;

/// Connects to the account with a tenant's streams.
pub(super) async fn connect(
    tenant: &str,
    account: &NkeyPair,
    options: &BusOptions,
) -> Result<Client, FleetError> {
    let user = Arc::new(NkeyPair::from_seed(NkeyKind::User, &random_bytes()?));
    let account = account.clone();
    let connect = ConnectOptions::with_auth_callback(move |nonce| {
        let (user, account) = (user.clone(), account.clone());
        async move {
            let now = unix_seconds();
            let jwt =
                user_jwt(&account, &user.public(), "fleet-server", None, (now, now + USER_LIFE_SECONDS));
            let mut auth = Auth::new();
            auth.jwt = Some(jwt.map_err(AuthError::new)?);
            auth.signature = Some(user.sign(&nonce).to_vec());
            Ok(auth)
        }
    });
    let client = open(tenant, connect, options).await?;
    check_nats_version(&client.server_info().version)?;
    Ok(client)
}

/// Connects as the user of the system account that may only update the tokens of accounts.
pub(crate) async fn connect_revoker(keys: &FleetKeys, options: &BusOptions) -> Result<Client, FleetError> {
    let (key, token) = keys.revoker().clone();
    let connect = ConnectOptions::with_auth_callback(move |nonce| {
        let mut auth = Auth::new();
        auth.jwt = Some(token.clone());
        auth.signature = Some(key.sign(&nonce).to_vec());
        async move { Ok(auth) }
    });
    open("system", connect.custom_inbox_prefix(REVOKER_INBOX), options).await
}

async fn open(tenant: &str, connect: ConnectOptions, options: &BusOptions) -> Result<Client, FleetError> {
    let mut connect = connect
        .name("tenterhook-fleet")
        .connection_timeout(Duration::from_secs(5))
        .reconnect_delay_callback(|attempt| Duration::from_millis(50 << attempt.min(6)))
        .event_callback({
            let tenant = tenant.to_owned();
            move |event| {
                let tenant = tenant.clone();
                async move {
                    match event {
                        Event::Connected => tracing::info!(tenant, "connected to NATS"),
                        other => tracing::warn!(tenant, event = %other, "connection to NATS"),
                    }
                }
            }
        });
    if let Some(ca) = &options.ca {
        connect = connect.add_root_certificates(ca.clone()).require_tls(true);
    }
    let addresses = options.urls.iter().map(|url| url.parse::<ServerAddr>());
    let addresses = addresses.collect::<Result<Vec<_>, _>>();
    let addresses =
        addresses.map_err(|error| FleetError::invalid(format!("invalid address of NATS: {error}")))?;
    connect.connect(addresses).await.map_err(|error| {
        let hint =
            "check `--nats` and that NATS has the accounts that `tenterhook fleet nats-config` prints now";
        nats_error("cannot connect", &error).with_hint(hint)
    })
}
