// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Resolves names to addresses.

use std::future::Future;
use std::io;
use std::net::IpAddr;

/// Resolves names to addresses.
pub trait NameResolver: Send + Sync + 'static {
    /// Returns all addresses of a name.
    fn resolve(&self, name: &str) -> impl Future<Output = io::Result<Vec<IpAddr>>> + Send;
}

/// Resolves names as other programs of this machine do.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

impl NameResolver for SystemResolver {
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        // The port is not used for the query.
        Ok(tokio::net::lookup_host((name, 0)).await?.map(|address| address.ip()).collect())
    }
}
