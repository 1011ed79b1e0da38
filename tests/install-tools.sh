#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# install-tools.sh: installs the programs that tests need from Debian packages, and prints what it installs.
# If a program cannot be installed, the tests that need it are skipped and listed at the end of `make test`.
# install-tools.sh PROGRAM...: installs only these programs, and fails if one cannot be installed.
set -u

# Prints the name of the package that contains a program.
package_of() {
    case $1 in
    bwrap) echo bubblewrap ;;
    *) echo "$1" ;;
    esac
}

missing_of() {
    for program in "$@"; do
        command -v "$program" >/dev/null 2>&1 || printf '%s ' "$program"
    done
}

required=yes
if [ $# = 0 ]; then
    required=
    set -- tmux zsh fish bwrap openssl pre-commit
    command -v chromium-browser >/dev/null 2>&1 || command -v google-chrome >/dev/null 2>&1 || set -- "$@" chromium
fi
missing=$(missing_of "$@")
[ -n "$missing" ] || exit 0

packages=
for program in $missing; do
    packages="$packages $(package_of "$program")"
done
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "installing packages of Debian that tests need:$packages" >&2
    # shellcheck disable=SC2086 # A list of names.
    apt-get install -y --no-install-recommends $packages >/dev/null 2>&1 \
        || { apt-get update && apt-get install -y --no-install-recommends $packages; } >/dev/null 2>&1
fi
missing=$(missing_of "$@")
[ -n "$missing" ] || exit 0
echo "warning: not installed: ${missing% }; install them with: sudo apt-get install$packages" >&2
[ -z "$required" ]
