#!/usr/bin/env python3
"""Checks a release of Amidst, with nothing but Python 3.11 or newer (3.10 lacks tomllib, which reads the policy).

    python3 verify.py RELEASE [--json] [--strict] [--signer KEY.pub] [--at 2027-12-31] [--previous DIR]

RELEASE is the folder that `amidst anonymize` wrote, its public part, a version of a series (DIR is the one before, ../n-1 when
absent), or a CSV table with its certificate beside it. What the published files can tell is recomputed, in integers and
fractions; the rest is attested: the word of whoever made the release. Exit codes: 0 the release is what its certificate says,
1 it is not, 2 it could not be looked at, 3 the machine failed. The definitions are in docs/verify.md; tests compare this
checker with `amidst verify`."""
import base64, csv, datetime, hashlib, io, json, math, os, re, sys
from collections import Counter, defaultdict, namedtuple
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import accumulate, product
if sys.version_info < (3, 11): sys.exit("verify.py needs Python 3.11 or newer: it reads the policy with tomllib")
import tomllib
FORMAT, INFINITE = 2, math.inf
class Refused(Exception): """The release is not what its certificate says."""
class Unreadable(Exception): """There is nothing that could be looked at."""
def told(problems): return [problem for problem, there in problems.items() if there]
# ---------------------------------------------------------------------------------------------------- exact arithmetic
NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d{1,3})?|[+-]?\d+/0*[1-9]\d*")
def number(value):
    """A number as policies and certificates write it (3, 0.5, "0.5", "1/3"), exactly."""
    if isinstance(value, str) and NUMBER.fullmatch(value) or type(value) in (int, Fraction): return Fraction(value)
    raise Refused(f"{value!r} is no number")
def sign_of_logs(terms, bound=Fraction(0)):
    """The sign of the sum of a * ln(b) over the terms (a, b), minus the bound; a and b are rational, b > 0. Floating point
    decides what is far from the bound, more digits what is not quite on it, and the integers whose logarithms are compared
    a tie. With a bound other than 0 there is none: such sums are transcendental or 0 (Baker)."""
    parts = [float(a) * math.log(b) for a, b in terms]
    difference = math.fsum(parts) - float(bound)
    if abs(difference) > 1e-9 * (1 + abs(float(bound)) + math.fsum(map(abs, parts))): return 1 if difference > 0 else -1
    with localcontext(prec=200):
        digits = lambda x: Decimal(Fraction(x).numerator) / Decimal(Fraction(x).denominator)
        difference = sum(digits(a) * digits(b).ln() for a, b in terms) - digits(bound)
    if abs(difference) > Decimal("1e-150"): return 1 if difference > 0 else -1
    scale, sides = math.lcm(*(Fraction(a).denominator for a, _ in terms)), [1, 1]
    for a, b in terms:
        sides[a < 0] *= Fraction(b).numerator ** abs(int(a * scale))
        sides[a > 0] *= Fraction(b).denominator ** abs(int(a * scale))
    return (sides[0] > sides[1]) - (sides[0] < sides[1])
# ------------------------------------------------------------------------------------------------------ privacy models
# A model judges one class: `counts` maps each value of the sensitive column to its rows in the class (for models that look
# at sizes only, one nameless value), p is what the policy requires, and `table` is what a class is compared with: the counts
# of all protected rows, and what the policy says of the column. It returns whether the class satisfies the requirement, and
# the figures that the certificate states: the strongest parameters that the class satisfies, the most telling first.
Table = namedtuple("Table", "counts rows order levels categories weights")
def entropy_l(counts, p, table):
    """The entropy is at least log l: N^N >= l^N * product of n^n. With don't-care values the adjusted entropy (article,
    Definition 4.5, Algorithm 1): don't-care counts are lowered to where the entropy is largest. Those above the log-entropic
    mean of the others all end there, and then exp(adjusted entropy) = exp(entropy of the others) + how many were lowered."""
    care = set(p.get("dont_care", []))
    fixed, lowered = [n for s, n in counts.items() if s not in care], sorted(n for s, n in counts.items() if s in care)
    if not fixed: return True, {"l": INFINITE}
    while lowered and sign_of_logs([(n, n) for n in fixed] + [(-sum(fixed), lowered[0])]) > 0: fixed.append(lowered.pop(0))
    l, fixed = p["l"] - len(lowered), [n // math.gcd(*fixed) for n in fixed]
    total = sum(fixed)
    holds = l <= 1 or sign_of_logs([(total, total), (-total, l)] + [(-n, n) for n in fixed]) >= 0
    entropy = math.log(total) - math.fsum(n * math.log(n) for n in fixed) / total
    return holds, {"l": math.exp(entropy) + len(lowered)}
def recursive(counts, p, table, name="c"):
    """Definition 4.3 of the article, and 4.2 without don't-care values: y is the rank of the most frequent value outside the
    don't-care set; on a tie the don't-care value comes first."""
    care, l = set(p.get("dont_care", [])), int(p["l"])
    if l != p["l"] or l < 1: raise Refused("l is not a whole number from 1 up")
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0] not in care))
    y, r = next((rank for rank, (s, _) in enumerate(ranked, 1) if s not in care), None), [n for _, n in ranked]
    if y is None or l == 1: return True, {name: Fraction(0)}
    tail = sum(r[l - 1:]) if y <= l - 1 else sum(r[l - 2:y - 1]) + sum(r[y:])
    return r[y - 1] < p[name] * tail, {name: Fraction(r[y - 1], tail) if tail else INFINITE}
