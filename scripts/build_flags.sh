# Sourced by what builds for others: builds of the same source in different folders give the same bytes. The binary must not
# contain paths of the machine, nor depend on the order in which threads finish. Expects the working directory to be the
# clone, and CARGO_TARGET_DIR to be set.
export CARGO_INCREMENTAL=0
export RUSTFLAGS="--remap-path-prefix=$PWD=/amidst --remap-path-prefix=$CARGO_TARGET_DIR=/target --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo"
# The bundled C library is compiled with paths, too.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
export CFLAGS="-ffile-prefix-map=$CARGO_TARGET_DIR=/target -ffile-prefix-map=${CARGO_HOME:-$HOME/.cargo}=/cargo"
