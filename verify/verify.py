#!/usr/bin/env python3
"""Checks a release of Amidst, with nothing but Python 3.11 or newer (3.10 lacks tomllib, which reads the policy).

    python3 verify.py RELEASE [--json] [--strict]

RELEASE is the folder that `amidst anonymize` wrote, its public part, or a CSV table with its certificate beside it. Whatever
can be decided from the published files is recomputed, in integers and fractions; what cannot is said to be attested, that
is, believed to whoever made the release. Exit codes: 0 the release is what its certificate says, 1 it is not, 2 it could not
be looked at, 3 the machine failed. This file was written from the definitions (docs/verify.md) and shares nothing with
`amidst verify`; the two are held against each other by a test. Read it from top to bottom:

    exact arithmetic - privacy models - files and their form - certificate - policy - claims - verdict
"""

import base64
import csv
import hashlib
import io
import json
import math
import os
import re
import stat
import sys
from collections import Counter, defaultdict
from decimal import Decimal, localcontext
from fractions import Fraction

try:
    import tomllib
except ImportError:
    sys.exit("verify.py needs Python 3.11 or newer: it reads the policy with tomllib")

FORMAT = 2
INFINITE = math.inf


class Refused(Exception):
    """The release is not what its certificate says, and nothing more can be looked at."""


class Unreadable(Exception):
    """There is nothing that could be looked at."""


# ---------------------------------------------------------------------------------------------------- exact arithmetic

def number(value):
    """A number as policies and certificates write it (3, 0.5, "0.5", "1/3"), exactly."""
    if isinstance(value, str):
        if not re.fullmatch(r"[+-]?\d+(\.\d+)?([eE][+-]?\d{1,3})?|\d+/0*[1-9]\d*", value):
            raise Refused(f"{value!r} is no number")
        return Fraction(value)
    if isinstance(value, bool) or not isinstance(value, (int, Fraction)):
        raise Refused(f"{value!r} is no number")
    return Fraction(value)


def sign_of_logs(terms, bound=Fraction(0)):
    """The sign of the sum of a * ln(b) over the terms (a, b), minus the bound; a and b are rational, b > 0.

    Floating point decides what is far from the bound, and more digits what is not quite on it. A tie is decided by the
    integers whose logarithms are compared. It cannot occur with a bound other than 0: sums of logarithms of rationals with
    rational factors are transcendental or 0 (Baker)."""
    parts = [float(a) * math.log(b) for a, b in terms]
    difference = math.fsum(parts) - float(bound)
    if abs(difference) > 1e-9 * (1 + abs(float(bound)) + math.fsum(map(abs, parts))):
        return 1 if difference > 0 else -1
    for digits in (50, 200):
        with localcontext() as context:
            context.prec = digits
            whole = lambda x: Decimal(x.numerator) / Decimal(x.denominator)
            total = sum(whole(Fraction(a)) * whole(Fraction(b)).ln() for a, b in terms) - whole(bound)
            if abs(total) > Decimal(10) ** (20 - digits):
                return 1 if total > 0 else -1
    if bound == 0:
        scale = math.lcm(*(Fraction(a).denominator for a, _ in terms)) if terms else 1
        sides = [1, 1]
        for a, b in terms:
            power, b = int(a * scale), Fraction(b)
            sides[power < 0] *= b.numerator ** abs(power)
            sides[power > 0] *= b.denominator ** abs(power)
        return (sides[0] > sides[1]) - (sides[0] < sides[1])
    return 0


