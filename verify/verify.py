#!/usr/bin/env python3
"""Checks a release of Amidst, with nothing but Python 3.11 or newer (3.10 lacks tomllib, which reads the policy).
    python3 verify.py RELEASE [--json] [--strict] [--signer KEY.pub]... [--at 2027-12-31] [--previous DIR]
RELEASE is the folder that `amidst anonymize` wrote, its public part, a version of a series (DIR is the one before, ../n-1 when
absent), or a CSV table with its certificate beside it. What the published files can tell is recomputed, exactly; the rest is
attested: the word of whoever made the release. Exit codes: 0 the release is what its certificate says, 1 it is not, 2 it could
not be looked at, 3 the machine failed. Definitions: docs/verify.md; tests compare this checker with `amidst verify`."""
import base64, csv, datetime, hashlib, io, json, math, os, re, sys
from collections import Counter, defaultdict, namedtuple; from decimal import Decimal, localcontext
from fractions import Fraction; from itertools import accumulate, product
if sys.version_info < (3, 11): sys.exit(print("error: verify.py needs Python 3.11 or newer, for tomllib", file=sys.stderr) or 2)
import tomllib
FORMAT, INFINITE, Table = 2, math.inf, namedtuple("Table", "counts rows order levels categories weights")
class Refused(Exception): """The release is not what its certificate says."""
class Unreadable(Exception): """There is nothing that could be looked at."""
def told(problems): return [problem for problem, there in problems.items() if there]
DECIMAL = r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-3]?[0-9]{1,2})?"
NUMBER = re.compile("(?=.{1,400}$)(" + DECIMAL + "|[+-]?[0-9]+/0*[1-9][0-9]*)")
def number(value):  # as policies and certificates write it (3, 0.5, "0.5", "1/3"), exactly
    if type(value) in (int, Fraction) or isinstance(value, str) and NUMBER.fullmatch(value): return Fraction(value)
    raise Refused(f"{str(value)[:50]!r} is no number, or too long")
def sign_of_logs(terms, bound=Fraction(0)):
    """The sign of the sum of a * ln(b) over the terms (a, b), minus the bound. Floating point decides, more digits what is near,
    and integers whose logarithms are compared on a tie, which there is at 0 alone: other sums are transcendental (Baker)."""
    parts, digits = [float(a) * math.log(b) for a, b in terms], lambda x: Decimal(Fraction(x).numerator) / Fraction(x).denominator
    difference, size = math.fsum(parts) - float(bound), 1 + abs(float(bound)) + math.fsum(map(abs, parts))
    if abs(difference) > 1e-9 * size: return 1 if difference > 0 else -1
    for places in (150, 1000):
        with localcontext(prec=places + 50): difference = sum(digits(a) * digits(b).ln() for a, b in terms) - digits(bound)
        if abs(difference) > Decimal(10) ** -places: return 1 if difference > 0 else -1
    scale = math.lcm(*(Fraction(a).denominator for a, _ in terms))
    side = lambda sign: math.prod((Fraction(b) ** (1 if a * sign > 0 else -1)).numerator ** abs(int(a * scale)) for a, b in terms)
    above, below = side(1), side(-1)
    return (above > below) - (above < below)
# A model judges one class. `counts`: its rows by value of the sensitive column (one nameless value where only sizes matter),
# p: what the policy requires, `table`: what the class is compared with, the counts of all protected rows and what is said of the
# column. It returns whether the class satisfies p, and the figures of the certificate: the strongest parameters satisfied.
def entropy_l(counts, p, table):
    """exp(entropy) >= l: N^N >= l^N * product of n^n. With don't-care values the adjusted entropy (article, 4.5): counts above
    the log-entropic mean of the others are lowered to it, and exp(adjusted) = exp(entropy of the others) + how many were."""
    care = set(p.get("dont_care", []))
    fixed, lowered = [n for s, n in counts.items() if s not in care], sorted(n for s, n in counts.items() if s in care)
    if not fixed: return True, {"l": INFINITE}
    while lowered and sign_of_logs([(n, n) for n in fixed] + [(-sum(fixed), lowered[0])]) > 0: fixed.append(lowered.pop(0))
    l, fixed, total = p["l"] - len(lowered), [n // math.gcd(*fixed) for n in fixed], sum(fixed) // math.gcd(*fixed)
    holds = l <= 1 or sign_of_logs([(total, total), (-total, l)] + [(-n, n) for n in fixed]) >= 0
    entropy = math.log(total) - math.fsum(n * math.log(n) for n in fixed) / total
    return holds, {"l": math.exp(entropy) + len(lowered)}
def recursive(counts, p, table, name="c"):
    """Definitions 4.2 and 4.3 of the article: y ranks the most frequent value outside the don't-care set (last on a tie)."""
    care, l = set(p.get("dont_care", [])), int(p["l"])
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0] not in care))
    y, r = next((rank for rank, (s, _) in enumerate(ranked, 1) if s not in care), None), [n for _, n in ranked]
    if y is None or l == 1: return True, {name: Fraction(0)}
    tail = sum(r[l - 1:]) if y <= l - 1 else sum(r[l - 2:y - 1]) + sum(r[y:])
    return r[y - 1] < p[name] * tail, {name: Fraction(r[y - 1], tail) if tail else INFINITE}
def npd_recursive(counts, p, table):
    holds, figures = recursive(counts, p, table, "c1")
    shares = [Fraction(100 * counts[s], counts.total()) for s in p.get("no_negative", [])]
    return holds and all(share >= p["c2"] for share in shares), {**figures, "c2": min(shares, default=Fraction(100))}
def at_least(**figures):  # what bounds whole numbers, such as the size of a class or the number of its values, from below
    return lambda counts, p, table: (all(figure(counts) >= p[name] for name, figure in figures.items()), {
        name: figure(counts) for name, figure in figures.items()})
def alpha_k(bounds, every=False):  # `bounds` tells the largest shares of values; a bound of 1 is none, and no figure
    def judge(counts, p, table):
        shares = [(Fraction(counts[s], counts.total()), most) for s, most in bounds(counts, p).items()]
        figure = max((share for share, most in shares if most < 1 or every), default=Fraction(0))
        return counts.total() >= p["k"] and all(share <= most for share, most in shares), {"alpha": figure, "k": counts.total()}
    return judge
def l_alpha(second):  # distinct values, weights of rows, and what `second` asks of the counts of categories
    def judge(counts, p, table):
        kinds = +Counter({i: sum(counts[s] for s in values) for i, values in enumerate(table.categories)})
        if kinds.total() != counts.total(): raise Refused("a value of a sensitive column is in no category, or in two")
        (weights, slack), total = table.weights, sum(n * table.weights[0][i] for i, n in kinds.items())
        holds, figures = second(kinds, p, table) if second else (True, {"l": len(counts)})
        return holds and len(counts) >= p["l"] and total >= p["alpha"] - slack, {**figures, "alpha": total}
    return judge
