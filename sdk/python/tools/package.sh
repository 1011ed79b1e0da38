#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# package.sh BIN: builds wheel and source archive, installs each into an empty environment in an empty directory and
# blocks a tool call there. BIN is the directory of the Python with `build`. TENTERHOOK_BIN names the program.
set -eu

if [ $# -ne 1 ]; then
    echo "usage: package.sh BIN" >&2
    exit 64
fi
: "${TENTERHOOK_BIN:?names no program: run \`make sdk-python\`}"
python=$1/python
sdk=$(cd "$(dirname "$0")/.." && pwd)
room=$(mktemp -d "${TMPDIR:-/tmp}/th-package.XXXXXX")
daemon=
cleanup() {
    if [ -n "$daemon" ]; then
        kill "$daemon"
        wait "$daemon" || true
    fi
    rm -rf "$room"
}
trap cleanup EXIT

"$python" -m build --outdir "$room/dist" "$sdk" >"$room/build.log" 2>&1 || {
    cat "$room/build.log" >&2
    exit 1
}

mkdir -m 700 "$room/home" "$room/user"
env -i PATH="$PATH" HOME="$room/user" TENTERHOOK_HOME="$room/home" \
    "$TENTERHOOK_BIN" serve --listen none >"$room/serve.log" 2>&1 &
daemon=$!
until [ -S "$room/home/run/tenterhook.sock" ]; do
    kill -0 "$daemon" || { cat "$room/serve.log" >&2; exit 1; }
    sleep 0.05
done

for archive in "$room"/dist/*.whl "$room"/dist/*.tar.gz; do
    empty=$room/$(basename "$archive").try
    mkdir "$empty"
    cd "$empty"
    "$python" -m venv venv
    venv/bin/pip install --quiet --disable-pip-version-check "$archive"
    cp "$sdk/tools/smoke.py" .
    env -i PATH="$PATH" HOME="$room/user" TENTERHOOK_HOME="$room/home" venv/bin/python smoke.py
done
echo "packages install and work: $(cd "$room/dist" && echo *)"