def entropy_reaches(counts, l):
    """Whether the entropy of the counts is at least log l: N^N >= l^N * product of n^n."""
    if l <= 1:
        return True
    common = math.gcd(*counts)
    counts = [n // common for n in counts]
    total = sum(counts)
    return sign_of_logs([(total, total), (-total, l)] + [(-n, n) for n in counts]) >= 0


def entropy_figure(counts):
    """exp(entropy): the l that the counts just reach."""
    total = sum(counts)
    return math.exp(math.log(total) - math.fsum(n * math.log(n) for n in counts) / total)


# ------------------------------------------------------------------------------------------------------ privacy models
#
# A model judges one class: `counts` maps each value of the sensitive column to its rows in the class (for models that look
# at sizes only, one nameless value), p is what the policy requires, and table is what the whole release holds. It returns
# whether the class satisfies the requirement, and the figures that the certificate states: the strongest parameters that
# the class satisfies, the first of which decides which class is the worst.

class Table:
    """What a class is compared with: all protected rows of the release, and what the policy says of the column."""

    def __init__(self, counts, classes, order, categories, weights):
        self.counts, self.classes, self.order, self.categories, self.weights = counts, classes, order, categories, weights
        self.rows = sum(counts.values())


def k_anonymity(counts, p, table):
    size = sum(counts.values())
    return size >= p["k"], {"k": size}


def distinct_l(counts, p, table):
    return len(counts) >= p["l"], {"l": len(counts)}


def entropy_l(counts, p, table):
    """With don't-care values the adjusted entropy (article, Definition 4.5 and Algorithm 1): don't-care counts are lowered
    to where the entropy is largest. Those above the log-entropic mean of the others all end there, and then
    exp(adjusted entropy) = exp(entropy of the others) + how many were lowered."""
    care = set(p.get("dont_care", []))
    fixed = [n for s, n in counts.items() if s not in care]
    lowered = sorted(n for s, n in counts.items() if s in care)
    if not fixed:
        return True, {"l": INFINITE}
    while lowered and sign_of_logs([(n, n) for n in fixed] + [(-sum(fixed), lowered[0])]) > 0:
        fixed.append(lowered.pop(0))
    return entropy_reaches(fixed, p["l"] - len(lowered)), {"l": entropy_figure(fixed) + len(lowered)}


def tail_figure(top, tail):
    return Fraction(top, tail) if tail else INFINITE


def recursive(counts, p, table, name="c"):
    r = sorted(counts.values(), reverse=True)
    l = int(p["l"])
    if l == 1:
        return True, {name: Fraction(0)}
    tail = sum(r[l - 1:])
    return r[0] < p[name] * tail, {name: tail_figure(r[0], tail)}


def pd_recursive(counts, p, table, name="c"):
    """Article, Definition 4.3: y is the rank of the most frequent value outside the don't-care set; on a tie the don't-care
    value comes first."""
    care, l = set(p.get("dont_care", [])), int(p["l"])
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0] not in care))
    y = next((rank for rank, (s, _) in enumerate(ranked, 1) if s not in care), None)
    if y is None or l == 1:
        return True, {name: Fraction(0)}
    r = [n for _, n in ranked]
    tail = sum(r[l - 1:]) if y <= l - 1 else sum(r[l - 2:y - 1]) + sum(r[y:])
    return r[y - 1] < p[name] * tail, {name: tail_figure(r[y - 1], tail)}


def npd_recursive(counts, p, table):
    holds, figures = pd_recursive(counts, p, table, "c1")
    shares = [Fraction(100 * counts.get(s, 0), sum(counts.values())) for s in p.get("no_negative", [])]
    least = min(shares, default=Fraction(100))
    return holds and (not shares or least >= p["c2"]), {**figures, "c2": least}


def p_sensitive(counts, p, table):
    size = sum(counts.values())
    return size >= p["k"] and len(counts) >= p["p"], {"p": len(counts), "k": size}


def alpha_k(bounds):
    """The (alpha, k) family; bounds tells the values that are bounded, and their largest shares."""
    def judge(counts, p, table):
        size = sum(counts.values())
        bounded = {s: (Fraction(counts.get(s, 0), size), most) for s, most in bounds(counts, p).items()}
        holds = size >= p["k"] and all(share <= most for share, most in bounded.values())
        return holds, {"alpha": max((share for share, _ in bounded.values()), default=Fraction(0)), "k": size}
    return judge


def l_alpha(second):
    """The (l, alpha) family: distinct values, weights of rows, and what `second` asks of the counts of categories."""
    def judge(counts, p, table):
        kinds, total = Counter(), Fraction(0)
        rank = {s: i for i, values in enumerate(p.get("categories") or table.categories) for s in values}
        weights, slack = category_weights(p.get("weights") or table.weights, 1 + max(rank.values(), default=0))
        for s, n in counts.items():
            if s not in rank:
                raise Refused("a value of a sensitive column is in no category")
            kinds[rank[s]] += n
            total += n * weights[rank[s]]
        holds, figures = second(kinds, p, table) if second else (True, {"l": len(counts)})
        return holds and len(counts) >= p["l"] and total >= p["alpha"] - slack, {**figures, "alpha": total}
    return judge


def category_weights(stated, many):
    """The weights of the categories, the most sensitive first, and how far from their bound sums of them still meet it.

    Powers with a broken exponent are irrational: they are taken to 200 digits, and sums that agree with the bound to 150
    are taken to meet it."""
    if isinstance(stated, list) and len(stated) == 1 and str(stated[0]).startswith("sensitivity "):
        stated = {"sensitivity": str(stated[0]).split()[1]}
    if isinstance(stated, list):
        if len(stated) != many:
            raise Refused("there are not as many weights as categories")
        return [number(w) for w in stated], 0
    beta = Fraction(0) if stated == "uniform" else number(stated["sensitivity"])
    if beta.denominator == 1:
        steps, slack = [Fraction(1, i ** int(beta)) for i in range(1, many)], Fraction(0)
    else:
        with localcontext() as context:
            context.prec = 200
            power = -Decimal(beta.numerator) / Decimal(beta.denominator)
            steps, slack = [Fraction(Decimal(i) ** power) for i in range(1, many)], Fraction(1, 10 ** 150)
    whole = sum(steps) or 1
    return [sum(steps[:i], Fraction(0)) / whole for i in range(many)], slack


