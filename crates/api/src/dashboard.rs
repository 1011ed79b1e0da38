// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A browser's access to the dashboard.

use serde::{Deserialize, Serialize};
use tenterhook_event::Timestamp;

/// How long this browser has access.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DashboardAccess {
    /// When the access expires and a new link is needed.
    pub until: Timestamp,
}

/// A link that gives one browser access, once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DashboardLink {
    /// The link to open.
    pub url: String,
    /// When the link expires.
    pub until: Timestamp,
}

/// Request to exchange a link for access.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DashboardEntry {
    /// The part of the link after `#link=`.
    pub link: String,
}

/// Key that a dashboard page sends with its requests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DashboardKey {
    /// Value of the `tenterhook-page` header, which the page sends together with the cookie.
    pub key: String,
}
