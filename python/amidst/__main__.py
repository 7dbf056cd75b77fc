"""`python -m amidst`."""

from ._command import main

main()
