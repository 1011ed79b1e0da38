// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Converts the policies of other programs to rule files.
//!
//! Everything that a rule file can express is converted, including the reason text. The rest is listed in
//! [`ImportedRules::left_out`] with its position, so that users do not rely on protection that was not converted.
//! Only the given text is read.
//!
//! ```
//! use tenterhook_policy_import::import_claude_permissions;
//!
//! let settings = r#"{"permissions": {"deny": ["Bash(git push:*)"], "defaultMode": "plan"}}"#;
//! let imported = import_claude_permissions("settings.json", settings)?;
//! assert_eq!(imported.carried, 1);
//! assert!(imported.yaml.contains("program: git"));
//! assert_eq!(imported.left_out[0].about.as_deref(), Some("setting `defaultMode`"));
//! # Ok::<(), tenterhook_document::Problem>(())
//! ```

mod claude;
mod draft;
mod openagentlock;

use tenterhook_document::Problem;

pub use claude::import_claude_permissions;
pub use openagentlock::{OpenAgentLockMode, import_openagentlock, import_openagentlock_in_mode};

/// A rule file that was converted from another program's policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedRules {
    /// Text of the rule file.
    pub yaml: String,
    /// Number of OpenAgentLock gates or Claude Code permission rules that were converted.
    pub carried: usize,
    /// Settings and rules that were not converted, each with the reason.
    pub left_out: Vec<Problem>,
}

#[cfg(test)]
mod tests;
