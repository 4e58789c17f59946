"""Check the recipe for conda as rattler-build reads it; with ``--build``, build the package from conda-forge."""

from __future__ import annotations

import sys
from pathlib import Path

from rattler_build import Stage0Recipe

RECIPE = Path(__file__).parents[1] / "deploy/conda/recipe.yaml"


def main() -> None:
    """Parse and render the recipe, or build it; an error names the wrong field, version or template."""
    recipe = Stage0Recipe.from_file(RECIPE)
    if "--build" in sys.argv:
        recipe.run_build(output_dir=RECIPE.parents[2] / "build/conda")
    else:
        recipe.render()


if __name__ == "__main__":
    main()