def npd_recursive(counts, p, table):
    holds, figures = recursive(counts, p, table, "c1")
    shares = [Fraction(100 * counts[s], counts.total()) for s in p.get("no_negative", [])]
    return holds and all(share >= p["c2"] for share in shares), {**figures, "c2": min(shares, default=Fraction(100))}
def at_least(**figures):
    """What bounds whole numbers, such as the size of a class or the number of its values, from below."""
    def judge(counts, p, table):
        found = {name: figure(counts) for name, figure in figures.items()}
        return all(found[name] >= p[name] for name in found), found
    return judge
def alpha_k(bounds, every=False):
    """The (alpha, k) family; `bounds` tells the largest shares of values. A bound of 1 is none, and no figure."""
    def judge(counts, p, table):
        size = counts.total()
        shares = [(Fraction(counts[s], size), most) for s, most in bounds(counts, p).items()]
        holds = size >= p["k"] and all(share <= most for share, most in shares)
        bounded = [share for share, most in shares if most < 1 or every]
        return holds, {"alpha": max(bounded, default=Fraction(0)), "k": size}
    return judge
def l_alpha(second):
    """The (l, alpha) family: distinct values, weights of rows, and what `second` asks of the counts of categories."""
    def judge(counts, p, table):
        categories = p.get("categories") or table.categories
        weights, slack = category_weights(p.get("weights") or table.weights, len(categories))
        kinds = +Counter({i: sum(counts[s] for s in values) for i, values in enumerate(categories)})
        if kinds.total() != counts.total(): raise Refused("a value of a sensitive column is in no category, or in two")
        total = sum(n * weights[i] for i, n in kinds.items())
        holds, figures = second(kinds, p, table) if second else (True, {"l": len(counts)})
        return holds and len(counts) >= p["l"] and total >= p["alpha"] - slack, {**figures, "alpha": total}
    return judge
def category_weights(stated, many):
    """The weights of the categories, the most sensitive first, and how far from a bound their sums still meet it: powers
    with a broken exponent are taken to 200 digits, and sums that agree with the bound to 150 are taken to meet it."""
    listed = isinstance(stated, list) and str(stated[:1]).startswith("['sensitivity ")
    stated = {"sensitivity": stated[0].split(" ", 1)[1]} if listed else stated
    if isinstance(stated, list) and len(stated) == many: return [number(w) for w in stated], 0
    if stated != "uniform" and not isinstance(stated, dict):
        raise Refused("the weights are neither uniform, nor of a sensitivity, nor as many as the categories")
    beta = Fraction(0) if stated == "uniform" else number(stated.get("sensitivity"))
    with localcontext(prec=200):
        power = int(beta) if beta.denominator == 1 else Decimal(beta.numerator) / beta.denominator
        steps = [1 / Fraction((Fraction if type(power) is int else Decimal)(i) ** power) for i in range(1, many)]
    slack = Fraction(int(beta.denominator > 1), 10 ** 150)
    return [sum(steps[:i], Fraction(0)) / (sum(steps) or 1) for i in range(many)], slack
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
    elif distance == "ordered":
        figure = sum(map(abs, accumulate(extra.get(s, Fraction(0)) for s in table.order))) / max(1, len(table.order) - 1)
    else:
        # Hierarchical: earth is moved up to the lowest common ancestor and down again, half the way each.
        nodes = Counter()
        for s, groups in table.levels.items(): nodes.update({node: extra.get(s, 0) for node in [(0, s), *enumerate(groups, 1)]})
        figure = sum(map(abs, nodes.values())) / (2 * max(map(len, table.levels.values())))
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
    holds = all(gain <= p["beta"] for gain in gains.values()) and all(sign_of_logs([(1, inverse[s])], gains[s]) >= 0 for s in inverse)
    return holds, {"beta": max(gains.values(), default=Fraction(0))}
