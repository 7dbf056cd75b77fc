"""Compares the two checkers on releases of every form that CSV can have, and on forgeries of their form: what checkers.py
does to numbers and rows, this does to spellings, orders, encodings, files and versions.

    forms.py AMIDST VERDICTS [CASES] [SEED]

The releases have bounds, midpoints, representatives, rounded ranges, masked rows, sets of quasi columns, suppressed cells,
waived rows, unknown cells, dates, decimals, names and values of other alphabets, tabs, commitments, and are versions of a
series. A release that one checker accepts and the other refuses is a bug in one of them; so is a forgery of a kind that
must never pass and does (NEVER).
"""

import csv
import io
import json
import os
import random
import re
import shutil
import subprocess
import sys
import time
from fractions import Fraction

import checkers
from both_checkers import Comparison, lay, second
from checkers import KEY, sealed, sha

COLUMNS = """[columns.id]
role = "{id}"
[columns.consent]
role = "{consent}"
[columns.age]
role = "quasi"
type = "integer"
{age}
[columns.born]
{born}
[columns.weight]
role = "quasi"
type = "decimal"
hierarchy = {{ intervals = [5, 10, 40], origin = 0 }}
[columns."città, \\"home\\""]
role = "quasi"
hierarchy = {{ taxonomy = {{ "Überall" = {{ "Süd" = ["Zürich", "Genève"], "Nord" = ["Ålesund", "São Paulo, norte"] }} }} }}
[columns.disease]
role = "sensitive"
[columns.ward]
role = "insensitive"
"""
BORN = 'role = "quasi"\ntype = "date"\nhierarchy = { dates = ["month", "year", "decade"] }'
AGE = "hierarchy = { intervals = [5, 10, 20, 40], origin = 0 }"
ROLES = {"id": "identifying", "consent": "identifying", "born": 'role = "identifying"', "age": AGE}
K = '[[require]]\nmodel = "k-anonymity"\nk = 3\n'
L = '[[require]]\nmodel = "distinct-l-diversity"\non = "disease"\nl = 2\n'
E = '[[require]]\nmodel = "entropy-l-diversity"\non = "disease"\nl = 1.5\n'
SETS = '[[quasi]]\ncolumns = ["age", "weight"]\n[[quasi]]\ncolumns = ["weight", "città, \\"home\\""]\n'

# name: roles that differ, requirements, what [data], [search] and [output] say beside the seed, further text.
FORMS = {
    "labels": ({}, K, "", "", "", ""),
    "entropy": ({}, K + E, "", 'algorithm = "mondrian"', "", ""),
    "bounds": ({}, K, "", 'algorithm = "mondrian"', 'ranges = "bounds"', ""),
    "bounds of sets": ({}, K, "", "", 'ranges = "bounds"', SETS),
    "midpoint": ({}, K + L, "", 'algorithm = "mondrian"', 'ranges = "midpoint"', ""),
    "rounded": ({"age": ""}, K, "", 'algorithm = "mondrian"', 'ranges = "rounded"', ""),
    "representative": ({}, K + L, "", 'algorithm = "k-member"', 'values = "representative"', ""),
    "cells": ({}, K + L, "", 'algorithm = "cell-suppression"', "", ""),
    "sets": ({}, K, "", "", "", SETS),
    "masked": ({}, K, "", 'algorithm = "optimal"\nsuppressed = "mask"\nmax_suppression = 0.2', "", ""),
    "dropped": ({}, K + L, "", 'algorithm = "optimal"\nmax_suppression = 0.2', "", ""),
    "waived": ({"consent": "consent\"\nwaived = [\"yes\"]\nmode = \"publish"}, K, "", 'algorithm = "mondrian"', "", ""),
    "unknown": ({}, K, 'missing = ["?", ""]\nmissing_rows = "keep"', 'algorithm = "mondrian"', "", ""),
    "unknown left out": ({}, K, 'missing = ["?", ""]', 'algorithm = "optimal"', "", ""),
    "dates": ({"born": BORN}, K, "", 'algorithm = "mondrian"', "", ""),
    "dates by level": ({"born": BORN}, K, "", 'algorithm = "optimal"\nmax_suppression = 0.2', "", ""),
    "persons": ({"id": "key"}, K + L, "", 'algorithm = "mondrian"', "", ""),
    "tabs": ({}, K, "", 'algorithm = "mondrian"', 'file = "release.tsv"', ""),
    "input order": ({}, K, "", 'algorithm = "mondrian"', 'order = "input"', ""),
    "valid until": ({}, K, "", "", "", '[release]\nvalid_until = 2099-12-31\n'),
    "committed": ({"id": "key"}, K, "", 'algorithm = "mondrian"', "", ""),
}


