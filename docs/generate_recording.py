"""Draw docs/images/demo.svg: the asciicast of the demo as an animation that needs no player."""

from __future__ import annotations

import json
import textwrap
from html import escape
from pathlib import Path
from typing import NamedTuple

CAST = Path(__file__).with_name("images") / "demo.cast"
PICTURE = CAST.with_suffix(".svg")

_CHARACTER, _LINE, _MARGIN = 8, 18, 12
_EACH_LINE_S = 0.12
"""The time between lines that were written at once, so that one can see them."""
_REST_S = 6.0

_PICTURE = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" \
aria-labelledby="title">
<title id="title">{title}</title>
<style>
  rect {{ fill: #0d1117; }}
  text {{ font: 13px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: #e6edf3; white-space: pre; }}
  text:first-child {{ fill: #7ee787; }}
  #screen, text {{ animation: {seconds:.2f}s step-end infinite; }}
  #screen {{ animation-name: scroll; }}
  @media (prefers-reduced-motion: reduce) {{ #screen, text {{ animation: none; }} }}
  @keyframes scroll {{ 0% {{ transform: none }} {scrolls} }}
{appearances}
</style>
<rect width="{width}" height="{height}" rx="8"/>
<svg x="{margin}" y="{margin}" width="{inner_width}" height="{inner_height}"><g id="screen">
{texts}
</g></svg>
</svg>
"""


class ShownLine(NamedTuple):
    """A line, and when it appears, in seconds from the start."""

    at: float
    text: str


def render() -> str:
    """Return the animation as SVG."""
    header, *events = map(json.loads, CAST.read_text().splitlines())
    lines, rows = shown_lines(header, events), header["height"]
    seconds = lines[-1].at + _REST_S
    moments = [f"{100 * line.at / seconds:.2f}%" for line in lines]
    # What is below the window appears by scrolling, what is in it from the beginning by itself
    scrolls = (
        f"{moment} {{ transform: translateY(-{(number - rows + 1) * _LINE}px) }}"
        for number, moment in enumerate(moments)
        if number >= rows
    )
    appearances = (
        f"  @keyframes l{number} {{ 0% {{ visibility: hidden }} {moment} {{ visibility: visible }} }}"
        for number, moment in enumerate(moments[:rows])
    )
    texts = (
        f'<text y="{(number + 1) * _LINE - 5}" style="animation-name: l{number}">{escape(line.text)}</text>'
        for number, line in enumerate(lines)
    )
    inner_width, inner_height = header["width"] * _CHARACTER, rows * _LINE
    return _PICTURE.format(
        title=escape(f"A recording of {header['command']}"),
        width=inner_width + 2 * _MARGIN,
        height=inner_height + 2 * _MARGIN,
        margin=_MARGIN,
        inner_width=inner_width,
        inner_height=inner_height,
        seconds=seconds,
        scrolls=" ".join(scrolls),
        appearances="\n".join(appearances),
        texts="\n".join(texts),
    )


def shown_lines(header: dict[str, object], events: list[tuple[float, str, str]]) -> list[ShownLine]:
    """Return the lines of a recording, the command first, with pauses as long as its header allows.

    Raises:
        ValueError: The recording has control sequences: only programs that write lines are drawn.
    """
    limit, width = float(str(header["idle_time_limit"])), int(str(header["width"]))
    lines = [ShownLine(0, f"$ {header['command']}")]
    before = 0.0
    for at, _, text in events:
        pause = min(at - before, limit)
        before = at
        line = text.rstrip("\r\n")
        if not line.isprintable():
            msg = f"the recording has control sequences at {at} s: {line!r}"
            raise ValueError(msg)
        for part in textwrap.wrap(line, width, drop_whitespace=False) or [""]:
            lines.append(ShownLine(lines[-1].at + max(pause, _EACH_LINE_S), part))
            pause = 0
    return lines
