"""Forgeries made by hand, for ways in which a checker was or could be deceived: orders, distances, parameters, hierarchies,
policies, single tables, hostile sizes, files of keys, days, openings. Beside forgeries stand honest releases that look like them.

    forgeries.py AMIDST VERDICTS

Neither checker may accept a forgery, both must accept what is honest; verify.py must end within seconds, and never with a
traceback.
"""

import json
import os
import subprocess
import sys
from fractions import Fraction

from both_checkers import Comparison, lay, second
from checkers import KEY, sealed, sha

VERIFY = os.path.abspath(second.__file__)
OPENING = os.path.join(os.path.dirname(VERIFY), "opening.py")
LONGEST = 30  # seconds for a hostile file
K = '[[require]]\nmodel = "k-anonymity"\nk = 2\n'
PATIENTS = [("1", "a")] * 3 + [("2", "b")] * 3


def toml(value):
    if isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {toml(inner)}" for key, inner in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def number(x):
    return None if x is None or x == second.INFINITE else int(x) if float(x) == int(x) else float(x)


def claimed(release, claim):
    """A requirement with figures: those of the release where they can be computed, otherwise the best that could be claimed."""
    try:
        p = second.read_parameters(claim["model"], json.loads(json.dumps(claim["parameters"]), parse_float=Fraction))
        on = second.columns_of(claim["on"], claim["model"], release.sensitive)
        _, measured, worst = release.measure(claim["model"], p, on, release.quasi)
    except (second.Refused, LookupError, TypeError, ValueError, AttributeError, ArithmeticError):
        cells, size = min(release.sizes.items())
        measured, worst = {"t": 0}, {"cells": dict(zip(release.quasi, cells)), "size": size, "t": 0}
    worst = worst and {name: x if name == "cells" else number(x) for name, x in worst.items()}
    return {**claim, "holds": True, "measured": {name: number(x) for name, x in measured.items()}, "worst": worst}


def forged(policy, rows, said, claims, **changes):
    """A release of the columns age and s, whose certificate says what these arguments say; its digests and counts fit."""
    table = "age,s\n" + "".join(second.written(row, ",") for row in rows)
    outputs = [{"file": "release.csv", "bytes": len(table.encode()), "sha256": sha(table.encode())}]
    stated = {
        "format": 2, "tool": "amidst 0.2.0", "policy": policy, "policy_digest": sha(policy.encode()), "outputs": outputs,
        "rows_in": len(rows), "rows_dropped_missing": 0, "rows_out": len(rows), "suppressed": 0, "suppressed_as": "drop",
        "classes": 0, "quasi": ["age"], "sensitive": [{"name": "s", **said}], "persons": False, "waived": [],
        "unique_rows": {"published": 0, "insensitive": 0}, "accepted": [], "requirements": []}
    release = second.Release(stated, ["age", "s"], [list(row) for row in rows])
    stated["classes"], stated["unique_rows"]["published"] = len(release.sizes), release.unique(["age", "s"])
    stated["requirements"] = [claimed(release, claim) for claim in claims]
    for name, change in changes.items():
        stated[name] = change(stated[name])
    return {"release.csv": table.encode(), "certificate.json": sealed(stated)}


def policy_of(column, claims):
    required = [f'[[require]]\nmodel = "{claim["model"]}"\non = "s"\n' + "".join(
        f"{name} = {toml(value)}\n" for name, value in claim["parameters"].items()) for claim in claims]
    return f'[columns.age]\nrole = "quasi"\n[columns.s]\nrole = "sensitive"\n{column}' + "".join(required)


def one(model, parameters, rows=PATIENTS, column="", said=None, stated=None):
    """A release with one requirement; its certificate states the parameters `stated` where they differ from the policy's."""
    claim = {"model": model, "on": "s", "parameters": parameters}
    policy = policy_of(column, [claim])
    return forged(policy, rows, said or {}, [{**claim, "parameters": parameters if stated is None else stated}])


