#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# install-bubblewrap.sh
#
# Installs bubblewrap, in which clients see settings of a machine that the host does not have. Fails if it is neither
# installed nor installable, because a test of a guard that does not run looks like one that passed.
set -u

if command -v bwrap >/dev/null 2>&1; then
    exit 0
fi
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    apt-get install -y --no-install-recommends bubblewrap >/dev/null 2>&1 \
        || { apt-get update && apt-get install -y --no-install-recommends bubblewrap; } >/dev/null 2>&1
fi
command -v bwrap >/dev/null 2>&1 && exit 0
echo "bubblewrap (\`bwrap\`) is not installed: install it with the system's package manager" >&2
exit 1
