"""Compares what the checker reads with what other readers read, on thousands of mutated files.

If the checker accepts a file, every other installed reader must see the same columns, rows and cells. Files are
generated from a seed: texts as they occur in tables of people, then bytes are flipped, inserted and removed, and quotes
and line ends changed.
"""

import collections
import csv
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import warnings

SEED = 15
TEXTS = ["Flu", "Cancer", "", " ", "a b", " lead", "trail ", "x,y", 'say "no"', '"', "two\nlines", "two\r\nlines", "cr\rin",
         "[20-29]", "*", "{a,b}", "Zwölf", "日本", "\u2028", "\x85", "\x1c", "\ufeffmark", "in\ufeffside", "NULL", "null", "NaN",
         "true", "1", "01", "1.0", "1e5", "-0", "#x", "a;b", "a\tb", "a|b", "'q'", "\\", "\\N", "\\\"", "=1+1", "0" * 30]
SPICE = [b'"', b'""', b"\r", b"\n", b"\r\n", b",", b"\x00", b"\xff", b"\xef\xbb\xbf", b"\\", b"'", b" ", b"\t", b";", b"#", b"\xc3",
         b"\xe2\x80\xa8", b"{", b"}", b":", b"null", b"1e9", b"-0", b".0", b"\\u0041"]


def quoted(cell, alone):
    special = any(c in cell for c in ',"\n\r') or cell.startswith("\ufeff") or (alone and cell == "")
    return '"' + cell.replace('"', '""') + '"' if special else cell


def header(name, alone):
    return '"' + name.replace('"', '""') + '"' if alone or name.strip() != name else quoted(name, alone)


def table(dice):
    columns = dice.choice([1, 2, 3, 5])
    names = dice.sample(["age", "site", "disease", "a b", "x,y", "Ort", "n\nm", 'q"q', "zip"], columns)
    pool = dice.sample(TEXTS, 8) if dice.random() < 0.5 else TEXTS
    return names, [[dice.choice(pool) for _ in names] for _ in range(dice.randrange(0, 12))]


def as_csv(names, rows):
    alone = len(names) == 1
    lines = [",".join(header(n, alone) for n in names)] + [",".join(quoted(c, alone) for c in row) for row in rows]
    return ("\n".join(lines) + "\n").encode()


def as_json(names, rows, dice):
    kinds = [dice.choice("tttnb") for _ in names]
    numbers = [0, 1, -7, 2.5, 1e300, 0.1, 9007199254740992, 1e-7]

    def text(number):
        # The shortest text, as in releases.
        if number == 0 or 1e-5 <= abs(number) < 1e16:
            return repr(number) if isinstance(number, int) else format(number, "f").rstrip("0").rstrip(".")
        return repr(number).replace("e+", "e").replace("e-0", "e-")

    def cell(kind, value):
        if kind == "t":
            return json.dumps(value, ensure_ascii=False)
        return text(dice.choice(numbers)) if kind == "n" else dice.choice(["true", "false"])

    lines = []
    for row in rows:
        pairs = (json.dumps(n, ensure_ascii=False) + ":" + cell(k, v) for n, k, v in zip(names, kinds, row))
        lines.append("{" + ",".join(pairs) + "}\n")
    return "".join(lines).encode()


def mutated(data, dice):
    data = bytearray(data)
    for _ in range(dice.choice([0, 1, 1, 1, 2, 3])):
        at = dice.randrange(len(data) + 1) if data else 0
        kind = dice.randrange(5)
        if kind == 0:
            data[at:at] = dice.choice(SPICE)
        elif kind == 1 and at < len(data):
            data[at] ^= 1 << dice.randrange(8)
        elif kind == 2:
            del data[at:at + dice.choice([1, 1, 2, 7])]
        elif kind == 3:
            data[at:at + 1] = dice.choice(SPICE)
        else:
            lines = bytes(data).split(b"\n")
            dice.shuffle(lines)
            data = bytearray(b"\n".join(lines))
    return bytes(data)


# The readings of other readers: columns, and the number of occurrences of each row.

def python_csv(path, **options):
    with open(path, newline="", encoding="utf-8") as file:
        names, *rows = list(csv.reader(file, **options)) or [[]]
    return names, collections.Counter(map(tuple, rows))


def python_csv_strict(path):
    return python_csv(path, strict=True)


def cell_text(value):
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return ("number", float(value))
    return value if isinstance(value, str) else str(value)


def python_json(path):
    with open(path, encoding="utf-8", newline="\n") as file:
        objects = [json.loads(line, object_pairs_hook=list) for line in file]
    for pairs in objects:
        if len({name for name, _ in pairs}) != len(pairs):
            raise ValueError("a key twice")
    names = [name for name, _ in objects[0]] if objects else []
    return names, collections.Counter(tuple(cell_text(v) for _, v in pairs) for pairs in objects)


def polars_csv(path):
    import polars
    frame = polars.read_csv(path, infer_schema=False)
    # Polars keeps doubled quotes in names; the rows are the same.
    return [name.replace('""', '"') for name in frame.columns], collections.Counter(tuple(c or "" for c in row) for row in frame.iter_rows())


def duckdb_csv(path):
    import duckdb
    options = "header=true, all_varchar=true, delim=',', quote='\"', escape='\"', auto_detect=false, columns={}"
    names, _ = python_csv(path)
    if len(set(map(str.lower, names))) != len(names) or "" in names:
        return None
    columns = "{" + ", ".join("'" + n.replace("'", "''") + "': 'VARCHAR'" for n in names) + "}"
    query = "SELECT * FROM read_csv(?, " + options.format(columns) + ")"
    rows = duckdb.execute(query, [path]).fetchall()
    return names, collections.Counter(tuple(c or "" for c in row) for row in rows)