def t_closeness(counts, p, table):
    size = sum(counts.values())
    share = lambda s: Fraction(counts.get(s, 0), size)
    whole = lambda s: Fraction(table.counts.get(s, 0), table.rows)
    distance, t = p.get("distance", "equal"), p["t"]
    if distance == "equal":
        figure = sum(abs(share(s) - whole(s)) for s in table.counts) / 2
        return figure <= t, {"t": figure}
    if distance == "ordered":
        carried, moved = Fraction(0), Fraction(0)
        for s in table.order:
            carried += share(s) - whole(s)
            moved += abs(carried)
        figure = moved / max(1, len(table.order) - 1)
        return figure <= t, {"t": figure}
    if distance == "kl":
        terms = [(share(s), share(s) / whole(s)) for s in counts]
    else:
        halves = [(a(s) / 2, a(s) / ((share(s) + whole(s)) / 2)) for s in table.counts for a in (share, whole) if a(s)]
        terms = halves
    figure = max(0.0, math.fsum(float(a) * math.log(b) for a, b in terms))
    return sign_of_logs(terms, t) <= 0, {"t": figure}


def delta_disclosure(counts, p, table):
    size = sum(counts.values())
    if len(counts) < len(table.counts):
        return False, {"delta": INFINITE}
    gains = [Fraction(counts[s] * table.rows, size * n) for s, n in table.counts.items()]
    largest = max(max(g, 1 / g) for g in gains)
    return sign_of_logs([(1, largest)], p["delta"]) < 0, {"delta": math.log(largest)}


def beta_likeness(counts, p, table):
    size = sum(counts.values())
    gains = {s: Fraction(n * table.rows, size * table.counts[s]) - 1 for s, n in counts.items()}
    gains = {s: gain for s, gain in gains.items() if gain > 0}
    holds = all(gain <= p["beta"] for gain in gains.values())
    if p.get("enhanced"):
        holds = holds and all(sign_of_logs([(1, Fraction(table.rows, table.counts[s]))], gain) >= 0
                              for s, gain in gains.items())
    return holds, {"beta": max(gains.values(), default=Fraction(0))}


def m_invariance(counts, p, table):
    size = sum(counts.values())
    return size >= p["m"] * max(counts.values()), {"m": size // max(counts.values())}


def average_risk(sizes, p):
    return Fraction(len(sizes), sum(sizes))


def sample_uniqueness(sizes, p):
    return Fraction(sizes.count(1), sum(sizes))


def max_risk(sizes, p):
    return Fraction(1, min(sizes))


# What each model is judged by, and the parameters that are numbers; the figures that a class keeps below a bound.
CLASS_MODELS = {
    "k-anonymity": (k_anonymity, ["k"]),
    "distinct-l-diversity": (distinct_l, ["l"]),
    "entropy-l-diversity": (entropy_l, ["l"]),
    "recursive-c-l-diversity": (recursive, ["c", "l"]),
    "pd-recursive-c-l-diversity": (pd_recursive, ["c", "l"]),
    "npd-recursive-c1-c2-l-diversity": (npd_recursive, ["c1", "c2", "l"]),
    "p-sensitive-k-anonymity": (p_sensitive, ["p", "k"]),
    "simple-alpha-k-anonymity": (alpha_k(lambda counts, p: {p["value"]: p["alpha"]}), ["alpha", "k"]),
    "general-alpha-k-anonymity": (alpha_k(lambda counts, p: {s: p["alpha"] for s in counts}), ["alpha", "k"]),
    "complete-alpha-k-anonymity": (alpha_k(lambda counts, p: {s: number(a) for s, a in p["alpha"].items()}), ["k"]),
    "distinct-l-alpha-diversity": (l_alpha(None), ["l", "alpha"]),
    "entropy-l-alpha-diversity": (l_alpha(entropy_l), ["l", "alpha"]),
    "recursive-c-l-alpha-diversity": (l_alpha(recursive), ["c", "l", "alpha"]),
    "t-closeness": (t_closeness, ["t"]),
    "delta-disclosure": (delta_disclosure, ["delta"]),
    "beta-likeness": (beta_likeness, ["beta"]),
    "m-invariance": (m_invariance, ["m"]),
}
RELEASE_MODELS = {"average-risk": average_risk, "sample-uniqueness": sample_uniqueness, "max-risk": max_risk}
POPULATION_MODELS = {"k-map": ["k"], "delta-presence": ["min", "max"], "bayes-optimal": ["rho1", "rho2"]}
WITHOUT_COLUMN = {"k-anonymity", "k-map", "delta-presence", *RELEASE_MODELS}


def at_most(model, figure):
    """Whether a class is the worse the larger this figure is."""
    return figure in ("c", "c1", "t", "delta", "beta", "threshold") or figure == "alpha" and "alpha-k" in model


# ------------------------------------------------------------------------------------------------- files and their form

WHITE = "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
TABLE = re.compile(r"\.(csv|tsv|jsonl|ndjson|parquet|arrow)(\.gz)?$", re.IGNORECASE)


def written(cells, separator, header=False):
    """A line as releases have it: quotes where they are needed, and nowhere else."""
    alone = len(cells) == 1

    def cell(text):
        needed = any(c in text for c in (separator, '"', "\n", "\r")) or text.startswith("\ufeff") or alone and not text
        if needed or header and (alone or text != text.strip(WHITE)):
            return '"' + text.replace('"', '""') + '"'
        return text
    return separator.join(map(cell, cells)) + "\n"


def read_table(data, name):
    """The header and the rows of a CSV or TSV file. Whatever it says is read by Python's own reader and written again: a
    file that is not the same, byte by byte, could be read in two ways."""
    separator = "\t" if name.lower().endswith(".tsv") else ","
    try:
        text = data.decode("utf-8")
        csv.field_size_limit(1 << 24)
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True))
    except (UnicodeDecodeError, csv.Error) as error:
        raise Refused(f"{name}: {error}") from None
    if not rows or "\0" in text or text.startswith("\ufeff"):
        raise Refused(f"{name} has no header, a zero byte or a byte order mark")
    if any(len(row) != len(rows[0]) for row in rows):
        raise Refused(f"{name}: a line has more or fewer cells than the header")
    again = written(rows[0], separator, True) + "".join(written(row, separator) for row in rows[1:])
    if again != text:
        raise Refused(f"{name} is not in the form of releases: it could be read in two ways")
    if len(set(rows[0])) != len(rows[0]):
        raise Refused(f"{name} has two columns of one name")
    return rows[0], rows[1:]


