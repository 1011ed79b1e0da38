// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Classifies IP addresses: whether an address is on the public internet, or what else it reaches.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What an IP address reaches. An address that embeds an IPv4 address (IPv4-mapped, NAT64, 6to4) has the class of the
/// IPv4 address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AddressClass {
    /// A host on the public internet.
    Public,
    /// A private network (RFC 1918).
    Private,
    /// The network of a provider behind its NAT (100.64.0.0/10).
    Shared,
    /// Loopback addresses of this machine.
    Loopback,
    /// A public address that this machine itself has, so that services of the machine are behind it.
    ThisMachine,
    /// The local link.
    LinkLocal,
    /// A private IPv6 network (fc00::/7).
    UniqueLocal,
    /// A multicast group, or broadcast.
    Multicast,
    /// The unspecified address, which reaches this machine.
    Unspecified,
    /// The metadata service of a cloud provider, which hands out credentials.
    Metadata,
    /// Reserved for documentation, tests, tunnels or future use.
    Reserved,
}

/// Addresses of metadata services that are not link-local, or that are more specific than link-local.
const METADATA_V4: &[Ipv4Addr] = &[
    Ipv4Addr::new(169, 254, 169, 254),
    // AWS: credentials of containers.
    Ipv4Addr::new(169, 254, 170, 2),
    Ipv4Addr::new(169, 254, 170, 23),
    // Alibaba Cloud.
    Ipv4Addr::new(100, 100, 100, 200),
    // Oracle Cloud Classic.
    Ipv4Addr::new(192, 0, 0, 192),
    // Azure: the host's wire server.
    Ipv4Addr::new(168, 63, 129, 16),
];
const METADATA_V6: &[Ipv6Addr] = &[
    // AWS: metadata, and credentials of containers.
    Ipv6Addr::new(0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x0254),
    Ipv6Addr::new(0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x0023),
    // Google Cloud.
    Ipv6Addr::new(0xfd20, 0x00ce, 0, 0, 0, 0, 0, 0x0254),
];
/// Names of metadata services. They are refused before they are resolved.
const METADATA_NAMES: &[&str] = &[
    "metadata",
    "metadata.google.internal",
    "metadata.goog",
    "instance-data",
    "instance-data.ec2.internal",
    "metadata.packet.net",
    "metadata.platformequinix.com",
];

// === impl AddressClass ===

impl AddressClass {
    /// Returns the class of an address.
    pub fn of(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(address) => class_of_v4(address),
            IpAddr::V6(address) => class_of_v6(address),
        }
    }

    /// Returns the class of a name that is known without resolving it: a name of this machine or of a metadata service.
    pub fn of_name(name: &str) -> Option<Self> {
        if is_loopback_name(name) {
            return Some(Self::Loopback);
        }
        METADATA_NAMES.contains(&name).then_some(Self::Metadata)
    }

    /// Whether the address is on the public internet. All others must be allowed explicitly.
    pub fn is_public(self) -> bool {
        self == Self::Public
    }

    /// Returns the name used in events.
    pub fn name(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Private => "private",
            Self::Shared => "shared",
            Self::Loopback => "loopback",
            Self::ThisMachine => "this-machine",
            Self::LinkLocal => "link-local",
            Self::UniqueLocal => "unique-local",
            Self::Multicast => "multicast",
            Self::Unspecified => "unspecified",
            Self::Metadata => "metadata",
            Self::Reserved => "reserved",
        }
    }

    /// Returns the class with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        let all = [
            Self::Public,
            Self::Private,
            Self::Shared,
            Self::Loopback,
            Self::ThisMachine,
            Self::LinkLocal,
            Self::UniqueLocal,
            Self::Multicast,
            Self::Unspecified,
            Self::Metadata,
            Self::Reserved,
        ];
        all.into_iter().find(|class| class.name() == name)
    }
}

impl fmt::Display for AddressClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Whether a name means this machine by definition (RFC 6761), without a query.
pub(crate) fn is_loopback_name(name: &str) -> bool {
    matches!(name, "localhost" | "localhost.localdomain" | "ip6-localhost" | "ip6-loopback")
        || name.ends_with(".localhost")
}

fn class_of_v4(address: Ipv4Addr) -> AddressClass {
    let octets = address.octets();
    match octets {
        _ if METADATA_V4.contains(&address) => AddressClass::Metadata,
        [0, 0, 0, 0] => AddressClass::Unspecified,
        [127, ..] => AddressClass::Loopback,
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => AddressClass::Private,
        [169, 254, ..] => AddressClass::LinkLocal,
        [100, 64..=127, ..] => AddressClass::Shared,
        [224..=239, ..] | [255, 255, 255, 255] => AddressClass::Multicast,
        // This network, protocol assignments, documentation, 6to4 relays, benchmarks, future use.
        [0 | 240..=255, ..]
        | [192, 0, 0 | 2, _]
        | [192, 88, 99, _]
        | [198, 18 | 19, ..]
        | [198, 51, 100, _]
        | [203, 0, 113, _] => AddressClass::Reserved,
        _ => AddressClass::Public,
    }
}

