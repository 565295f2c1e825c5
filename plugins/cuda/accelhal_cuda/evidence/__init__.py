"""Reads captured output of nvidia-smi; nothing here asks a driver."""

from __future__ import annotations

from accelhal.spi import EvidenceReader
from accelhal_cuda.evidence.board_list import BOARD_LIST
from accelhal_cuda.evidence.board_table import BOARD_TABLE
from accelhal_cuda.evidence.lost_board import LOST_BOARD
from accelhal_cuda.evidence.query_text import QUERY_TEXT
from accelhal_cuda.evidence.query_xml import QUERY_XML
from accelhal_cuda.evidence.tool_versions import TOOL_VERSIONS
from accelhal_cuda.evidence.topology_matrix import TOPOLOGY_MATRIX

READERS: tuple[EvidenceReader, ...] = (
    QUERY_XML,
    QUERY_TEXT,
    BOARD_TABLE,
    TOPOLOGY_MATRIX,
    BOARD_LIST,
    TOOL_VERSIONS,
    LOST_BOARD,
)
"""What the extension `evidence_readers` names."""
