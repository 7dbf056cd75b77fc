"""Compares the two checkers, `amidst verify` and verify.py, on releases of every model and on thousands of tampered ones.
A release that one accepts and the other refuses is a bug in one of them.

    checkers.py AMIDST VERDICTS [CASES] [SEED]

AMIDST is the binary that makes releases, VERDICTS the example of `amidst-check` that judges folders. Tampering is
determined by a seed and changes cells, rows, quotes, figures, parameters, policies and files; the forger can compute
digests. After half of the changes to tables the certificate is adjusted to fit, so that only the requirements detect them.
"""

import csv
import hashlib
import io
import json
import os
import random
import re
import subprocess
import sys
import time
from fractions import Fraction

from both_checkers import Comparison, second

COLUMNS = """[columns.ward]
role = "insensitive"
[columns.age]
role = "quasi"
type = "integer"
hierarchy = { intervals = [5, 10, 20, 40], origin = 0 }
[columns.sex]
role = "quasi"
hierarchy = { suppress = true }
[columns.zip]
role = "quasi"
type = "text"
hierarchy = { mask = { length = 5, from = "right" } }
[columns.diagnosis]
role = "sensitive"
categories = [
    ["HIV", "Hepatitis", "Depression", "Cancer"],
    ["Heart disease", "Stroke", "Diabetes", "Prostate disease", "Pregnancy"],
    ["Hypertension", "Pneumonia", "Asthma", "Gastritis", "Back pain", "Appendicitis", "Fracture", "Flu"],
]
[columns.cost]
role = "sensitive"
type = "integer"
[columns.grade]
role = "sensitive"
order = ["a", "b", "c, \\"good\\"", "d", "e"]
"""
PLAIN = '[columns.person]\nrole = "identifying"\n[columns.consent]\nrole = "identifying"\n' + COLUMNS
PERSONS = PLAIN.replace('person]\nrole = "identifying"', 'person]\nrole = "key"')
CONSENT = PLAIN.replace('consent]\nrole = "identifying"', 'consent]\nrole = "consent"\nwaived = ["yes"]')
ACCEPT = PLAIN.replace('person]\nrole = "identifying"', 'person]\nrole = "insensitive"\naccept = "printed on the door"')
WEIGHTED = PLAIN.replace("categories = [\n", "weights = { sensitivity = 2 }\ncategories = [\n")
TREE = PLAIN.replace('[columns.diagnosis]\n', """[columns.diagnosis]
hierarchy = { taxonomy = { Any = { Severe = { Stigma = ["HIV", "Hepatitis", "Depression"], Organs = ["Cancer", "Heart disease", "Stroke",
"Diabetes", "Prostate disease"] }, Mild = { Chronic = ["Hypertension", "Asthma", "Back pain"], Passing = ["Pregnancy", "Pneumonia",
"Gastritis", "Appendicitis", "Fracture", "Flu"] } } } }
""".replace(",\n", ", "))
SETS = PLAIN + '[[quasi]]\ncolumns = ["age", "sex"]\n[[quasi]]\ncolumns = ["zip", "age"]\n'
D, C, G = 'on = "diagnosis"', 'on = "cost"', 'on = "grade"'

