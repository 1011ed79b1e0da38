// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Policies of other programs → rule files of ours.
//!
//! What can be said in our format is carried over, to the reason text. What cannot is named in
//! [`Imported::left_out`] with its place: somebody who moves here must not believe that a guard
//! stands which does not. Nothing is read but the text that is given.
//!
//! ```
//! use tenterhook_policy_import::claude_permissions;
//!
//! let settings = r#"{"permissions": {"deny": ["Bash(git push:*)"], "defaultMode": "plan"}}"#;
//! let imported = claude_permissions("settings.json", settings)?;
//! assert_eq!(imported.carried, 1);
//! assert!(imported.yaml.contains("program: git"));
//! assert_eq!(imported.left_out[0].about.as_deref(), Some("setting `defaultMode`"));
//! # Ok::<(), tenterhook_document::Problem>(())
//! ```

mod claude;
mod draft;
mod openagentlock;

use tenterhook_document::Problem;

pub use claude::claude_permissions;
pub use openagentlock::{Daemon, openagentlock, openagentlock_under};

/// A rule file made of somebody else's policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// Our rule file.
    pub yaml: String,
    /// How many gates or permission rules are in it.
    pub carried: usize,
    /// What is not in it, and why.
    pub left_out: Vec<Problem>,
}

#[cfg(test)]
mod tests;
