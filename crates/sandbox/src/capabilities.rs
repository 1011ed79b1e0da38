// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The capabilities of a run without namespaces: it has none. In namespaces, bubblewrap drops them.

use rustix::io;
use rustix::thread::{
    CapabilitySet, CapabilitySets, clear_ambient_capability_set, remove_capability_from_bounding_set,
    set_capabilities,
};

/// Takes all capabilities from this process and from the programs that it starts.
pub(crate) fn drop_all() -> io::Result<()> {
    clear_ambient_capability_set()?;
    for capability in CapabilitySet::all().iter() {
        match remove_capability_from_bounding_set(capability) {
            // Older kernels know fewer capabilities. Without the right to change the set, this process has none, and
            // `no_new_privs` keeps it from gaining any.
            Ok(()) | Err(io::Errno::INVAL | io::Errno::PERM) => {}
            Err(error) => return Err(error),
        }
    }
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })
}
