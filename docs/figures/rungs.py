#!/usr/bin/env python3
"""Draws the rungs of an experiment as SVG: each value in the order in which it arrived, the cutoff
that it was compared with, and who went on.

usage: rungs.py RUNG_DB EXPERIMENT > rungs.svg
"""

from __future__ import annotations

import sqlite3
import sys
from dataclasses import dataclass
from html import escape

PANEL_WIDTH, PANEL_HEIGHT = 300, 250
LEFT, TOP, BOTTOM = 56, 64, 12  # LEFT: of each panel, for its scale
WENT_ON, STOPPED, CUTOFF, TEXT = "#1a7f37", "#cf222e", "#57606a", "#24292f"


@dataclass(frozen=True)
class Entry:
    trial: int
    value: float
    cutoff: float | None
    decision: str


def read(path: str, experiment: int) -> tuple[str, str, dict[int, list[Entry]]]:
    """(metric, goal, entries by level in the order of arrival) of bracket 0."""
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    metric, goal = database.execute(
        "SELECT metric, goal FROM experiments WHERE id = ?", (experiment,)
    ).fetchone()
    rows = database.execute(
        "SELECT level, trial_number, value, cutoff, decision FROM decisions"
        " WHERE experiment_id = ? AND bracket = 0 AND decision IN ('continue', 'stop', 'pause')"
        " AND value IS NOT NULL ORDER BY seq",
        (experiment,),
    )
    levels: dict[int, list[Entry]] = {}
    for level, *entry in rows:
        levels.setdefault(level, []).append(Entry(*entry))
    return metric, goal, dict(sorted(levels.items()))


class Axis:
    """Maps values to heights, the better ones upwards."""

    def __init__(self, values: list[float], maximize: bool) -> None:
        self.low, self.high = min(values), max(values)
        self.maximize = maximize

    def y(self, value: float) -> float:
        share = (value - self.low) / ((self.high - self.low) or 1.0)
        return TOP + 12 + (PANEL_HEIGHT - 24) * (1 - share if self.maximize else share)

    def ticks(self) -> list[float]:
        return [self.low + (self.high - self.low) * i / 4 for i in range(5)]


def panel(level: int, entries: list[Entry], maximize: bool, left: float) -> list[str]:
    axis = Axis([entry.value for entry in entries], maximize)
    step = (PANEL_WIDTH - 24) / max(len(entries) - 1, 1)
    went_on = sum(e.decision == "continue" for e in entries)
    title = f"level {level}: {went_on} of {len(entries)} went on"
    out = [
        f'<rect x="{left}" y="{TOP}" width="{PANEL_WIDTH}" height="{PANEL_HEIGHT}" fill="none"'
        ' stroke="#d0d7de"/>',
        text(left + PANEL_WIDTH / 2, TOP - 8, title, "middle"),
    ]
    out += [text(left - 6, axis.y(tick) + 4, f"{tick:.4g}", "end") for tick in axis.ticks()]
    previous = None
    for i, entry in enumerate(entries):
        x, y = left + 12 + i * step, axis.y(entry.value)
        if entry.cutoff is not None:
            cut = axis.y(entry.cutoff)
            begin = (x - step / 2, cut if previous is None else previous)
            end = min(x + step / 2, left + PANEL_WIDTH)
            out.append(
                f'<path d="M{begin[0]:.1f} {begin[1]:.1f}V{cut:.1f}H{end:.1f}"'
                f' fill="none" stroke="{CUTOFF}"/>'
            )
            previous = cut
        on = entry.decision == "continue"
        color = WENT_ON if on else STOPPED
        out.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{color if on else "white"}"'
            f' stroke="{color}"><title>trial {entry.trial}: {entry.value:g}</title></circle>'
        )
    return out


def text(x: float, y: float, words: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def draw(metric: str, goal: str, levels: dict[int, list[Entry]]) -> str:
    width = len(levels) * (LEFT + PANEL_WIDTH) + BOTTOM
    height = TOP + PANEL_HEIGHT + BOTTOM
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"'
        f' font-family="sans-serif" font-size="12" fill="{TEXT}">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        text(12, 20, f"{metric} ({goal}), better values upwards, in the order of arrival;"),
        text(12, 36, "filled: went on, hollow: stopped; line: the cutoff each was compared with"),
    ]
    for i, (level, entries) in enumerate(levels.items()):
        out += panel(level, entries, goal == "maximize", LEFT + i * (LEFT + PANEL_WIDTH))
    return "\n".join([*out, "</svg>", ""])


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.stdout.write(draw(*read(sys.argv[1], int(sys.argv[2]))))


if __name__ == "__main__":
    main()