def category_weights(stated, many, described=False):
    """The weights of the categories, the most sensitive first, and how far from a bound their sums still meet it: powers with a
    broken exponent have 200 digits, and sums that agree with the bound to 150 are taken to meet it."""
    if described and len(stated) == 1 and stated[0].startswith("sensitivity "): stated = {"sensitivity": stated[0][12:]}
    if isinstance(stated, list) and len(stated) == many and len(str(stated)) < 1 << 14: return list(map(number, stated)), 0
    known = stated == "uniform" or isinstance(stated, dict) and list(stated) == ["sensitivity"]
    beta = number(stated["sensitivity"]) if known and stated != "uniform" else Fraction(0)
    if not known or stated != "uniform" and not 1 <= beta <= 64 or beta.denominator > 1000 or many * max(1, beta) > 4096:
        raise Refused("weights are uniform, of a sensitivity from 1 to 64, or one for each category, and not too large")
    with localcontext(prec=200):
        base, power = (Fraction, int(beta)) if beta.denominator == 1 else (Decimal, Decimal(beta.numerator) / beta.denominator)
        reached = [Fraction(0), *accumulate(1 / Fraction(base(i) ** power) for i in range(1, many))]
    return [weight / (reached[-1] or 1) for weight in reached[:many]], Fraction(int(beta.denominator > 1), 10 ** 150)
def t_closeness(counts, p, table):
    share = {s: Fraction(counts[s], counts.total()) for s in table.counts}
    whole = {s: Fraction(n, table.rows) for s, n in table.counts.items()}
    extra, distance = {s: share[s] - whole[s] for s in whole}, p.get("distance", "equal")
    if distance in ("kl", "js"):
        mean = {s: (share[s] + whole[s]) / 2 for s in whole}
        pairs = [(share, whole, 1)] if distance == "kl" else [(share, mean, 2), (whole, mean, 2)]
        terms = [(a[s] / parts, a[s] / b[s]) for a, b, parts in pairs for s in whole if a[s]]
        return sign_of_logs(terms, p["t"]) <= 0, {"t": max(0.0, math.fsum(float(a) * math.log(b) for a, b in terms))}
    if distance == "equal": figure = sum(map(abs, extra.values())) / 2
    elif distance == "ordered" and table.order:
        figure = sum(map(abs, accumulate(extra.get(s, Fraction(0)) for s in table.order))) / max(1, len(table.order) - 1)
    elif distance == "hierarchical" and table.levels:
        nodes = Counter()  # earth is moved up to the lowest common ancestor and down again, half the way each
        for s, groups in table.levels.items(): nodes.update({node: extra.get(s, 0) for node in [(0, s), *enumerate(groups, 1)]})
        figure = sum(map(abs, nodes.values())) / (2 * max(map(len, table.levels.values())))
    else: raise Refused("the distance is unknown, or the column has no order or levels for it")
    return figure <= p["t"], {"t": figure}
def delta_disclosure(counts, p, table):
    if len(counts) < len(table.counts): return False, {"delta": INFINITE}
    gains = [Fraction(counts[s] * table.rows, counts.total() * n) for s, n in table.counts.items()]
    largest = max(max(gain, 1 / gain) for gain in gains)
    return sign_of_logs([(1, largest)], p["delta"]) < 0, {"delta": math.log(largest)}
def beta_likeness(counts, p, table):
    gains = {s: Fraction(n * table.rows, counts.total() * table.counts[s]) - 1 for s, n in counts.items()}
    gains = {s: gain for s, gain in gains.items() if gain > 0}
    inverse = {s: Fraction(table.rows, table.counts[s]) for s in gains if p.get("enhanced")}
    figure = max(gains.values(), default=Fraction(0))
    return figure <= p["beta"] and all(sign_of_logs([(1, inverse[s])], gains[s]) >= 0 for s in inverse), {"beta": figure}
# What judges a class, and its parameters: after ? one that may be missing, # a whole number from 1 up, : numbers by value.
CLASS_MODELS = {
    "k-anonymity": (at_least(k=Counter.total), "k"), "p-sensitive-k-anonymity": (at_least(p=len, k=Counter.total), "p k"),
    "distinct-l-diversity": (at_least(l=len), "l"), "entropy-l-diversity": (entropy_l, "l ?dont_care"),
    "recursive-c-l-diversity": (recursive, "c #l"), "pd-recursive-c-l-diversity": (recursive, "c #l ?dont_care"),
    "npd-recursive-c1-c2-l-diversity": (npd_recursive, "c1 c2 #l ?dont_care ?no_negative"),
    "simple-alpha-k-anonymity": (alpha_k(lambda counts, p: {p["value"]: p["alpha"]}), "alpha value k"),
    "general-alpha-k-anonymity": (alpha_k(lambda counts, p: {s: p["alpha"] for s in counts}, True), "alpha k"),
    "complete-alpha-k-anonymity": (alpha_k(lambda counts, p: p["alpha"]), ":alpha k"),
    "distinct-l-alpha-diversity": (l_alpha(None), "l alpha ?categories ?weights"),
    "entropy-l-alpha-diversity": (l_alpha(entropy_l), "l alpha ?categories ?weights"),
    "recursive-c-l-alpha-diversity": (l_alpha(recursive), "c #l alpha ?categories ?weights"),
    "m-invariance": (at_least(m=lambda n: n.total() // max(n.values())), "m"), "t-closeness": (t_closeness, "t ?distance"),
    "delta-disclosure": (delta_disclosure, "delta"), "beta-likeness": (beta_likeness, "beta ?enhanced")}
# What is computed from the sizes of all classes, and held against a threshold; what is counted in a population.
RELEASE_MODELS = {"average-risk": (lambda sizes: Fraction(len(sizes), sum(sizes)), "threshold"),
                  "sample-uniqueness": (lambda sizes: Fraction(sizes.count(1), sum(sizes)), "threshold"),
                  "max-risk": (lambda sizes: Fraction(1, min(sizes)), "threshold")}
POPULATION_MODELS = {"k-map": (None, "k population"), "delta-presence": (None, "?min max population"),
                     "bayes-optimal": (None, "rho1 rho2 population"), "belief-difference": (None, "max population")}
MODELS = {**CLASS_MODELS, **RELEASE_MODELS, **POPULATION_MODELS}
# Parameters that are no numbers: values, lists of values, choices. They are compared letter by letter, but for the weights.
NAMES = {"value": str, "dont_care": [str], "no_negative": [str], "categories": [[str]], "distance": str, "population": str,
         "enhanced": bool, "weights": (str, list, dict)}
def read_parameters(model, stated):  # each of its type: what is neither known nor of its type might be read in two ways
    kinds, read = {word.strip("?#:"): word[0] for word in MODELS[model][1].split()}, {}
    if stated.keys() - kinds or {name for name in kinds if kinds[name] != "?"} - stated.keys():
        raise Refused("it has a parameter that this checker does not know, or lacks one")
    for name, value in stated.items():
        read[name] = {s: number(x) for s, x in value.items()} if kinds[name] == ":" else value if name in NAMES else number(value)
        least = 0 if name in NAMES else min(read[name].values(), default=0) if kinds[name] == ":" else read[name]
        whole = kinds[name] != "#" or read[name] >= 1 == read[name].denominator
        if name in NAMES and not fits(value, NAMES[name]) or least < 0 or not whole:
            raise Refused(f"the parameter {name} is not of its type, or less than it may be")
    return read
BOUNDED_BY_ROWS = ("k-anonymity", "distinct-l-diversity", "p-sensitive-k-anonymity")
WITHOUT_COLUMN = ("k-anonymity", "k-map", "delta-presence", *RELEASE_MODELS)
def at_most(model, figure):  # whether a class is the worse the larger this figure is
    return figure in ("c", "c1", "t", "delta", "beta", "threshold", "max", "rho2") or figure == "alpha" and "-k-" in model
WHITE = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200b)))
TABLE = re.compile(r"\.(csv|tsv|jsonl|parquet|arrow)(\.gz)?$", re.IGNORECASE | re.ASCII)
def written(cells, separator, header=False):  # a line as releases have it: quotes where they are needed, and nowhere else
    def cell(text):
        quoted = any(c in text for c in (separator, '"', "\n", "\r")) or text.startswith("\ufeff") or len(cells) == 1 and not text
        quoted = quoted or header and (len(cells) == 1 or text != text.strip(WHITE))
        return '"' + text.replace('"', '""') + '"' if quoted else text
    return separator.join(map(cell, cells)) + "\n"