def read_file(folder, output):
    """The bytes of a listed file: an ordinary file inside the folder, reached through no link."""
    name = output["file"]
    parts = name.split("/")
    if any(part in ("", ".", "..") or "\\" in part or not part.isprintable() for part in parts) or ":" in parts[0]:
        raise Refused(f"{name!r} is no plain name of a file in the folder")
    path = folder
    for part in parts:
        path = os.path.join(path, part)
        try:
            found = os.lstat(path)
        except FileNotFoundError:
            raise Refused(f"{name} is not there") from None
        if stat.S_ISLNK(found.st_mode):
            raise Refused(f"{name} is a link")
    if not stat.S_ISREG(found.st_mode):
        raise Refused(f"{name} is no ordinary file")
    with open(path, "rb") as file:
        data = file.read()
    if len(data) != output["bytes"] or hashlib.sha256(data).hexdigest() != output["sha256"]:
        raise Refused(f"{name} is not the file that the certificate lists: it was altered")
    return data, (found.st_dev, found.st_ino)


def read_release(folder, outputs, problems, whole_folder):
    """The rows of all listed tables, one after the other, and what lies beside them."""
    header, rows, files, seen = None, [], set(), set()
    tables = [output for output in outputs if TABLE.search(output["file"])]
    if not tables:
        raise Refused("the certificate lists no table")
    for output in outputs:
        data, identity = read_file(folder, output)
        marks = {output["file"].casefold(), identity}
        if output in tables:
            marks.add(hashlib.sha256(data).hexdigest())
        if marks & seen:
            raise Refused(f"{output['file']} is listed twice, or is a copy of another table")
        seen |= marks
        files.add(output["file"])
        if output not in tables:
            continue
        if not output["file"].lower().endswith((".csv", ".tsv")):
            raise Unreadable(f"{output['file']}: this checker reads CSV and TSV; use `amidst verify` for other formats")
        columns, lines = read_table(data, output["file"])
        if header not in (None, columns):
            raise Refused(f"{output['file']} has other columns than the table before it")
        header = columns
        rows += lines
    if whole_folder:
        problems += [f"{name!r} lies in the folder, and the certificate does not list it" for name in beside(folder, files)]
    return header, rows


def beside(folder, files):
    """Whatever lies in the folder unlisted; the certificate and signed envelopes may."""
    for place, folders, names in os.walk(folder):
        inside = os.path.relpath(place, folder).replace(os.sep, "/")
        for name in sorted(names + [f for f in folders if os.path.islink(os.path.join(place, f))]):
            path = name if inside == "." else f"{inside}/{name}"
            if path not in files and path != "certificate.json" and not is_envelope(os.path.join(place, name), path):
                yield path
        if inside != "." and not any(file.startswith(inside + "/") for file in files):
            yield inside + "/"


def is_envelope(full, path):
    """Whether a file is a signed envelope (DSSE): the only thing that may lie beside a release, since it is made after it.

    Here is the place for checking who signed: the payload is an in-toto statement whose subjects are the digests of the
    files, and the signature is Ed25519 over the pre-authentication encoding of it."""
    if "/" in path or not path.endswith(".intoto.jsonl") or os.path.islink(full) or not os.path.isfile(full):
        return False
    try:
        with open(full, encoding="utf-8") as file:
            lines = [json.loads(line) for line in file.read().splitlines()]
        return bool(lines) and all(
            set(line) == {"payloadType", "payload", "signatures"} and base64.b64decode(line["payload"], validate=True)
            for line in lines)
    except (ValueError, TypeError):
        return False


# --------------------------------------------------------------------------------------------------------- certificate

def count(value):
    return type(value) is int and value >= 0


def texts(value):
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def exactly(value, where, tests, optional=()):
    """An object with these keys in this order, whose values pass their tests."""
    keys = [key for key in tests if key not in optional or isinstance(value, dict) and key in value]
    if not isinstance(value, dict) or list(value) != keys:
        raise Refused(f"the certificate: {where} has other keys than it should, or in another order")
    for key in keys:
        test = tests[key]
        if not (isinstance(value[key], test) if isinstance(test, type) else test(value[key])):
            raise Refused(f"the certificate: {key} of {where} is not what it should be")


