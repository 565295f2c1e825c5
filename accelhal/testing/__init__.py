"""What test suites of other projects use: a device fixture, markers, the conformance suite."""