def read_table(data, name):  # what Python's reader sees is written again: if it differs from the file, that has two readings
    separator, _ = "\t" if name.lower().endswith(".tsv") else ",", csv.field_size_limit(1 << 24)
    try:
        text = data.decode("utf-8")
        header, *rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    except (csv.Error, ValueError) as error: raise Refused(f"{name}: {error}")
    long = len(data) > 1 << 24 and any(len(cell) > 1 << 22 and len(cell.encode()) > 1 << 24 for row in rows for cell in row)
    if any(len(row) != len(header) for row in rows) or len(set(header)) != len(header) or len(header) > 100_000 or long:
        raise Refused(f"{name}: a line has not the cells of the header, two columns have one name, or a cell is too long")
    again = written(header, separator, True) + "".join(written(row, separator) for row in rows)
    if again != text or "\0" in text or text[:1] == "\ufeff" or "\r" in "".join(header):
        raise Refused(f"{name} is not as releases are written: it has two readings")
    return header, rows
def read_release(folder, outputs):  # the header and the rows of all listed tables, one after the other
    tables, seen = [], set()
    for name, parts, output in ((output["file"], output["file"].split("/"), output) for output in outputs):
        path, ways = os.path.join(folder, *parts), [os.path.join(folder, *parts[:end + 1]) for end in range(len(parts))]
        if any(map(os.path.islink, ways)) or not os.path.isfile(path): raise Refused(f"{name} is missing, or no ordinary file")
        with open(path, "rb") as file: data, found = file.read(), os.fstat(file.fileno())
        if len(data) != output["bytes"] or hashlib.sha256(data).hexdigest() != output["sha256"]:
            raise Refused(f"{name} is not the file that the certificate lists: it was altered")
        marks = {name.casefold(), identity := (found.st_dev, found.st_ino), output["sha256"] if TABLE.search(name) else identity}
        if marks & seen: raise Refused(f"{name} is listed twice, or is a copy of another table")
        if TABLE.search(name) and not name.lower().endswith((".csv", ".tsv")): raise Unreadable(f"{name} is neither CSV nor TSV")
        tables, seen = tables + ([read_table(data, name)] if TABLE.search(name) else []), seen | marks
    if not tables or any(header != tables[0][0] for header, _ in tables): raise Refused("no table is listed, or columns differ")
    return tables[0][0], [row for _, rows in tables for row in rows]
def beside(folder, outputs):  # what lies in the folder unlisted, folders and links too; the signed statement may
    files = {output["file"] for output in outputs} | {"certificate.json", ENVELOPE}
    for place, folders, names in os.walk(folder):
        for full in (os.path.join(place, name) for name in sorted(names + folders)):
            path = os.path.relpath(full, folder).replace(os.sep, "/")
            needed = any(file.startswith(path + "/") for file in files) and not os.path.islink(full)
            if path not in files and not needed or path == ENVELOPE and (os.path.islink(full) or not os.path.isfile(full)):
                yield f"{path!r} lies in the folder, and the certificate does not list it"
# Keys in their order: those that end with ? may be missing, ... stands for any others. A list holds any number of its item.
SHAPE = {
    "format": int, "tool": str, "policy": str, "policy_digest": str, "outputs": [{"file": str, "bytes": int, "sha256": str}],
    "rows_in": int, "rows_dropped_missing": int, "rows_out": int, "suppressed": int, "suppressed_as": str, "classes": int,
    "quasi": [str], "sensitive": [{"name": str, "order?": [str], "levels?": [{"value": str, "groups": [int]}],
                                   "categories?": [[str]], "weights?": [str]}],
    "persons": bool, "waived": [int], "counterfeits?": int, "series?": {"version": int, "previous?": str},
    "commitment?": {"scheme": str, "columns": [str], "rows": int, "root": str},
    "unique_rows": {"published": int, "insensitive": int}, "accepted": [{"column": str, "reason": str}], "requirements": [{
        "model": str, "on": (type(None), str, [str]), "quasi?": [str], "parameters": dict, "holds": bool, "measured": dict,
        "worst": (type(None), {"cells": dict, "size": int, "...": None})}], "digest": str}
def fits(value, shape):  # whether a part of a certificate has its shape; whole numbers have 64 bits and no sign
    if isinstance(shape, tuple): return any(fits(value, one) for one in shape)
    if isinstance(shape, list): return isinstance(value, list) and all(fits(item, shape[0]) for item in value)
    if isinstance(shape, dict) and isinstance(value, dict):
        keys = [key for key in shape if not key.endswith("?") or key[:-1] in value]
        names = [key.rstrip("?") for key in keys if key != "..."]
        return list(value)[:len(names) if "..." in shape else None] == names and all(
            fits(value[name], shape[key]) for name, key in zip(names, keys))
    return type(value) is shape and (shape is not int or 0 <= value < 2 ** 64)