def people(dice, many, unknown, first=0):
    """A table with names and values that other alphabets, separators and quotes are in."""
    out = io.StringIO()
    lines = csv.writer(out, lineterminator="\n")
    lines.writerow(["id", "consent", "age", "born", "weight", 'città, "home"', "disease", "ward"])
    for at in range(first, first + many):
        age = dice.randrange(18, 70)
        row = [f"p{at}", "yes" if at % 20 == 0 else "no", age, f"{2020 - age}-{dice.randrange(1, 13):02}-{dice.randrange(1, 28):02}",
               f"{dice.randrange(450, 1100) / 10}", dice.choice(["Zürich", "Genève", "Ålesund", "São Paulo, norte"]),
               dice.choice(["Flu", "HIV", 'so-called "cold"', "Γρίπη", "=1+1", "-"]), "AB"[at % 2]]
        if unknown and at % 11 == 0:
            row[dice.choice([2, 4, 5])] = dice.choice(["?", ""])
        lines.writerow(row)
    return out.getvalue()


def write(place, name, text):
    with open(os.path.join(place, name), "w", newline="") as file:
        file.write(text)
    return os.path.join(place, name)


def run(*command, must=False):
    done = subprocess.run([str(word) for word in command], capture_output=True)
    if must and done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr.decode()}")
    return done


def policy_of(name, seed, data="people.csv"):
    roles, required, of_data, search, output, more = FORMS[name]
    columns = COLUMNS.format(**{**ROLES, **roles})
    return (f'[data]\ninput = "{data}"\n{of_data}\n{columns}{required}{more}[search]\n{search}\nseed = {seed}\n[output]\n{output}\n')


def public(folder):
    return {f: open(os.path.join(folder, f), "rb").read() for f in os.listdir(folder)}


def make(amidst, place, seed):
    """The public parts of all forms, as {name: bytes}, and the folders of two series."""
    dice = random.Random(seed)
    write(place, "people.csv", people(dice, 120, False))
    write(place, "unknown.csv", people(dice, 120, True))
    key = write(place, "key.pem", KEY)
    os.chmod(key, 0o600)
    for name in FORMS:
        policy = write(place, "policy.toml", policy_of(name, seed, "unknown.csv" if name.startswith("unknown") else "people.csv"))
        out = os.path.join(place, "out")
        done = run(amidst, "anonymize", policy, "--out", out, "--force", "--quiet", *["--commit"] * (name == "committed"))
        if done.returncode:
            print(f"skipped: {name}: {done.stderr.decode().strip()}")
            continue
        if name in ("labels", "committed", "valid until"):
            run(amidst, "sign", out, "--key", key, "--quiet", must=True)
        yield name, public(os.path.join(out, "public"))
    for mode in ("maintain", "m-invariant"):
        folder = os.path.join(place, mode)
        shutil.rmtree(folder, ignore_errors=True)
        required = K if mode == "maintain" else '[[require]]\nmodel = "m-invariance"\non = "disease"\nm = 3\n'
        columns = COLUMNS.format(**{**ROLES, "id": "key"}).replace('ward]\nrole = "insensitive"', 'ward]\nrole = "identifying"')
        policy = write(place, "series.toml", f'[data]\ninput = "people.csv"\n{columns}{required}[search]\nseed = {seed}\n')
        run(amidst, "series", "init", folder, "--policy", policy, "--mode", mode, "--commit", must=True)
        for batch in range(2):
            new = write(place, "new.csv", people(dice, 12, False, 1000 + 100 * batch))
            gone = write(place, "gone.csv", "id\n" + "".join(f"p{at}\n" for at in range(10 * batch, 10 * batch + 5)))
            run(amidst, "series", "apply", folder, "--insert", new, "--delete", gone, must=True)
            publish = ["--safe"] if mode == "maintain" else []
            run(amidst, "series", "publish", folder, *publish, *["--commit"] * batch, must=True)
        for version in (1, 2, 3):
            run(amidst, "sign", os.path.join(folder, "versions", str(version)), "--key", key, "--quiet", must=True)
            yield f"{mode} {version}", public(os.path.join(folder, "versions", str(version)))