def canonical(text):
    """The text without white space between its tokens, if each token is written in the one way that certificates have."""
    tokens = re.findall(r'"(?:[^"\\]|\\.)*"|[\[\]{}:,]|[^\s"\[\]{}:,]+|\s+', text)
    if "".join(tokens) != text:
        raise Refused("the certificate is no JSON")
    tokens = [token for token in tokens if token.strip(" \t\r\n")]
    for token in tokens:
        if token[0] == '"':
            same = json.dumps(json.loads(token), ensure_ascii=False) == token
        elif re.fullmatch(r"-?\d+", token):
            same = str(int(token)) == token and -2 ** 63 <= int(token) < 2 ** 64
        elif token[0] in "-0123456789":
            same = shortest(float(token)) == token
        else:
            same = token in ("[", "]", "{", "}", ":", ",", "true", "false", "null")
        if not same:
            raise Refused("the certificate is not in its canonical form: its text was altered")
    return "".join(tokens)


def shortest(x):
    """A number with a point as certificates write it: the fewest digits that read back as the same double."""
    text = repr(x)
    if 1e-5 <= abs(x) < 1e-4:
        mantissa, power = text.replace(".", "").replace("-", "", x < 0).split("e-")
        return ("-" if x < 0 else "") + "0." + "0" * (int(power) - 1) + mantissa
    return re.sub(r"e([+-])0?", lambda m: "e" + m[1].replace("+", ""), text)


def read_certificate(path):
    """The certificate, after its seals: canonical text, digests, keys and types."""
    try:
        with open(path, "rb") as file:
            text = canonical(file.read().decode("utf-8"))
        pairs = lambda items: dict(items) if len(dict(items)) == len(items) else json.loads("a key twice")
        certificate = json.loads(text, parse_float=Fraction, object_pairs_hook=pairs)
    except (ValueError, RecursionError) as error:
        raise Refused(f"the certificate cannot be read: {error}") from None
    if isinstance(certificate, dict) and certificate.get("format") != FORMAT:
        raise Refused("the certificate has another format than this checker reads")
    exactly(certificate, "it", {
        "format": count, "tool": str, "policy": str, "policy_digest": str, "outputs": list, "rows_in": count,
        "rows_dropped_missing": count, "rows_out": count, "suppressed": count,
        "suppressed_as": ("drop", "mask").__contains__, "classes": count, "quasi": texts, "sensitive": list,
        "persons": bool, "waived": lambda rows: isinstance(rows, list) and all(map(count, rows)), "counterfeits": count,
        "unique_rows": dict, "accepted": list, "requirements": list, "digest": str}, ["counterfeits"])
    for output in certificate["outputs"]:
        exactly(output, "a file", {"file": str, "bytes": count, "sha256": str})
    for column in certificate["sensitive"]:
        lists = lambda value: isinstance(value, list) and all(map(texts, value))
        exactly(column, "a sensitive column", {"name": str, "order": texts, "levels": list, "categories": lists,
                                               "weights": texts}, ["order", "levels", "categories", "weights"])
    exactly(certificate["unique_rows"], "unique_rows", {"published": count, "insensitive": count})
    for accepted in certificate["accepted"]:
        exactly(accepted, "an accepted column", {"column": str, "reason": str})
    for requirement in certificate["requirements"]:
        exactly(requirement, "a requirement", {
            "model": str, "on": lambda on: on is None or isinstance(on, str) or texts(on), "parameters": dict, "holds": bool,
            "measured": dict, "worst": lambda worst: worst is None or isinstance(worst, dict)})
    sealed = text.removesuffix(f',"digest":"{certificate["digest"]}"}}')
    if hashlib.sha256(sealed.encode()).hexdigest() != certificate["digest"]:
        raise Refused("the certificate does not have the digest that it states: it was altered")
    policy = certificate["policy"].encode()
    if hashlib.sha256(policy).hexdigest() != certificate["policy_digest"]:
        raise Refused("the policy in the certificate does not have the digest that the certificate states")
    if any(o["file"] == "policy.toml" and o["sha256"] != certificate["policy_digest"] for o in certificate["outputs"]):
        raise Refused("policy.toml is not the policy in the certificate")
    return certificate


# -------------------------------------------------------------------------------------------------------------- policy

ROLES = ("identifying", "quasi", "sensitive", "insensitive", "key", "consent")
SECTIONS = {"data", "columns", "require", "search", "risk", "utility", "output", "release", "series"}


def read_policy(text):
    def decimal(digits):
        if not re.fullmatch(r"[+-]?[\d_]+(\.[\d_]+)?([eE][+-]?\d{1,3})?", digits):
            raise ValueError(f"{digits} is no number")
        return Fraction(digits.replace("_", ""))
    try:
        policy = tomllib.loads(text, parse_float=decimal)
    except (ValueError, RecursionError) as error:
        raise Refused(f"the policy in the certificate is no TOML: {error}") from None
    columns, required = policy.get("columns", {}), policy.get("require", [])
    if set(policy) - SECTIONS:
        raise Refused(f"the policy has sections that this checker does not know: {sorted(set(policy) - SECTIONS)}")
    tables = [*columns.values(), *required] if isinstance(columns, dict) and isinstance(required, list) else [None]
    if not all(isinstance(table, dict) for table in [*tables, policy.get("search", {})]):
        raise Refused("the policy has something else where a table should be")
    if any(column.get("role") not in ROLES for column in columns.values()):
        raise Refused("the policy gives a column no role, or an unknown one")
    return policy