def packed(text): return re.sub(r'("(?:[^"\\]|\\.)*"?)|[ \t\r\n]+', r"\1", text)  # JSON without white space between tokens
def canonical(text):  # the text, packed, if it is written in the one way that certificates are
    whole = lambda digits: int(digits) if -2 ** 63 <= int(digits) < 2 ** 64 else None
    read = json.loads(text, parse_float=lambda digits: "\0" + shortest(float(digits)), parse_int=whole, parse_constant=str)
    again = re.sub(r'"\\u0000([^"]*)"', r"\1", json.dumps(read, ensure_ascii=False, separators=(",", ":")))
    if again != packed(text): raise Refused("it is not in its one form: it was altered")
    return again
def shortest(x):  # a number with a point as certificates write it: the fewest digits that read back as the same double
    return f"{Decimal(repr(x)):f}" if 1e-5 <= abs(x) < 1e-4 else re.sub(r"e([+-])0?", lambda m: "e" + m[1].strip("+"), repr(x))
def read_certificate(path):  # if its seals hold: canonical text, shape, digests, plain names of what a release may hold
    with open(path, "rb") as file: text = canonical(file.read().decode("utf-8"))
    certificate = json.loads(text, parse_float=Fraction)
    if not fits(certificate, SHAPE) or certificate["format"] != FORMAT:
        raise Refused(f"it does not have format {FORMAT}, or not the keys and types of certificates")
    sealed = text.removesuffix(f',"digest":"{certificate["digest"]}"}}').encode()
    policy = hashlib.sha256(certificate["policy"].encode()).hexdigest()
    if hashlib.sha256(sealed).hexdigest() != certificate["digest"] or policy != certificate["policy_digest"]:
        raise Refused("the certificate, or the policy in it, does not have the digest that is stated: it was altered")
    for name, sha256 in ((output["file"], output["sha256"]) for output in certificate["outputs"]):
        if any(part in ("", ".", "..") or "\\" in part or not part.isprintable() for part in name.split("/")) or not (
                TABLE.search(name) or name in ("policy.toml", "report.html", "report.json", "report.md")):
            raise Refused(f"it lists {name!r}, which is no plain name, or no part of a release")
        if name == "policy.toml" and sha256 != policy: raise Refused("policy.toml differs from the policy in it")
    return certificate
ROLES, MODES = ("identifying", "quasi", "sensitive", "insensitive", "key", "consent"), ("publish", "join", "separate")
TYPES = ("integer", "decimal", "date", "text")
SECTIONS = {"data", "columns", "require", "quasi", "search", "risk", "utility", "output", "release", "series"}
def read_policy(text):
    """The policy. Numbers with a point stay texts, exact to any digit. What is nested too deep is not read."""
    bare = re.sub(r'"(?:[^"\\\n]|\\.)*"?|\'[^\'\n]*\'?', "", text)
    depth = max(accumulate((c in "[{") - (c in "]}") for c in bare), default=0)
    if text[:1] == "\ufeff" or depth > 64 or any(part.count(".") > 32 for part in re.split(r"[,=\[\]{}\n]", bare)):
        raise Refused("it begins with a byte order mark, or is nested too deep")
    policy = tomllib.loads(text, parse_float=lambda digits: digits.replace("_", ""))
    columns = list(policy.get("columns", {}).values())
    tables = [*columns, *policy.get("require", []), *(policy.get(name, {}) for name in ("search", "output", "release"))]
    if set(policy) - SECTIONS or not all(isinstance(table, dict) for table in tables):
        raise Refused("it has a section that this checker does not know, or no table where there should be one")
    known = lambda c: c.get("role") in ROLES and c.get("type", "text") in TYPES and c.get("mode", "join") in MODES
    lists = lambda column: fits(column.get("order", []), [str]) and fits(column.get("categories", []), [[str]])
    if not all(known(column) and lists(column) for column in columns) or [c["role"] for c in columns].count("consent") > 1:
        raise Refused("it has an unknown role, type or mode, two consent columns, or an order or categories that are no lists")
    return policy
def comparable(value, names=None):  # equal where two parameters say the same: numbers as numbers, however they are written
    letters = lambda name: name in NAMES and name != "weights" if names is None else names
    if isinstance(value, dict): return frozenset((name, comparable(x, letters(name))) for name, x in value.items())
    if isinstance(value, list): return tuple(comparable(x, names) for x in value)
    exact = not names and (type(value) in (int, Fraction) or isinstance(value, str) and NUMBER.fullmatch(value))
    return number(value) if exact else (type(value), value)
def source(name, policy, header):  # the column that a published one is made of: where ranges become two, that of both bounds
    stem, columns = name[:-4], policy.get("columns", {})
    parted = stem + "_min" in header and stem + "_max" in header and stem not in header and name not in columns
    bounds = policy.get("output", {}).get("ranges") == "bounds" and columns.get(stem, columns.get("*", {})).get("role") == "quasi"
    return stem if name.endswith(("_min", "_max")) and parted and bounds else name
def compare_policy(certificate, policy, release):  # what the certificate says otherwise than its policy
    header, columns = release.header, {name: column for name, column in policy.get("columns", {}).items() if name != "*"}
    consent = [column.get("mode", "publish") for column in columns.values() if column["role"] == "consent"]
    own = {name: source(name, policy, header) for name in header}
    said = {name: columns.get(own[name], policy.get("columns", {}).get("*", {})) for name in header}
    role = {name: column.get("role", "unnamed") for name, column in said.items()}
    yield from told({f"the column {name!r} is published, which the policy makes {role[name]}":
                     role[name] not in ("quasi", "sensitive", "insensitive") for name in header})
    listed = {"quasi": certificate["quasi"], "sensitive": [column["name"] for column in certificate["sensitive"]]}
    for kind, names in listed.items():
        lacking = [name for name, column in columns.items() if column["role"] == kind and name not in own.values()]
        if sorted(names) != sorted(name for name in header if role[name] == kind) or lacking:
            yield f"the {kind} columns of certificate, release and policy are not the same"
    for column in certificate["sensitive"]:
        published, unknown = {*map(release.cells([column["name"]]), release.protected)}, policy.get("data", {}).get("missing", [])
        yield from compare_column(column["name"], column, said.get(column["name"], {}), {value for value, in published}, unknown)
    for name, reason in (accepted.values() for accepted in certificate["accepted"]):
        if role.get(name) != "insensitive" or said[name].get("accept") != reason or not reason.strip():
            yield f"the policy does not give the reason that the certificate gives for publishing {name!r}"
    yield from compare_requirements(certificate, policy, own)
    search, keyed = policy.get("search", {}), [name for name, column in columns.items() if column["role"] == "key"]
    masked = [way for way in ("drop", "mask") if way == search.get("suppressed", "drop")]
    yield from told({"persons are counted without a key": certificate["persons"] and not keyed,
        "rows are published by consent that the policy lacks": certificate["waived"] and "publish" not in consent,
        "suppressed rows became something else": [certificate["suppressed_as"]] != masked,
        "more rows are suppressed than the policy allows": certificate["suppressed"] > suppression_limit(search, certificate)})