def valued(*pairs):
    """Rows of two classes with these values."""
    return [(str(age), value) for age, values in enumerate(pairs, 1) for value in values]


def orders():
    """Ordered t-closeness, by orders that the policy does not have: (name, files, whether it is honest)."""
    def ordered(rows, order, column="", t=0.3):
        said = {} if order is None else {"order": order}
        return one("t-closeness", {"t": t, "distance": "ordered"}, rows, column, said)

    listed, spread = 'order = ["low", "mid", "high"]\n', valued(["low", "low"], ["high", "high"])
    yield "the list of the policy", ordered(spread, ["low", "mid", "high"], listed, t=0.5), True
    yield "the list of the policy, padded", ordered(spread, ["low", "mid", "high", *(f"x{n}" for n in range(60))], listed), False
    yield "the list of the policy, cut", ordered(spread, ["low", "high"], listed, t=0.9), False
    yield "a word for the unknown behind the list", ordered(valued(["low", "?"], ["?", "low"]), ["low", "mid", "high", "?"], listed), True
    numbers = valued(["10", "20"], ["30", "40"])
    yield "numbers ascending", ordered(numbers, ["10", "20", "30", "40"], t=0.4), True
    yield "numbers, padded", ordered(numbers, ["10", "20", "30", "40", *map(str, range(41, 99))]), False
    yield "numbers behind a word, exchanged", ordered(numbers, ["0", "-", "10", "30", "20", "40"]), False
    yield "numbers exchanged", ordered(numbers, ["10", "30", "20", "40"]), False
    yield "no order for an ordered distance", ordered(numbers, None, t=0), False
    yield "no order, and a list in the policy", ordered(spread, None, listed, t=0), False
    yield "words without a list", ordered(valued(["a", "d"], ["b", "c"]), ["a", "b", "c", "d"]), False
    days = ["2020-01-01", "2020-02-01", "2020-03-01", "2020-04-01"]
    dated = valued(days[:2], days[2:])
    yield "days ascending", ordered(dated, days, 'type = "date"\n', t=0.4), True
    yield "days behind a word, exchanged", ordered(dated, ["2019-01-01", "-", days[0], days[2], days[1], days[3]], 'type = "date"\n'), False
    implied = 'hierarchy = { order = ["well", "mild", "severe", "dying"], groups = [2] }\n'
    staged = valued(["well", "mild"], ["severe", "dying"])
    yield "the list of the hierarchy", ordered(staged, ["well", "mild", "severe", "dying"], implied, t=0.4), True
    yield "the list of the hierarchy, exchanged", ordered(staged, ["well", "severe", "mild", "dying"], implied), False
    unused = one("distinct-l-diversity", {"l": 1}, spread, listed, {"order": ["low", "mid"]})
    yield "an order that nothing uses lacks a value", unused, False


LEVELS = {"a": [0, 0], "b": [0, 0], "c": [1, 0]}


def hierarchies():
    """Which value is in which group is attested; None where verify.py alone looks at the form."""
    def leveled(levels, *more):
        said = {"levels": [{"value": value, "groups": groups} for value, groups in [*levels.items(), *more]]}
        tree = 'hierarchy = { taxonomy = { Any = { x = ["a", "b"], y = ["c"] } } }\n'
        claims = [{"model": "t-closeness", "on": "s", "parameters": {"t": 0.9, "distance": "hierarchical"}},
                  {"model": "k-anonymity", "on": "s", "parameters": {"k": 2}}]
        return forged(policy_of(tree, claims), valued("ab" * 2, "ca" * 2), said, claims)

    yield "a tree", leveled(LEVELS), True
    yield "no single top", leveled({**LEVELS, "c": [1, 1]}), False
    yield "levels that differ in number", leveled({**LEVELS, "b": [0]}), False
    yield "no levels", leveled({value: [] for value in LEVELS}), False
    yield "a value twice", leveled(LEVELS, ("a", [0, 0])), False
    yield "a value too few", leveled({"a": [0, 0], "b": [0, 0]}), False
    yield "groups that do not nest", leveled({"a": [0, 0, 0], "b": [0, 1, 0], "c": [1, 0, 0]}), None
    yield "a number of 33 bits", leveled({"a": [2 ** 32, 0], "b": [2 ** 32, 0], "c": [1, 0]}), False


