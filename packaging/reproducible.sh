#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# reproducible.sh: builds the last commit twice, in two directories with names of different length, makes the packages
# of both and compares every file. Takes two full release builds. DIST_TARGETS as for dist.sh.
set -eu

repository=$(cd "$(dirname "$0")/.." && pwd -P)
target_dir=${CARGO_TARGET_DIR:-$repository/target}
work=$target_dir/reproducible
key=${TENTERHOOK_SIGNING_KEY:-$target_dir/dist-key/throw-away.key}
python3 "$repository/packaging/assemble" key "$key" >/dev/null
unset CARGO_TARGET_DIR

for name in a second-directory; do
    rm -rf "${work:?}/$name"
    git clone --quiet --no-hardlinks "$repository" "$work/$name"
    # The dashboard is built once: what is compared is the program around it and the packages.
    if [ -f "$repository/web/dist/index.html" ]; then
        rm -rf "$work/$name/web/dist"
        cp -R "$repository/web/dist" "$work/$name/web/dist"
    fi
    (cd "$work/$name" && TENTERHOOK_SIGNING_KEY=$key sh packaging/dist.sh >"$work/$name.log" 2>&1) || {
        tail -n 20 "$work/$name.log" >&2
        exit 1
    }
done
# Ed25519 signatures are deterministic, so even they are equal.
if diff -r "$work/a/target/packages" "$work/second-directory/target/packages"; then
    echo "reproducible: $(ls "$work/a/target/packages" | wc -l) files are equal in both builds"
    cat "$work/a/target/packages/SHA256SUMS"
else
    echo "reproducible: the builds differ" >&2
    exit 1
fi
