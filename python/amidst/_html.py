"""How results look in a notebook."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any


def page(document: str, height: int = 620) -> str:
    """A whole page, in a frame of its own: its style must not leak into the notebook."""
    style = f"width:100%;height:{height}px;border:1px solid #ccc;border-radius:4px;background:#fff"
    return f'<iframe sandbox srcdoc="{escape(document, quote=True)}" style="{style}"></iframe>'


def picture(drawn: str) -> str:
    """A picture of the report, whose ink is dark, on paper of its own."""
    return f'<div style="background:#fff;max-width:640px;padding:8px">{drawn}</div>' if drawn else ""


def figure(value: Any) -> str:
    """A figure for people."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, dict):
        return ", ".join(f"{key}: {figure(item)}" for key, item in value.items())
    if isinstance(value, list):
        return ", ".join(figure(item) for item in value)
    return str(value)


def table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table."""
    cells = "".join(f"<th>{escape(name)}</th>" for name in head)
    lines = ("".join(f"<td>{escape(figure(value))}</td>" for value in row) for row in rows)
    return f"<table><thead><tr>{cells}</tr></thead><tbody>{''.join(f'<tr>{line}</tr>' for line in lines)}</tbody></table>"


def bars(title: str, named: Sequence[tuple[str, float]]) -> str:
    """A chart of horizontal bars, as inline SVG."""
    longest = max((value for _, value in named), default=0) or 1
    lines = []
    for at, (name, value) in enumerate(named):
        y = 20 * at
        width = max(1, round(300 * value / longest))
        lines.append(
            f'<text x="0" y="{y + 14}" font-size="12">{escape(name)}</text>'
            f'<rect x="170" y="{y + 3}" width="{width}" height="14" fill="#4477aa"></rect>'
            f'<text x="{175 + width}" y="{y + 14}" font-size="12">{escape(figure(value))}</text>'
        )
    height = 20 * len(named) + 4
    return (
        f'<figure><figcaption>{escape(title)}</figcaption><svg viewBox="0 0 560 {height}" width="560" role="img">'
        f"{''.join(lines)}</svg></figure>"
    )
