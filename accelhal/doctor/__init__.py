"""The doctor: checks over facts of the host, each ending in findings with the next step."""
