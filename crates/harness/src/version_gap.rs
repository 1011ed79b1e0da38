// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What older versions of a harness keep from its hooks.

/// Something that hooks do not see in older versions of a harness, as measured on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VersionGap {
    /// The first version without the gap.
    pub fixed_in: &'static str,
    /// What is not seen before it, as a clause after the version: `does not …`.
    pub says: &'static str,
}

impl VersionGap {
    /// Whether a version has the gap. One that is not made of numbers is not known to have it.
    pub fn affects(&self, version: &str) -> bool {
        let (Some(found), Some(fixed)) = (numbers(version), numbers(self.fixed_in)) else { return false };
        // A preview of the version that fixes it may lack the fix.
        found < fixed || found == fixed && version.contains('-')
    }
}

/// The numbers of `1.2.3` or `1.2.3-alpha.4`, without what follows a dash.
fn numbers(version: &str) -> Option<Vec<u64>> {
    let release = version.split(['-', '+']).next()?;
    release.split('.').map(|part| part.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        let gap = VersionGap { fixed_in: "0.166.0", says: "" };
        for version in ["0.150.0", "0.99.12", "0.165.9", "0.166.0-alpha.1", "0.165"] {
            assert!(gap.affects(version), "{version}");
        }
        for version in ["0.166.0", "0.166.1", "0.166.0+build", "0.1000.0", "1.0.0-rc.1", "unknown", ""] {
            assert!(!gap.affects(version), "{version}");
        }
    }
}
