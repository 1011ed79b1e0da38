#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# install-llxprt.sh COMMIT BUN_VERSION TARGET
#
# LLxprt Code is not on npm. This script unpacks COMMIT of the git repository in the directory LLXPRT_SOURCE
# (bare or not) and installs its dependencies and Bun from npm. It writes TARGET/bin/llxprt, which runs the
# program from its source, and TARGET/commit.
set -eu

if [ $# -ne 3 ]; then
    echo "usage: install-llxprt.sh COMMIT BUN_VERSION TARGET" >&2
    exit 64
fi
commit=$1 bun=$2 target=$3

say() {
    echo "install-llxprt.sh: $*" >&2
}

if [ -z "${LLXPRT_SOURCE:-}" ]; then
    say "LLXPRT_SOURCE is not set; it names a directory with a clone of vybestack/llxprt-code"
    exit 69
fi
if ! git -C "$LLXPRT_SOURCE" cat-file -e "$commit^{commit}" 2>/dev/null; then
    say "\`$LLXPRT_SOURCE\` has no commit $commit of vybestack/llxprt-code"
    exit 65
fi
case $(uname -s)-$(uname -m) in
    Linux-x86_64) bun_package=@oven/bun-linux-x64 ;;
    Linux-aarch64) bun_package=@oven/bun-linux-aarch64 ;;
    Darwin-arm64) bun_package=@oven/bun-darwin-aarch64 ;;
    Darwin-x86_64) bun_package=@oven/bun-darwin-x64 ;;
    *) say "no Bun for $(uname -s) $(uname -m)" && exit 69 ;;
esac

say "installing LLxprt Code at $commit into $target"
# The client is installed in another directory and moved into place, so an interrupted installation never
# looks like an installed client.
partial=$(mktemp -d "$target.XXXXXX")
trap 'rm -rf "$partial"' EXIT
mkdir "$partial/source" "$partial/bin"
# The directory project-plans is not needed, and a partial clone may lack some of its files.
git -C "$LLXPRT_SOURCE" ls-tree --name-only "$commit" | grep -v '^project-plans$' >"$partial/entries"
# Names at the root of that repository have no blanks.
# shellcheck disable=SC2046 # a list of names
git -C "$LLXPRT_SOURCE" archive --output="$partial/source.tar" "$commit" -- $(cat "$partial/entries")
tar -xf "$partial/source.tar" -C "$partial/source"
rm "$partial/source.tar" "$partial/entries"
# The package declares a Node.js version for its own build scripts; the program itself runs on Bun.
(cd "$partial/source" &&
    npm ci --ignore-scripts --no-audit --no-fund --engine-strict=false --loglevel=error)
npm install --prefix "$partial" --no-save --no-package-lock --no-audit --no-fund --loglevel=error \
    "$bun_package@$bun"
(cd "$partial/source" && "$partial/node_modules/$bun_package/bin/bun" scripts/generate_prompt_manifest.ts)
cat >"$partial/bin/llxprt" <<END_OF_RUNNER
#!/bin/sh
here=\$(dirname "\$0")/..
exec "\$here/node_modules/$bun_package/bin/bun" "\$here/source/packages/cli/index.ts" "\$@"
END_OF_RUNNER
echo "$commit" >"$partial/commit"
chmod 755 "$partial/bin/llxprt" "$partial"
rm -rf "$target"
mv "$partial" "$target"
trap - EXIT
