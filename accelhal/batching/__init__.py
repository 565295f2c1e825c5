"""Dynamic batching: many callers' requests in one call of a model, on every board.

Importing this package does not import torch.
"""

from accelhal.batching.batcher import DynamicBatcher as DynamicBatcher
from accelhal.batching.collation import Arguments as Arguments, Collator as Collator
from accelhal.batching.decorator import BatchedFunction as BatchedFunction, batch as batch
from accelhal.batching.lane import Lane as Lane, Launched as Launched, Work as Work
from accelhal.batching.observers import Observer as Observer
from accelhal.batching.request import ReleaseReason as ReleaseReason
from accelhal.batching.statistics import (
    BatcherStatistics as BatcherStatistics,
    BatchRecord as BatchRecord,
    LaneStatistics as LaneStatistics,
)