def parameters():
    """Parameters that could be read in two ways. Beside each wrong one its policy says the same."""
    said = {"levels": [{"value": value, "groups": [0] * 60} for value in "ab"]}
    for distance in ("foo", "Hierarchical", "EQUAL", "", "ordered ", ["equal"], 5, True, {"a": 1}):
        yield f"the distance {distance!r}", one("t-closeness", {"t": 0.1, "distance": distance}, said=said), False
    yield "equal", one("t-closeness", {"t": 0.5, "distance": "equal"}), True
    for care in ("ab", 5, {"a": 1}, [["a"]], True):
        yield f"dont_care {care!r}", one("entropy-l-diversity", {"l": 2, "dont_care": care}), False
    yield "dont_care", one("entropy-l-diversity", {"l": 2, "dont_care": ["a", "b"]}), True
    mixed = valued(["1", "2"], ["2", "1"])
    yield "the value 1", one("simple-alpha-k-anonymity", {"alpha": 0.4, "value": 1, "k": 1}, mixed), False
    yield "the value \"1\"", one("simple-alpha-k-anonymity", {"alpha": 0.5, "value": "1", "k": 1}, mixed), True
    for flag in ("true", "", 1, 0, [], {}):
        yield f"enhanced {flag!r}", one("beta-likeness", {"beta": 1, "enhanced": flag}), False
    weighed = {"l": 1, "alpha": 0}
    for categories in ("ab", ["ab"], ["a", "b"], [], [["a"], ["a", "b"]]):
        yield f"categories {categories!r}", one("distinct-l-alpha-diversity", {**weighed, "categories": categories}), False
    for weights in ("", {}, [], {"sensitivity": 2, "x": 1}, {"sensitivity": 0}, {"sensitivity": 65}, ["sensitivity 2"], ["0", ""], 5):
        given = {**weighed, "categories": [["a"], ["b"]], "weights": weights}
        yield f"weights {weights!r}", one("distinct-l-alpha-diversity", given), False
    for model, name, rest in (("k-anonymity", "k", {}), ("distinct-l-diversity", "l", {}), ("p-sensitive-k-anonymity", "p", {"k": 1}),
                              ("m-invariance", "m", {}), ("general-alpha-k-anonymity", "k", {"alpha": 1}), ("t-closeness", "t", {}),
                              ("recursive-c-l-diversity", "c", {"l": 1}), ("recursive-c-l-diversity", "l", {"c": 1})):
        for wrong in (-1, "-1/2", "\u0661", "\uff11", [1], True, {"a": 1}, "", "1/0", "1e401"):
            yield f"{model} with {name} = {wrong!r}", one(model, {name: wrong, **rest}), False
        yield f"{model} without {name}", one(model, rest), False
        yield f"{model} with another parameter", one(model, {name: 1, **rest, "foo": 1}), False
    yield "c2 is missing", one("npd-recursive-c1-c2-l-diversity", {"c1": 2, "l": 1, "no_negative": ["a"]}), False
    yield "c2 below 0", one("npd-recursive-c1-c2-l-diversity", {"c1": 2, "c2": -1, "l": 1, "no_negative": ["a"]}), False
    yield "l is no whole number", one("recursive-c-l-diversity", {"c": 9, "l": 1.5}), False
    yield "more than 64 bits", one("general-alpha-k-anonymity", {"alpha": 2 ** 64, "k": 1}, stated={"alpha": 2 ** 64, "k": 1}), False
    yield "other digits in the policy", one("k-anonymity", {"k": "\u0663"}, stated={"k": 3}), False
    yield "other digits in the certificate", one("k-anonymity", {"k": 3}, stated={"k": "\u0663"}), False


