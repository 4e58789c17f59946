"""Drawings as SVG: boxes, arrows and text, in colours that follow the light or dark page around them."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

_STYLE = """
  text { font: 13px system-ui, "Segoe UI", sans-serif; fill: #1f2328; }
  .small { font-size: 12px; fill: #57606a; }
  .title { font-weight: 600; }
  .plain { fill: #eef1f5; stroke: #818b98; }
  .ours { fill: #d7f0f2; stroke: #0a7d91; }
  .kafka { fill: #fdeccf; stroke: #b9770e; }
  .lane { fill: none; stroke: #afb8c1; stroke-dasharray: 4 4; }
  .cache { fill: none; stroke: #818b98; stroke-dasharray: 4 4; }
  .bar { fill: #0a7d91; }
  .other-bar { fill: #b9770e; }
  .kill { fill: #fbdfe4; stroke: #c2255c; }
  .arrow { fill: none; stroke: #57606a; stroke-width: 1.5; }
  .head { fill: #57606a; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    .small { fill: #a9b4c0; }
    .plain { fill: #2a313a; stroke: #8b96a3; }
    .ours { fill: #123c44; stroke: #4ec3d3; }
    .kafka { fill: #43341a; stroke: #e0a84a; }
    .lane { stroke: #59636e; }
    .cache { stroke: #8b96a3; }
    .bar { fill: #4ec3d3; }
    .other-bar { fill: #e0a84a; }
    .kill { fill: #4f1f2e; stroke: #ff7b9c; }
    .arrow { stroke: #a9b4c0; }
    .head { fill: #a9b4c0; }
  }
"""

_MARKER = (
    '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
    'orient="auto"><path class="head" d="M0 0 8 4 0 8z"/></marker></defs>\n'
)

_LINE_HEIGHT = 17


class Drawing:
    """A drawing, whose text is SVG. Lengths are in pixels, from the upper left.

    Args:
        width: Its width.
        height: Its height.
        title: Its title, for screen readers.
        description: What it shows, in sentences, for screen readers.
    """

    def __init__(self, width: int, height: int, title: str, description: str) -> None:
        self._shapes: list[str] = []
        self._head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            f'role="img" aria-labelledby="title description">\n'
            f'<title id="title">{escape(title)}</title>\n<desc id="description">{escape(description)}</desc>\n'
        )

    def __str__(self) -> str:
        return f"{self._head}<style>{_STYLE}</style>\n{_MARKER}" + "\n".join(self._shapes) + "\n</svg>\n"

    def text(self, x: float, y: float, text: str, kind: str = "", anchor: str = "start") -> None:
        """Write a line of text whose baseline is at ``y``."""
        kinds = f' class="{kind}"' if kind else ""
        at = "" if anchor == "start" else f' text-anchor="{anchor}"'
        self._shapes.append(f'<text x="{x:g}" y="{y:g}"{kinds}{at}>{escape(text)}</text>')

    def rectangle(self, x: float, y: float, width: float, height: float, kind: str) -> None:
        """Draw a rectangle."""
        self._shapes.append(f'<rect class="{kind}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="5"/>')

    def box(self, x: float, y: float, width: float, height: float, lines: Sequence[str], kind: str = "plain") -> None:
        """Draw a rectangle with centred lines of text; those behind the first one are small."""
        self.rectangle(x, y, width, height, kind)
        first = y + height / 2 - (len(lines) - 1) * _LINE_HEIGHT / 2 + 4.5
        for number, line in enumerate(lines):
            size = "small" if number else "title"
            self.text(x + width / 2, first + number * _LINE_HEIGHT, line, size, "middle")

    def lane(self, x: float, y: float, width: float, height: float, name: str) -> None:
        """Draw a frame around things, with its name in the upper left."""
        self.rectangle(x, y, width, height, "lane")
        self.text(x + 8, y + 17, name, "small")

    def arrow(self, *points: tuple[float, float]) -> None:
        """Draw an arrow through points."""
        path = " ".join(f"{x:g},{y:g}" for x, y in points)
        self._shapes.append(f'<polyline class="arrow" points="{path}" marker-end="url(#head)"/>')
