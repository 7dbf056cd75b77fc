"""The command `amidst`, as it comes with the package."""

from __future__ import annotations

import sys

from ._amidst import command


def main() -> None:
    """Runs the command line and ends the process."""
    sys.exit(command(["amidst", *sys.argv[1:]]))
