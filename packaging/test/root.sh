#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# root.sh DIR: creates a minimal Debian root file system in DIR, unless it exists. It has no Rust and no
# compiler. It has Python with pip, OpenSSL, minisign, and Node with npm copied from this machine. Needs root,
# debootstrap and a Debian mirror.
set -eu

if [ $# -ne 1 ]; then
    echo "usage: root.sh DIR" >&2
    exit 64
fi
root=$1
if [ -f "$root/.complete" ]; then
    exit 0
fi
if [ "$(id -u)" != 0 ]; then
    echo "root.sh: debootstrap and chroot need root" >&2
    exit 1
fi
if ! command -v debootstrap >/dev/null 2>&1; then
    apt-get install -y --no-install-recommends debootstrap >/dev/null
fi
# debootstrap leaves no mounts behind. If something is mounted nevertheless, `--one-file-system` keeps its
# files from being deleted.
rm -rf --one-file-system "$root"
mkdir -p "$root"
debootstrap --variant=minbase --include=python3,python3-pip,python3-venv,openssl,minisign,wget,busybox-static,libstdc++6,libatomic1 \
    bookworm "$root" "${DEBIAN_MIRROR:-http://deb.debian.org/debian}" >"$root.log" 2>&1 || {
    tail -n 20 "$root.log" >&2
    exit 1
}
rm -rf "$root"/var/cache/apt/archives/*.deb "$root"/var/lib/apt/lists/*
if command -v node >/dev/null 2>&1 && command -v npm >/dev/null 2>&1; then
    cp "$(readlink -f "$(command -v node)")" "$root/usr/local/bin/node"
    npm=$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")
    mkdir -p "$root/usr/local/lib/node_modules"
    cp -a "$npm" "$root/usr/local/lib/node_modules/npm"
    for name in npm npx; do ln -sf "../lib/node_modules/npm/bin/$name-cli.js" "$root/usr/local/bin/$name"; done
fi
chroot "$root" useradd --create-home --shell /bin/bash user
touch "$root/.complete"
