#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# skipped-clients.sh CLIENTS
#
# CLIENTS is the output of `install-client.sh all`. Prints the nextest filter that skips the tests of all
# other clients in clients.txt, and names these clients on standard error.
set -eu

if [ $# -ne 1 ]; then
    echo "usage: skipped-clients.sh CLIENTS" >&2
    exit 64
fi
here=$(dirname "$0")
filter='none()'
for name in $(awk '/^[^#]/ { print $1 }' "$here/clients.txt"); do
    if printf '%s\n' "$1" | cut -f 1 | grep -qx -- "$name"; then
        continue
    fi
    echo "SKIPPED: $name was not run: it is not installed" >&2
    module=$(printf '%s' "$name" | tr - _)
    filter="$filter or test(/(^|_)$module(::|_|\$)/)"
    if [ -f "$here/tests/$module.rs" ]; then
        filter="$filter or binary($module)"
    fi
done
echo "not ($filter)"