def compare_column(name, stated, own, published, unknown):  # what is said of a sensitive column; levels are its owner's word
    many = len(stated.get("categories", []))
    weights = lambda: category_weights(stated["weights"], many, True) != category_weights(own.get("weights", "uniform"), many)
    if stated.get("categories", []) != own.get("categories", []): yield f"the categories of {name!r} are not those of the policy"
    elif "weights" in stated and weights(): yield f"the weights of {name!r} are not those of the policy"
    if "order" in stated and stated["order"] != ranked(published, own, unknown):
        yield f"the order of {name!r} is not that of the policy, or of its values"
    values, ways = ([level[key] for level in stated.get("levels", [])] for key in ("value", "groups"))
    if "levels" in stated and not (sorted(published) == sorted(values) and is_tree(ways)):
        yield f"the levels of {name!r} are those of no tree, or not of the published values, each once"
def is_tree(ways):  # whether groups at the levels of a hierarchy, one list for each value, nest up to a single top
    steps = [{(way[at], way[at + 1]) for way in ways} for at in range(min(map(len, ways)) - 1)]
    same_top = len({(len(way), way[-1]) for way in ways}) == 1 and max(map(max, ways)) < 2 ** 32
    return same_top and all(len(step) == len(dict(step)) for step in steps)
def ranked(published, own, unknown):
    """The rank order of a sensitive column: what its policy lists, then published values that the list lacks. Without a list,
    numbers or days ascending, words for what is unknown behind or by their text; None where there is no order."""
    implied = None if own.get("level") else dict(own.get("hierarchy", {})).get("order")
    listed = [value if isinstance(value, str) else json.dumps(value) for value in own.get("order") or implied or []]
    number = lambda text: Fraction(text.strip(WHITE)) if re.fullmatch(DECIMAL, text.strip(WHITE)) else None
    day = lambda text: re.match(r"([0-9]{8}|([+-][0-9]{2})?[0-9]{4}-[0-9]{2}-[0-9]{2})([Tt ]|$)", text.strip(WHITE))
    kind, rest = own.get("type"), published - set(listed)
    known = [text for text in rest if text and text not in list(unknown)]
    if not kind and not listed: kind = "decimal" if None not in map(number, known) else "date" if all(map(day, known)) else "text"
    if len(set(listed)) < len(listed) or rest and kind == "text" and not listed: return None
    by_number, by_day = lambda text: (number(text) is None, number(text) or 0, text), lambda text: (not day(text), text)
    return listed + sorted(rest, key=by_number if kind in TYPES[:2] else by_day if kind == "date" and listed else None)
def columns_of(on, model, sensitive):  # the columns that a requirement is about: those named, or the only one there is
    alone = len(sensitive) == 1 and model not in WITHOUT_COLUMN
    return [on] if isinstance(on, str) else on or list(sensitive) * alone
def compare_requirements(certificate, policy, own):  # those of the policy, by each set of quasi columns, and no others
    names, required = [column["name"] for column in certificate["sensitive"]], policy.get("require", [])
    if not fits(policy.get("quasi", []), [{"columns": [str]}]): raise Refused("the sets of quasi columns are no lists of columns")
    part = lambda name: sorted((column for column in own if own[column] == name), reverse=True) or [name]
    sets = [[column for name in one["columns"] for column in part(name)] for one in policy.get("quasi", [])]
    yield from told({"a quasi column is in no set of [[quasi]]": sets and set(certificate["quasi"]) - set().union(*sets)})
    if max(1, len(sets)) * len(required) != len(certificate["requirements"]):
        raise Refused("the policy does not require as often as the certificate states")
    entry = lambda model, on, quasi, p: (model, tuple(columns_of(on, model, names)), quasi and tuple(quasi), comparable(p))
    wanted = Counter(entry(r.get("model"), r.get("on"), quasi, {name: r[name] for name in r if name not in ("model", "on")})
                     for quasi, r in product(sets or [None], required))
    stated = Counter(entry(r["model"], r["on"], r.get("quasi"), r["parameters"]) for r in certificate["requirements"])
    yield from (f"the policy requires {model}, and the certificate does not state it so" for model, *_ in wanted - stated)
    yield from (f"the certificate states {model}, which the policy does not require so" for model, *_ in stated - wanted)
def suppression_limit(search, certificate):  # a whole number counts rows, anything else is a share of them
    share = number(most[:-1].strip()) / 100 if str(most := search.get("max_suppression", 0)).endswith("%") else number(most)
    if share < 0 or share > 1 and type(most) is not int: raise Refused("max_suppression is neither a share nor a number of rows")
    return most if type(most) is int else share * (certificate["rows_in"] - certificate["rows_dropped_missing"])
