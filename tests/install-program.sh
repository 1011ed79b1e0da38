#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# install-program.sh PROGRAM PACKAGE CONSEQUENCE: installs a program that tests need from a package of Debian, unless it is
# installed. If it cannot be installed, prints the consequence; the tests that need it are skipped.
# install-program.sh --required PROGRAM PACKAGE: the same, but fails. A skipped test of a guard looks like a passed one.
set -u

required=
if [ "${1:-}" = --required ]; then
    required=yes
    shift
fi
program=$1
package=$2
if command -v "$program" >/dev/null 2>&1; then
    exit 0
fi
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    apt-get install -y --no-install-recommends "$package" >/dev/null 2>&1 \
        || { apt-get update && apt-get install -y --no-install-recommends "$package"; } >/dev/null 2>&1
fi
if command -v "$program" >/dev/null 2>&1; then
    exit 0
fi
if [ -n "$required" ]; then
    echo "$program is not installed: install the package $package" >&2
    exit 1
fi
echo "warning: $program is not installed and could not be: $3" >&2
