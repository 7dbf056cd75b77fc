#!/usr/bin/env bash
# Tests the studio in a browser: builds the command and runs crates/amidst-studio/e2e in Chromium. Arguments are passed
# on.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

for name in chromium chromium-browser google-chrome; do
    browser=$(command -v "$name") && break
done
[ -n "${browser:-}" ] || { echo "skipped: Chromium is not here, so the studio is not looked at in a browser"; exit 0; }
command -v npm >/dev/null && node -e 'process.exit(process.versions.node.split(".")[0] < 20 ? 1 : 0)' ||
    { echo "skipped: the studio's tests need npm and Node 20 or newer"; exit 0; }

packages=$CARGO_TARGET_DIR/studio-e2e
mkdir -p "$packages"
[ -d "$packages/node_modules/playwright-core" ] && [ -d "$packages/node_modules/axe-core" ] ||
    npm install --prefix "$packages" --no-audit --no-fund --silent playwright-core@1 axe-core@4 ||
    { echo "skipped: the packages of the studio's tests could not be installed"; exit 0; }

[ -n "${AMIDST:-}" ] || { cargo build --locked --quiet "${tested[@]}" --bin amidst && AMIDST=$CARGO_TARGET_DIR/debug/amidst; }
export STUDIO_PACKAGES=$packages AMIDST CHROMIUM=$browser
cd crates/amidst-studio/e2e
if [ "${1:-}" = bench.mjs ]; then exec node bench.mjs; fi
exec node --test --test-concurrency=1 "$@"