class Release:  # the published rows and the classes that they form. Rows published by consent are in no class
    def __init__(self, certificate, header, rows):
        self.certificate, self.header, self.rows, self.quasi = certificate, header, rows, certificate["quasi"]
        self.sensitive = {column["name"]: column for column in certificate["sensitive"]}
        waived = set(certificate["waived"])
        if certificate["waived"] != sorted(waived) or max(waived, default=-1) >= len(rows):
            raise Refused("the rows published by consent are not row numbers of the release, ascending")
        self.protected = [row for at, row in enumerate(rows) if at not in waived]
        self.sizes = Counter(map(self.cells(self.quasi), self.protected))
    def cells(self, names): return lambda row, at=[self.header.index(name) for name in names]: tuple(row[place] for place in at)
    def unique(self, names): return list(Counter(map(self.cells(names), self.rows)).values()).count(1) if names else 0
    def wrong_counts(self, output):  # rows, classes, and rows that are unique on what is published
        stated, rows, masked = self.certificate, len(self.rows), self.sizes[("*",) * len(self.quasi)]
        mask, left = stated["suppressed_as"] == "mask", stated["rows_in"] - stated["rows_dropped_missing"]
        expected = left - (0 if mask else stated["suppressed"]) + stated.get("counterfeits", 0)
        raw = [name for name in self.header if name not in self.quasi and name not in self.sensitive]
        bare = [name for name in raw if name not in [accepted["column"] for accepted in stated["accepted"]]]
        unique = {"published": self.unique(self.header), "insensitive": self.unique(raw)}
        tied = stated.get("commitment", {"scheme": "amidst-rows-1", "columns": self.header, "rows": left, "root": "0" * 64})
        # Where cells stand for classes, columns may have other names than in the input.
        named = output.get("ranges", "label") not in ("label", "rounded") or output.get("values", "generalized") != "generalized"
        return told({"the commitment contradicts the certificate": not re.fullmatch("[0-9a-f]{64}", tied["root"]) or (
                tied["scheme"], tied["rows"], len(tied["columns"])) != ("amidst-rows-1", left, len({*tied["columns"]})),
            "the commitment lacks a published column": not tied["columns"] or not named and {*self.header} - {*tied["columns"]},
            "fewer rows are masked than suppressed": mask and not stated["persons"] and stated["suppressed"] > masked,
            f"the release has {rows} rows, which is not what is stated": not rows == stated["rows_out"] == expected,
            f"the release has {len(self.sizes)} classes, not what is stated": len(self.sizes) != stated["classes"],
            f"{unique} rows are unique, not what is stated": unique != stated["unique_rows"],
            f"more than 1 % of the rows are unique on {bare}, and nobody says why": self.unique(bare) * 100 > rows,
            "nothing is proven: there are no quasi columns, no requirements or no protected rows":
                not self.quasi or not stated["requirements"] or self.rows and not self.protected})
    def judge(self, requirement):  # whether a requirement is proven or attested, and whether rows decide anything about it
        model, measured, quasi = requirement["model"], requirement["measured"], requirement.get("quasi", self.quasi)
        on, persons = columns_of(requirement["on"], model, self.sensitive), self.certificate["persons"]
        sound = 0 < len(quasi) == len({*quasi} & {*self.quasi}) and not (model in POPULATION_MODELS and "quasi" in requirement)
        named = set(on) <= set(self.sensitive) and len(set(on)) == len(on) and (on or model in WITHOUT_COLUMN)
        if not requirement["holds"] or not named or model not in MODELS or not sound:
            raise Refused("it is said not to hold, or has a model or a column that this checker does not know")
        p = read_parameters(model, requirement["parameters"])
        figures = {name: x for name, x in measured.items() if type(x) in (int, Fraction)}
        if model in POPULATION_MODELS or persons:  # what is only attested must at least not contradict itself
            bounds = [(figures[n], p[n], 1 if at_most(model, n) else -1) for n in figures if isinstance(p.get(n), Fraction)]
            if any((a - b) * sign > Fraction(1, 10 ** 9) * max(abs(a), abs(b)) for a, b, sign in bounds):
                raise Refused("the certificate states a figure that does not meet the requirement")
        if model in POPULATION_MODELS: return "attested", False
        holds, found, worst = self.measure(model, p, on, quasi)
        if persons and model not in BOUNDED_BY_ROWS: return "attested", False
        if not holds or persons and any(figure > found.get(name, -1) for name, figure in figures.items()):
            raise Refused("it does not hold in every class, or counts more persons than there are rows")
        if persons: return "proven" if model == "distinct-l-diversity" else "attested", True
        if not same(measured, found) or not same(requirement["worst"], worst):
            raise Refused("its figures in the certificate are not those of the release")
        return "attested" if p.get("distance") == "hierarchical" else "proven", True
    def measure(self, model, p, on, quasi):  # whether every class holds, the figures, and the worst class, by 11 digits
        if model in RELEASE_MODELS:
            sizes = Counter(map(self.cells(quasi), self.protected))
            figure, (size, cells) = RELEASE_MODELS[model][0](list(sizes.values())), min((n, cells) for cells, n in sizes.items())
            worst = None if model == "average-risk" else {"cells": dict(zip(quasi, cells)), "size": size}
            return figure <= p["threshold"], {"threshold": figure}, worst
        holds, measured, lowest, worst = True, {}, None, None
        for column in on or [None]:
            names = quasi + [other for other in on if other != column]  # the others join the quasi-identifier (article, 4.6)
            key, value = self.cells(names), self.cells([column] if column else [])
            classes = defaultdict(Counter)
            for row in self.protected: classes[key(row)]["".join(value(row))] += 1
            table = self.table_of(column, Counter("".join(value(row)) for row in self.protected), model, p)
            for cells, counts in sorted(classes.items()):
                passes, figures = CLASS_MODELS[model][0](counts, p, table)
                for name, x in figures.items(): measured[name] = (max if at_most(model, name) else min)(measured.get(name, x), x)
                rank = [float(f"{float(-x if at_most(model, name) else x):.11g}") for name, x in figures.items()]
                if worst is None or rank < lowest: lowest, worst = rank, {
                    "cells": dict(zip(names, cells)), "size": counts.total(), **figures}
                holds = holds and passes
        return holds, measured, worst
    def table_of(self, column, counts, model, p):
        said = self.sensitive.get(column, {})
        categories, weights = (p.get(name, said.get(name, other)) for name, other in (("categories", []), ("weights", "uniform")))
        weights = category_weights(weights, len(categories), "weights" not in p) if "categories" in MODELS[model][1] else None
        levels = {level["value"]: level["groups"] for level in said.get("levels", [])}
        return Table(counts, counts.total(), said.get("order", []), levels, categories, weights)
    def scope(self):  # what the proof is about, and the columns beside that have no requirement
        required = {name for r in self.certificate["requirements"] for name in columns_of(r["on"], r["model"], self.sensitive)}
        return {"quasi": self.quasi, "sensitive": [name for name in self.sensitive if name in required], "others": [
            name for name in self.header if name not in self.quasi and name not in required], "rows": len(self.rows),
            "protected": len(self.protected), "classes": len(self.sizes), "unique": self.unique(self.header)}
def same(stated, found):  # whether figures agree, to nine digits; what is infinite is null
    if isinstance(stated, dict) and isinstance(found, dict):
        return list(stated) == list(found) and stated.get("cells") == found.get("cells") and all(
            same(stated[name], found[name]) for name in found if name != "cells")
    if type(stated) in (int, Fraction) and type(found) in (int, Fraction, float) and found != INFINITE:
        return abs(float(stated) - float(found)) <= 1e-9 * max(abs(float(stated)), abs(float(found)))
    return stated == (None if found == INFINITE else found)
