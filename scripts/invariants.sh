#!/usr/bin/env bash
# Checks the invariants of ARCHITECTURE.md that can be checked from the source.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
failed=0
fail() { echo "invariant broken: $1" >&2; failed=1; }

# The dependencies of a crate in the default build, without those of tests.
tree() { cargo tree --locked --quiet --package "$1" --edges normal --prefix none | cut -d' ' -f1 | sort -u; }

core=$(tree amidst-core)
for banned in arrow arrow-array parquet tokio csv amidst-io amidst amidst-check; do
    grep -qx "$banned" <<<"$core" && fail "amidst-core depends on $banned"
done
grep -qx amidst-core <<<"$(tree amidst-check)" && fail "amidst-check depends on amidst-core"
grep -qx amidst-io <<<"$(tree amidst-check)" && fail "amidst-check depends on amidst-io"

# Tests may read shared data and print that they skip it.
if grep -rnE 'std::(fs|net|process)|File::open|println!|eprintln!|process::exit' --exclude=tests.rs crates/amidst-core/src; then
    fail "amidst-core touches files, network, processes or the terminal"
fi
if grep -rnE 'println!|process::exit' --exclude=tests.rs crates/{amidst,amidst-io,amidst-check}/src | grep -v '"skipped'; then
    fail "library code prints or exits"
fi
# The second checker stays one readable file that needs only Python's standard library.
[ "$(wc -l <verify/verify.py)" -lt 600 ] || fail "verify/verify.py has 600 lines or more"
if grep -nE '^(import|from) ' verify/verify.py | grep -vE 'import (base64, csv, datetime, hashlib, io, json, math, os, re, sys|tomllib)$' |
    grep -vE 'from (collections|decimal|fractions|itertools) import'; then
    fail "verify/verify.py imports more than the standard library's few modules"
fi
python3 scripts/invariants.py --self-test || failed=1
python3 scripts/invariants.py || failed=1
python3 scripts/reference.py || failed=1
python3 scripts/spelling.py || failed=1
exit $failed