def policies():
    """What the policy in the certificate says beside the claim; the certificate agrees with it as far as it can."""
    claim = {"model": "k-anonymity", "on": "s", "parameters": {"k": 2}}

    def said(more, column=""):
        return forged(policy_of(column, [claim]) + more, PATIENTS, {}, [claim])

    yield "a last day", said("[release]\nvalid_until = 2999-12-31\n"), True
    yield "a last day as text", said('[release]\nvalid_until = "2999-12-31"\n'), True
    for day in ('"29991231"', '"2999-W01-1"', '"2999-12-31T00:00:00"', "2999-12-31T00:00:00", '"2999-02-30"', '""', "false", "0", "[]",
                "2999", '" 2999-12-31"', "10:00:00"):
        yield f"the last day {day}", said(f"[release]\nvalid_until = {day}\n"), False
    yield "two consent columns", said('[columns.w]\nrole = "consent"\n[columns.x]\nrole = "consent"\n'), False
    yield "two consent columns, one for all others", said('[columns."*"]\nrole = "consent"\n[columns.x]\nrole = "consent"\n'), False
    yield "an unknown mode", said('[columns.w]\nrole = "consent"\nmode = "foo"\n'), False
    yield "an unknown mode of another column", said("", 'mode = "foo"\n'), False
    yield "other digits in a limit", said('[search]\nmax_suppression = "\u0662%"\n'), False
    yield "a list too deep", said("[data]\nx = " + "[" * 100 + "]" * 100 + "\n"), False
    yield "a key too deep", said("[data." + ".".join("a" * 200) + "]\n"), False


def hostile():
    """Files that take forever where a size is not looked at: verify.py must refuse them, and soon."""
    claim = {"model": "k-anonymity", "on": "s", "parameters": {"k": 2}}
    honest = forged(policy_of("", [claim]), PATIENTS, {}, [claim])
    for name, text in (("quotes", b'{"a":"' + b'\\"' * 200_000), ("spaces", b" " * 2_000_000 + b"x"), ("lists", b"[" * 200_000),
                       ("objects", b'{"a":' * 100_000), ("digits", b'{"format":' + b"9" * 1_000_000 + b"}")):
        yield f"a certificate of {name}", {**honest, "certificate.json": text}
        yield f"a statement of {name}", {**honest, second.ENVELOPE: text}
    weighed = {"l": 1, "alpha": 1, "categories": [[str(n)] for n in range(3000)]}
    for beta in (10 ** 9, 63.999, 64):
        weights = {"sensitivity": beta}
        yield f"the sensitivity {beta}", one("distinct-l-alpha-diversity", {**weighed, "weights": weights})
    for name, more in (("a key", "[data]\n" + ".".join("a" * 100_000) + " = 1\n"), ("a list", "[data]\nx = " + "[" * 100_000),
                       ("sets", '[[quasi]]\ncolumns = ["age"]\n' * 3000)):
        yield f"a policy with {name}", forged(policy_of("", [claim]) + more, PATIENTS, {}, [claim])
    yield "requirements", forged(policy_of("", [claim] * 3000), PATIENTS, {}, [claim] * 2999)
    for l in ("2." + "0" * 3000 + "1", "1/" + "9" * 200_000, "1e999999999"):
        yield "a long number", one("entropy-l-diversity", {"l": l})