# Letters that look like others, and the ways to write a number or a text a second time.
ALIKE = {"a": "а", "e": "е", "o": "о", "i": "і", "c": "с", "p": "р", "-": "‐", "*": "∗", "1": "１", "[": "［", "F": "Ϝ", "u": "υ", ",": "，"}
SPELLINGS = [lambda n: n + ".0", lambda n: "0" + n, lambda n: "+" + n, lambda n: n + "e0", lambda n: " " + n, lambda n: n + " ",
             lambda n: n.replace(".", ","), lambda n: n + "\u00a0", lambda n: "".join(chr(0x0660 + int(d)) if d.isdigit() and d.isascii() else d for d in n),
             lambda n: n.replace("-", "\u2212"), lambda n: n + "\u200b", lambda n: n[::-1], lambda n: "'" + n]


class Forgery:
    """A release and what a forger does to it. Every way returns whether no checker may ever accept it."""

    def __init__(self, files, dice):
        self.files, self.dice, self.done = dict(files), dice, []
        self.certificate = json.loads(files["certificate.json"])
        self.table = next(name for name in files if name.startswith("release.") and name.endswith(("csv", "tsv")))
        self.separator = "\t" if self.table.endswith("tsv") else ","
        text = files[self.table].decode()
        self.header, *self.rows = csv.reader(io.StringIO(text, newline=""), delimiter=self.separator)
        self.honest = text

    def put(self, text):
        self.files[self.table] = text if isinstance(text, bytes) else text.encode()

    def again(self):
        self.put("".join([second.written(self.header, self.separator, True)] + [second.written(row, self.separator) for row in self.rows]))

    def fit(self):
        """The certificate says what the rows say, as far as this can be computed."""
        case = object.__new__(checkers.Tampering)
        case.certificate, case.header, case.rows, case.done, case.dice = self.certificate, self.header, self.rows, self.done, self.dice
        try:
            checkers.Tampering.fit(case)
        except (second.Refused, KeyError, ValueError, TypeError, ZeroDivisionError):
            self.done.append("unfit")

    def columns(self):
        """Columns in another order, twice, fewer, renamed, or with a name that looks alike."""
        kind, at = self.dice.randrange(7), self.dice.randrange(len(self.header))
        self.done.append(f"columns {kind}")
        never = True
        if kind == 0:
            order = self.dice.sample(range(len(self.header)), len(self.header))
            never = False
            self.header, self.rows = [self.header[i] for i in order], [[row[i] for i in order] for row in self.rows]
        elif kind == 1:
            other = self.dice.randrange(len(self.header))
            self.header = [self.header[at] if i == other and i != at else name for i, name in enumerate(self.header)]
            never = len(set(self.header)) != len(self.header)
        elif kind == 2:
            self.header, self.rows = self.header + [self.header[at]], [row + [row[at]] for row in self.rows]
        elif kind == 3:
            self.header, self.rows = self.header + ["more"], [row + ["x"] for row in self.rows]
        elif kind == 4:
            # An insensitive column may be left out.
            never = self.header[at] != "ward"
            self.header, self.rows = self.header[:at] + self.header[at + 1:], [row[:at] + row[at + 1:] for row in self.rows]
        elif kind == 5:
            self.header[at] = self.alike(self.header[at])
        else:
            self.header[at] = self.dice.choice([str.upper, str.title, lambda t: t + " ", lambda t: "\ufeff" + t, lambda t: "_" + t])(self.header[at])
            never = False
        self.again()
        if self.dice.random() < 0.5:
            self.fit()
        return never

    def alike(self, text):
        places = [i for i, letter in enumerate(text) if letter in ALIKE]
        if not places:
            return text + self.dice.choice(["\u200b", "\u00ad", "\u0301", " "])
        at = self.dice.choice(places)
        return text[:at] + ALIKE[text[at]] + text[at + 1:]

    def letters(self):
        """Cells that look like others and are not: the class they were in is smaller now."""
        self.done.append("letters")
        for _ in range(self.dice.choice([1, 2, 7])):
            row, at = self.dice.choice(self.rows), self.dice.randrange(len(self.header))
            row[at] = self.alike(row[at])
        self.again()
        if self.dice.random() < 0.7:
            self.fit()

    def numbers(self):
        """Numbers in another spelling, in cells or in the certificate's figures."""
        self.done.append("numbers")
        if self.dice.random() < 0.5:
            for _ in range(self.dice.choice([1, 3])):
                row = self.dice.choice(self.rows)
                places = [i for i, cell in enumerate(row) if re.search(r"\d", cell)]
                if places:
                    at = self.dice.choice(places)
                    row[at] = self.dice.choice(SPELLINGS)(row[at])
            self.again()
            if self.dice.random() < 0.6:
                self.fit()
            return False
        text = self.files["certificate.json"].decode()
        spans = [m.span() for m in re.finditer(r'(?<=: )-?\d+(\.\d+)?(e-?\d+)?(?=[,\n])', text)]
        start, end = self.dice.choice(spans)
        written = text[start:end]
        other = self.dice.choice([written + ".0", written + "e0", "+" + written, "0" + written, written + "E+0", "1" + "0" * 400, "-" + written,
                                  written + "0" * 30, "NaN", "Infinity", "1e999", "-0", "0x10", "9" * 20, "1_0", f'"{written}"', written + ".00"])
        # As the digest is computed: over the text without white space.
        self.raw = text[:start] + other + text[end:]
        # A parameter may be a number as text, a figure a double: they say the same.
        return other not in (written, f'"{written}"', written + ".0")

    def moved(self):
        """Rows moved to other classes, or sensitive cells exchanged between classes."""
        self.done.append("moved")
        quasi = [i for i, name in enumerate(self.header) if name in self.certificate["quasi"]]
        for _ in range(self.dice.choice([1, 2, 5, 20])):
            one, other = self.dice.choice(self.rows), self.dice.choice(self.rows)
            if self.dice.random() < 0.5:
                for i in quasi:
                    one[i] = other[i]
            else:
                rest = [i for i in range(len(self.header)) if i not in quasi]
                for i in rest:
                    one[i], other[i] = other[i], one[i]
        self.again()
        if self.dice.random() < 0.8:
            self.fit()

    def ulp(self):
        """One figure of the certificate, by one unit in the last place or by a few."""
        import math
        leaves = []

        def walk(value):
            for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
                if isinstance(inner, (dict, list)):
                    walk(inner)
                elif isinstance(inner, float):
                    leaves.append((value, key))
        walk(self.certificate["requirements"])
        self.done.append("ulp")
        if not leaves:
            return
        holder, key = self.dice.choice(leaves)
        for _ in range(self.dice.choice([1, 1, 2, 1000])):
            holder[key] = math.nextafter(holder[key], self.dice.choice([-math.inf, math.inf]))
        if self.dice.random() < 0.3:
            holder[key] *= self.dice.choice([1 + 1e-10, 1 + 5e-10, 1 + 3e-9, 1 - 1e-8])

    def words(self):
        """The text of the policy, in words that mean nothing: comments, white space, quotes, the order of lines."""
        kind, policy = self.dice.randrange(9), self.certificate["policy"]
        self.done.append(f"words {kind}")
        lines = policy.split("\n")
        at = self.dice.randrange(len(lines))
        if kind == 0:
            lines.insert(at, "# " + self.dice.choice(["Ann has HIV", "x", "[[require]]", "\u202e"]))
        elif kind == 1:
            lines[at] += "  " if lines[at] else "\t"
        elif kind == 2:
            policy, lines = None, [line + "\r" for line in lines]
        elif kind == 3:
            lines.append("\n\n")
        elif kind == 4:
            lines[at] = lines[at].replace("\"", "'")
        elif kind == 5:
            lines[at] = re.sub(r"= (\d+)$", lambda m: f"= {self.dice.choice(['+', '0x', '0o', '0b', '1_'])}{m[1]}", lines[at])
        elif kind == 6:
            lines[at] = re.sub(r'"([^"]*)"', lambda m: '"""' + m[1] + '"""', lines[at], count=1)
        elif kind == 7:
            lines[at] = re.sub(r'"([a-z])', lambda m: f'"\\u{ord(m[1]):04x}', lines[at], count=1)
        else:
            lines.insert(0, "\ufeff")
        self.certificate["policy"] = "\n".join(lines)
        if self.dice.random() < 0.8 and "policy.toml" in self.files:
            self.files["policy.toml"] = self.certificate["policy"].encode()

    def text(self):
        """The bytes of the table: line ends, quotes, encodings, ends of file."""
        kind, text = self.dice.randrange(14), self.honest
        self.done.append(f"text {kind}")
        lines, data = text.split("\n"), None
        at = self.dice.randrange(1, len(lines) - 1)
        if kind == 0:
            data = text.replace("\n", "\r\n")
        elif kind == 1:
            data = "\ufeff" + text
        elif kind == 2:
            data = text.encode("utf-16")
        elif kind == 3:
            data = text.encode("utf-8")[:self.dice.randrange(len(text))]
        elif kind == 4:
            data = "\n".join(lines[:at] + [""] + lines[at:])
        elif kind == 5:
            cell = lines[at].split(self.separator)
            cell[0] = f'"{cell[0]}"' if not cell[0].startswith('"') else cell[0][1:-1]
            data = "\n".join(lines[:at] + [self.separator.join(cell)] + lines[at + 1:])
        elif kind == 6:
            data = text + self.dice.choice(["\n", "\x1a", " ", "\r", '""', "\0"])
        elif kind == 7:
            data = "\n".join(lines[:at] + [lines[at] + self.separator] + lines[at + 1:])
        elif kind == 8:
            data = "\n".join(lines[:at] + ['"' + lines[at]] + lines[at + 1:])
        elif kind == 9:
            data = text.replace(self.separator, self.dice.choice([";", "|", self.separator + " "]))
        elif kind == 10:
            import unicodedata
            data = unicodedata.normalize("NFD", text)
        elif kind == 11:
            data = text.encode("latin-1", "replace")
        elif kind == 12:
            data = "\r".join(lines)
        else:
            data = text.replace("\n", "\x85" if self.dice.random() < 0.5 else "\u2028", 1)
        self.put(data)
        changed = self.files[self.table] != self.honest.encode()
        if kind == 10 and changed:
            # Other letters in the same form: a release of its own, whose policy does not name them.
            self.header, *self.rows = csv.reader(io.StringIO(data, newline=""), delimiter=self.separator)
            self.fit()
            return False
        return changed and kind not in (3, 11)

    def lies(self):
        """What lies in the folder: more, less, links, folders, other names."""
        kind, listed = self.dice.randrange(14), [o["file"] for o in self.certificate["outputs"]]
        self.done.append(f"lies {kind}")
        name = self.dice.choice(listed)
        if kind == 0:
            self.files[self.dice.choice(["Release.csv", "release.csv.bak", ".DS_Store", "sub/release.csv", "certificate.json~", "release.CSV",
                                         "commitment.json", "release.intoto.jsonl.sig", "\u200brelease.csv"])] = b"x\n"
        elif kind == 1:
            self.links = [(self.dice.choice(["more", "release2.csv"]), name)]
        elif kind == 2:
            self.links = [(name, "../elsewhere")]
            self.outside = self.files.pop(name)
        elif kind == 3:
            self.files.pop(name)
        elif kind == 4:
            # What reports say is digested and not checked.
            self.files[name] = self.files[name][:-1]
            return name in (self.table, "policy.toml")
        elif kind == 5:
            self.files[name] = self.files[name] + b"\0"
            return name in (self.table, "policy.toml")
        elif kind == 6:
            self.empty = self.dice.choice(["empty", "public", "internal"])
        elif kind == 7:
            self.hard = (self.dice.choice(["copy.csv", "policy2.toml"]), name)
        elif kind == 8:
            self.links = [("certificate.json", "../elsewhere")]
            self.outside = "certificate"
        elif kind == 9:
            self.links = [(checkers.ENVELOPE, "../elsewhere")]
            self.outside = self.files.pop(checkers.ENVELOPE, b"{}")
        elif kind == 10:
            self.files.pop(name)
            self.empty = name
        elif kind == 11:
            self.fifo = self.dice.choice(["pipe", "release.fifo"])
        elif kind == 12:
            self.certificate["outputs"] = [o for o in self.certificate["outputs"] if o["file"] != name] + [
                o for o in self.certificate["outputs"] if o["file"] == name]
            return False
        else:
            self.certificate["outputs"][0]["file"] = self.dice.choice(["RELEASE.CSV", "release.csv ", "./" + name, "release.csv\0", "rel\u0435ase.csv"])
        return True

    def shape(self):
        """The certificate as JSON: nesting, sizes, keys twice, escapes, order."""
        kind, text = self.dice.randrange(12), sealed(self.certificate).decode()
        self.done.append(f"shape {kind}")
        if kind == 0:
            text = text.replace('"worst": ', '"worst": ' + "[" * self.dice.choice([10, 1000, 200000]) + '1' + "", 1)
        elif kind == 1:
            text = text.replace('"measured": {', '"measured": {"x": ' + '{"a":' * self.dice.choice([50, 500, 100000]) + "1" + "}" * 50 + ",", 1)
        elif kind == 2:
            text = text.replace('"quasi": [', '"quasi": [' + '"x",' * 100000, 1)
        elif kind == 3:
            text = text.replace('"rows_out": ', '"rows_out": 1, "rows_out": ', 1)
        elif kind == 4:
            text = text.replace('"tool": "', '"tool": "' + self.dice.choice(["\\u0061", "\\/", "\\ud800", "\\u00e9", "\x01", "\\x41"]), 1)
        elif kind == 5:
            text = text.replace("{\n", "{\n/* x */", 1)
        elif kind == 6:
            text = text[:-2] + ',\n"more": 1}\n'
        elif kind == 7:
            text = text + self.dice.choice(["{}", "\0", "x", "]"])
        elif kind == 8:
            text = re.sub(r'"rows_in": (\d+)', lambda m: f'"rows_in": {m[1]}' + self.dice.choice([".0", "e0", "0" * 40, ".5"]), text)
        elif kind == 9:
            text = re.sub(r'"rows_in": (\d+)', lambda m: '"rows_in": ' + self.dice.choice([str(2 ** 64), str(2 ** 63), str(10 ** 30), "-1", "1e400", "true"]), text)
        elif kind == 10:
            text = text[:self.dice.randrange(len(text) - 2)]
        else:
            text = text.replace('"waived": [', '"waived": [' + self.dice.choice([str(2 ** 64), "-1", "0.0", "1e0", "999999999999"]), 1)
        self.raw = text
        return kind not in (11,)

    def counts(self):
        """Rows more or fewer in the certificate alone, in numbers at the edges of integers."""
        self.done.append("counts")
        name = self.dice.choice(["rows_in", "rows_out", "suppressed", "rows_dropped_missing", "classes", "counterfeits"])
        old = self.certificate.get(name, 0)
        self.certificate[name] = self.dice.choice([old + 1, 2 ** 63 - 1, 2 ** 63, 2 ** 64 - 1, 2 ** 64, 2 ** 53 + 1, old + 2 ** 32, -1])
        if self.dice.random() < 0.5:
            self.certificate["rows_in"] = self.dice.choice([2 ** 64 - 1, 2 ** 63, self.certificate["rows_in"] + 1])
        if "counterfeits" in self.certificate:
            items = {key: self.certificate.pop(key) for key in ("counterfeits",)}
            order = list(self.certificate)
            where = order.index("waived") + 1
            self.certificate = {**{key: self.certificate[key] for key in order[:where]}, **items, **{key: self.certificate[key] for key in order[where:]}}
        # Rows that were read and left out are nobody's to count but the owner's.

    def tied(self):
        """A commitment that does not fit the certificate, or is written in another way."""
        self.done.append("commitment")
        bound = {"scheme": "amidst-rows-1", "columns": ["id", *self.header], "rows": self.certificate["rows_in"] - self.certificate["rows_dropped_missing"],
                 "root": "0" * 64}
        bound = {**bound, **self.certificate.get("commitment", {})}
        kind = self.dice.randrange(9)
        if kind == 0:
            bound["rows"] += 1
        elif kind == 1:
            bound["root"] = self.dice.choice(["", "0" * 63, "0" * 65, "G" * 64, "A" * 64])
        elif kind == 2:
            bound["columns"] = bound["columns"] + bound["columns"][:1]
        elif kind == 3:
            bound["columns"] = []
        elif kind == 4:
            bound["scheme"] = "amidst-rows-2"
        elif kind == 5:
            bound["columns"] = [name for name in bound["columns"] if name != self.header[0]]
        elif kind == 6:
            bound["more"] = 1
        elif kind == 7:
            bound = dict(reversed(bound.items()))
        order = [key for key in self.certificate if key != "commitment"]
        where = order.index("unique_rows")
        self.certificate = {**{key: self.certificate[key] for key in order[:where]}, "commitment": bound,
                            **{key: self.certificate[key] for key in order[where:]}}
        # Where cells stand for classes, columns may have other names than in the input.
        covers = not re.search('ranges = "(bounds|midpoint)"|values = "representative"', self.certificate["policy"])
        return kind < 5 or kind in (6, 7) or kind == 5 and covers

    def sealed_files(self, folder):
        """Writes the forgery, with digests that fit."""
        for output in self.certificate["outputs"]:
            data = self.files.get(output["file"])
            if data is not None:
                output["bytes"], output["sha256"] = len(data), sha(data)
        self.certificate["policy_digest"] = sha(self.certificate["policy"].encode())
        files = {name: data for name, data in self.files.items()}
        files["certificate.json"] = sealed(self.certificate)
        raw = getattr(self, "raw", None)
        if raw is not None:
            # The digest of a text that is no JSON any more is computed all the same.
            plain = re.sub(r'("(?:[^"\\]|\\.)*")|[ \t\r\n]+', r"\1", raw)
            body, found, _ = plain.rpartition(',"digest":"')
            files["certificate.json"] = (re.sub(r'"digest": "[0-9a-f]{64}"', f'"digest": "{sha(body.encode("utf-8", "surrogatepass"))}"', raw)
                                         if found else raw).encode("utf-8", "surrogatepass")
        if not self.done[0].startswith("lies 9"):
            files.pop(checkers.ENVELOPE, None)
        elsewhere = os.path.join(os.path.dirname(folder), "elsewhere")
        if getattr(self, "outside", None) == "certificate":
            self.outside = files.pop("certificate.json")
        lay({name: data for name, data in files.items() if "\0" not in name}, folder)
        if getattr(self, "outside", None) is not None:
            with open(elsewhere, "wb") as file:
                file.write(self.outside)
        for name, to in getattr(self, "links", []):
            os.symlink(to, os.path.join(folder, name))
        if getattr(self, "hard", None):
            os.link(os.path.join(folder, self.hard[1]), os.path.join(folder, self.hard[0]))
        if getattr(self, "empty", None):
            os.makedirs(os.path.join(folder, self.empty))
        if getattr(self, "fifo", None):
            os.mkfifo(os.path.join(folder, self.fifo))