# name: columns, search, and the requirements, each a model with its parameters.
POLICIES = {
    "k": (PLAIN, "", ["k-anonymity; k = 4"]),
    "distinct": (PLAIN, "", [f"distinct-l-diversity; {D}; l = 3"]),
    "entropy": (PLAIN, "", [f"entropy-l-diversity; {D}; l = 2.5"]),
    "entropy fraction": (PLAIN, 'algorithm = "mondrian"', [f'entropy-l-diversity; {G}; l = "5/2"', "k-anonymity; k = 3"]),
    "entropy whole": (PLAIN, 'algorithm = "top-down"', [f"entropy-l-diversity; {G}; l = 3"]),
    "adjusted": (PLAIN, "", [f'entropy-l-diversity; {G}; l = 2; dont_care = ["a", "e"]']),
    "adjusted two": (PLAIN, 'algorithm = "mondrian"', [f'entropy-l-diversity; {D}; l = "9/4"; dont_care = ["Flu", "Fracture"]']),
    "recursive": (PLAIN, "", [f"recursive-c-l-diversity; {D}; c = 2; l = 3"]),
    "recursive one": (PLAIN, "", [f"recursive-c-l-diversity; {D}; c = 2; l = 1", "k-anonymity; k = 2"]),
    "pd": (PLAIN, "", [f'pd-recursive-c-l-diversity; {G}; c = 2; l = 2; dont_care = ["a"]']),
    "pd three": (PLAIN, 'algorithm = "mondrian"', [f'pd-recursive-c-l-diversity; {D}; c = "3/2"; l = 3; dont_care = ["Flu"]']),
    "npd": (PLAIN, "", [f'npd-recursive-c1-c2-l-diversity; {G}; c1 = 4; c2 = 2; l = 2; dont_care = ["a"]; no_negative = ["b"]']),
    "p-sensitive": (PLAIN, 'algorithm = "k-member"', [f"p-sensitive-k-anonymity; {D}; p = 3; k = 5"]),
    "simple": (PLAIN, "", [f'simple-alpha-k-anonymity; {D}; alpha = 0.3; value = "Hypertension"; k = 4']),
    "general": (PLAIN, "", [f'general-alpha-k-anonymity; {D}; alpha = "1/2"; k = 4']),
    "complete": (PLAIN, "", [f'complete-alpha-k-anonymity; {D}; alpha = {{ HIV = 0.3, Cancer = "1/3" }}; k = 4']),
    "l alpha": (PLAIN, "", [f"distinct-l-alpha-diversity; {D}; l = 3; alpha = 1.5"]),
    "l alpha entropy": (WEIGHTED, "", [f"entropy-l-alpha-diversity; {D}; l = 1.5; alpha = 1.5"]),
    "l alpha recursive": (PLAIN, "", [f"recursive-c-l-alpha-diversity; {D}; c = 3; l = 2; alpha = 1.5"]),
    "l alpha powers": (PLAIN, "", [f"distinct-l-alpha-diversity; {D}; l = 3; alpha = 2; weights = {{ sensitivity = 1.5 }}"]),
    "l alpha list": (PLAIN, "", [f'distinct-l-alpha-diversity; {D}; l = 2; alpha = 1; weights = ["0", "9/61", "1"]']),
    "equal": (PLAIN, "", [f"t-closeness; {D}; t = 0.5"]),
    "ordered": (PLAIN, "", [f't-closeness; {G}; t = 0.3; distance = "ordered"']),
    "ordered numbers": (PLAIN, 'algorithm = "mondrian"', [f'k-anonymity; k = 3', f't-closeness; {C}; t = 0.2; distance = "ordered"']),
    "kl": (PLAIN, "", [f't-closeness; {D}; t = 0.9; distance = "kl"']),
    "js": (PLAIN, "", [f't-closeness; {D}; t = 0.3; distance = "js"']),
    "delta": (PLAIN, "", [f"delta-disclosure; {G}; delta = 1.5"]),
    "beta": (PLAIN, "", [f"beta-likeness; {G}; beta = 2"]),
    "beta enhanced": (PLAIN, "", [f"beta-likeness; {D}; beta = 4; enhanced = true"]),
    "risks": (PLAIN, 'algorithm = "mondrian"', ["average-risk; threshold = 0.25", "sample-uniqueness; threshold = 0.05", 'max-risk; threshold = "1/3"']),
    "uniques": (PLAIN, "", ["sample-uniqueness; threshold = 0.1"]),
    "together": (PLAIN, "", ["k-anonymity; k = 3", 'distinct-l-diversity; on = ["cost", "grade"]; l = 1', 'entropy-l-diversity; on = ["diagnosis", "grade"]; l = 1']),
    "several": (PLAIN, 'algorithm = "mondrian"', ["k-anonymity; k = 4", f"p-sensitive-k-anonymity; {D}; p = 2; k = 4", f"distinct-l-diversity; {G}; l = 2", f"general-alpha-k-anonymity; {G}; alpha = 0.75; k = 2"]),
    "persons": (PERSONS, "", ["k-anonymity; k = 3", f"distinct-l-diversity; {D}; l = 2", f"entropy-l-diversity; {D}; l = 1.5", "average-risk; threshold = 0.5"]),
    "consent": (CONSENT, 'algorithm = "systematic"', ["k-anonymity; k = 3", f"t-closeness; {G}; t = 0.6", "sample-uniqueness; threshold = 0.3"]),
    "accepted": (ACCEPT, 'algorithm = "one-pass-k-means"', ["k-anonymity; k = 4"]),
    "hierarchical": (TREE, "", [f't-closeness; {D}; t = 0.4; distance = "hierarchical"']),
    "population": (PLAIN, "", ["k-anonymity; k = 2", 'k-map; k = 3; population = "patients.csv"',
                               'delta-presence; max = 1; population = "patients.csv"']),
    "masked": (PLAIN, 'suppressed = "mask"', ["k-anonymity; k = 6", f"distinct-l-diversity; {D}; l = 3"]),
    "samarati": (PLAIN, 'algorithm = "samarati"', ["k-anonymity; k = 5"]),
    "sets": (SETS, "", ["k-anonymity; k = 4", f"distinct-l-diversity; {D}; l = 2"]),
    "sets whole": (SETS, 'algorithm = "samarati"', ["k-anonymity; k = 3", f"t-closeness; {G}; t = 0.5", 'max-risk; threshold = "1/3"']),
    "bounds": (PLAIN, 'algorithm = "mondrian"', ["k-anonymity; k = 4"]),
    "bounds of sets": (SETS, "", ["k-anonymity; k = 5"]),
    "clustering": (PLAIN, 'algorithm = "alpha-k-clustering"', [f"general-alpha-k-anonymity; {D}; alpha = 0.6; k = 4"]),
}


