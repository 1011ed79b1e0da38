// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Tests of words in the names of tools.

use super::*;

#[test]
fn names_are_split_in_every_spelling() {
    for (name, expected) in [
        ("delete_many", "delete many"),
        ("zones_delete", "zone delete"),
        ("deleteResource", "delete resource"),
        ("TerminateInstances", "terminate instance"),
        ("DeleteDBInstance", "delete db instance"),
        ("remove-volume", "remove volume"),
        ("repositories.delete", "repository delete"),
        ("delete_branches", "delete branch"),
        ("get_s3_status", "get s3 status"),
        ("", ""),
    ] {
        assert_eq!(split_words(name).join(" "), expected, "{name}");
    }
}
