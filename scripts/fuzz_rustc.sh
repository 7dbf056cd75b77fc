#!/usr/bin/env bash
# The compiler for scripts/fuzz.sh: rustc, with $AMIDST_COVERAGE for the crates that read what others wrote.
#
# libFuzzer looks at all counters of a program after every input, so what only computes is left without: the kernels of Arrow,
# numbers, dates, the runtime of the server. What is generic there is instrumented where it is used.
readers=" parquet arrow_ipc arrow_data arrow_buffer arrow_schema flatbuffers calamine quick_xml zip zlib_rs flate2 lz4_flex snap
 toml toml_parser toml_edit winnow serde_json encoding_rs chardetng simdutf8 fast_float2 atoi_simd csv_core base64 ssh_key
 ssh_encoding der pem_rfc7468 pkcs8 sec1 spki hyper httparse http form_urlencoded percent_encoding "
crate='' before=''
for argument in "$@"; do
    [ "$before" != --crate-name ] || crate=$argument
    before=$argument
done
# Programs that run while others are built are not linked with libFuzzer: they have no target.
case "$crate $*" in
    *" --target "*)
        read -ra coverage <<<"$AMIDST_COVERAGE"
        if [[ $crate == amidst* || "${readers//$'\n'/ }" == *" $crate "* ]]; then
            exec "$@" "${coverage[@]}"
        fi ;;
esac
exec "$@"