def arrow_csv(path):
    from pyarrow import csv as arrow, string
    names, _ = python_csv(path)
    parse = arrow.ParseOptions(newlines_in_values=True, ignore_empty_lines=False)
    types = arrow.ConvertOptions(column_types={n: string() for n in names}, strings_can_be_null=False)
    table = arrow.read_csv(path, parse_options=parse, convert_options=types)
    return table.column_names, collections.Counter(zip(*(c.to_pylist() for c in table.columns)))


def arrow_table(path):
    import pyarrow.parquet
    import pyarrow.ipc
    table = pyarrow.parquet.read_table(path) if path.endswith(".parquet") else pyarrow.ipc.open_file(path).read_all()
    rows = zip(*(c.to_pylist() for c in table.columns))
    return table.column_names, collections.Counter(tuple(map(cell_text, row)) for row in rows)


def loose(cells, other):
    """Compares a cell of the checker with that of a reader that has types."""
    if len(cells) != len(other):
        return False
    for ours, theirs in zip(cells, other):
        if isinstance(theirs, tuple):
            try:
                if float(ours) != theirs[1]:
                    return False
            except ValueError:
                return False
        elif ours != theirs:
            return False
    return True


def same(found, theirs):
    names, rows = theirs
    ours = collections.Counter({tuple(cells): count for cells, count in found["rows"]})
    # A file of JSON lines without lines names no columns.
    if found["columns"] != names and (ours or rows):
        return False
    if ours == rows:
        return True
    if sum(ours.values()) != sum(rows.values()) or len(ours) != len(rows):
        return False
    left = list(rows.items())
    for cells, count in ours.items():
        at = next((i for i, (other, n) in enumerate(left) if n == count and loose(cells, other)), None)
        if at is None:
            return False
        left.pop(at)
    return True


def available(name):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            __import__(name)
        return True
    except ImportError:
        print(f"skipped: {name} is not installed, so it is not compared with")
        return False


def main(rows_binary, samples):
    dice = random.Random(SEED)
    readers = {"csv": [python_csv, python_csv_strict], "jsonl": [python_json], "parquet": [], "arrow": []}
    for name, reader in [("polars", polars_csv), ("duckdb", duckdb_csv), ("pyarrow", arrow_csv)]:
        if available(name):
            readers["csv"].append(reader)
    if arrow_csv in readers["csv"]:
        readers["parquet"].append(arrow_table)
        readers["arrow"].append(arrow_table)
    with tempfile.TemporaryDirectory() as folder:
        files = []
        made = os.path.join(folder, "made")
        os.mkdir(made)
        subprocess.run([rows_binary, "make", made, "100"], check=True)
        files.extend(os.path.join(made, name) for name in os.listdir(made))
        whole = {path: open(path, "rb").read() for path in sorted(files)}
        for ending, many in [("csv", 4000), ("jsonl", 2000), ("parquet", 1000), ("arrow", 1000)]:
            bases = [data for path, data in whole.items() if path.endswith(ending)]
            for i in range(many):
                names, rows = table(dice)
                data = {"csv": lambda: as_csv(names, rows), "jsonl": lambda: as_json(names, rows, dice)}.get(
                    ending, lambda: dice.choice(bases))()
                path = os.path.join(folder, f"{i}.{ending}")
                with open(path, "wb") as file:
                    file.write(mutated(data, dice))
                files.append(path)
        for sample in samples:
            files.append(sample)
        run = subprocess.run([rows_binary], input="\n".join(files) + "\n", capture_output=True, encoding="utf-8", check=True)
        found = [json.loads(line) for line in run.stdout.split("\n") if line]
        assert len(found) == len(files), "the checker did not answer for every file"
        return compare(found, readers)


def compare(found, readers):
    accepted, compared, unread, wrong = collections.Counter(), collections.Counter(), collections.Counter(), []
    for answer in found:
        ending = answer["path"].rsplit(".", 1)[1]
        accepted[ending, "refused" in answer] += 1
        if "refused" in answer:
            continue
        for reader in readers.get(ending, []):
            try:
                theirs = reader(answer["path"])
            except Exception as error:
                # A reader may refuse the file; but the standard library must read what the checker reads.
                unread[reader.__name__, type(error).__name__] += 1
                if reader in (python_csv, python_csv_strict, python_json):
                    wrong.append((reader.__name__, answer["path"], repr(error)))
                continue
            if theirs is None:
                continue
            compared[reader.__name__] += 1
            if not same(answer, theirs):
                with open(answer["path"], "rb") as file:
                    wrong.append((reader.__name__, file.read()[:300], answer["rows"][:5], list(theirs[1].items())[:5]))
    for ending in sorted({ending for ending, _ in accepted}):
        print(f"{ending}: {accepted[ending, False]} accepted, {accepted[ending, True]} refused")
    for name, count in sorted(compared.items()):
        print(f"{name}: {count} files read alike" if not any(w[0] == name for w in wrong) else f"{name}: DIFFERS")
    for (name, error), count in sorted(unread.items()):
        print(f"{name}: {count} files refused, {error}")
        if count > compared[name]:
            wrong.append((name, "refuses most of what it should be compared on", error))
    for case in wrong[:10]:
        print("differs:", case)
    return 1 if wrong or not all(accepted[ending, False] for ending in readers) else 0


if __name__ == "__main__":
    start = time.monotonic()
    status = main(sys.argv[1], sys.argv[2:])
    print(f"{time.monotonic() - start:.0f} seconds")
    sys.exit(status)
