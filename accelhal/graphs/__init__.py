"""Graphs: a model's launches captured once and replayed with one, on every board that can.

Importing this package does not import torch.
"""

from accelhal.graphs.callables import make_graphed_callables as make_graphed_callables
from accelhal.graphs.capturing import graph as graph
from accelhal.graphs.graphed_module import GraphedModule as GraphedModule
from accelhal.graphs.report import (
    CapturedSize as CapturedSize,
    FailedSize as FailedSize,
    GraphReport as GraphReport,
)
