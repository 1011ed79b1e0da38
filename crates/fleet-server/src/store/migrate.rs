// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Versioned migrations of the database. Each one runs in its own transaction, under a lock that all copies of the
//! server share.

use sha2::{Digest, Sha256};
use tokio_postgres::Client;

use crate::error::FleetError;

/// Version of the database schema of this server.
pub const SCHEMA_VERSION: i32 = 9;

/// One step of the schema.
pub(super) struct Migration {
    pub(super) version: i32,
    pub(super) sql: &'static str,
}

pub(super) const MIGRATIONS: &[Migration] = &[
    Migration { version: 1, sql: include_str!("migrations/0001_fleet.sql") },
    Migration { version: 2, sql: include_str!("migrations/0002_alert_deliveries.sql") },
    Migration { version: 3, sql: include_str!("migrations/0003_policy.sql") },
    Migration { version: 4, sql: include_str!("migrations/0004_revocation.sql") },
    Migration { version: 5, sql: include_str!("migrations/0005_upload_limits.sql") },
    Migration { version: 6, sql: include_str!("migrations/0006_delivery_attempts.sql") },
    Migration { version: 7, sql: include_str!("migrations/0007_rewritten.sql") },
    Migration { version: 8, sql: include_str!("migrations/0008_export.sql") },
    Migration { version: SCHEMA_VERSION, sql: include_str!("migrations/0009_view.sql") },
];

/// Name of the lock that serializes migrations.
const MIGRATION_LOCK: i64 = 0x7465_6e74_6572;

/// Brings the database to the version of this server.
pub(super) async fn migrate(client: &mut Client, migrations: &[Migration]) -> Result<(), FleetError> {
    let newest = migrations.last().map_or(0, |migration| migration.version);
    for migration in migrations {
        let transaction = client.transaction().await?;
        transaction.execute("select pg_advisory_xact_lock($1)", &[&MIGRATION_LOCK]).await?;
        transaction
            .batch_execute(
                "create table if not exists schema_migrations \
                 (version integer primary key, sha256 bytea not null, applied timestamptz not null default now())",
            )
            .await?;
        let applied =
            transaction.query("select version, sha256 from schema_migrations order by version", &[]).await?;
        let current = applied.last().map_or(0, |row| row.get::<_, i32>(0));
        if current > newest {
            let message =
                format!("the database has schema version {current}, but this server knows up to {newest}");
            return Err(
                FleetError::incompatible(message).with_hint("use a newer version of tenterhook-fleet")
            );
        }
        let digest = Sha256::digest(migration.sql).to_vec();
        match applied.iter().find(|row| row.get::<_, i32>(0) == migration.version) {
            Some(row) if row.get::<_, Vec<u8>>(1) == digest => {}
            Some(_) => {
                let version = migration.version;
                let message =
                    format!("migration {version} of the database differs from the one in this server");
                return Err(FleetError::incompatible(message));
            }
            None => {
                transaction.batch_execute(migration.sql).await?;
                transaction
                    .execute(
                        "insert into schema_migrations (version, sha256) values ($1, $2)",
                        &[&migration.version, &digest],
                    )
                    .await?;
                tracing::info!(version = migration.version, "migrated the database");
            }
        }
        transaction.commit().await?;
    }
    Ok(())
}
