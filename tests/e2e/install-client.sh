#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# install-client.sh NAME VERSION CACHE_DIR
#
# Installs a client named in clients.txt into CACHE_DIR/NAME-VERSION, unless it is there already, and
# prints the path of its executable. VERSION may be `pinned`: the version that clients.txt says.
set -eu

if [ $# -ne 3 ]; then
    echo "usage: install-client.sh NAME VERSION CACHE_DIR" >&2
    exit 64
fi
name=$1 version=$2 cache=$3
list=$(dirname "$0")/clients.txt

# Fields are separated by blanks; a comment's first field is never a name.
row=$(awk -v name="$name" '$1 == name { print $2, $3, $4; exit }' "$list")
if [ -z "$row" ]; then
    echo "install-client.sh: no client \`$name\` in $list" >&2
    exit 65
fi
read -r package pinned executable <<END
$row
END
if [ "$version" = pinned ]; then
    version=$pinned
fi

mkdir -p "$cache"
cache=$(cd "$cache" && pwd)
target=$cache/$name-$version
path=$target/node_modules/.bin/$executable

if [ ! -x "$path" ]; then
    # Installed beside and moved into place: a cut-off download never looks like a client.
    partial=$(mktemp -d "$target.XXXXXX")
    trap 'rm -rf "$partial"' EXIT
    # The client is a native binary; the version of node that npm runs on does not matter to it.
    npm install --prefix "$partial" --no-save --no-package-lock --no-audit --no-fund \
        --engine-strict=false --loglevel=error "$package@$version" >&2
    rm -rf "$target"
    chmod 755 "$partial"
    mv "$partial" "$target"
    trap - EXIT
fi

if [ ! -x "$path" ]; then
    echo "install-client.sh: $package@$version has no executable \`$executable\`" >&2
    exit 1
fi
echo "$path"