# What judges a class, and the parameters that there may be.
CLASS_MODELS = {
    "k-anonymity": (at_least(k=Counter.total), "k"), "distinct-l-diversity": (at_least(l=len), "l"),
    "entropy-l-diversity": (entropy_l, "l dont_care"), "recursive-c-l-diversity": (recursive, "c l"),
    "pd-recursive-c-l-diversity": (recursive, "c l dont_care"),
    "npd-recursive-c1-c2-l-diversity": (npd_recursive, "c1 c2 l dont_care no_negative"),
    "p-sensitive-k-anonymity": (at_least(p=len, k=Counter.total), "p k"),
    "simple-alpha-k-anonymity": (alpha_k(lambda counts, p: {p["value"]: p["alpha"]}), "alpha value k"),
    "general-alpha-k-anonymity": (alpha_k(lambda counts, p: {s: p["alpha"] for s in counts}, True), "alpha k"),
    "complete-alpha-k-anonymity": (alpha_k(lambda counts, p: {s: number(a) for s, a in p["alpha"].items()}), "alpha k"),
    "distinct-l-alpha-diversity": (l_alpha(None), "l alpha categories weights"),
    "entropy-l-alpha-diversity": (l_alpha(entropy_l), "l alpha categories weights"),
    "recursive-c-l-alpha-diversity": (l_alpha(recursive), "c l alpha categories weights"),
    "t-closeness": (t_closeness, "t distance"), "delta-disclosure": (delta_disclosure, "delta"),
    "beta-likeness": (beta_likeness, "beta enhanced"),
    "m-invariance": (at_least(m=lambda counts: counts.total() // max(counts.values())), "m")}
# What is computed from the sizes of all classes, and held against a threshold; what is counted in a population.
RELEASE_MODELS = {
    "average-risk": (lambda sizes: Fraction(len(sizes), sum(sizes)), "threshold"),
    "sample-uniqueness": (lambda sizes: Fraction(sizes.count(1), sum(sizes)), "threshold"),
    "max-risk": (lambda sizes: Fraction(1, min(sizes)), "threshold")}
POPULATION_MODELS = {"k-map": (None, "k population"), "delta-presence": (None, "min max population"),
                     "bayes-optimal": (None, "rho1 rho2 population"), "belief-difference": (None, "max population")}
MODELS = {**CLASS_MODELS, **RELEASE_MODELS, **POPULATION_MODELS}
BOUNDED_BY_ROWS = ("k-anonymity", "distinct-l-diversity", "p-sensitive-k-anonymity")
WITHOUT_COLUMN = ("k-anonymity", "k-map", "delta-presence", *RELEASE_MODELS)
def at_most(model, figure):  # whether a class is the worse the larger this figure is
    return figure in ("c", "c1", "t", "delta", "beta", "threshold", "max", "rho2") or figure == "alpha" and "-k-" in model
# ------------------------------------------------------------------------------------------------- files and their form
WHITE = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200b)))
TABLE = re.compile(r"\.(csv|tsv|jsonl|parquet|arrow)(\.gz)?$", re.IGNORECASE)
def written(cells, separator, header=False):
    """A line as releases have it: quotes where they are needed, and nowhere else."""
    alone = len(cells) == 1
    def cell(text):
        quoted = any(c in text for c in (separator, '"', "\n", "\r")) or text.startswith("\ufeff") or alone and not text
        quoted = quoted or header and (alone or text != text.strip(WHITE))
        return '"' + text.replace('"', '""') + '"' if quoted else text
    return separator.join(map(cell, cells)) + "\n"
def read_table(data, name):
    """The header and the rows of a CSV or TSV file. What Python's own reader sees is written again: a file that is not the
    same, byte by byte, could be read in two ways."""
    separator, text, _ = "\t" if name.lower().endswith(".tsv") else ",", data.decode("utf-8"), csv.field_size_limit(1 << 24)
    header, *rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    if any(len(row) != len(header) for row in rows) or len(set(header)) != len(header):
        raise Refused(f"{name}: a line has more or fewer cells than the header, or two columns have one name")
    again = written(header, separator, True) + "".join(written(row, separator) for row in rows)
    if again != text or "\0" in text or text[:1] == "\ufeff": raise Refused(f"{name} is not as releases are written: it has two readings")
    return header, rows
def read_file(folder, output):
    """The bytes of a listed file, an ordinary one inside the folder and reached through no link, and which file it is."""
    name, parts = output["file"], output["file"].split("/")
    if any(part in ("", ".", "..") or "\\" in part or not part.isprintable() for part in parts): raise Refused(f"{name!r} is no plain name")
    path, links = os.path.join(folder, *parts), [os.path.join(folder, *parts[:end]) for end in range(1, len(parts) + 1)]
    if any(map(os.path.islink, links)) or not os.path.isfile(path): raise Refused(f"{name} is missing, a link, or no ordinary file")
    with open(path, "rb") as file: data, found = file.read(), os.fstat(file.fileno())
    if len(data) != output["bytes"] or hashlib.sha256(data).hexdigest() != output["sha256"]:
        raise Refused(f"{name} is not the file that the certificate lists: it was altered")
    return data, (found.st_dev, found.st_ino)
def read_release(folder, outputs):
    """The header and the rows of all listed tables, one after the other."""
    tables, seen = [], set()
    for output in outputs:
        name, (data, identity) = output["file"], read_file(folder, output)
        marks = {name.casefold(), identity, output["sha256"] if TABLE.search(name) else identity}
        if marks & seen: raise Refused(f"{name} is listed twice, or is a copy of another table")
        if not TABLE.search(name) and not re.fullmatch(r"policy\.toml|report\.(html|json|md)", name):
            raise Refused(f"{name} is listed, but is no part of a release")
        if TABLE.search(name) and not name.lower().endswith((".csv", ".tsv")): raise Unreadable(f"{name} is neither CSV nor TSV")
        tables, seen = tables + ([read_table(data, name)] if TABLE.search(name) else []), seen | marks
    if not tables or any(header != tables[0][0] for header, _ in tables): raise Refused("no table is listed, or their columns differ")
    return tables[0][0], [row for _, rows in tables for row in rows]
def beside(folder, outputs):
    """Whatever lies in the folder unlisted, folders and links too; the certificate and the signed statement may."""
    files = {output["file"] for output in outputs} | {"certificate.json", ENVELOPE}
    for place, folders, names in os.walk(folder):
        for full in (os.path.join(place, name) for name in sorted(names + folders)):
            path = os.path.relpath(full, folder).replace(os.sep, "/")
            needed = any(file.startswith(path + "/") for file in files) and not os.path.islink(full)
            if path not in files and not needed or path == ENVELOPE and (os.path.islink(full) or not os.path.isfile(full)):
                yield f"{path!r} lies in the folder, and the certificate does not list it"
