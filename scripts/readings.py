"""Writes crates/amidst-testkit/src/files.jsonl: CSV files with two possible readings, and what other readers read.

Run once, with a Python that has polars and duckdb; the output is checked in, so that `cargo test` needs neither. Each line is one
file: what it tries, its bytes (one character each, U+0000 to U+00FF), and the rows that Python's csv, Polars and DuckDB read,
the header first; null where a reader refuses the file. Empty and null cells are both the empty text. DuckDB is given the
column names that Python reads.
"""

import csv
import io
import json
import sys
import tempfile

import duckdb
import polars

HEADS = [b"age,site,note", b"note,age", b"note"]
PLAIN = [[b"31", b"x", b"flu"], [b"32", b"y", b"hiv"], [b"33", b"x", b"flu"]]

# Cell contents that one reader takes for syntax and another for text.
CELLS = {
    "a quote within a cell": b'5" pipe',
    "a quote at the end of a cell": b'5"',
    "two quotes within a cell": b'say ""no""',
    "an open quote": b'"flu',
    "an open quote after a blank": b' "flu',
    "a quoted cell after a blank": b' "flu"',
    "a quoted separator after a blank": b' "a,b"',
    "a quoted line end after a blank": b' "a\nb"',
    "a blank after a quoted cell": b'"flu" ',
    "text after a quoted cell": b'"flu"x',
    "a quote after a quoted cell": b'"flu"x"',
    "two quoted parts": b'"a""b"c"d"',
    "two quoted parts apart": b'"a" "b"',
    "a separator between quoted parts": b'"a"x"b,c"',
    "three quotes": b'"""',
    "four quotes": b'""""',
    "an empty quoted cell": b'""',
    "a quote escaped by a backslash": b'"a\\"b"',
    "a separator after an escaped quote": b'"a\\",b"',
    "a backslash at the end": b'"a\\"',
    "a lone carriage return": b"a\rb",
    "a lone carriage return at the end": b"a\r",
    "a lone carriage return at the start": b"\ra",
    "two carriage returns": b"a\r\r",
    "a quoted carriage return": b'"a\rb"',
    "a quoted line end": b'"a\nb"',
    "a quoted line end of two": b'"a\r\nb"',
    "a quoted empty line": b'"a\n\nb"',
    "a carriage return after a quote": b'"a"\rb',
    "a null byte": b"a\x00b",
    "a quoted null byte": b'"a\x00b"',
    "a form feed": b"a\x0cb",
    "a vertical tab": b"a\x0bb",
    "a file separator": b"a\x1cb",
    "an end-of-file character": b"a\x1ab",
    "a line separator": b"a\xe2\x80\xa8b",
    "a next-line character": b"a\xc2\x85b",
    "a byte that is no UTF-8": b"a\xffb",
    "half a character": b"a\xc3",
    "a byte order mark within": b"a\xef\xbb\xbfb",
    "single quotes": b"'a,b'",
    "a comment": b"#flu",
    "a separator of another kind": b"a;b",
    "a tab": b"a\tb",
    "a pipe": b"a|b",
    "blanks around": b"  flu  ",
    "a null word": b"NULL",
    "a null of PostgreSQL": b"\\N",
    "an empty cell": b"",
}
LINE_ENDS = {"lines": b"\n", "dos": b"\r\n", "mac": b"\r", "reversed": b"\n\r", "doubled": b"\r\r\n"}


def join(head, rows, end=b"\n", last=True):
    lines = [head] + [b",".join(row) for row in rows]
    return end.join(lines) + (end if last else b"")


def rows_for(head):
    width = head.count(b",") + 1
    return [row[-width:] for row in PLAIN]


def with_cells():
    for what, cell in CELLS.items():
        for head in HEADS:
            rows = rows_for(head)
            for at in {0, len(rows[0]) - 1}:
                changed = [list(row) for row in rows]
                changed[1][at] = cell
                place = f"in column {at + 1} of {len(rows[0])}"
                yield f"{what}, {place}", join(head, changed)
        last = [list(row) for row in PLAIN]
        last[2][2] = cell
        yield f"{what}, at the end of the file", join(HEADS[0], last, last=False)
        names = HEADS[0].split(b",")
        names[1] = cell
        yield f"{what}, in the header", join(b",".join(names), PLAIN)
        twice = [list(row) for row in PLAIN]
        twice[0][1] = twice[2][1] = cell
        yield f"{what}, in two rows", join(HEADS[0], twice)


def with_lines():
    head, rows = HEADS[0], PLAIN
    for what, end in LINE_ENDS.items():
        yield f"line ends: {what}", join(head, rows, end)
        yield f"line ends: {what}, not after the last", join(head, rows, end, last=False)
        yield f"line ends: {what}, after the header only", head + end + join(rows[0] and b",".join(rows[0]), rows[1:])
        yield f"line ends: {what}, within the rows", join(head, rows[:2]) + b",".join(rows[2]) + end + b",".join(rows[0]) + b"\n"
    for blank in [b"\n", b"\n\n", b" \n", b"\t\n", b",,\n", b'""\n', b"\r\n", b"\r"]:
        for head in HEADS:
            rows = rows_for(head)
            yield f"a blank line {blank!r} first", blank + join(head, rows)
            yield f"a blank line {blank!r} after the header", head + b"\n" + blank + join(b",".join(rows[0]), rows[1:])
            yield f"a blank line {blank!r} within", join(head, rows[:2]) + blank + b",".join(rows[2]) + b"\n"
            yield f"a blank line {blank!r} last", join(head, rows) + blank


