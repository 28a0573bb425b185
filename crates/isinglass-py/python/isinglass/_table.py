"""Tables: numbers as people read them, in a terminal and in a notebook."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Rows = Sequence[Mapping[str, Any]]


def text(value: Any) -> str:
    """A value in a cell: six significant digits, a dash for what does not exist."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, (list, tuple)):
        return ", ".join(text(item) for item in value)
    return str(value)


def _is_sentence(value: Any) -> bool:
    return isinstance(value, str) and len(value) > 40 and " " in value


def facts_html(facts: Mapping[str, Any]) -> str:
    """One row per fact; sentences go below."""
    cells = "".join(
        f"<tr><th style='text-align:left'>{html.escape(key)}</th><td>{html.escape(text(value))}</td></tr>"
        for key, value in facts.items()
        if not _is_sentence(value)
    )
    words = "".join(f"<p>{html.escape(value)}</p>" for value in facts.values() if _is_sentence(value))
    return f"<table><tbody>{cells}</tbody></table>{words}"


def rows_html(rows: Rows, columns: Iterable[str]) -> str:
    """A table with a header."""
    names = list(columns)
    head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(text(row.get(name)))}</td>" for name in names) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def facts_text(facts: Mapping[str, Any]) -> str:
    """One line per fact; sentences go below."""
    width = max((len(key) for key in facts), default=0)
    sentences = [value for value in facts.values() if _is_sentence(value)]
    lines = [f"{key:{width}}  {text(value)}" for key, value in facts.items() if not _is_sentence(value)]
    return "\n".join(lines + ([""] + sentences if sentences else []))


def rows_text(rows: Rows, columns: Iterable[str], most: int = 20) -> str:
    """A table with a header; of many rows the first and the last."""
    names = list(columns)
    if len(rows) > most:
        gap = {name: "…" for name in names}
        rows = [*rows[: most // 2], gap, *rows[len(rows) - most // 2 :]]
    cells = [names] + [[text(row.get(name)) for name in names] for row in rows]
    widths = [max(len(line[place]) for line in cells) for place in range(len(names))]
    return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(line, widths)) for line in cells)
