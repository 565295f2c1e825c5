"""Stands for the C++ extension: it loads only where the loader finds libcnrt.so."""

from __future__ import annotations

import ctypes

try:
    ctypes.CDLL("libcnrt.so")
except OSError as error:
    raise ImportError(str(error)) from None  # what importing an extension module raises
