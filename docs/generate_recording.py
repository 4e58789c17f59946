"""Draw docs/images/demo.svg: the recording of the demo as an animation that needs no player."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path
from typing import NamedTuple

CAST = Path(__file__).with_name("images") / "demo.cast"
PAGE = CAST.with_suffix(".svg")

_TITLE = "A recording of millrace demo"
_DESCRIPTION = (
    "The demo starts a Kafka broker and Spark on this machine, and a query from one topic to another. Every two "
    "seconds it prints the records in and out, the lag and the newest sale. It ends with a summary and the pipeline's "
    "source."
)
_CHARACTER, _LINE, _MARGIN = 7.9, 18, 12
_LINE_INTERVAL_S = 0.12
"""The time between lines that were written at once, so that one sees them come."""
_PAUSE_AT_END_S = 6.0

_PICTURE = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}" \
role="img" aria-labelledby="title description">
<title id="title">{title}</title>
<desc id="description">{description}</desc>
<style>
  rect {{ fill: #f6f8fa; }}
  .frame {{ stroke: #afb8c1; }}
  text {{ font: 13px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: #1f2328; white-space: pre; }}
  .command {{ fill: #1a7f37; font-weight: 600; }}
  @media (prefers-color-scheme: dark) {{
    rect {{ fill: #0d1117; }}
    .frame {{ stroke: #59636e; }}
    text {{ fill: #e6edf3; }}
    .command {{ fill: #7ee787; }}
  }}
  #cover {{ transform: translateY({inner_height:g}px); animation: uncover {seconds:.2f}s step-end infinite; }}
  #lines {{ animation: scroll {seconds:.2f}s step-end infinite; }}
  @media (prefers-reduced-motion: reduce) {{ #cover, #lines {{ animation: none; }} }}
  @keyframes uncover {{ {uncovering} }}
  @keyframes scroll {{ {scrolling} }}
</style>
<rect class="frame" x=".5" y=".5" width="{frame_width:g}" height="{frame_height:g}" rx="8"/>
<svg x="{margin}" y="{margin}" width="{inner_width:g}" height="{inner_height:g}">
<g id="lines">
{texts}
</g>
<rect id="cover" width="{inner_width:g}" height="{inner_height:g}"/>
</svg>
</svg>
"""


class Row(NamedTuple):
    """A row of the terminal, and when it appears, in seconds from the start."""

    at: float
    text: str


def render() -> str:
    """Return the animation of the recording in ``docs/images``."""
    return animate(CAST.read_text())


def animate(cast: str) -> str:
    """Draw a recording of a terminal as an animation in SVG, which begins again when it has ended.

    Where animations are off, it shows the first rows.

    Args:
        cast: An asciicast, as ``docs.record_demo`` writes it.

    Returns:
        A picture that needs neither scripts nor fonts, in colours that follow the light or dark page around it.

    Raises:
        ValueError: A line has control sequences: only programs that write lines are drawn.
    """
    header, *events = map(json.loads, cast.splitlines())
    height_in_rows, width_in_columns = header["height"], header["width"]
    rows = [Row(0, f"$ {header['command']}")]
    for row in rows_of(events, header["idle_time_limit"], width_in_columns):
        rows.append(Row(max(row.at, rows[-1].at + _LINE_INTERVAL_S), row.text))
    seconds = rows[-1].at + _PAUSE_AT_END_S
    moments = [f"{100 * row.at / seconds:.2f}%" for row in rows]
    # A cover hides the rows that are still empty; from the last row on, the lines scroll
    uncovering = [f"{at} {{ {_down(shown)} }}" for shown, at in enumerate(moments[:height_in_rows], 1)]
    scrolling = [f"{at} {{ {_down(-scrolled)} }}" for scrolled, at in enumerate(moments[height_in_rows:], 1)]
    inner_width, inner_height = width_in_columns * _CHARACTER, height_in_rows * _LINE
    width, height = inner_width + 2 * _MARGIN, inner_height + 2 * _MARGIN
    return _PICTURE.format(
        title=_TITLE,
        description=_DESCRIPTION,
        width=width,
        height=height,
        frame_width=width - 1,
        frame_height=height - 1,
        margin=_MARGIN,
        inner_width=inner_width,
        inner_height=inner_height,
        seconds=seconds,
        uncovering=" ".join(uncovering),
        scrolling=" ".join(scrolling),
        texts="\n".join(_texts(rows)),
    )


def rows_of(events: Iterable[tuple[float, str, str]], longest_pause_s: float, columns: int) -> Iterator[Row]:
    """Yield the rows of a recording's lines, with shortened pauses.

    Args:
        events: Seconds from the start, kind, and the line that was written.
        longest_pause_s: What longer pauses are shortened to.
        columns: The width of the terminal, which cuts longer lines into several rows.

    Raises:
        ValueError: A line has control sequences.
    """
    clock, before = 0.0, 0.0
    for at, _, text in events:
        clock += min(at - before, longest_pause_s)
        before = at
        line = text.rstrip("\r\n")
        if not line.isprintable():
            raise ValueError(f"the recording has control sequences at {at} s: {line!r}")
        for start in range(0, max(len(line), 1), columns):
            yield Row(clock, line[start : start + columns])


def _texts(rows: Iterable[Row]) -> Iterator[str]:
    for number, row in enumerate(rows):
        kind = "" if number else ' class="command"'
        yield f'<text y="{(number + 1) * _LINE - 5}"{kind}>{escape(row.text, quote=False)}</text>'


def _down(rows: int) -> str:
    return f"transform: translateY({rows * _LINE}px)"