def with_shapes():
    head, rows = HEADS[0], PLAIN
    line = [b",".join(row) for row in rows]
    yield "a row too short", b"\n".join([head, line[0], b"32,y", line[2], b""])
    yield "a row too long", b"\n".join([head, line[0], b"32,y,hiv,more", line[2], b""])
    yield "a row with one separator too many", b"\n".join([head, line[0], line[1] + b",", line[2], b""])
    yield "every row with one separator too many", b"\n".join([head] + [r + b"," for r in line] + [b""])
    yield "a header with one separator too many", b"\n".join([head + b","] + line + [b""])
    yield "a header too short", b"\n".join([b"age,site"] + line + [b""])
    yield "a header too long", b"\n".join([head + b",more"] + line + [b""])
    yield "a name twice", b"\n".join([b"age,age,note"] + line + [b""])
    yield "a name twice but for case", b"\n".join([b"age,Age,note"] + line + [b""])
    yield "a name without text", b"\n".join([b"age,,note"] + line + [b""])
    yield "names with blanks", b"\n".join([b"age, site,note "] + line + [b""])
    yield "a header of numbers", b"\n".join([b"1,2,3"] + line + [b""])
    yield "a byte order mark", b"\xef\xbb\xbf" + join(head, rows)
    yield "a byte order mark before a quote", b'\xef\xbb\xbf"age",site,note\n' + b"\n".join(line) + b"\n"
    yield "two byte order marks", b"\xef\xbb\xbf\xef\xbb\xbf" + join(head, rows)
    yield "two bytes a character", join(head, rows).decode().encode("utf-16")
    yield "a comment first", b"# made by hand\n" + join(head, rows)
    yield "a separator declared", b"sep=,\n" + join(head, rows)
    yield "semicolons", join(head, rows).replace(b",", b";")
    yield "semicolons in the rows only", head + b"\n" + b"\n".join(line).replace(b",", b";") + b"\n"
    yield "semicolons in the header only", head.replace(b",", b";") + b"\n" + b"\n".join(line) + b"\n"
    yield "a header alone", head + b"\n"
    yield "a header alone without an end", head
    yield "nothing", b""
    yield "the rows twice with two headers", join(head, rows) + join(head, rows)
    quoted = [b",".join(b'"' + c + b'"' for c in row) for row in rows]
    yield "everything quoted", b"\n".join([b'"age","site","note"'] + quoted + [b""])
    yield "some rows quoted", b"\n".join([head, quoted[0], line[1], quoted[2], b""])
    hidden = b"\n".join([head, b'31,x,"flu', line[1], b'33,x,flu"', line[2], b""])
    yield "rows hidden in a quoted cell", hidden
    yield "rows hidden by a stray quote in two rows", b"\n".join([head, b'31,x,a"flu', line[1], b'33,x,a"flu', line[2], b""])
    yield "rows hidden by a blank before the quote", b"\n".join([head, b'31,x, "flu', line[1], b'33,x,flu"', line[2], b""])
    yield "rows hidden from the header on", b"\n".join([b'age,site,"note', line[0], line[1] + b'"', line[2], b""])
    yield "rows hidden by a quote in the header", b"\n".join([b'age,site,no"te', line[0], line[1] + b'"', line[2], b""])


def python_csv(data, path):
    text = data.decode("utf-8")
    return [row for row in csv.reader(io.StringIO(text, newline=""))]


def polars_csv(data, path):
    frame = polars.read_csv(path, infer_schema=False)
    return [list(frame.columns)] + [["" if c is None else c for c in row] for row in frame.iter_rows()]


def duckdb_csv(data, path):
    names = python_csv(data, path)[0]
    columns = "{" + ", ".join("'" + n.replace("'", "''") + "': 'VARCHAR'" for n in names) + "}"
    options = "header=true, delim=',', quote='\"', escape='\"', auto_detect=false, columns=" + columns
    rows = duckdb.execute(f"SELECT * FROM read_csv(?, {options})", [path]).fetchall()
    return [names] + [["" if c is None else c for c in row] for row in rows]


def seen(reader, data, path):
    try:
        return reader(data, path)
    except Exception:
        return None


def main(target):
    known, lines = set(), []
    for what, data in [*with_cells(), *with_lines(), *with_shapes()]:
        if data in known:
            continue
        known.add(data)
        with tempfile.NamedTemporaryFile(suffix=".csv") as file:
            file.write(data)
            file.flush()
            found = {r.__name__.split("_")[0]: seen(r, data, file.name) for r in (python_csv, polars_csv, duckdb_csv)}
        lines.append(json.dumps({"what": what, "bytes": data.decode("latin-1"), **found}, ensure_ascii=True))
    with open(target, "w", encoding="ascii", newline="\n") as out:
        out.write("\n".join(lines) + "\n")
    print(f"{len(lines)} files, Python {sys.version.split()[0]}, Polars {polars.__version__}, DuckDB {duckdb.__version__}")


if __name__ == "__main__":
    main("crates/amidst-testkit/src/files.jsonl")