# --------------------------------------------------------------------------------------------------------- certificate
# Keys in their order: those that end with ? may be missing, ... stands for any others. A list holds any number of its item.
ANY = {"...": None}
SHAPE = {
    "format": int, "tool": str, "policy": str, "policy_digest": str, "outputs": [{"file": str, "bytes": int, "sha256": str}],
    "rows_in": int, "rows_dropped_missing": int, "rows_out": int, "suppressed": int, "suppressed_as": str, "classes": int,
    "quasi": [str], "sensitive": [{"name": str, "order?": [str], "levels?": [{"value": str, "groups": [int]}],
                                   "categories?": [[str]], "weights?": [str]}],
    "persons": bool, "waived": [int], "counterfeits?": int, "series?": {"version": int, "previous?": str},
    "commitment?": {"scheme": str, "columns": [str], "rows": int, "root": str}, "unique_rows": {"published": int, "insensitive": int},
    "accepted": [{"column": str, "reason": str}], "requirements": [{
        "model": str, "on": (type(None), str, [str]), "quasi?": [str], "parameters": ANY, "holds": bool, "measured": ANY,
        "worst": (type(None), {"cells": ANY, "size": int, "...": None})}], "digest": str}
def fits(value, shape):
    """Whether a part of a certificate has its shape; whole numbers have 64 bits and no sign."""
    if isinstance(shape, tuple): return any(fits(value, one) for one in shape)
    if isinstance(shape, list): return isinstance(value, list) and all(fits(item, shape[0]) for item in value)
    if isinstance(shape, dict) and isinstance(value, dict):
        keys = [key for key in shape if not key.endswith("?") or key[:-1] in value]
        names = [key.rstrip("?") for key in keys if key != "..."]
        return list(value)[:len(names) if "..." in shape else None] == names and all(
            fits(value[name], shape[key]) for name, key in zip(names, keys))
    return type(value) is shape and (shape is not int or 0 <= value < 2 ** 64)
def canonical(text):
    """The text without white space between its tokens, if it is written in the one way that certificates are."""
    plain = re.sub(r'("(?:[^"\\]|\\.)*")|[ \t\r\n]+', r"\1", text)
    read = json.loads(text, parse_float=lambda digits: "\0" + shortest(float(digits)), parse_constant=str)
    again = json.dumps(read, ensure_ascii=False, separators=(",", ":"))
    if re.sub(r'"\\u0000([^"]*)"', r"\1", again) != plain: raise Refused("the certificate is not in its one form: it was altered")
    return plain
def shortest(x):
    """A number with a point as certificates write it: the fewest digits that read back as the same double."""
    exponent = lambda m: "e" + m[1].strip("+")
    return f"{Decimal(repr(x)):f}" if 1e-5 <= abs(x) < 1e-4 else re.sub(r"e([+-])0?", exponent, repr(x))
def read_certificate(path):
    """The certificate, if its seals hold: canonical text, shape, and digests."""
    with open(path, "rb") as file: text = canonical(file.read().decode("utf-8"))
    certificate = json.loads(text, parse_float=Fraction)
    if not fits(certificate, SHAPE) or certificate["format"] != FORMAT:
        raise Refused(f"the certificate does not have format {FORMAT}, or not the keys and types of certificates")
    sealed = text.removesuffix(f',"digest":"{certificate["digest"]}"}}').encode()
    policy = hashlib.sha256(certificate["policy"].encode()).hexdigest()
    if hashlib.sha256(sealed).hexdigest() != certificate["digest"] or policy != certificate["policy_digest"]:
        raise Refused("the certificate, or the policy in it, does not have the digest that is stated: it was altered")
    if {output["sha256"] for output in certificate["outputs"] if output["file"] == "policy.toml"} - {policy}: raise Refused("policy.toml differs")
    return certificate
# -------------------------------------------------------------------------------------------------------------- policy
ROLES = ("identifying", "quasi", "sensitive", "insensitive", "key", "consent")
SECTIONS = {"data", "columns", "require", "quasi", "search", "risk", "utility", "output", "release", "series"}
NUMBERS = ("k", "l", "c", "c1", "c2", "p", "m", "t", "alpha", "delta", "beta", "threshold", "min", "max", "rho1", "rho2")
# Parameters that name values or choices: they are compared letter by letter, all others as exact numbers.
NAMES = ("value", "dont_care", "no_negative", "categories", "distance", "population")
def read_policy(text):
    """The policy. Numbers are exact, however many digits they have."""
    policy = tomllib.loads(text, parse_float=lambda digits: number(digits.replace("_", "")))
    columns = policy.get("columns", {})
    tables = [*columns.values(), *policy.get("require", [])]
    if set(policy) - SECTIONS or not all(isinstance(table, dict) for table in tables):
        raise Refused("the policy has a section that this checker does not know, or no table where there should be one")
    lists = lambda column: fits(column.get("order", []), [str]) and fits(column.get("categories", []), [[str]])
    if any(column.get("role") not in ROLES or not lists(column) for column in columns.values()):
        raise Refused("the policy gives a column an unknown role, or an order or categories that are no lists of values")
    return policy
