#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# reproducible.sh: builds the last commit in a second directory whose name has a different length, makes the
# packages and compares every file with target/packages. If target/packages does not belong to the last
# commit, these packages are built first, in a clone too. DIST_TARGETS has the same meaning as for dist.sh.
set -eu

repository=$(cd "$(dirname "$0")/.." && pwd -P)
target_dir=${CARGO_TARGET_DIR:-$repository/target}
work=$target_dir/reproducible
key=${TENTERHOOK_SIGNING_KEY:-$target_dir/dist-key/throw-away.key}
kind=${TENTERHOOK_SIGNING_KEY:+release}
python3 "$repository/packaging/assemble" key "$key" >/dev/null
commit=$(git -C "$repository" rev-parse HEAD)
unset CARGO_TARGET_DIR

# build NAME: clones the last commit and makes its packages in $work/NAME/target/packages.
build() {
    rm -rf "${work:?}/$1"
    git clone --quiet --no-hardlinks "$repository" "$work/$1"
    # The dashboard is built once. Only the program and the packages are compared.
    for folder in web/dist web/node_modules sdk/typescript/node_modules; do
        if [ -d "$repository/$folder" ]; then
            rm -rf "${work:?}/$1/$folder"
            cp -R "$repository/$folder" "$work/$1/$folder"
        fi
    done
    (
        cd "$work/$1"
        if [ -z "$kind" ]; then
            # dist.sh recognises a temporary key only at this path, so the key is copied there.
            mkdir -p target/dist-key
            cp "$key" "${key%.key}.pub" target/dist-key/
        fi
        sh packaging/dist.sh >"$work/$1.log" 2>&1
    ) || {
        tail -n 20 "$work/$1.log" >&2
        exit 1
    }
}

first=$target_dir/packages
if ! grep -q "\"commit\": \"$commit\"" "$first/manifest.json" 2>/dev/null; then
    echo "reproducible: target/packages is not of commit $commit, building it first"
    build a
    first=$work/a/target/packages
fi
build second-directory
# Ed25519 signatures are deterministic, so the signatures are equal too.
if diff -r "$first" "$work/second-directory/target/packages"; then
    echo "reproducible: $(ls "$first" | wc -l) files are equal in both builds"
    cat "$first/SHA256SUMS"
else
    echo "reproducible: the builds differ" >&2
    exit 1
fi
