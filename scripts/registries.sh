#!/usr/bin/env bash
# Tests that an addition to a registry is one file and two lines: adds a model, an algorithm, a metric, an attack and a
# hierarchy builder, each a copy of an existing one, to a scratch copy of the core, compiles it, and compares its
# folders with its registries.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch/crates"
cp -r crates/amidst-core crates/amidst-testkit "$scratch/crates/"
cp Cargo.lock rustfmt.toml clippy.toml "$scratch/"
# The workspace with the core alone; packages that only other crates need stay unused in the lock file.
python3 - "$scratch" <<'EOF'
import re, sys
text = open("Cargo.toml", encoding="utf-8").read()
for list in ("members", "default-members"):
    text = re.sub(rf"^{list} = \[.*?^\]", f'{list} = ["crates/amidst-core", "crates/amidst-testkit"]', text, flags=re.S | re.M)
text = re.sub(r"^amidst[a-z-]* = \{ path = .*\n", lambda m: m[0] if m[0].startswith(("amidst-core ", "amidst-testkit ")) else "", text, flags=re.M)
open(sys.argv[1] + "/Cargo.toml", "w", encoding="utf-8").write(text)
EOF

cd "$scratch/crates/amidst-core/src"
# add FOLDER MODULE ID CONSTANT: copies the module, gives the copy another id, and adds the two lines.
add() {
    local folder=$1 module=$2 id=$3 constant=$4
    sed "s/^    id: \"$id\",/    id: \"added-here\",/; /_95: Entry = Entry {/,/^};/d" "$folder/$module.rs" >"$folder/added_here.rs"
    [ ! -d "$folder/$module" ] || cp -r "$folder/$module" "$folder/added_here"
    cp "$folder/mod.rs" "$scratch/before.rs"
    sed -i "s/^mod $module;/mod added_here;\n&/; s/^    $module::$constant,/    added_here::$constant,\n&/" "$folder/mod.rs"
    local added
    added=$(diff "$scratch/before.rs" "$folder/mod.rs" | grep -c '^>' || true)
    [ "$added" = 2 ] || { echo "adding to $folder takes $added lines in mod.rs, not two" >&2; exit 1; }
}
add model k_anonymity k-anonymity ENTRY
add algorithm incognito incognito ENTRY
add metric gcp gcp ENTRY
add attack homogeneity homogeneity ENTRY
add hierarchy/builder suppress suppress BUILDER

cd "$scratch"
# Only compiling and registration are tested; optimizing would take most of the time.
CARGO_PROFILE_DEV_OPT_LEVEL=0 cargo test --quiet --offline -p amidst-core --test registry
echo "a model, an algorithm, a metric, an attack and a builder were added, each by one file and two lines"
