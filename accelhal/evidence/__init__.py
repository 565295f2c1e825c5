"""Looks at boards that outlive the moment: captured tools' output and snapshots."""
