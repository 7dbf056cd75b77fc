#!/usr/bin/env python3
"""Checks that opened rows are in the table that a certificate of Amidst commits to, with nothing but Python.

    python3 opening.py CERTIFICATE.json OPENING.json

The scheme is in docs/commitment.md. It says nothing about whether the release covers the rows; `amidst verify --opening` does.
Exit codes: 0 every row is in the table, 1 one is not, 2 the files could not be looked at."""
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


def member(commitment, row):
    """Whether an opened row is in the committed table."""
    try:
        rows, columns, index = commitment["rows"], commitment["columns"], row["leaf"]
        if not 0 <= index < rows or len(row["cells"]) != len(columns):
            return False
        leaf = digest(b"\x00", block(row["salt"]), index.to_bytes(8, "big"), *map(text, row["cells"]))
        top = climb(leaf, index, rows, [block(beside) for beside in row["path"]])
        names = b"".join(map(text, columns))
        root = digest(b"\x02", text(SCHEME), rows.to_bytes(8, "big"), len(columns).to_bytes(8, "big"), names, top)
        return root == block(commitment["root"])
    except (ValueError, TypeError, OverflowError):
        return False


def main():
    try:
        with open(sys.argv[1]) as certificate, open(sys.argv[2]) as opening:
            certificate, opening = json.load(certificate), json.load(opening)
        commitment, rows = certificate["commitment"], opening["rows"]
        leaves = [row["leaf"] for row in rows]
    except (OSError, ValueError, KeyError, IndexError, TypeError) as problem:
        print(f"there is nothing to look at: {problem!r}", file=sys.stderr)
        return 2
    belongs = SCHEME == commitment["scheme"] == opening["scheme"] and opening["certificate"] == certificate["digest"]
    wrong = [at for at, row in enumerate(rows, 1) if not member(commitment, row)]
    if not belongs or wrong or not rows or leaves != sorted(set(leaves)):
        print("the opening is of another certificate, or shows a row twice or none" if not wrong else
              f"opened rows {wrong} are not in the table that the certificate commits to")
        return 1
    print(f"all {len(rows)} opened rows are in the table that the certificate commits to")
    return 0


if __name__ == "__main__":
    sys.exit(main())
