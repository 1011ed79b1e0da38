#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# run.sh CACHE_DIR: runs the real Claude Agent SDK with this package, against a scripted model. `make sdk-typescript-e2e` sets
# TENTERHOOK_BIN, TENTERHOOK_E2E_MODEL_SERVER and TENTERHOOK_E2E_CLAUDE.
set -eu
cache=$1
cd "$(dirname "$0")"
version=$(cat agent-sdk-version)
mkdir -p "$cache"
TENTERHOOK_AGENT_SDK=$(cd "$cache" && pwd)/claude-agent-sdk-$version
export TENTERHOOK_AGENT_SDK
temporary=
trap 'rm -rf $temporary' EXIT

if [ ! -d "$TENTERHOOK_AGENT_SDK" ]; then
    # Installed elsewhere and moved into place: an interrupted download never looks complete.
    partial=$(mktemp -d "$TENTERHOOK_AGENT_SDK.XXXXXX")
    temporary="$temporary $partial"
    # The program inside is Claude Code, which is installed already.
    npm install --prefix "$partial" --no-save --no-package-lock --no-audit --no-fund --omit=optional \
        --loglevel=error "@anthropic-ai/claude-agent-sdk@$version" >&2
    chmod 755 "$partial"
    mv "$partial" "$TENTERHOOK_AGENT_SDK"
fi

# The Agent SDK's own types are part of the test; they are not in this package's node_modules. Here, so that the compiler
# finds the rest.
types=$(mktemp -d ./types.XXXXXX)
temporary="$temporary $types"
node guide-blocks.mjs "$types"
cat > "$types/tsconfig.json" <<END
{
  "extends": "../../tsconfig.json",
  "compilerOptions": {
    "paths": {
      "tenterhook": ["../../src/index.ts"],
      "@anthropic-ai/claude-agent-sdk": ["$TENTERHOOK_AGENT_SDK/node_modules/@anthropic-ai/claude-agent-sdk/sdk.d.ts"]
    }
  },
  "include": ["*.ts", "../*.ts", "../../examples"],
  "exclude": []
}
END
../node_modules/.bin/tsc -p "$types"
../node_modules/.bin/vitest run --root .. --config e2e/vitest.config.ts
