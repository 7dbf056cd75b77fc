#!/usr/bin/env bash
# Verifies signatures of Amidst with other tools: OpenSSL, Python's cryptography, securesystemslib, and verify.py. A
# tool that is not installed is skipped with a message.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

cargo build --locked --quiet "${tested[@]}" --bin amidst
amidst=$(readlink -f "${CARGO_TARGET_DIR:-target}/debug/amidst")
verify=$(readlink -f verify/verify.py)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place"

openssl genpkey -algorithm ed25519 -out key.pem 2>/dev/null || { echo "skipped: OpenSSL is not here, or has no Ed25519"; exit 0; }
chmod 600 key.pem
openssl pkey -in key.pem -pubout -out key.pub.pem
"$amidst" sample --rows 300 --seed 11 --out patients.csv --policy policy.toml --quiet
"$amidst" anonymize policy.toml --out release --quiet >/dev/null
"$amidst" sign release --key key.pem --quiet
"$amidst" verify release --signer key.pub.pem >/dev/null
[ "$(stat -c %a release/public/release.intoto.jsonl)" = 644 ]

python3 - <<'PYTHON'
import base64, json
e = json.loads(open("release/public/release.intoto.jsonl").read())
body, kind = base64.b64decode(e["payload"]), e["payloadType"].encode()
open("signed.bin", "wb").write(b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(body), body))
open("signature.bin", "wb").write(base64.b64decode(e["signatures"][0]["sig"]))
PYTHON
openssl pkeyutl -verify -pubin -inkey key.pub.pem -rawin -in signed.bin -sigfile signature.bin >/dev/null
echo "OpenSSL: the signature stands"
printf x >>signed.bin
if openssl pkeyutl -verify -pubin -inkey key.pub.pem -rawin -in signed.bin -sigfile signature.bin >/dev/null 2>&1; then
    echo "OpenSSL takes a signature of other bytes" >&2
    exit 1
fi

# The subjects are the files with their digests.
python3 - <<'PYTHON'
import base64, hashlib, json
e = json.loads(open("release/public/release.intoto.jsonl").read())
statement = json.loads(base64.b64decode(e["payload"]))
assert statement["_type"] == "https://in-toto.io/Statement/v1", statement["_type"]
for subject in statement["subject"]:
    data = open("release/public/" + subject["name"], "rb").read()
    assert hashlib.sha256(data).hexdigest() == subject["digest"]["sha256"], subject
assert statement["predicate"] == json.load(open("release/public/certificate.json"))
print(f"in-toto: {len(statement['subject'])} subjects are the files of the release")
PYTHON

if python3 -c 'import cryptography' 2>/dev/null; then
    python3 - <<'PYTHON'
import base64, json
from cryptography.hazmat.primitives.serialization import load_pem_public_key, load_ssh_public_key
e = json.loads(open("release/public/release.intoto.jsonl").read())
body, kind = base64.b64decode(e["payload"]), e["payloadType"].encode()
signed, signature = b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(body), body), e["signatures"][0]
load_pem_public_key(open("key.pub.pem", "rb").read()).verify(base64.b64decode(signature["sig"]), signed)
load_ssh_public_key(signature["keyid"].encode()).verify(base64.b64decode(signature["sig"]), signed)
print("cryptography: the signature stands")
PYTHON
else
    echo "skipped: Python's cryptography is not here"
fi

if python3 -c 'import securesystemslib, cryptography' 2>/dev/null; then
    python3 - <<'PYTHON'
import json
from cryptography.hazmat.primitives.serialization import load_pem_public_key
from securesystemslib.dsse import Envelope
from securesystemslib.signer import SSlibKey
e = json.loads(open("release/public/release.intoto.jsonl").read())
key = SSlibKey.from_crypto(load_pem_public_key(open("key.pub.pem", "rb").read()), keyid=e["signatures"][0]["keyid"])
assert Envelope.from_dict(e).verify([key], 1)
print("securesystemslib: the envelope stands")
PYTHON
else
    echo "skipped: securesystemslib is not here"
fi

if python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    python3 -B "$verify" release --signer key.pub.pem >/dev/null
    openssl genpkey -algorithm ed25519 -out other.pem
    openssl pkey -in other.pem -pubout -out other.pub.pem
    if python3 -B "$verify" release --signer other.pub.pem >/dev/null; then
        echo "verify.py takes another's key" >&2
        exit 1
    fi
    echo "verify.py: signed by the right key, and not by another"
fi