fn class_of_v6(address: Ipv6Addr) -> AddressClass {
    if METADATA_V6.contains(&address) {
        return AddressClass::Metadata;
    }
    if address.is_unspecified() {
        return AddressClass::Unspecified;
    }
    if address.is_loopback() {
        return AddressClass::Loopback;
    }
    if let Some(embedded) = embedded_v4(address) {
        return class_of_v4(embedded);
    }
    match address.segments() {
        [0xfe80..=0xfebf, ..] => AddressClass::LinkLocal,
        // Site-local addresses are deprecated but still private.
        [0xfec0..=0xfeff, ..] => AddressClass::Private,
        [0xfc00..=0xfdff, ..] => AddressClass::UniqueLocal,
        [0xff00..=0xffff, ..] => AddressClass::Multicast,
        // Protocol assignments (including Teredo tunnels) and documentation.
        [0x2001, 0..=0x01ff | 0x0db8, ..] | [0x3fff, 0..=0x0fff, ..] => AddressClass::Reserved,
        // Only this block contains global unicast addresses.
        [0x2000..=0x3fff, ..] => AddressClass::Public,
        _ => AddressClass::Reserved,
    }
}

/// Returns the IPv4 address that an IPv6 address stands for.
fn embedded_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let from = |high: u16, low: u16| Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low));
    match address.segments() {
        // IPv4-mapped, IPv4-compatible, IPv4-translated, NAT64, 6to4.
        [0, 0, 0, 0, 0, 0xffff | 0, high, low]
        | [0, 0, 0, 0, 0xffff, 0, high, low]
        | [0x0064, 0xff9b, 0, 0, 0, 0, high, low]
        | [0x2002, high, low, ..] => Some(from(high, low)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(text: &str) -> AddressClass {
        AddressClass::of(text.parse().unwrap())
    }

    #[test]
    fn every_special_network_has_its_class() {
        for (text, expected) in [
            ("8.8.8.8", AddressClass::Public),
            ("2606:4700::1111", AddressClass::Public),
            ("64:ff9b::808:808", AddressClass::Public),
            ("10.0.0.1", AddressClass::Private),
            ("172.31.255.255", AddressClass::Private),
            ("172.32.0.1", AddressClass::Public),
            ("192.168.0.1", AddressClass::Private),
            ("fec0::1", AddressClass::Private),
            ("100.64.0.1", AddressClass::Shared),
            ("100.127.255.255", AddressClass::Shared),
            ("100.128.0.1", AddressClass::Public),
            ("127.255.0.1", AddressClass::Loopback),
            ("::1", AddressClass::Loopback),
            ("169.254.0.1", AddressClass::LinkLocal),
            ("fe80::1", AddressClass::LinkLocal),
            ("fd12::1", AddressClass::UniqueLocal),
            ("224.0.0.1", AddressClass::Multicast),
            ("255.255.255.255", AddressClass::Multicast),
            ("ff02::1", AddressClass::Multicast),
            ("0.0.0.0", AddressClass::Unspecified),
            ("::", AddressClass::Unspecified),
            ("169.254.169.254", AddressClass::Metadata),
            ("fd00:ec2::254", AddressClass::Metadata),
            ("100.100.100.200", AddressClass::Metadata),
            ("0.1.2.3", AddressClass::Reserved),
            ("240.0.0.1", AddressClass::Reserved),
            ("192.0.2.1", AddressClass::Reserved),
            ("198.18.0.1", AddressClass::Reserved),
            ("203.0.113.1", AddressClass::Reserved),
            ("2001:db8::1", AddressClass::Reserved),
            ("2001:0:1::1", AddressClass::Reserved),
            ("100::1", AddressClass::Reserved),
            ("5f00::1", AddressClass::Reserved),
        ] {
            assert_eq!(class(text), expected, "{text}");
        }
    }

    #[test]
    fn an_embedded_address_has_the_class_of_the_address_inside() {
        for text in [
            "::ffff:127.0.0.1",
            "::127.0.0.1",
            "::ffff:0:127.0.0.1",
            "64:ff9b::127.0.0.1",
            "2002:7f00:1::",
            "2002:7f00:1:5::9",
        ] {
            assert_eq!(class(text), AddressClass::Loopback, "{text}");
        }
        for text in ["::ffff:a9fe:a9fe", "64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::1"] {
            assert_eq!(class(text), AddressClass::Metadata, "{text}");
        }
        assert_eq!(class("::ffff:8.8.8.8"), AddressClass::Public);
    }

    #[test]
    fn names_of_this_machine_and_of_metadata_services_are_known() {
        for name in ["localhost", "a.b.localhost", "ip6-loopback"] {
            assert_eq!(AddressClass::of_name(name), Some(AddressClass::Loopback), "{name}");
        }
        assert_eq!(AddressClass::of_name("metadata.google.internal"), Some(AddressClass::Metadata));
        assert_eq!(AddressClass::of_name("notlocalhost"), None);
        for class in ["public", "shared", "metadata", "reserved"] {
            assert_eq!(AddressClass::from_name(class).unwrap().name(), class);
        }
    }
}
