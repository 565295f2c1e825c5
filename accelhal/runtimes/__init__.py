"""Runtimes over torch: the shared one for any torch device module, and the built-in cpu."""
