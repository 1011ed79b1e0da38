#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# install-shells.sh
#
# Installs zsh and bubblewrap, with which crates/shell is compared, unless they are installed or cannot be. The tests
# that need a missing one are skipped and say so.
set -u

missing=
for program in zsh bwrap; do
    command -v "$program" >/dev/null 2>&1 || missing="$missing $program"
done
[ -n "$missing" ] || exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    apt-get install -y --no-install-recommends zsh bubblewrap >/dev/null 2>&1 \
        || { apt-get update && apt-get install -y --no-install-recommends zsh bubblewrap; } >/dev/null 2>&1
fi
for program in $missing; do
    command -v "$program" >/dev/null 2>&1 || echo "warning: $program is not installed, the shell parser is not compared with it" >&2
done
