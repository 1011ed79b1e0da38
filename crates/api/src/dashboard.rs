// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Access of a browser to the dashboard.

use serde::{Deserialize, Serialize};
use tenterhook_event::Timestamp;

/// Access of this browser.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DashboardAccess {
    /// Time at which a new link is needed.
    pub until: Timestamp,
}

/// A link that admits one browser, once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DashboardLink {
    /// The link to open.
    pub url: String,
    /// Time at which it expires.
    pub until: Timestamp,
}

/// A link that is used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DashboardEntry {
    /// The part of the link after `#link=`.
    pub link: String,
}

/// Key of a page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DashboardKey {
    /// Value of the header `tenterhook-page`, which the page sends beside the cookie.
    pub key: String,
}
