"""Read, not imported, by whoever wants to know the installed version."""

__version__ = "0.0.0+standin"