def singles(both):
    """A table that is published as a single file: (name, files, whether it is honest)."""
    claim = {"model": "k-anonymity", "on": "s", "parameters": {"k": 2}}

    def single(change):
        files = forged(policy_of("", [claim]), PATIENTS, {}, [claim], outputs=change)
        return {"t.csv": files["release.csv"], "t.csv.certificate.json": files["certificate.json"]}

    other = {"file": "more.csv", "bytes": 1, "sha256": "0" * 64}
    cases = [("under its own name", lambda listed: listed, 0), ("with a second table", lambda listed: [*listed, other], 1),
             ("with a report before it", lambda listed: [{**other, "file": "report.md"}, *listed], 0), ("without one", lambda listed: [], 1)]
    cases += [(f"under the name {name}", lambda listed, name=name: [{**listed[0], "file": name}], 1) for name in ("../x.csv", "/x.csv", "a//b.csv")]
    for name, change, expected in cases:
        lay(single(change), both.folder)
        exits(both, f"a single table {name}", expected, "t.csv", cwd=both.folder)


def ran(*command, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, timeout=LONGEST, **more)
    return done.returncode, (done.stdout + done.stderr).decode(errors="replace")


def exits(both, what, expected, *arguments, cwd=None, env=None, alone=False):
    """Both commands must end with this exit code; verify.py `alone` where the first does not know the case."""
    both.tally["commands"] += 1
    told = {"verify.py": ran(sys.executable, VERIFY, *arguments, cwd=cwd, env=env)}
    if not alone:
        told["amidst verify"] = ran(both.amidst, "verify", *arguments, cwd=cwd, env=env)
    for name, (code, text) in told.items():
        if code != expected or "Traceback" in text:
            both.differ(what, f"{what}: {name} ends with {code}, not {expected}: {text[-300:]}")


def commands(both):
    """Wrong usage, files of keys, days, and terminals that cannot print."""
    signed = os.path.join(both.place, "signed")
    write = lambda name, text: open(os.path.join(both.place, name), "wb").write(text.encode() if isinstance(text, str) else text)
    os.chmod(os.open(os.path.join(both.place, "key.pem"), os.O_WRONLY | os.O_CREAT, 0o600), 0o600)
    write("key.pem", KEY)
    ran(both.amidst, "sign", signed, "--key", os.path.join(both.place, "key.pem"), "--quiet")
    key = json.load(open(os.path.join(signed, "public", second.ENVELOPE)))["signatures"][0]["keyid"]
    body = second.base64.b64encode(second.PEM + second.base64.b64decode(key[12:])[19:]).decode()
    pem = f"-----BEGIN PUBLIC KEY-----\n{body}\n-----END PUBLIC KEY-----\n"
    stranger = second.public_key(second.base64.b64decode("11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="))
    files = {"line": (key, 0), "comment": (f"# ours\n\n{key} ann at work\n", 0), "named": (f"ann@example.org {key}\n", 0), "pem": (pem, 0),
             "after another algorithm": (f"ssh-rsa AAAA\n{key}", 0), "stranger": (stranger, 1), "both": (f"{stranger}\n{key}\n", 0),
             "options": (f'ann namespaces="file" {key}', 2), "options before a key": (f'ann cert-authority {key}\n{key}', 2),
             "two PEM blocks": (pem + pem, 2), "PEM behind a line": (f"{key}\n{pem}", 2), "PEM among junk": ("x\n" + pem, 2),
             "junk": (f"hello\n{key}", 2), "cut": (key[:-4], 2), "empty": ("", 2), "binary": (b"\x7fELF\xff\xfe", 2), "private": (KEY, 2),
             "weak": (second.public_key(bytes(32)), 2), "no point": (second.public_key(b"\2" + bytes(31)), 2)}
    for name, (text, expected) in files.items():
        write("owner.pub", text)
        exits(both, f"a file of keys: {name}", expected, signed, "--signer", os.path.join(both.place, "owner.pub"))
    write("owner.pub", key)
    write("stranger.pub", stranger)
    owner, other = (os.path.join(both.place, name) for name in ("owner.pub", "stranger.pub"))
    exits(both, "two signers of whom one signed", 1, signed, "--signer", owner, "--signer", other)
    exits(both, "a signer whose file is missing", 2, signed, "--signer", "/nowhere.pub")
    for day in ("2020-13-01", "today", "", "20200101", "2020-01-01T00:00:00", "\u0662\u0660\u0662\u0660-01-01"):
        exits(both, f"the day {day!r}", 2, signed, "--at", day)
    for wrong in ([], [signed, signed], [signed, "--at"], [signed, "--foo"], ["/nowhere"], [signed, "--previous", "/nowhere"]):
        exits(both, f"the arguments {wrong[1:]}", 2, *wrong)
    exits(both, "a terminal of ASCII", 0, signed, env={**os.environ, "PYTHONIOENCODING": "ascii"})
    with open("/dev/full", "w") as full:
        done = subprocess.run([sys.executable, VERIFY, signed], stdout=full, stderr=subprocess.PIPE)
    os.remove(os.path.join(signed, "public", second.ENVELOPE))
    os.mkfifo(os.path.join(signed, "public", second.ENVELOPE))
    exits(both, "a pipe for the signed statement", 1, signed)
    if done.returncode != 3 or b"Traceback" in done.stderr:
        both.differ("a full disk", f"verify.py on a full disk ends with {done.returncode}: {done.stderr[-300:]}")