ENVELOPE, PEM = "release.intoto.jsonl", bytes.fromhex("302a300506032b6570032100")  # what comes before a key in PEM
P, ORDER, D = 2 ** 255 - 19, 2 ** 252 + 27742317777372353535851937790883648493, -121665 * pow(121666, -1, 2 ** 255 - 19)
def point(data):  # a point of the curve Ed25519 (RFC 8032, 5.1.3), in extended coordinates
    y, odd = int.from_bytes(data, "little") & (1 << 255) - 1, data[31] >> 7
    x = pow(square := (y * y - 1) * pow(D * y * y + 1, -1, P) % P, (P + 3) // 8, P)
    x = x if (x * x - square) % P == 0 else x * pow(2, (P - 1) // 4, P) % P
    if (x * x - square) % P or not x and odd: raise Refused("a key or signature is no point of the curve")
    return (x if x % 2 == odd else P - x), y % P, 1, (x if x % 2 == odd else P - x) * y % P
def plus(a, b):
    m, n, o, q = (a[1] - a[0]) * (b[1] - b[0]), (a[1] + a[0]) * (b[1] + b[0]), 2 * a[3] * b[3] * D, 2 * a[2] * b[2]
    return (n - m) * (q - o) % P, (q + o) * (n + m) % P, (q - o) * (q + o) % P, (n - m) * (n + m) % P
def times(n, a): return plus(times(n >> 1, plus(a, a)), a if n & 1 else (0, 1, 1, 0)) if n else (0, 1, 1, 0)
def same_point(u, v): return (u[0] * v[2] - v[0] * u[2]) % P == 0 == (u[1] * v[2] - v[1] * u[2]) % P
def is_weak(a): return same_point(times(8, a), (0, 1, 1, 0))
def is_signature(key, message, signature):  # RFC 8032, 5.1.7, by the strict rules: one scalar, and no point of small order
    a, r, s = point(key), point(signature[:32]), int.from_bytes(signature[32:], "little")
    k = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % ORDER
    base = point((4 * pow(5, -1, P) % P).to_bytes(32, "little"))
    return s < ORDER and not is_weak(a) and not is_weak(r) and same_point(times(s, base), plus(r, times(k, a)))
def signatures(path, place, certificate):
    """The keys that signed, as OpenSSH writes them. The statement follows from the certificate, the file from both, by bytes."""
    if not os.path.lexists(path): return []
    if os.path.islink(path) or not os.path.isfile(path): raise Refused("it is no ordinary file")
    with open(path, "rb") as file, open(place, "rb") as own: data, text = file.read(), own.read()
    files = [*certificate["outputs"], {"file": "certificate.json", "sha256": hashlib.sha256(text).hexdigest()}]
    subjects = [{"name": file["file"], "digest": {"sha256": file["sha256"]}} for file in files]
    packs, envelope = lambda value: json.dumps(value, separators=(",", ":"), ensure_ascii=False), json.loads(data)
    body = '{"_type":"https://in-toto.io/Statement/v1","subject":' + packs(subjects) + (
        ',"predicateType":"urn:amidst:certificate:2","predicate":' + packed(text.decode("utf-8")) + "}")
    kind, body, keys = "application/vnd.in-toto+json", body.encode(), [s["keyid"] for s in envelope["signatures"]]
    made = {"payloadType": kind, "payload": base64.b64encode(body).decode(), "signatures": [
        {"keyid": s["keyid"], "sig": base64.b64encode(base64.b64decode(s["sig"])).decode()} for s in envelope["signatures"]]}
    if packs(made).encode() + b"\n" != data or not keys or keys != sorted(set(keys)) or len(keys) > 64:
        raise Refused("it is not the statement about these files and this certificate.json, in its one form: one was altered")
    for signature, key in zip(made["signatures"], keys):
        wire, sig = base64.b64decode(key.removeprefix("ssh-ed25519 ")), base64.b64decode(signature["sig"])
        if len(wire) != 51 or len(sig) != 64 or key != public_key(wire[19:]) or not is_signature(
                wire[19:], b"DSSEv1 %d %s %d " % (len(kind), kind.encode(), len(body)) + body, sig):
            raise Refused("a signature does not fit: the statement, the signature or the key was altered")
    return keys
def public_key(data): return "ssh-ed25519 " + base64.b64encode(b"\0\0\0\x0bssh-ed25519\0\0\0 " + data).decode()
def fingerprint(key): return "SHA256:" + base64.b64encode(hashlib.sha256(base64.b64decode(key[12:])).digest()).decode()[:43]
def keys_in(path):  # Ed25519 keys and the names of their owners: lines of OpenSSH or of allowed signers, or one PEM block
    with open(path, encoding="utf-8") as file: text, keys = file.read(1 << 20).strip(), {}
    pem = re.fullmatch(r"-----BEGIN PUBLIC KEY-----([A-Za-z0-9+/=\s]*)-----END PUBLIC KEY-----", text)
    if pem: keys[public_key(base64.b64decode("".join(pem[1].split()), validate=True).removeprefix(PEM))] = ""
    for words in [] if pem else (line.split() for line in text.split("\n") if line.strip() and not line.lstrip().startswith("#")):
        at = next((i for i, word in enumerate(words) if re.fullmatch('(ssh-|ecdsa-|sk-)[^"=,@]*|sk-.*@openssh[.]com', word)), 2)
        if at > 1 or len(words) < at + 2: raise Refused(f"{path}: a line is no public key, or has options")
        if words[at] == "ssh-ed25519": keys[f"ssh-ed25519 {words[at + 1]}"] = words[0] if at == 1 else " ".join(words[2:])
    for key, wire in [(key, base64.b64decode(key[12:], validate=True)) for key in keys]:
        if len(wire) != 51 or public_key(wire[19:]) != key or is_weak(point(wire[19:])): raise Refused(f"{path}: a key is none")
    if not keys or len(text) == 1 << 20: raise Refused(f"{path}: there is no public key of Ed25519 in it, or it is too long")
    return keys
def day_of(value):  # written as 2027-12-31
    if isinstance(value, str) and re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", value): value = datetime.date.fromisoformat(value)
    if type(value) is not datetime.date: raise Refused(f"{str(value)[:50]!r} is no day, such as 2027-12-31")
    return value
def asked_for(certificate, last, keys, signers, day):  # signatures, the last day, and which version it is
    link = certificate.get("series", {"version": 0 if certificate.get("counterfeits") else 1})
    plain = re.fullmatch("[0-9a-f]{64}", link.get("previous", "0" * 64)) and link["version"] > ("previous" in link)
    lacking = [" or ".join(map(fingerprint, wanted)) for wanted in signers if not set(wanted) & set(keys)]
    return [f"the release is not signed by {wanted}" for wanted in lacking] + told({
        f"the release may be relied on until {last}, and {day} is later": last and day > last,
        "the certificate does not say plainly which version it is, and which was before": not plain})
def chained(folder, certificate, previous):  # what speaks against the version before, and what could not be checked
    own, link = os.path.realpath(folder), certificate.get("series", {"version": 1})
    version, beside = link["version"], os.path.join(os.path.dirname(own), str(link["version"] - 1), "certificate.json")
    beside = "series" in certificate and os.path.basename(own) == str(version) and os.path.isfile(beside) and beside
    place = beside if not previous else previous if os.path.isfile(previous) else find(previous)[1]
    why = "whose certificate is not at hand" if "previous" in link else "as it is unchained: it does not say which was before it"
    if not place: return [], told({f"that it follows version {version - 1}, {why}": version > 1})
    other = read_certificate(place)
    return told({f"it does not follow the version in {os.path.dirname(place)}": other["digest"] != link.get("previous")
                 or other.get("series", {"version": version - 1})["version"] != version - 1}), []
def find(path):  # the folder of the release, its certificate, and whether the folder belongs to the release alone
    public, whole = os.path.join(path, "public"), not os.path.isfile(path)
    inner = os.path.isfile(os.path.join(public, "certificate.json"))
    folder = public if inner else path if whole else os.path.dirname(path)
    certificate = os.path.join(folder, "certificate.json") if whole else path + ".certificate.json"
    if not os.path.isfile(certificate) or os.path.islink(certificate) or inner and os.path.islink(public):
        raise Unreadable(f"there is no certificate {certificate}, or it is a link: a release holds its files itself")
    return folder, certificate, whole
def verify(path, signers=(), day=None, previous=None):  # the verdict, as `--json` prints it; what is not understood is refused
    (folder, place, whole), problems, requirements, attested, unchained, proofs = find(path), [], [], [], [], False
    keys, scope, last, at, asked = None, None, None, "the certificate", {key for wanted in signers for key in wanted}
    try:
        certificate = read_certificate(place)
        at, outputs = "the policy in the certificate", certificate["outputs"]
        policy = read_policy(certificate["policy"])
        last = day_of(policy["release"]["valid_until"]) if "valid_until" in policy.get("release", {}) else None
        at, tables = "the release", [output for output in outputs if TABLE.search(output["file"])]
        if not whole and len(tables) != 1: raise Refused(f"it lists {len(tables)} tables: give the folder that holds them")
        header, rows = read_release(folder, outputs if whole else [{**tables[0], "file": os.path.basename(path)}])
        problems, at = [*beside(folder, outputs)] if whole else [], ENVELOPE
        keys = signatures(os.path.join(folder, ENVELOPE) if whole else path + ".intoto.jsonl", place, certificate)
        problems += asked_for(certificate, last, keys, signers, day or datetime.datetime.now(datetime.timezone.utc).date())
        at = "the version before it"
        against, unchained = chained(folder, certificate, previous)
        at, release = "the release", Release(certificate, header, rows)
        problems += [*against, *compare_policy(certificate, policy, release), *release.wrong_counts(policy.get("output", {}))]
        for at, requirement in ((requirement["model"], requirement) for requirement in certificate["requirements"]):
            standing, decided = release.judge(requirement)
            proofs, requirements = proofs or decided, requirements + [{**requirement, "verdict": standing}]
        problems += told({"nothing is proven: every requirement is only attested": not proofs})
        keyed, scope = "key" in [column["role"] for column in policy.get("columns", {}).values()], release.scope()
        attested += told({"which rows belong to one person, if several do": certificate["persons"] or keyed,
                          f"that {len(certificate['waived'])} rows are published by consent": certificate["waived"],
                          f"that {certificate.get('counterfeits')} rows stand for nobody": certificate.get("counterfeits")})
    except (Refused, csv.Error, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        problems.append(f"{at}: {error}")
    unsigned = {"who made the release: nobody has signed it": keys == [], "whose keys have signed it": keys and not signers}
    return {"valid": not problems, "requirements": requirements, "problems": problems, "attested": attested, "not_checked": [
        "that the rows stand for rows of the input, how many were left out, the labels of hierarchies, what reports say",
        *unchained, *told(unsigned)], "proven": scope, "valid_until": last and str(last), "signatures": keys or [],
        "signed_by": sorted(asked & set(keys or [])) if signers else None}
def lines_of(verdict, names):  # what is proven, about which columns and rows, by whom and until when, and what is not
    shown = lambda x: x if isinstance(x, str) else "any" if x is None else json.dumps(x, default=lambda y: round(float(y), 6))
    pairs = lambda figures: ", ".join(f"{name} = {shown(x)}" for name, x in figures.items())
    yield "the release is what its certificate says" if verdict["valid"] else "the release does NOT stand"
    if about := verdict["valid"] and verdict["proven"]:
        rows, besides = f"of {about['rows']} rows", ", ".join(about["sensitive"] + about["others"])
        yield f"  {about['protected']} {rows} are in {about['classes']} classes, by {', '.join(about['quasi'])}"
        if besides: yield f"  with what stands beside them ({besides}), {about['unique']} {rows} are unique"
        if about["others"]: yield "  nothing is proven about " + ", ".join(about["others"])
    for r in verdict["requirements"]:
        on, by = [r["on"]] if isinstance(r["on"], str) else r["on"] or [], r.get("quasi", [])
        where = " on " * bool(on) + ", ".join(on) + " by " * bool(by) + ", ".join(by)
        word = "only attested" if r["verdict"] != "proven" else "proven" if verdict["valid"] else "recomputed"
        yield f"  {word}: {r['model']} {pairs(r['parameters'])}{where}; the worst is {pairs(r['measured'])}"
    for key in verdict["signatures"]:
        asked = key in (verdict["signed_by"] or [])
        yield f"  signed {'by ' + names[key] if asked else 'with a key that was not asked for:'} {fingerprint(key)}"
    if verdict["valid_until"]: yield f"  it may be relied on until {verdict['valid_until']}"
    for word, what in (("only attested", "attested"), ("not checked", "not_checked"), ("problem", "problems")):
        yield from (f"  {word}: {one}" for one in verdict[what])
def main(arguments):
    valued, words = ("--signer", "--at", "--previous"), iter(arguments)
    given = {name: [] for name in ("RELEASE", "--json", "--strict", *valued)}
    try:
        for word in words: given[word if word in given else "RELEASE"].append(next(words, None) if word in valued else word)
        (path, *more), once = given["RELEASE"] or ["--"], max(len(given["--at"]), len(given["--previous"])) < 2
        if more or path.startswith("--") or None in sum(given.values(), []) or not once:
            raise Unreadable("usage:" + __doc__.split("\n")[1].replace("    python3", ""))
        signers, days = list(map(keys_in, given["--signer"])), list(map(day_of, given["--at"])) or [None]
        verdict = verify(path, signers, *days, *given["--previous"])
        decided = not verdict["attested"] and all(r["verdict"] == "proven" for r in verdict["requirements"])
        verdict["valid"] = verdict["valid"] and (decided or not given["--strict"])
        lines = lines_of(verdict, {key: name for keys in signers for key, name in keys.items()})
        text = "\n".join("".join(c if c.isprintable() else f"\\u{{{ord(c):x}}}" for c in line) for line in lines)
        sys.stdout.reconfigure(errors="backslashreplace")
        print(json.dumps(verdict, default=float) if given["--json"] else text, flush=True)
        return 0 if verdict["valid"] else 1
    except BrokenPipeError: return os.dup2(os.open(os.devnull, os.O_WRONLY), 1) and 3
    except (Unreadable, Refused, ValueError, OSError, MemoryError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2 if isinstance(error, (Unreadable, Refused, ValueError, FileNotFoundError, IsADirectoryError)) else 3
if __name__ == "__main__": sys.exit(main(sys.argv[1:]))
