// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Known gaps in the hook support of older harness versions.

/// A gap in the hook support of older versions of a harness, measured by running them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VersionGap {
    /// First version without the gap.
    pub fixed_in: &'static str,
    /// Effect of the gap, worded to follow a version number: `does not …`.
    pub description: &'static str,
}

impl VersionGap {
    /// Returns whether a version has the gap. A version that does not consist of numbers is assumed not to have it.
    pub fn affects(&self, version: &str) -> bool {
        let (Some(found), Some(fixed)) = (numbers(version), numbers(self.fixed_in)) else { return false };
        // A pre-release of the fixed version may lack the fix.
        found < fixed || found == fixed && version.contains('-')
    }
}

/// Returns the numbers of `1.2.3` or `1.2.3-alpha.4`, without the pre-release or build suffix.
fn numbers(version: &str) -> Option<Vec<u64>> {
    let release = version.split(['-', '+']).next()?;
    release.split('.').map(|part| part.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        let gap = VersionGap { fixed_in: "0.166.0", description: "" };
        for version in ["0.150.0", "0.99.12", "0.165.9", "0.166.0-alpha.1", "0.165"] {
            assert!(gap.affects(version), "{version}");
        }
        for version in ["0.166.0", "0.166.1", "0.166.0+build", "0.1000.0", "1.0.0-rc.1", "unknown", ""] {
            assert!(!gap.affects(version), "{version}");
        }
    }
}
