// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Memory of processes, from the kernel's files.

use std::collections::BTreeMap;

/// Memory of a group of processes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MemoryUse {
    /// Number of processes.
    pub processes: u64,
    /// Memory in KiB; memory that processes share is counted in parts.
    pub proportional_kib: u64,
    /// Resident memory in KiB; shared memory is counted for each process.
    pub resident_kib: u64,
}

fn children_of(pid: u32) -> Vec<u32> {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let children = threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
    children
        .flat_map(|text| text.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>())
        .collect()
}

fn field_kib(text: &str, name: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
    line.split_whitespace().next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// Returns the memory of one process.
pub fn memory_of_process(pid: u32) -> MemoryUse {
    let rollup = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
    MemoryUse {
        processes: u64::from(!rollup.is_empty()),
        proportional_kib: field_kib(&rollup, "Pss:"),
        resident_kib: field_kib(&rollup, "Rss:"),
    }
}

impl MemoryUse {
    /// Returns the resident memory in MiB.
    pub fn resident_mib(&self) -> f64 {
        f64::from(u32::try_from(self.resident_kib).unwrap_or(u32::MAX)) / 1024.0
    }
}

/// Returns the memory of a process and its descendants, by the name of the program.
pub fn memory_of_tree(pid: u32) -> BTreeMap<String, MemoryUse> {
    let mut found: BTreeMap<String, MemoryUse> = BTreeMap::new();
    let mut waiting = vec![pid];
    while let Some(pid) = waiting.pop() {
        waiting.extend(children_of(pid));
        let Ok(name) = std::fs::read_to_string(format!("/proc/{pid}/comm")) else { continue };
        let memory = memory_of_process(pid);
        let entry = found.entry(name.trim().to_owned()).or_default();
        entry.processes += 1;
        entry.proportional_kib += memory.proportional_kib;
        entry.resident_kib += memory.resident_kib;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_of_this_process_is_found() {
        let found = memory_of_tree(std::process::id());
        let total: u64 = found.values().map(|memory| memory.resident_kib).sum();
        assert!(total > 100, "{found:?}");
    }
}