# A signing key for tests only.
KEY = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIArgUARK1b/npt/BPAt1hL1eNaakbZaXSwrE9PSFBKL7\n-----END PRIVATE KEY-----\n"
ENVELOPE = second.ENVELOPE


def sha(data):
    return hashlib.sha256(data).hexdigest()


def make(amidst, place, seed):
    """Releases of all policies, each as {name: bytes} of its public part."""
    dice, table = random.Random(seed), os.path.join(place, "patients.csv")
    subprocess.run([amidst, "sample", "--rows", "160", "--seed", str(seed), "--out", table, "--force", "--quiet"], check=True)
    with open(table, newline="") as file:
        rows = list(csv.DictReader(file))
    with open(table, "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["person", "consent", "ward", "age", "sex", "zip", "diagnosis", "cost", "grade"])
        for at, row in enumerate(rows):
            out.writerow([at // 2 if at < 40 else at, "yes" if at % 25 == 0 else "no", "ABC"[at % 3], row["age"], row["sex"],
                          row["zip"], row["diagnosis"], int(row["cost"]) // 9000, dice.choice(["a", "b", 'c, "good"', "d"])])
    key = os.path.join(place, "key.pem")
    with open(os.open(key, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
        file.write(KEY)
    for at, (name, (columns, search, required)) in enumerate(POLICIES.items()):
        limit = "" if "algorithm" in search and "samarati" not in search else "max_suppression = 0.1\n"
        stated = ["\n".join(['[[require]]\nmodel = "{}"'.format(r.split("; ")[0]), *r.split("; ")[1:]]) for r in required]
        policy = os.path.join(place, "policy.toml")
        with open(policy, "w") as file:
            file.write(f'[data]\ninput = "patients.csv"\n{columns}' + "\n".join(stated)
                       + f'\n[search]\n{search}\n{limit}seed = {seed}\n[output]\nfile = "release.csv"\n'
                       + 'ranges = "bounds"\n' * name.startswith("bounds"))
        out = os.path.join(place, "out")
        run = subprocess.run([amidst, "anonymize", policy, "--out", out, "--force", "--quiet", "--json"], capture_output=True)
        if run.returncode == 1:
            print(f"skipped: {name}, which the table of this seed cannot satisfy")
            continue
        if run.returncode:
            sys.exit(f"{name}: {run.stderr.decode()}")
        if at % 4 == 0:
            subprocess.run([amidst, "sign", out, "--key", key, "--quiet"], check=True, stdout=subprocess.DEVNULL)
        files = {f: open(os.path.join(out, "public", f), "rb").read() for f in os.listdir(os.path.join(out, "public"))}
        yield name, files


def slim(files):
    """The same release without its HTML and JSON reports, which are large and only digested; its signature is removed, too."""
    certificate = json.loads(files["certificate.json"])
    certificate["outputs"] = [o for o in certificate["outputs"] if not o["file"].startswith(("report.html", "report.json"))]
    kept = {name: data for name, data in files.items() if not name.startswith(("report.html", "report.json", ENVELOPE))}
    return {**kept, "certificate.json": sealed(certificate)}


def dumped(value, **options):
    """JSON with numbers as certificates write them."""
    text = json.dumps(value, ensure_ascii=False, **options)
    return re.sub(r'(?<=[:\[ ])-?\d+(\.\d+)?(e[+-]?\d+)(?=[,}\]\n])', lambda m: second.shortest(float(m[0])), text)


def sealed(certificate):
    certificate = {key: value for key, value in certificate.items() if key != "digest"}
    text = dumped(certificate, separators=(",", ":"))
    certificate["digest"] = sha(text[:-1].encode())
    return (dumped(certificate, indent=2) + "\n").encode()


class Tampering:
    """A release that is tampered with."""

    def __init__(self, files, dice):
        self.files, self.dice, self.done = dict(files), dice, []
        self.certificate = json.loads(files["certificate.json"])
        text = files["release.csv"].decode()
        self.header, *self.rows = csv.reader(io.StringIO(text, newline=""))

    # Tables.

    def table(self):
        dice, kind = self.dice, self.dice.randrange(9)
        self.done.append(f"table {kind}")
        for _ in range(dice.choice([1, 1, 2, 5])):
            column, at = dice.randrange(len(self.header)), dice.randrange(len(self.rows))
            if kind == 0:
                self.rows[at][column] = dice.choice(self.rows)[column]
            elif kind == 1:
                self.rows[at][column] = dice.choice(["*", "", "x", "44", "Flu", 'say "no"', "a,b", "two\nlines", "\ufeff", " ", "Z\u00fcrich"])
            elif kind == 2:
                self.rows.pop(at)
            elif kind == 3:
                self.rows.insert(dice.randrange(len(self.rows)), list(self.rows[at]))
            elif kind == 4:
                other = dice.choice(self.rows)
                self.rows[at][column], other[column] = other[column], self.rows[at][column]
            elif kind == 5:
                dice.shuffle(self.rows)
            elif kind == 6:
                group = self.rows[at][1:4]
                self.rows = [row for row in self.rows if row[1:4] != group]
            elif kind == 7:
                taken, given = self.rows[at][1:4], dice.choice(self.rows)[1:4]
                self.rows = [row[:1] + given + row[4:] if row[1:4] == taken else row for row in self.rows]
            else:
                # A class gets one, two, three or all values of a sensitive column, which is near diversity bounds.
                group, value = self.rows[at][1:4], sorted({row[-1] for row in self.rows})
                members = [row for row in self.rows if row[1:4] == group]
                for number, row in enumerate(members):
                    row[-1] = value[number % dice.choice([1, 2, 3, len(value)]) % len(value)]
            if not self.rows:
                self.rows = [["x"] * len(self.header)]
        lines = [second.written(self.header, ",", True)] + [second.written(row, ",") for row in self.rows]
        self.files["release.csv"] = "".join(lines).encode()
        if dice.random() < 0.8:
            self.fit()

    def fit(self):
        """Adjusts the figures of the certificate to the rows."""
        self.done.append("fit")
        stated = self.certificate
        change = len(self.rows) - stated["rows_out"]
        stated["rows_in"] += change
        stated["rows_out"] += change
        stated["waived"] = [at for at in stated["waived"] if at < len(self.rows)]
        exact = json.loads(json.dumps(stated), parse_float=Fraction)
        release = second.Release(exact, self.header, self.rows)
        stated["classes"] = len(release.sizes)
        raw = [name for name in self.header if name not in release.quasi and name not in release.sensitive]
        stated["unique_rows"] = {"published": release.unique(self.header), "insensitive": release.unique(raw)}
        for column in stated["sensitive"]:
            if "order" in column and "e" not in column["order"]:
                values = {row[self.header.index(column["name"])] for row in release.protected}
                column["order"] = second.ranked(values, {}, []) or []
        exact = json.loads(json.dumps(stated), parse_float=Fraction)
        release = second.Release(exact, self.header, self.rows)
        for ours, read in zip(stated["requirements"], exact["requirements"]):
            try:
                on = second.columns_of(read["on"], read["model"], release.sensitive)
                quasi, p = read.get("quasi") or release.quasi, second.read_parameters(read["model"], read["parameters"])
                _, measured, worst = release.measure(read["model"], p, on, quasi)
            except (second.Refused, KeyError):
                continue
            ours["measured"] = plain(measured)
            ours["worst"] = worst and {"cells": worst.pop("cells"), **plain(worst)}

    def text(self):
        data, dice = bytearray(self.files["release.csv"]), self.dice
        kind, at = dice.randrange(8), dice.randrange(len(data))
        self.done.append(f"text {kind}")
        lines = bytes(data).split(b"\n")
        if kind == 0:
            data = data.replace(b"\n", b"\r\n")
        elif kind == 1:
            data = data[:-1]
        elif kind == 2:
            data = b"\xef\xbb\xbf" + data
        elif kind == 3:
            data[at:at] = dice.choice([b'"', b"\r", b"\n", b",", b" ", b"\x00", b"\xff", b"\xc3\xa9", b'""'])
        elif kind == 4:
            line = dice.randrange(1, len(lines) - 1)
            cells = lines[line].split(b",")
            cells[0] = b'"' + cells[0] + b'"'
            lines[line] = b",".join(cells)
            data = b"\n".join(lines)
        elif kind == 5:
            data[at] ^= 1 << dice.randrange(8)
        elif kind == 6:
            data += dice.choice([b"\n", b" ", b"x", b"\n\n", b"\x1a"])
        else:
            data = data.replace(lines[0], lines[0].replace(b"sex", dice.choice([b"Sex", b" sex", b'"sex"', b"zip", b"sex\xc2\xa0", b'" sex"'])), 1)
        self.files["release.csv"] = bytes(data)

    # Certificates and policies.

    def figure(self):
        """Changes one leaf of the certificate, at random."""
        leaves = []

        def collect(value, path):
            for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
                if isinstance(inner, (dict, list)):
                    collect(inner, path + [key])
                    leaves.append((value, key, path))
                elif key not in ("policy", "policy_digest", "digest", "sha256", "bytes"):
                    leaves.append((value, key, path))
        collect(self.certificate, [])
        dice = self.dice
        holder, key, path = dice.choice(leaves)
        value = holder[key]
        self.done.append(f"figure {[*path, key]}")
        if isinstance(value, bool):
            holder[key] = not value
        elif isinstance(value, (int, float)):
            holder[key] = dice.choice([value + 1, value * 2, value - 1, 0, value + 1e-6, value / 2, float(value), -value, None, "5", str(value)])
        elif isinstance(value, str):
            holder[key] = dice.choice([value + "x", "", value.upper(), "age", "k-anonymity", "*", None, 3])
        elif isinstance(value, list):
            holder[key] = dice.choice([value[1:], value + value[:1], value[::-1], [], None])
        elif isinstance(value, dict):
            items = list(value.items())
            holder[key] = dice.choice([dict(items[1:]), {**value, "more": 1}, dict(reversed(items)), {}, None])
        else:
            holder[key] = dice.choice([0, 1, "diagnosis", []])

    def parameter(self):
        """Changes a parameter in policy and certificate, with consistent figures: only the model detects it."""
        dice, stated = self.dice, self.certificate
        requirement = dice.choice(stated["requirements"])
        names = [n for n, v in requirement["parameters"].items() if not isinstance(v, (list, dict)) and n not in ("value", "distance", "enhanced")]
        name = dice.choice(names or ["k"])
        old = requirement["parameters"].get(name, 1)
        measured = requirement["measured"].get(name) or requirement["measured"].get("c1") or 1
        whole = name in ("k", "p") or name == "l" and not requirement["model"].startswith("entropy")
        if whole:
            new = dice.choice([int(measured), int(measured) + 1, max(1, int(measured) - 1), dice.randrange(1, 6)])
        else:
            near = Fraction(measured).limit_denominator(10 ** 6)
            new = dice.choice([f"{near.numerator}/{near.denominator}", measured, round(measured, 3), round(measured * 1.01, 4),
                               round(measured * 0.99, 4), measured + 1e-9, 1, 2, 3, "3/2", 0.5])
        self.done.append(f"parameter {requirement['model']} {name} {old} to {new}")
        requirement["parameters"][name] = new
        model = re.escape(f'model = "{requirement["model"]}"')
        written = f'"{new}"' if isinstance(new, str) else repr(new)
        policy = re.sub(rf'({model}\n(?:[a-z_0-9]+ = .*\n)*?{name} = ).*\n', lambda m: m[1] + written + "\n", stated["policy"])
        self.use(policy)
        self.fit()

    def policy(self):
        text, dice = self.certificate["policy"], self.dice
        lines = text.split("\n")
        kind, at = dice.randrange(8), dice.randrange(len(lines))
        self.done.append(f"policy {kind} {lines[at]!r}")
        if kind == 0:
            lines.pop(at)
        elif kind == 1:
            lines.insert(at, lines[dice.randrange(len(lines))])
        elif kind == 2:
            lines[at] += " # more"
        elif kind == 3:
            roles = [n for n, line in enumerate(lines) if line.startswith("role")]
            lines[dice.choice(roles)] = f'role = "{dice.choice(second.ROLES + ("harmless",))}"'
        elif kind == 4:
            lines[at] = re.sub(r"\d+", lambda m: str(int(m[0]) + dice.choice([-1, 1, 10])), lines[at])
        elif kind == 5:
            lines.append(dice.choice(["[extra]", "[release]\ntitle = \"x\"", "x = 1", "[[require]]\nmodel = \"k-anonymity\"\nk = 2", "[[quasi]]\ncolumns = [\"age\"]", "[columns.\"*\"]\nrole = \"insensitive\""]))
        elif kind == 6:
            lines[at] = lines[at].replace('"', "'") if dice.random() < 0.5 else lines[at].replace(" = ", "=")
        else:
            lines[at] = lines[at].replace(dice.choice("abcdeklt0123456789") , dice.choice("abcdeklt0123456789"))
        self.use("\n".join(lines))
        if dice.random() < 0.1:
            self.done.append("another policy.toml")
            self.files["policy.toml"] = text.encode()

    def use(self, policy):
        self.certificate["policy"] = policy
        self.files["policy.toml"] = policy.encode()

    def file(self):
        dice, outputs = self.dice, self.certificate["outputs"]
        kind = dice.randrange(12)
        self.done.append(f"file {kind}")
        if kind < 5:
            name = ["raw.xlsx", ".hidden", "deep/raw.csv", "x.intoto.jsonl", "deep/certificate.json"][kind]
            self.files[name] = b"name,disease\nAnn,HIV\n"
        elif kind == 5:
            self.files.pop(dice.choice(outputs)["file"], None)
        elif kind == 6:
            outputs.append(dict(dice.choice(outputs)))
        elif kind == 7:
            outputs.append({**outputs[0], "file": dice.choice(["./release.csv", "Release.csv", "x/../release.csv", "more.csv", "/etc/hostname", "a\\b.csv", "a\nb.csv", ""])})
            self.files.setdefault("more.csv", self.files.get("release.csv", b""))
        elif kind == 8:
            self.files[dice.choice(["link", "release.csv", "report.md"])] = None
        elif kind == 9:
            gone = outputs.pop(dice.randrange(len(outputs)))
            if dice.random() < 0.7:
                self.files.pop(gone["file"], None)
        elif kind == 10:
            half = self.files["release.csv"].split(b"\n")
            cut = len(half) // 2
            self.files["release.csv"] = b"\n".join(half[:cut] + [b""])
            self.files["part.csv"] = b"\n".join(half[:1] + half[cut:])
            outputs.insert(1, {"file": "part.csv", "bytes": 0, "sha256": ""})
        else:
            self.files["policy.toml"] = self.files.get("policy.toml", b"") + dice.choice([b"\n", b"# x\n", b"[search]\n"])

    def link(self):
        """Adds a position in a series, valid or invalid."""
        dice = self.dice
        self.done.append("link")
        previous = dice.choice([sha(b"x"), sha(b"x"), sha(b"x").upper(), sha(b"x")[1:], "", "Ann,HIV", None, None, 5])
        link = {"version": dice.choice([0, 1, 1, 2, 2, 7, -1, "2", None]), "previous": previous}
        if previous is None and dice.random() < 0.9:
            del link["previous"]
        if dice.random() < 0.1:
            link = dice.choice([{"previous": previous, "version": 2}, {"version": 2, "rows": "Ann,HIV"}, [], None])
        items = list(self.certificate.items())
        where = [key for key, _ in items].index("unique_rows") + (dice.random() < 0.05)
        self.certificate = dict(items[:where] + [("series", link)] + items[where:])

    def seal(self):
        """Recomputes the digests, except in a few cases."""
        dice = self.dice
        if dice.random() < 0.95:
            for output in self.certificate["outputs"] if isinstance(self.certificate["outputs"], list) else []:
                data = self.files.get(output["file"]) if isinstance(output, dict) and isinstance(output.get("file"), str) else None
                if data is not None:
                    output["bytes"], output["sha256"] = len(data), sha(data)
            if isinstance(self.certificate["policy"], str):
                self.certificate["policy_digest"] = sha(self.certificate["policy"].encode())
        data = sealed(self.certificate)
        if dice.random() < 0.06:
            kind = dice.randrange(7)
            self.done.append(f"certificate {kind}")
            at = dice.randrange(len(data))
            if kind == 0:
                data = data.replace(b"\n", b"\r\n").replace(b": ", b"  :\t")
            elif kind == 1:
                data = data[:at] + bytes([data[at] ^ 1 << dice.randrange(8)]) + data[at + 1:]
            elif kind == 2:
                data = data.replace(b'"rows_in"', b'"rows_in": 1, "rows_in"')
            elif kind == 3:
                data = re.sub(rb'"rows_in": (\d+)', rb'"rows_in": \1.0', data)
            elif kind == 4:
                data = data.replace(b"diagnosis", b"\\u0064iagnosis", 1)
            elif kind == 5:
                data = data[:at]
            else:
                data = dumped(json.loads(data), separators=(",", ":")).encode()
        self.files["certificate.json"] = data
        return self.files


def resigned(files, other, dice):
    """A signed release whose signed statement was altered."""
    text, kind = files[ENVELOPE].decode(), dice.randrange(8)
    envelope = json.loads(text)
    if kind < 3:
        at = dice.randrange(len(text))
        data = text.encode()
        return {**files, ENVELOPE: data[:at] + bytes([data[at] ^ 1 << dice.randrange(8)]) + data[at + 1:]}, "a bit of the statement"
    if kind == 3:
        return {**files, ENVELOPE: other}, "the statement of another release"
    if kind == 4:
        envelope["signatures"] = dice.choice([[], envelope["signatures"] * 2, [{"keyid": "", "sig": ""}], [{**envelope["signatures"][0], "rows": "Ann"}]])
    elif kind == 5:
        field = dice.choice(["keyid", "sig"])
        envelope["signatures"][0][field] = dice.choice(["", "QQ==", "ssh-ed25519 QQ==", envelope["signatures"][0][field] + "=", "\u00fc"])
    elif kind == 6:
        envelope[dice.choice(["payload", "payloadType", "more"])] = dice.choice(["", "e30=", "application/json", 1])
    else:
        return {**files, ENVELOPE: dice.choice([text + "\n", " " + text, text.strip(), text + text, "", "{}", "\ufeff" + text]).encode()}, "its form"
    return {**files, ENVELOPE: (json.dumps(envelope, separators=(",", ":")) + "\n").encode()}, f"kind {kind}"


def plain(figures):
    number = lambda x: None if x == second.INFINITE else int(x) if float(x) == int(x) else float(x)
    return {name: number(figure) for name, figure in figures.items()}


def tampered(files, dice):
    case = Tampering(files, dice)
    ways = [case.table] * 6 + [case.text] * 2 + [case.figure] * 3 + [case.parameter] * 6 + [case.policy] * 3 + [case.file] + [case.link]
    dice.choice(ways)()
    if dice.random() < 0.1 and case.done[0].split()[0] == "parameter":
        case.table()
    return case.seal(), "; ".join(case.done)


def main():
    with Comparison(sys.argv[1:], 2500) as both:
        cases, dice = both.cases, both.dice
        releases = dict(make(both.amidst, both.place, both.seed))
        both.as_released(releases)
        made, ways = time.time() - both.began, [(name, slim(files)) for name, files in releases.items()]
        for number in range(cases):
            name, files = ways[number % len(ways)]
            altered, done = tampered(files, dice)
            both.compare(f"case {number}, {name}: {done}", altered)
        signed = [(name, files) for name, files in releases.items() if ENVELOPE in files]
        for number in range(cases // 8):
            (name, files), (_, other) = dice.choice(signed), dice.choice(signed)
            altered, done = resigned(files, other[ENVELOPE], dice)
            if both.compare(f"signed case {number}, {name}: {done}", altered) and altered != files:
                both.differ(name, f"signed case {number}, {name}: {done} is accepted")
    both.end(f"{len(releases)} releases (made in {made:.0f} s) and {cases + cases // 8} tampered ones")


if __name__ == "__main__":
    main()
