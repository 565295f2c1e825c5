"""`python -m accelhal`: the command line, where its script is not on PATH."""

from accelhal.cli.main import main

main()
