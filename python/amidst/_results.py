"""What audits, explorations, attacks and checks found: the keys of the command line's JSON, and a page for notebooks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from . import _html
from ._errors import Violated


class Figures(Mapping[str, Any]):
    """Figures by name; `found["risk"]` and `found.risk` are the same."""

    def __init__(self, figures: dict[str, Any]) -> None:
        self._figures = figures

    def __getitem__(self, key: str) -> Any:
        return self._figures[key]

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["_figures"][name]
        except KeyError:
            raise AttributeError(f"{type(self).__name__} has no {name!r}; it has {', '.join(self.__dict__.get('_figures', {}))}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._figures)

    def __len__(self) -> int:
        return len(self._figures)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._figures]

    def to_dict(self) -> dict[str, Any]:
        """The figures, as the command line prints them with `--json`."""
        return dict(self._figures)

    def __repr__(self) -> str:
        shown = {k: v for k, v in self._figures.items() if not isinstance(v, (dict, list))}
        return f"<{type(self).__name__}: {', '.join(f'{k}={_html.figure(v)}' for k, v in shown.items())}>"

    def _repr_html_(self) -> str:
        return _html.table(["", ""], self._figures.items())


class Report(Figures):
    """A report: what it says as figures, and as a page."""

    def __init__(self, figures: dict[str, Any], html: str, markdown: str = "") -> None:
        super().__init__(figures)
        #: The page.
        self.html = html
        #: The same as Markdown.
        self.markdown = markdown

    def _repr_html_(self) -> str:
        return _html.page(self.html)


class Audit(Report):
    """What a table satisfies as it is, its risks, and what adversaries learn from it."""

    @property
    def holds(self) -> bool:
        """Whether it satisfies everything that the policy requires."""
        return bool(self["holds"])

    def __bool__(self) -> bool:
        return self.holds

    def __repr__(self) -> str:
        told = f"{self['rows']} rows in {self['classes']} classes, highest risk {_html.figure(self['risk'].get('prosecutor_max'))}"
        asked = "nothing is required" if not self["requirements"] else "holds" if self.holds else "does not hold"
        return f"<amidst.Audit: {told}; {asked}>"

    def check(self) -> None:
        """Raises Violated unless the table satisfies everything that the policy requires."""
        if not self.holds:
            broken = [r["model"] for r in self["requirements"] if not r["holds"]]
            raise Violated(f"the table does not satisfy {', '.join(broken)}")


class Survey(Figures):
    """What singles people out in a table that nobody has described."""

    def _repr_html_(self) -> str:
        columns = self._figures.get("columns", [])
        named = [(c.get("name", c.get("column", "")), float(c.get("uniques", 0))) for c in columns[:15]]
        return _html.bars("rows that a column alone singles out", named) + super()._repr_html_()


class Explored(Figures):
    """Every minimal generalization, and the front of risk against loss; or why a node cannot be published."""

    def __init__(self, figures: dict[str, Any], picture: str = "") -> None:
        super().__init__(figures)
        #: Risk against loss, as the report draws it (SVG); empty for a single node.
        self.picture = picture

    def _repr_html_(self) -> str:
        parts = []
        if "nodes" in self:
            parts.append(f"<p>{_html.figure(self['nodes'])} generalizations, {_html.figure(self['nodes_checked'])} looked at</p>")
        if "valid" in self:
            told = "can be published" if self["valid"] else "cannot be published"
            suppressed = f"{_html.figure(self['rows_to_suppress'])} rows to suppress, {_html.figure(self['suppression_limit'])} may be"
            parts.append(f"<p><b>The node {told}</b>: {suppressed}</p>")
        parts.append(_html.picture(self.picture))
        front = self.get("front") or []
        if front and "loss" in front[0]:
            head = ["levels", "classes", "smallest class", "maximal risk", "loss"]
            rows = [
                [p.get("levels"), p.get("classes"), p.get("smallest_class"), p.get("risk", {}).get("prosecutor_max"), p.get("loss")]
                for p in front
            ]  # fmt: skip
            parts.append(_html.table(head, rows))
        for key in ("minimal", "algorithms", "requirements"):
            entries = self.get(key) or []
            if entries:
                names = list(entries[0])
                parts.append(f"<p>{escape(key)}</p>" + _html.table(names, ([e.get(n) for n in names] for e in entries)))
        return "".join(parts)


class Attacked(Figures):
    """What an adversary learns."""

    def _repr_html_(self) -> str:
        columns = self.get("columns") or {}
        rows = [[name, f.get("classes"), f.get("rows"), f.get("persons")] for name, f in columns.items()]
        told = f"<p><b>{escape(str(self.get('attack')))}</b>: the adversary knows {escape(str(self.get('assumes')))}</p>"
        return told + _html.table(["about", "classes hit", "rows hit", "persons hit"], rows)


class Verdict(Figures):
    """What the independent checker says of a release. It is true when the release stands."""

    @property
    def valid(self) -> bool:
        """Whether the release is what its certificate says."""
        return bool(self["valid"])

    def __bool__(self) -> bool:
        return self.valid

    def check(self) -> None:
        """Raises Violated unless the release stands."""
        if not self.valid:
            problems = [p if isinstance(p, str) else str(p.get("message", p)) for p in self["problems"]]
            raise Violated(f"the release does not stand: {'; '.join(problems)}", self)

    def _repr_html_(self) -> str:
        told = "the release is what its certificate says" if self.valid else "the release does NOT stand"
        rows = [[r.get("model"), r.get("on"), r.get("parameters"), r.get("verdict"), r.get("holds")] for r in self["requirements"]]
        listed = "".join(f"<li>{escape(str(p if isinstance(p, str) else p.get('message', p)))}</li>" for p in self["problems"])
        return f"<p><b>{told}</b></p>{_html.table(['model', 'on', 'parameters', 'verdict', 'holds'], rows)}<ul>{listed}</ul>"
