// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Network namespaces: each member of the cluster has one, and a partition is a set of packet filters.

use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;

use crate::cluster_process::ProcessCommand;
use crate::error::ClusterError;
use crate::programs::find_tool;

/// Directory with the names of namespaces.
const NAMESPACE_DIR: &str = "/run/netns";
/// Beginning of the names of a cluster's namespaces; the id of the process follows.
const NAMESPACE_PREFIX: &str = "tenterhook-";

/// A network of namespaces, connected by a bridge in a namespace of its own. Dropping it removes all of them.
#[derive(Debug)]
pub struct ClusterNetwork {
    prefix: String,
    members: Vec<String>,
}

fn run_tool(name: &str, words: &[&str]) -> Result<String, ClusterError> {
    let tool = find_tool(name).ok_or_else(|| {
        ClusterError::Missing(vec![format!("`{name}` is not installed (Debian: iproute2, nftables)")])
    })?;
    ProcessCommand::new(&tool, Path::new("/")).args(words).run(&format!("{name} {}", words.join(" ")))
}

impl ClusterNetwork {
    /// Creates a namespace for each member. Only root may do this.
    pub fn create(members: &[&str]) -> Result<Self, ClusterError> {
        remove_stale_namespaces();
        let prefix = format!("{NAMESPACE_PREFIX}{}", std::process::id());
        let mut network = Self { prefix, members: Vec::new() };
        let hub = network.namespace("hub");
        run_tool("ip", &["netns", "add", &hub])?;
        network.members.push("hub".to_owned());
        run_tool("ip", &["-n", &hub, "link", "add", "br0", "type", "bridge"])?;
        run_tool("ip", &["-n", &hub, "link", "set", "br0", "up"])?;
        for (number, member) in members.iter().enumerate() {
            network.add_member(&hub, member, number)?;
        }
        Ok(network)
    }

    /// Whether this process may create namespaces and packet filters.
    pub fn is_available() -> bool {
        rustix::process::geteuid().is_root()
            && ["ip", "nft"].iter().all(|tool| find_tool(tool).is_some())
            && Self::create(&["probe"])
                .is_ok_and(|network| network.cut("probe", Ipv4Addr::LOCALHOST.into()).is_ok())
    }

    fn add_member(&mut self, hub: &str, member: &str, number: usize) -> Result<(), ClusterError> {
        let namespace = self.namespace(member);
        run_tool("ip", &["netns", "add", &namespace])?;
        self.members.push(member.to_owned());
        let port = format!("p{number}");
        run_tool(
            "ip",
            &["-n", hub, "link", "add", &port, "type", "veth", "peer", "name", "eth0", "netns", &namespace],
        )?;
        run_tool("ip", &["-n", hub, "link", "set", &port, "master", "br0", "up"])?;
        let address = format!("{}/16", Self::address(number));
        run_tool("ip", &["-n", &namespace, "address", "add", &address, "dev", "eth0"])?;
        run_tool("ip", &["-n", &namespace, "link", "set", "eth0", "up"])?;
        run_tool("ip", &["-n", &namespace, "link", "set", "lo", "up"])?;
        let filter = "add table inet cut; \
                      add chain inet cut in { type filter hook input priority 0; }; \
                      add chain inet cut out { type filter hook output priority 0; }";
        run_tool("ip", &["netns", "exec", &namespace, "nft", filter]).map(drop)
    }

    /// Returns the address of the member with this number.
    pub fn address(number: usize) -> IpAddr {
        let number = u8::try_from(number + 1).unwrap_or(u8::MAX);
        IpAddr::V4(Ipv4Addr::new(10, 213, 0, number))
    }

    /// Returns the name of a member's namespace.
    pub fn namespace(&self, member: &str) -> String {
        format!("{}-{member}", self.prefix)
    }

    /// Drops all packets between a member and an address, in both directions and without a reply, as a cut cable does.
    pub fn cut(&self, member: &str, other: IpAddr) -> Result<(), ClusterError> {
        let rules = format!(
            "add rule inet cut in ip saddr {other} drop; add rule inet cut out ip daddr {other} drop"
        );
        run_tool("ip", &["netns", "exec", &self.namespace(member), "nft", &rules]).map(drop)
    }

    /// Ends all partitions of a member.
    pub fn heal(&self, member: &str) -> Result<(), ClusterError> {
        let rules = "flush chain inet cut in; flush chain inet cut out";
        run_tool("ip", &["netns", "exec", &self.namespace(member), "nft", rules]).map(drop)
    }
}

/// Removes the namespaces of processes that were killed, which the kernel keeps.
fn remove_stale_namespaces() {
    for entry in std::fs::read_dir(NAMESPACE_DIR).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let owner =
            name.strip_prefix(NAMESPACE_PREFIX).and_then(|rest| rest.split_once('-')?.0.parse::<u32>().ok());
        if owner.is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists()) {
            // Fails if another process removes it at the same time.
            drop(run_tool("ip", &["netns", "delete", &name]));
        }
    }
}

impl Drop for ClusterNetwork {
    fn drop(&mut self) {
        for member in self.members.iter().rev() {
            // Fails if it was removed by another process.
            drop(run_tool("ip", &["netns", "delete", &self.namespace(member)]));
        }
    }
}