def same_value(a, b):
    """Whether two parameters say the same: numbers as numbers, however they are written."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same_value(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same_value, a, b))
    if type(a) is bool or type(b) is bool or isinstance(a, str) and isinstance(b, str) and a == b:
        return a is b or a == b and type(a) is type(b)
    try:
        return number(a) == number(b)
    except Refused:
        return False


def compare_policy(certificate, policy, header):
    """What the certificate says otherwise than its policy."""
    columns = {name: column for name, column in policy.get("columns", {}).items() if name != "*"}
    default = policy.get("columns", {}).get("*")
    said = {name: columns.get(name, default) for name in header}
    role = {name: column["role"] if column else None for name, column in said.items()}
    for name, given in role.items():
        if given not in ("quasi", "sensitive", "insensitive"):
            yield f"the column {name!r} is published, and the policy " + (f"makes it {given}" if given else "does not name it")
    for name, column in columns.items():
        if column["role"] in ("quasi", "sensitive") and name not in header:
            yield f"the policy makes {name!r} {column['role']}, and the release lacks it"
    quasi, sensitive = certificate["quasi"], certificate["sensitive"]
    if sorted(quasi) != sorted(name for name in header if role[name] == "quasi"):
        yield "the quasi columns of the certificate are not those of its policy"
    if sorted(column["name"] for column in sensitive) != sorted(name for name in header if role[name] == "sensitive"):
        yield "the sensitive columns of the certificate are not those of its policy"
        return
    for column in sensitive:
        own = said[column["name"]]
        if column.get("categories") != own.get("categories"):
            yield f"the categories of {column['name']!r} are not those of the policy"
        if "order" in column and "order" in own and column["order"] != own["order"]:
            yield f"the order of {column['name']!r} is not that of the policy"
        if "categories" in column:
            weights = [category_weights(w or "uniform", len(column["categories"]))
                       for w in (column.get("weights"), own.get("weights"))]
            if weights[0] != weights[1]:
                yield f"the weights of {column['name']!r} are not those of the policy"
    accepted = sorted((name, column["accept"]) for name, column in said.items() if column and "accept" in column
                      and column["role"] == "insensitive")
    if sorted((a["column"], a["reason"]) for a in certificate["accepted"]) != accepted:
        yield "the certificate accepts columns for other reasons than its policy gives"
    yield from compare_requirements(certificate, policy)
    roles = [column["role"] for column in columns.values()]
    if certificate["persons"] and "key" not in roles:
        yield "the certificate counts persons, and the policy has no key column"
    if certificate["waived"] and "consent" not in roles:
        yield "the certificate has rows published by consent, and the policy has no consent column"
    search = policy.get("search", {})
    if certificate["suppressed_as"] != search.get("suppressed", "drop"):
        yield "suppressed rows became something else than the policy says"
    if certificate["suppressed"] > suppression_limit(search, certificate["rows_in"] - certificate["rows_dropped_missing"]):
        yield "more rows are suppressed than the policy allows"


def compare_requirements(certificate, policy):
    """Each requirement of the policy is one of the certificate, and there are no others."""
    names = [column["name"] for column in certificate["sensitive"]]

    def on(stated, model):
        stated = [stated] if isinstance(stated, str) else stated
        return stated or (names if len(names) == 1 and model not in WITHOUT_COLUMN else [])

    left = list(certificate["requirements"])
    for wanted in policy.get("require", []):
        wanted = dict(wanted)
        model, columns = wanted.pop("model", None), wanted.pop("on", None)
        found = next((r for r in left if r["model"] == model and on(r["on"], model) == on(columns, model)
                      and same_value(r["parameters"], wanted)), None)
        if found is None:
            yield f"the policy requires {model}, and the certificate does not state it so"
        else:
            left.remove(found)
    for requirement in left:
        yield f"the certificate states {requirement['model']}, which the policy does not require so"


def suppression_limit(search, rows):
    """How many rows may be suppressed: a whole number counts rows, anything else is a share of them."""
    most = search.get("max_suppression", 0)
    if type(most) is int and most >= 0:
        return most
    share = number(most[:-1].strip()) / 100 if isinstance(most, str) and most.endswith("%") else number(most)
    if not 0 <= share <= 1:
        raise Refused("max_suppression of the policy is neither a share nor a number of rows")
    return share * rows


# -------------------------------------------------------------------------------------------------------------- claims

class Release:
    """The published rows, the classes that they form, and what has been found about them."""

    def __init__(self, certificate, policy, header, rows, problems):
        self.certificate, self.policy, self.header, self.problems = certificate, policy, header, problems
        self.quasi = [name for name in header if name in certificate["quasi"]]
        self.sensitive = {column["name"]: column for column in certificate["sensitive"]}
        waived = certificate["waived"]
        if waived != sorted(set(waived)) or waived and waived[-1] >= len(rows):
            raise Refused("the rows published by consent are not rows of the release, in their order")
        hidden = set(waived)
        self.rows = rows
        self.protected = [row for at, row in enumerate(rows) if at not in hidden] if hidden else rows
        self.sizes = Counter(map(self.cells(self.quasi), self.protected))

    def cells(self, names):
        places = [self.header.index(name) for name in names]
        return lambda row: tuple(row[at] for at in places)

    def unique(self, names):
        return list(Counter(map(self.cells(names), self.rows)).values()).count(1) if names else 0

    def check_counts(self):
        """Rows, classes, and rows that are unique on what is published."""
        stated, problems = self.certificate, self.problems
        expected = stated["rows_in"] - stated["rows_dropped_missing"] + stated.get("counterfeits", 0)
        if stated["suppressed_as"] == "drop":
            expected -= stated["suppressed"]
        elif stated["suppressed"] > self.sizes[("*",) * len(self.quasi)]:
            problems.append("fewer rows are masked than the certificate counts as suppressed")
        if not len(self.rows) == stated["rows_out"] == expected:
            problems.append(f"the release has {len(self.rows)} rows, not what the certificate says or what follows from it")
        if len(self.sizes) != stated["classes"]:
            problems.append(f"the release has {len(self.sizes)} classes, the certificate says {stated['classes']}")
        raw = [name for name in self.header if name not in self.quasi and name not in self.sensitive]
        for names, key in ((self.header, "published"), (raw, "insensitive")):
            if self.unique(names) != stated["unique_rows"][key]:
                problems.append(f"{self.unique(names)} rows are unique on what is {key}, the certificate says otherwise")
        reasons = {accepted["column"] for accepted in stated["accepted"] if accepted["reason"].strip()}
        raw = [name for name in raw if name not in reasons]
        if self.unique(raw) * 100 > len(self.rows):
            problems.append(f"{self.unique(raw)} rows are unique on {raw}, more than 1 %, and nobody says why")
        if not self.quasi or not stated["requirements"] or not self.protected:
            problems.append("nothing is proven: there are no quasi columns, no requirements or no protected rows")

    def judge(self, requirement):
        """The verdict on one requirement: proven, attested, or what is wrong with it."""
        model, stated = requirement["model"], requirement["parameters"]
        if not requirement["holds"]:
            raise Refused("the certificate itself says that it does not hold")
        on = self.columns(requirement)
        if set(on) - set(self.sensitive) or not on and model not in WITHOUT_COLUMN:
            raise Refused("it is about no sensitive column of the release")
        if model in POPULATION_MODELS:
            return "attested"
        p = self.parameters(requirement)
        if p.get("distance") == "hierarchical":
            return "attested"
        holds, measured, worst = self.worst_class(model, p, on)
        if self.certificate["persons"] and model != "distinct-l-diversity":
            self.check_persons(requirement, p, measured)
            return "attested"
        if not holds:
            raise Refused("it does not hold in every class")
        if not same_figures(requirement["measured"], measured) or not same_worst(requirement["worst"], worst):
            raise Refused("its figures in the certificate are not those of the release")
        return "attested" if model == "m-invariance" else "proven"

    def columns(self, requirement):
        on = [requirement["on"]] if isinstance(requirement["on"], str) else requirement["on"] or []
        if on or requirement["model"] in WITHOUT_COLUMN or len(self.sensitive) != 1:
            return on
        return list(self.sensitive)

    def parameters(self, requirement):
        model, stated = requirement["model"], requirement["parameters"]
        if model not in CLASS_MODELS and model not in RELEASE_MODELS:
            raise Refused("this checker does not know the model")
        numbers = CLASS_MODELS[model][1] if model in CLASS_MODELS else ["threshold"]
        return {**stated, **{name: number(stated.get(name)) for name in numbers}}

    def worst_class(self, model, p, on):
        """Whether every class holds, the figures of the release, and the worst class with its own."""
        if model in RELEASE_MODELS:
            figure = RELEASE_MODELS[model](list(self.sizes.values()), p)
            size, cells = min((size, cells) for cells, size in self.sizes.items())
            worst = None if model == "average-risk" else (dict(zip(self.quasi, cells)), size, {})
            return figure <= p["threshold"], {"threshold": figure}, worst
        judge, holds, measured, worst = CLASS_MODELS[model][0], True, {}, None
        for column in on or [None]:
            names = self.quasi + [other for other in on if other != column]
            key, value = self.cells(names), self.cells([column] if column else [])
            classes = defaultdict(Counter)
            for row in self.protected:
                classes[key(row)]["".join(value(row))] += 1
            table = self.table_of(column, classes)
            for cells, counts in sorted(classes.items()):
                passes, figures = judge(counts, p, table)
                holds = holds and passes
                for name, figure in figures.items():
                    measured.setdefault(name, figure)
                    measured[name] = (max if at_most(model, name) else min)(measured[name], figure)
                rank = [float(f"{float(-x if at_most(model, name) else x):.11g}") for name, x in figures.items()]
                if worst is None or rank < worst[0]:
                    worst = rank, dict(zip(names, cells)), sum(counts.values()), figures
        return holds, measured, worst[1:]

    def table_of(self, column, classes):
        whole = sum(classes.values(), Counter())
        said = self.sensitive.get(column, {})
        order = said.get("order", [])
        if order and "order" not in self.policy["columns"].get(column, {}):
            if set(order) != set(whole) or order != sorted(order, key=ascending):
                raise Refused("the order of the values is not that of the published ones, ascending")
        if set(whole) - set(order) and order or len(set(order)) != len(order):
            raise Refused("the order of the values lacks a published one, or has one twice")
        return Table(whole, len(classes), order, said.get("categories", []), said.get("weights", "uniform"))

    def check_persons(self, requirement, p, measured):
        """What counts persons is attested; rows bound the sizes, and the certificate must not contradict itself."""
        for name, figure in requirement["measured"].items():
            if name == "k" and (figure is None or not p["k"] <= figure <= measured["k"]):
                raise Refused("it states more persons than there are rows, or fewer than are required")


def ascending(text):
    """The order of published values without a stated one: numbers as numbers, dates and texts as texts."""
    return (0, Fraction(text), "") if re.fullmatch(r"[+-]?\d+(\.\d+)?", text) else (1, 0, text)


def same_figures(stated, found):
    """Figures agree to eleven digits; what is infinite is null."""
    def same(a, b):
        if a is None or b == INFINITE:
            return a is None and b == INFINITE
        return not isinstance(a, (bool, str)) and abs(float(a) - float(b)) <= 1e-11 * max(1.0, abs(float(b)))
    return stated.keys() == found.keys() and all(same(stated[name], found[name]) for name in found)


def same_worst(stated, found):
    if stated is None or found is None:
        return stated is found
    cells, size, figures = found
    rest = {name: figure for name, figure in stated.items() if name not in ("cells", "size")}
    return stated.get("cells") == cells and stated.get("size") == size and same_figures(rest, figures)


# ------------------------------------------------------------------------------------------------------------- verdict

def find(path):
    """The folder of the release, its certificate, and whether the folder belongs to the release alone."""
    if os.path.isfile(path):
        folder, certificate, whole = os.path.dirname(path) or ".", path + ".certificate.json", False
    else:
        public = os.path.join(path, "public")
        folder = public if os.path.isfile(os.path.join(public, "certificate.json")) else path
        certificate, whole = os.path.join(folder, "certificate.json"), True
        if os.path.islink(certificate) or folder == public and os.path.islink(public):
            raise Unreadable("the folder or its certificate is a link; a release holds its files itself")
    if not os.path.isfile(certificate):
        raise Unreadable(f"there is no certificate {certificate}")
    return folder, certificate, whole


def verify(path):
    """The verdict on a release, as `--json` prints it."""
    folder, place, whole = find(path)
    problems, found, attested, release = [], [], [], None
    try:
        certificate = read_certificate(place)
        policy = read_policy(certificate["policy"])
        header, rows = read_release(folder, certificate["outputs"], problems, whole)
        problems += compare_policy(certificate, policy, header)
        if not problems:
            release = Release(certificate, policy, header, rows, problems)
            release.check_counts()
    except Refused as error:
        problems.append(str(error))
    for requirement in certificate["requirements"] if release and not problems else []:
        verdict = "not checked"
        try:
            verdict = release.judge(requirement)
        except (Refused, KeyError, TypeError, AttributeError) as error:
            problems.append(f"{requirement['model']}: {error}")
        found.append({**requirement, "verdict": verdict})
    if release and not problems:
        attested += ["which rows belong to one person"] * certificate["persons"]
        attested += [f"that {len(certificate['waived'])} rows are published with consent"] * bool(certificate["waived"])
        attested += [f"that {certificate.get('counterfeits')} rows stand for nobody"] * ("counterfeits" in certificate)
    return {"valid": not problems, "requirements": found, "problems": problems, "attested": attested,
            "not_checked": ["that the rows stand for rows of the input, and how many were left out", "who made the release"]}


def main(arguments):
    paths = [a for a in arguments if not a.startswith("--")]
    flags = set(arguments) - set(paths)
    if len(paths) != 1 or flags - {"--json", "--strict"}:
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    try:
        verdict = verify(paths[0])
    except Unreadable as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except (OSError, MemoryError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 3
    only = [r["model"] for r in verdict["requirements"] if r["verdict"] == "attested"] + verdict["attested"]
    if "--strict" in flags and only:
        verdict["valid"] = False
    if "--json" in flags:
        print(json.dumps(verdict, ensure_ascii=True, default=float))
    else:
        print("the release is what its certificate says" if verdict["valid"] else "the release does NOT stand")
        lines = [f"proven: {r['model']}" for r in verdict["requirements"] if r["verdict"] == "proven"]
        lines += [f"only attested: {what}" for what in only] + [f"not checked: {what}" for what in verdict["not_checked"]]
        for line in lines + [f"problem: {problem}" for problem in verdict["problems"]]:
            print("  " + "".join(c if c.isprintable() else f"\\u{{{ord(c):x}}}" for c in line))
    return 0 if verdict["valid"] else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