def exact(parameters): return {n: number(v) if n in NUMBERS and not isinstance(v, dict) else v for n, v in parameters.items()}
def same_value(a, b, names=False):
    """Whether two parameters say the same: numbers as numbers, however they are written."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same_value(a[key], b[key], names or key in NAMES) for key in a)
    if isinstance(a, list) and isinstance(b, list): return len(a) == len(b) and all(same_value(x, y, names) for x, y in zip(a, b))
    of = lambda x: number(x) if type(x) in (int, Fraction) or isinstance(x, str) and NUMBER.fullmatch(x) else None
    return type(a) is type(b) and a == b or not names and of(a) == of(b) is not None
def source(name, policy, header):
    """The column of the policy that a published one is made of: where ranges become two columns, that of both bounds."""
    stem, columns = name[:-4], policy.get("columns", {})
    parted = stem + "_min" in header and stem + "_max" in header and stem not in header and name not in columns
    bounds = policy.get("output", {}).get("ranges") == "bounds" and columns.get(stem, columns.get("*", {})).get("role") == "quasi"
    return stem if name.endswith(("_min", "_max")) and parted and bounds else name
def compare_policy(certificate, policy, header):
    """What the certificate says otherwise than its policy."""
    columns = {name: column for name, column in policy.get("columns", {}).items() if name != "*"}
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
    for column in certificate["sensitive"]: yield from compare_column(column["name"], column, said.get(column["name"], {}))
    for name, reason in (accepted.values() for accepted in certificate["accepted"]):
        if role.get(name) != "insensitive" or said[name].get("accept") != reason or not reason.strip():
            yield f"the policy does not give the reason that the certificate gives for publishing {name!r}"
    yield from compare_requirements(certificate, policy, own)
    consent = [column.get("mode", "publish") for column in columns.values() if column["role"] == "consent"]
    search, kept = policy.get("search", {}), certificate["rows_in"] - certificate["rows_dropped_missing"]
    yield from told({
        "the certificate counts persons, and the policy has no key column": certificate["persons"] and not any(
            column["role"] == "key" for column in columns.values()),
        "rows are published by consent that the policy lacks": certificate["waived"] and "publish" not in consent,
        "suppressed rows became something else":
            [certificate["suppressed_as"]] != [way for way in ("drop", "mask") if way == search.get("suppressed", "drop")],
        "more rows are suppressed than the policy allows": certificate["suppressed"] > suppression_limit(search, kept)})
def compare_column(name, stated, own):
    """Categories, weights and order of a sensitive column. Without an order in the policy, published values ascend."""
    weights = lambda stated_so: category_weights(stated_so, len(stated.get("categories", [])))
    if stated.get("categories", []) != own.get("categories", []): yield f"the categories of {name!r} are not those of the policy"
    elif "weights" in stated and weights(stated["weights"]) != weights(own.get("weights", "uniform")):
        yield f"the weights of {name!r} are not those of the policy"
    order, given = stated.get("order", []), own.get("order") or dict(own.get("hierarchy", {})).get("order")
    if given and order and order[:len(given)] != given or not given and order != sorted(order, key=ascending):
        yield f"the order of {name!r} is not that of the policy, or of its values"
def ascending(text): return (0, Fraction(text), "") if re.fullmatch(r"[+-]?\d+(\.\d+)?", text) else (1, 0, text)
def columns_of(on, model, sensitive):
    """The columns that a requirement is about: those named, or the only one there is."""
    alone = list(sensitive) if len(sensitive) == 1 and model not in WITHOUT_COLUMN else []
    return [on] if isinstance(on, str) else on or alone
def compare_requirements(certificate, policy, own):
    """Each requirement of the policy is one of the certificate, by each set of quasi columns, and there are no others."""
    names, left = [column["name"] for column in certificate["sensitive"]], list(certificate["requirements"])
    if not fits(policy.get("quasi", []), [{"columns": [str]}]): raise Refused("the sets of quasi columns are no lists of columns")
    part = lambda name: sorted((column for column in own if own[column] == name), reverse=True) or [name]
    sets = [[column for name in one["columns"] for column in part(name)] for one in policy.get("quasi", [])]
    yield from told({"a quasi column is in no set of [[quasi]]": sets and set(certificate["quasi"]) - set().union(*sets)})
    for quasi, required in product(sets or [None], policy.get("require", [])):
        model, on = required.get("model"), columns_of(required.get("on"), required.get("model"), names)
        wanted = {name: value for name, value in required.items() if name not in ("model", "on")}
        found = [r for r in left if r["model"] == model and columns_of(r["on"], model, names) == on
                 and r.get("quasi") == quasi and same_value(r["parameters"], wanted)]
        yield from told({f"the policy requires {model}, and the certificate does not state it so": not found})
        left = [r for r in left if r is not (found or [None])[0]]
    yield from (f"the certificate states {r['model']}, which the policy does not require so" for r in left)
def suppression_limit(search, rows):
    """How many rows may be suppressed: a whole number counts rows, anything else is a share of them."""
    most = search.get("max_suppression", 0)
    share = number(most[:-1].strip()) / 100 if str(most).endswith("%") else number(most)
    if share < 0 or share > 1 and type(most) is not int: raise Refused("max_suppression is neither a share nor a number of rows")
    return most if type(most) is int else share * rows
# -------------------------------------------------------------------------------------------------------------- claims
class Release:
    """The published rows and the classes that they form. Rows published by consent are in no class."""
    def __init__(self, certificate, header, rows):
        self.certificate, self.header, self.rows, self.quasi = certificate, header, rows, certificate["quasi"]
        self.sensitive = {column["name"]: column for column in certificate["sensitive"]}
        waived = set(certificate["waived"])
        ascending = certificate["waived"] == sorted(waived) and max(waived, default=-1) < len(rows)
        if not ascending: raise Refused("the rows published by consent are not row numbers of the release, ascending")
        self.protected = [row for at, row in enumerate(rows) if at not in waived]
        self.sizes = Counter(map(self.cells(self.quasi), self.protected))
    def cells(self, names):
        places = [self.header.index(name) for name in names]
        return lambda row: tuple(row[at] for at in places)
    def unique(self, names): return list(Counter(map(self.cells(names), self.rows)).values()).count(1) if names else 0
    def wrong_counts(self, output):
        """Rows, classes, and rows that are unique on what is published."""
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
            "the commitment leaves a published column out": not tied["columns"] or not named and {*self.header} - {*tied["columns"]},
            "fewer rows are masked than suppressed": mask and not stated["persons"] and stated["suppressed"] > masked,
            f"the release has {rows} rows, which is not what is stated": not rows == stated["rows_out"] == expected,
            f"the release has {len(self.sizes)} classes, not what is stated": len(self.sizes) != stated["classes"],
            f"{unique} rows are unique, not what is stated": unique != stated["unique_rows"],
            f"more than 1 % of the rows are unique on {bare}, and nobody says why": self.unique(bare) * 100 > rows,
            "nothing is proven: there are no quasi columns, no requirements or no protected rows":
                not self.quasi or not stated["requirements"] or self.rows and not self.protected})
    def judge(self, requirement):
        """Whether a requirement is proven or attested, and whether rows decide anything about it."""
        model, stated, measured = requirement["model"], requirement["parameters"], requirement["measured"]
        on, persons = columns_of(requirement["on"], model, self.sensitive), self.certificate["persons"]
        quasi = requirement.get("quasi", self.quasi)
        sound = 0 < len(quasi) == len(set(quasi) & set(self.quasi)) and not ("quasi" in requirement and model in POPULATION_MODELS)
        named = set(on) <= set(self.sensitive) and len(set(on)) == len(on) and (on or model in WITHOUT_COLUMN)
        known = model in MODELS and set(stated) <= set(MODELS[model][1].split()) and fits(stated.get("population", ""), str)
        if not requirement["holds"] or not named or not known or not sound:
            raise Refused("it is said not to hold, or has a model, a parameter or a column that this checker does not know")
        p, figures = exact(stated), {name: x for name, x in measured.items() if type(x) in (int, Fraction)}
        if model in POPULATION_MODELS or persons:
            # What is only attested must at least not contradict itself.
            bounds = [(figures[n], p[n], 1 if at_most(model, n) else -1) for n in figures if isinstance(p.get(n), Fraction)]
            if any((a - b) * sign > Fraction(1, 10 ** 9) * max(abs(a), abs(b)) for a, b, sign in bounds):
                raise Refused("the certificate states a figure that does not meet the requirement")
        if model in POPULATION_MODELS: return "attested", False
        holds, found, worst = self.measure(model, p, on, quasi)
        if persons and model not in BOUNDED_BY_ROWS: return "attested", False
        # There are no more persons than rows, and as many distinct values.
        if not holds or persons and any(figure > found.get(name, -1) for name, figure in figures.items()):
            raise Refused("it does not hold in every class, or counts more persons than there are rows")
        if persons: return "proven" if model == "distinct-l-diversity" else "attested", True
        if not same(measured, found) or not same(requirement["worst"], worst):
            raise Refused("its figures in the certificate are not those of the release")
        return "attested" if p.get("distance") == "hierarchical" else "proven", True
    def measure(self, model, p, on, quasi):
        """Whether every class holds, the figures of the release, and its worst class: by figures to eleven digits, then cells."""
        if model in RELEASE_MODELS:
            sizes = Counter(map(self.cells(quasi), self.protected))
            figure, (size, cells) = RELEASE_MODELS[model][0](list(sizes.values())), min((n, cells) for cells, n in sizes.items())
            worst = None if model == "average-risk" else {"cells": dict(zip(quasi, cells)), "size": size}
            return figure <= p["threshold"], {"threshold": figure}, worst
        holds, measured, lowest, worst = True, {}, None, None
        for column in on or [None]:
            # Several columns: the others join the quasi-identifier (article, Definition 4.6).
            names = quasi + [other for other in on if other != column]
            key, value = self.cells(names), self.cells([column] if column else [])
            classes = defaultdict(Counter)
            for row in self.protected: classes[key(row)]["".join(value(row))] += 1
            table = self.table_of(column, Counter("".join(value(row)) for row in self.protected))
            for cells, counts in sorted(classes.items()):
                passes, figures = CLASS_MODELS[model][0](counts, p, table)
                holds = holds and passes
                for name, x in figures.items(): measured[name] = (max if at_most(model, name) else min)(measured.get(name, x), x)
                rank = [float(f"{float(-x if at_most(model, name) else x):.11g}") for name, x in figures.items()]
                if worst is None or rank < lowest:
                    lowest, worst = rank, {"cells": dict(zip(names, cells)), "size": counts.total(), **figures}
        return holds, measured, worst
    def table_of(self, column, counts):
        said = self.sensitive.get(column, {})
        order, levels = said.get("order", []), {level["value"]: level["groups"] for level in said.get("levels", [])}
        if order and set(counts) - set(order) or len(set(order)) != len(order) or levels and set(counts) != set(levels):
            raise Refused("the order or the levels of a column lack a published value, or have another or one twice")
        return Table(counts, counts.total(), order, levels, said.get("categories", []), said.get("weights", "uniform"))
def same(stated, found):
    """Whether figures agree, to nine digits; what is infinite is null."""
    if isinstance(stated, dict) and isinstance(found, dict):
        same_cells = stated.get("cells") == found.get("cells")
        return list(stated) == list(found) and same_cells and all(same(stated[n], found[n]) for n in found if n != "cells")
    if type(stated) in (int, Fraction) and type(found) in (int, Fraction, float) and found != INFINITE:
        return abs(float(stated) - float(found)) <= 1e-9 * max(abs(float(stated)), abs(float(found)))
    return stated == (None if found == INFINITE else found)
# ---------------------------------------------------------------------------------------- who says so, and until when
ENVELOPE = "release.intoto.jsonl"
P, ORDER = 2 ** 255 - 19, 2 ** 252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
def point(data):
    """A point of the curve Ed25519 (RFC 8032, 5.1.3), in extended coordinates."""
    y, odd = int.from_bytes(data, "little") & (1 << 255) - 1, data[31] >> 7
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    x = x if (x * x - square) % P == 0 else x * pow(2, (P - 1) // 4, P) % P
    if (x * x - square) % P or not x and odd: raise Refused("a key or signature is no point of the curve")
    return (x if x % 2 == odd else P - x), y % P, 1, (x if x % 2 == odd else P - x) * y % P
def plus(a, b):
    m, n, o, q = (a[1] - a[0]) * (b[1] - b[0]), (a[1] + a[0]) * (b[1] + b[0]), 2 * a[3] * b[3] * D, 2 * a[2] * b[2]
    return (n - m) * (q - o) % P, (q + o) * (n + m) % P, (q - o) * (q + o) % P, (n - m) * (n + m) % P
def times(n, a):
    total = (0, 1, 1, 0)
    while n: total, a, n = plus(total, a) if n & 1 else total, plus(a, a), n >> 1
    return total
def is_signature(key, message, signature):
    """RFC 8032, 5.1.7, by the strict rules: one scalar, and no point of small order."""
    a, r, s = point(key), point(signature[:32]), int.from_bytes(signature[32:], "little")
    k = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % ORDER
    same = lambda u, v: (u[0] * v[2] - v[0] * u[2]) % P == 0 == (u[1] * v[2] - v[1] * u[2]) % P
    weak = same(times(8, a), (0, 1, 1, 0)) or same(times(8, r), (0, 1, 1, 0))
    base = point((4 * pow(5, -1, P) % P).to_bytes(32, "little"))
    return s < ORDER and not weak and same(times(s, base), plus(r, times(k, a)))
def signatures(path, place, certificate):
    """The keys that signed the statement about a release, each as OpenSSH writes it. The statement follows from the
    certificate, and the file from statement and signatures, byte by byte: nothing else can be in it."""
    if not os.path.lexists(path): return []
    with open(path, "rb") as file, open(place, "rb") as own: data, text = file.read(), own.read()
    envelope, digests = json.loads(data), [(output["file"], output["sha256"]) for output in certificate["outputs"]]
    subjects = [{"name": name, "digest": {"sha256": sha256}} for name, sha256 in digests + [
        ("certificate.json", hashlib.sha256(text).hexdigest())]]
    body = '{"_type":"https://in-toto.io/Statement/v1","subject":%s,"predicateType":"%s","predicate":%s}' % (json.dumps(
        subjects, ensure_ascii=False, separators=(",", ":")), "urn:amidst:certificate:2", canonical(text.decode("utf-8")))
    kind, body, keys = "application/vnd.in-toto+json", body.encode(), [s["keyid"] for s in envelope["signatures"]]
    made = {"payloadType": kind, "payload": base64.b64encode(body).decode(), "signatures": [
        {"keyid": s["keyid"], "sig": base64.b64encode(base64.b64decode(s["sig"])).decode()} for s in envelope["signatures"]]}
    if json.dumps(made, separators=(",", ":")).encode() + b"\n" != data or not keys or keys != sorted(set(keys)):
        raise Refused(f"{ENVELOPE} is not the statement about this release, in its one form: something was altered")
    for signature, key in zip(made["signatures"], keys):
        wire, sig = base64.b64decode(key.removeprefix("ssh-ed25519 ")), base64.b64decode(signature["sig"])
        if len(wire) != 51 or len(sig) != 64 or key != public_key(wire[19:]) or not is_signature(
                wire[19:], b"DSSEv1 %d %s %d " % (len(kind), kind.encode(), len(body)) + body, sig):
            raise Refused(f"{ENVELOPE}: a signature does not fit: the statement, the signature or the key was altered")
    return keys
def public_key(data): return "ssh-ed25519 " + base64.b64encode(b"\0\0\0\x0bssh-ed25519\0\0\0 " + data).decode()
def keys_in(path):
    """The Ed25519 keys in a file: lines of OpenSSH or of allowed signers, or PEM."""
    with open(path, encoding="utf-8") as file: text = file.read()
    pem = re.search("-----BEGIN PUBLIC KEY-----\\s+MCowBQYDK2VwAyEA(\\S{43}=)\\s+-----END PUBLIC KEY-----", text)
    lines = re.findall(r"^(?:[^\s#]+[ \t]+)?(ssh-ed25519 [A-Za-z0-9+/]{68})(?:\s|$)", text, re.MULTILINE)
    if not pem and not lines: raise Unreadable(f"{path}: there is no public key of Ed25519 in it")
    return [public_key(base64.b64decode("AAAA" + pem[1])[3:])] if pem else lines
def asked_for(certificate, policy, keys, signers, day):
    """Whether the right people have signed, the release may still be relied on, and it says plainly which version it is."""
    link, last = certificate.get("series", {"version": 1}), policy.get("release", {}).get("valid_until")
    last = datetime.date.fromisoformat(last) if isinstance(last, str) else last
    plain = re.fullmatch("[0-9a-f]{64}", link.get("previous", "0" * 64)) and link["version"] > ("previous" in link)
    plain = plain and ("series" in certificate or not certificate.get("counterfeits"))
    return told({"the release is not signed by one of the keys that were given": signers and not set(signers) & set(keys),
                 f"the release may be relied on until {last}, and {day} is later": last and day > last,
                 "the certificate does not say plainly which version it is, and which was before": not plain})
def chained(folder, certificate, previous):
    """What speaks against the version before (`previous`, or ../n-1), and what could not be checked."""
    own, before = os.path.realpath(folder), certificate.get("series", {"version": 1})["version"] - 1
    beside = os.path.join(os.path.dirname(own), str(before), "certificate.json")
    beside = "series" in certificate and os.path.basename(own) == str(before + 1) and os.path.isfile(beside) and beside
    place = beside if not previous else previous if os.path.isfile(previous) else find(previous)[1]
    if not place: return [], told({f"that it follows version {before}, whose certificate is not at hand": before > 0})
    other, digest = read_certificate(place), certificate.get("series", {}).get("previous")
    return told({f"it does not follow the version in {os.path.dirname(place)}": other["digest"] != digest
                 or other.get("series", {"version": before})["version"] != before}), []
# ------------------------------------------------------------------------------------------------------------- verdict
def find(path):
    """The folder of the release, its certificate, and whether the folder belongs to the release alone."""
    public, whole = os.path.join(path, "public"), not os.path.isfile(path)
    inner = os.path.isfile(os.path.join(public, "certificate.json"))
    folder = public if inner else path if whole else os.path.dirname(path)
    certificate = os.path.join(folder, "certificate.json") if whole else path + ".certificate.json"
    if not os.path.isfile(certificate) or os.path.islink(certificate) or inner and os.path.islink(public):
        raise Unreadable(f"there is no certificate {certificate}, or it is a link: a release holds its files itself")
    return folder, certificate, whole
def verify(path, signers=(), day=None, previous=None):
    """The verdict on a release, as `--json` prints it. Whatever cannot be understood is refused."""
    folder, place, whole = find(path)
    problems, requirements, attested, keys, unchained, proofs, at = [], [], [], [], [], False, "the release"
    try:
        policy = read_policy((certificate := read_certificate(place))["policy"])
        outputs = certificate["outputs"] if whole else [{**certificate["outputs"][0], "file": os.path.basename(path)}]
        header, rows = read_release(folder, outputs)
        problems += beside(folder, certificate["outputs"]) if whole else []
        keys = signatures(os.path.join(folder, ENVELOPE) if whole else path + ".intoto.jsonl", place, certificate)
        problems += asked_for(certificate, policy, keys, signers, day or datetime.date.today())
        against, unchained = chained(folder, certificate, previous)
        problems += [*against, *compare_policy(certificate, policy, header)]
        problems += (release := Release(certificate, header, rows)).wrong_counts(policy.get("output", {}))
        for requirement in certificate["requirements"]:
            at = requirement["model"]
            standing, decided = release.judge(requirement)
            proofs, requirements = proofs or decided, requirements + [{**requirement, "verdict": standing}]
        problems += told({"nothing is proven: every requirement is only attested": not proofs})
        keyed = "key" in [column["role"] for column in policy.get("columns", {}).values()]
        attested += told({"which rows belong to one person, if several do": certificate["persons"] or keyed,
                          f"that {len(certificate['waived'])} rows are published by consent": certificate["waived"],
                          f"that {certificate.get('counterfeits')} rows stand for nobody": certificate.get("counterfeits")})
    except (Refused, csv.Error, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        problems.append(f"{at}: {error}")
    return {"valid": not problems, "requirements": requirements, "problems": problems, "attested": attested, "not_checked": [
        "that the rows stand for rows of the input, how many were left out, the labels of hierarchies, what reports say",
        *unchained, *told({"who made the release: nobody has signed it": not keys, "whose keys have signed it": keys and not signers})],
        "signatures": keys, "signed_by": sorted(set(keys) & set(signers)) if signers else None}
def main(arguments):
    given = {flag: arguments.pop(arguments.index(flag) + 1) for flag in ("--signer", "--at", "--previous") if flag in arguments[:-1]}
    paths, flags = [a for a in arguments if not a.startswith("--")], {a for a in arguments if a.startswith("--")}
    try:
        if len(paths) != 1 or flags - {"--json", "--strict", *given}:
            raise Unreadable("usage: verify.py RELEASE [--json] [--strict] [--signer KEY.pub] [--at YYYY-MM-DD] [--previous DIR]")
        day = datetime.date.fromisoformat(given["--at"]) if "--at" in given else None
        verdict = verify(paths[0], keys_in(given["--signer"]) if "--signer" in given else (), day, given.get("--previous"))
    except (Unreadable, OSError, MemoryError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2 if isinstance(error, Unreadable) else 3
    of = lambda standing: [r["model"] for r in verdict["requirements"] if r["verdict"] == standing]
    only = of("attested") + verdict["attested"]
    verdict["valid"] = verdict["valid"] and not ("--strict" in flags and only)
    lines = ["the release is what its certificate says" if verdict["valid"] else "the release does NOT stand"]
    for word, told_of in (("proven", of("proven")), ("signed by", verdict["signed_by"] or []), ("only attested", only),
                          ("not checked", verdict["not_checked"]), ("problem", verdict["problems"])):
        lines += [f"  {word}: " + "".join(c if c.isprintable() else f"\\u{{{ord(c):x}}}" for c in what) for what in told_of]
    print(json.dumps(verdict, default=float) if "--json" in flags else "\n".join(lines))
    return 0 if verdict["valid"] else 1
if __name__ == "__main__": sys.exit(main(sys.argv[1:]))