COLUMNS = """[data]
input = "honest.csv"
{data}
[columns.age]
role = "quasi"
type = "integer"
hierarchy = {{ intervals = [10, 40], origin = 0 }}
[columns.s]
role = "sensitive"
{column}
[[require]]
model = "t-closeness"
on = "s"
t = 0.9
distance = "ordered"
[output]
file = "release.csv"
"""
HONEST = {
    "decimals": ('type = "decimal"', "", [".5", "-.25", "1e1", "5.", "+7"]),
    "untyped numbers": ("", "", [".5", "1E+1", "2", "-0", "0.50"]),
    "white space": ("", "", [" 1e-1", "1 ", "4", "-.5"]),
    "the order of a hierarchy": ("hierarchy = { order = [5, 4, 3, 2], groups = [2] }", "", ["2", "3", "4", "5"]),
    "an order beside a hierarchy": ("order = [1, 2, 3, 4]\nhierarchy = { order = [4, 3, 2, 1], groups = [2] }", "", ["1", "3"]),
    "unknown values": ("", 'missing = ["-", "?"]\nmissing_rows = "keep"', ["1", "2", "10", "-", "?"]),
    "unknown values behind an order": ("order = [1, 2, 3, 4, 6]", 'missing = ["5", "?"]\nmissing_rows = "keep"', ["1", "5", "?", "6"]),
    "days": ("", "", ["2020-01-31", "1999-12-01", "2021-02-28"]),
    "days and words for the unknown": ("", 'missing = ["-", "?"]\nmissing_rows = "keep"', ["2020-01-31", "-", "1999-12-01", "?"]),
    "labels": ('level = 1\norder = ["[d-c]", "[b-a]"]\nhierarchy = { order = ["d", "c", "b", "a"], groups = [2] }', "", ["a", "b", "c", "d"]),
}


def honest(both):
    """Releases of orders as Amidst makes them, which both must accept."""
    for name, (column, data, values) in HONEST.items():
        rows = "".join(f'{20 + at % 23},"{values[at * 7 % len(values)]}"\n' for at in range(80))
        for file, text in (("honest.csv", "age,s\n" + rows), ("policy.toml", COLUMNS.format(column=column, data=data))):
            with open(os.path.join(both.place, file), "w", newline="") as out:
                out.write(text)
        made = os.path.join(both.place, "honest")
        code, text = ran(both.amidst, "anonymize", "policy.toml", "--out", "honest", "--force", "--quiet", cwd=both.place)
        if code:
            both.differ(name, f"honest, {name}: not made: {text[-300:]}")
            continue
        public = os.path.join(made, "public")
        files = {file: open(os.path.join(public, file), "rb").read() for file in os.listdir(public)}
        if not both.compare(f"honest, {name}", files):
            both.differ(name, f"honest, {name}: refused")


