#!/usr/bin/env python3
"""Checks that opened rows are in the table that a certificate of Amidst commits to, with nothing but Python.

    python3 opening.py CERTIFICATE.json OPENING.json

The scheme is in docs/commitment.md. The certificate's digest is computed again: one that was altered is not the one that was
opened. It says nothing about whether the release covers the rows, nor about the release; `amidst verify --opening` does.
Exit codes: 0 every row is in the table, 1 one is not, 2 the files could not be looked at, 3 the machine failed."""
import hashlib, json, re, sys

SCHEME = "amidst-rows-1"


def text(value):
    return len(value.encode()).to_bytes(8, "big") + value.encode()


def digest(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def block(value):
    if not re.fullmatch("[0-9a-f]{64}", value):
        raise ValueError("no digest")
    return bytes.fromhex(value)


def climb(node, index, size, path):
    """The top of a tree of `size` leaves, from the leaf at `index` and the digests beside its way."""
    if size == 1:
        if path:
            raise ValueError("the path is too long")
        return node
    left = 1 << (size - 1).bit_length() - 1
    *below, beside = path
    if index < left:
        return digest(b"\x01", climb(node, index, left, below), beside)
    return digest(b"\x01", beside, climb(node, index - left, size - left, below))


def is_count(value):
    return type(value) is int and 0 <= value < 2 ** 64


def is_texts(value):
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def is_row(row):
    """Whether an opened row has its keys, each of its type. Which labels cover it is not looked at."""
    return (isinstance(row, dict) and row.keys() - {"labels"} == {"leaf", "cells", "salt", "path"} and is_count(row["leaf"])
            and is_texts(row["cells"]) and isinstance(row["salt"], str) and is_texts(row["path"]))


def member(commitment, row):
    """Whether an opened row is in the committed table."""
    rows, columns, index = commitment["rows"], commitment["columns"], row["leaf"]
    if index >= rows or len(row["cells"]) != len(columns):
        return False
    try:
        leaf = digest(b"\x00", block(row["salt"]), index.to_bytes(8, "big"), *map(text, row["cells"]))
        top = climb(leaf, index, rows, [block(beside) for beside in row["path"]])
        names = b"".join(map(text, columns))
        root = digest(b"\x02", text(SCHEME), rows.to_bytes(8, "big"), len(columns).to_bytes(8, "big"), names, top)
        return root == block(commitment["root"])
    except ValueError:
        return False


def once(pairs):
    """An object of JSON without a key twice, which readers take differently."""
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a key is there twice")
    return dict(pairs)


def read(path):
    with open(path, "rb") as file:
        written = file.read().decode("utf-8")
    return json.loads(written, object_pairs_hook=once), written


def sealed(written):
    """The digest of a certificate: of its text without white space between tokens, up to the comma before its last key."""
    packed = re.sub(r'("(?:[^"\\]|\\.)*"?)|[ \t\r\n]+', r"\1", written)
    return hashlib.sha256(packed.rpartition(',"digest":"')[0].encode()).hexdigest()


def main(arguments):
    try:
        if len(arguments) != 2:
            raise ValueError("name a certificate and an opening: opening.py CERTIFICATE.json OPENING.json")
        (certificate, written), (opening, _) = map(read, arguments)
        commitment, rows = certificate["commitment"], opening["rows"]
        sound = is_count(commitment["rows"]) and is_texts(commitment["columns"]) and isinstance(commitment["root"], str)
        if not sound or not isinstance(rows, list) or not all(map(is_row, rows)) or opening.keys() != {"scheme", "certificate", "rows"}:
            raise ValueError("this is no certificate with a commitment, or no opening")
        ours = SCHEME == commitment["scheme"] == opening["scheme"] and opening["certificate"] == certificate["digest"]
        altered = sealed(written) != certificate["digest"]
    except (FileNotFoundError, IsADirectoryError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as problem:
        print(f"there is nothing to look at: {problem!r}", file=sys.stderr)
        return 2
    except (OSError, MemoryError) as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 3
    if altered or not ours:
        print("the certificate does not have the digest that it states: it was altered" if altered else
              "the opening is of another certificate, or follows another scheme")
        return 1
    leaves = [row["leaf"] for row in rows]
    wrong = [at for at, row in enumerate(rows, 1) if not member(commitment, row)]
    if wrong or not rows or leaves != sorted(set(leaves)):
        print(f"opened rows {wrong} are not in the table that the certificate commits to" if wrong else
              "the opening shows a row twice, or none, or not in their order")
        return 1
    print(f"all {len(rows)} opened rows are in the table that the certificate commits to")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