WAYS = ["columns"] * 3 + ["letters"] * 2 + ["numbers"] * 3 + ["moved"] * 3 + ["ulp", "words", "words"] + ["text"] * 3 + [
    "lies"] * 3 + ["shape"] * 2 + ["counts", "tied"]


def chains(verify, both):
    """Versions of a series beside each other, exchanged, altered and taken away: exit codes of both commands."""
    for mode in ("maintain", "m-invariant"):
        versions = os.path.join(both.place, mode, "versions")
        for number in range(39):
            work = os.path.join(both.place, "chain")
            shutil.rmtree(work, ignore_errors=True)
            shutil.copytree(versions, work)
            kind, at = number % 13, both.dice.choice([2, 3])
            before = os.path.join(work, str(at - 1))
            path, more = os.path.join(work, str(at)), []
            certificate = lambda folder: os.path.join(folder, "certificate.json")
            expected = 1
            if kind == 0:
                expected = 0
            elif kind == 1:
                shutil.rmtree(before)
                expected = 0
            elif kind == 2:
                # Another certificate in the place of the one before, with a digest that fits.
                stated = json.load(open(certificate(before)))
                stated["tool"] = "x"
                open(certificate(before), "wb").write(sealed(stated))
            elif kind == 3:
                data = open(certificate(before), "rb").read()
                open(certificate(before), "wb").write(data.replace(b'"rows_in": ', b'"rows_in": 1', 1))
            elif kind == 4:
                os.rename(path, os.path.join(work, "x"))
                shutil.copytree(before, path)
                expected = 0  # a version under another number: nothing says where it belongs, and its own number is looked for elsewhere
            elif kind == 5:
                os.rename(path, os.path.join(work, "copy"))
                path = os.path.join(work, "copy")
                more = ["--previous", before]
                expected = 0
            elif kind == 6:
                more = ["--previous", os.path.join(work, str(at))]
            elif kind == 7:
                more = ["--previous", certificate(before)]
                expected = 0
            elif kind == 8:
                path, more = os.path.join(work, "1"), ["--previous", os.path.join(work, "2")]
            elif kind == 9:
                stated = json.load(open(certificate(path)))
                del stated["series"]["previous"]
                open(certificate(path), "wb").write(sealed(stated))
                os.remove(os.path.join(path, checkers.ENVELOPE))
            elif kind == 10:
                stated = json.load(open(certificate(path)))
                stated["series"]["previous"] = sha(b"x")
                open(certificate(path), "wb").write(sealed(stated))
                os.remove(os.path.join(path, checkers.ENVELOPE))
            elif kind == 12:
                # Made before there was a chain: valid, and said to be unchained.
                stated = json.load(open(certificate(path)))
                del stated["series"]["previous"]
                open(certificate(path), "wb").write(sealed(stated))
                os.remove(os.path.join(path, checkers.ENVELOPE))
                shutil.rmtree(before)
                expected = 0
                if not any("unchained" in what for what in second.verify(path)["not_checked"]):
                    both.differ("unchained", f"verify.py does not say that version {at} of {mode} is unchained")
            else:
                open(certificate(before), "w").write(both.dice.choice(["", "{}", "[" * 5000]))
            ours = [run(both.amidst, "verify", path, *more).returncode, run(sys.executable, verify, path, *more).returncode]
            both.tally["chains"] += 1
            if ours[0] != ours[1] or ours[0] != expected:
                told = f"differ on chain {kind} of {mode}: amidst {ours[0]}, verify.py {ours[1]}, expected {expected}"
                both.differ(f"chain {mode} {kind}", told)


def main():
    with Comparison(sys.argv[1:], 2500) as both:
        releases = dict(make(both.amidst, both.place, both.seed))
        both.as_released(releases)
        slim = [(name, checkers.slim(files) if "release.csv" in files else files) for name, files in releases.items()]
        for number in range(both.cases):
            name, files = slim[number % len(slim)]
            case = Forgery(files, both.dice)
            never = getattr(case, both.dice.choice(WAYS))()
            case.sealed_files(both.folder)
            both.compare(f"case {number}, {name}: {'; '.join(case.done)}", never=bool(never))
        chains(os.path.join(os.path.dirname(second.__file__), "verify.py"), both)
    both.end(f"{len(releases)} releases, {both.cases} forgeries of their form and {both.tally['chains']} chains of versions")


if __name__ == "__main__":
    main()