def openings(both):
    """opening.py: exit codes for openings that are honest, false, or of another shape."""
    signed = os.path.join(both.place, "signed")
    ran(both.amidst, "open", "signed", "--rows", "1,30,59", "--out", "opened.json", "--force", "--quiet", cwd=both.place)
    opening = json.load(open(os.path.join(both.place, "opened.json")))
    certificate = open(os.path.join(signed, "public", "certificate.json")).read()

    def bent(change):
        copy = json.loads(json.dumps(opening))
        change(copy)
        return json.dumps(copy)

    row = lambda name, value: bent(lambda o: o["rows"][0].__setitem__(name, value))
    cases = {"honest": (json.dumps(opening), certificate, 0), "another salt": (row("salt", "0" * 64), certificate, 1),
             "another cell": (row("cells", ["x"] * len(opening["rows"][0]["cells"])), certificate, 1),
             "no rows": (bent(lambda o: o["rows"].clear()), certificate, 1), "twice": (bent(lambda o: o["rows"].append(o["rows"][-1])), certificate, 1),
             "a certificate altered": (json.dumps(opening), certificate.replace('"tool": "', '"tool": "x', 1), 1),
             "a leaf with a point": (row("leaf", float(opening["rows"][0]["leaf"])), certificate, 2), "a leaf below 0": (row("leaf", -1), certificate, 2),
             "true for a leaf": (row("leaf", True), certificate, 2), "numbers for cells": (row("cells", [1, 2]), certificate, 2),
             "text for cells": (row("cells", "abc"), certificate, 2), "no salt": (bent(lambda o: o["rows"][0].pop("salt")), certificate, 2),
             "another key": (bent(lambda o: o.update(more=1)), certificate, 2), "too deep": ("[" * 100_000, certificate, 2),
             "a key twice": (json.dumps(opening).replace('"scheme":', '"scheme": "x", "scheme":', 1), certificate, 2),
             "no commitment": (json.dumps(opening), "{}", 2), "nothing": ("", certificate, 2)}
    for name, (text, stated, expected) in cases.items():
        paths = [os.path.join(both.place, file) for file in ("stated.json", "given.json")]
        for path, content in zip(paths, (stated, text)):
            with open(path, "w") as file:
                file.write(content)
        both.tally["commands"] += 1
        code, told = ran(sys.executable, OPENING, *paths)
        if code != expected or "Traceback" in told:
            both.differ(name, f"opening, {name}: opening.py ends with {code}, not {expected}: {told[-300:]}")


def main():
    with Comparison(sys.argv[1:], 0) as both:
        for family in (orders, hierarchies, parameters, policies):
            for name, files, fair in family():
                what = f"{family.__name__}: {name}"
                if fair is None:
                    lay(files, both.folder)
                    exits(both, what, 1, both.folder, alone=True)
                elif both.compare(what, files, never=not fair) != fair and fair:
                    both.differ(what, f"{what}: refused, and it is honest")
        for name, files in hostile():
            lay(files, both.folder)
            exits(both, f"hostile: {name}", 1, both.folder, alone=True)
        singles(both)
        honest(both)
        sample = os.path.join(both.place, "sample.toml")
        ran(both.amidst, "sample", "--rows", "100", "--out", os.path.join(both.place, "sample.csv"), "--policy", sample, "--quiet")
        code, text = ran(both.amidst, "anonymize", sample, "--out", os.path.join(both.place, "signed"), "--commit", "--quiet")
        if code:
            sys.exit(f"the sample is not made: {text}")
        openings(both)
        commands(both)
    both.end(f"forgeries by hand, {both.tally['commands']} commands,")


if __name__ == "__main__":
    main()
