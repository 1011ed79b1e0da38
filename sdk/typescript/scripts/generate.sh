#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# generate.sh [--check]: writes src/generated from ../../proto, or fails when it is stale.
set -eu
cd "$(dirname "$0")/.."
PATH="$PWD/node_modules/.bin:$PATH"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

buf generate "${PROTO:-../../proto}" --template "$(cat <<END
version: v2
plugins:
  - local: protoc-gen-ts_proto
    out: $out
    opt:
      - outputServices=grpc-js
      - comments=false
      - outputJsonMethods=false
      - outputPartialMethods=false
      - importSuffix=.js
      - oneof=unions
      - forceLong=number
      - env=node
      - useExactTypes=false
      - unrecognizedEnum=false
END
)"
for file in "$out"/tenterhook/v1/*.ts; do
    # The version of the compiler does not affect the result.
    { echo "// SPDX-License-Identifier: Apache-2.0 OR MIT"; grep -v '^//   protoc ' "$file"; } > "$file.new"
    mv "$file.new" "$file"
done

if [ "${1:-}" = --check ]; then
    diff -r "$out" src/generated || { echo "src/generated is stale: npm run generate" >&2; exit 1; }
else
    rm -rf src/generated
    cp -R "$out" src/generated
fi
