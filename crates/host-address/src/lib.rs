// SPDX-License-Identifier: Apache-2.0 OR MIT

//! IPv4 addresses in every spelling that the C library accepts.
//!
//! Rules judge the address that a command names, and the proxy judges the address that a program names. Both use this
//! parser, so that they always mean the same address.

use std::net::Ipv4Addr;

/// Parses an IPv4 address as `inet_aton` does: one to four numbers (decimal, `0x…`, `0…` octal), of which the last one
/// fills the remaining bytes. Letters must be in lower case.
pub fn parse_ipv4(text: &str) -> Option<Ipv4Addr> {
    let mut parts = text.split('.').map(parse_number).collect::<Option<Vec<u64>>>()?;
    let last = parts.pop()?;
    if parts.len() > 3 || parts.iter().any(|part| *part > 255) {
        return None;
    }
    let high = parts.iter().fold(0u64, |value, part| value << 8 | part);
    let free_bits = 8 * (4 - parts.len());
    (last < 1 << free_bits).then_some(())?;
    u32::try_from(high << free_bits | last).ok().map(Ipv4Addr::from_bits)
}

fn parse_number(part: &str) -> Option<u64> {
    let (digits, radix) = match part.strip_prefix("0x") {
        Some("") => return Some(0),
        Some(digits) => (digits, 16),
        None if part.len() > 1 && part.starts_with('0') => (part, 8),
        None => (part, 10),
    };
    digits.chars().all(|c| c.is_digit(radix)).then(|| u64::from_str_radix(digits, radix).ok())?
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_spelling_of_an_address_is_the_address() {
        for text in [
            "127.0.0.1",
            "127.1",
            "127.0.1",
            "0x7f.1",
            "0x7f000001",
            "2130706433",
            "0177.0.0.1",
            "017700000001",
        ] {
            assert_eq!(parse_ipv4(text), Some(Ipv4Addr::LOCALHOST), "{text}");
        }
        assert_eq!(parse_ipv4("169.254.43518"), Some(Ipv4Addr::new(169, 254, 169, 254)));
        for text in
            ["", ".", "1.2.3.4.5", "256.1", "1.2.3.256", "4294967296", "08.1", "1..2", "+1", "localhost"]
        {
            assert_eq!(parse_ipv4(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn four_decimal_numbers_are_read_as_the_standard_library_does(bits: u32) {
            let address = Ipv4Addr::from_bits(bits);
            prop_assert_eq!(parse_ipv4(&address.to_string()), Some(address));
            prop_assert_eq!(parse_ipv4(&bits.to_string()), Some(address));
        }
    }
}
