"""Batches divided among devices of unequal speed, so that all of them end together."""

from accelhal.parallel.splitting.data_parallel import LocalDataParallel
from accelhal.parallel.splitting.parts import Part, Parts
from accelhal.parallel.splitting.pieces import Pieces
from accelhal.parallel.splitting.rank_observations import observe_ranks
from accelhal.parallel.splitting.splitter import BatchSplitter

__all__ = ["BatchSplitter", "LocalDataParallel", "Part", "Parts", "Pieces", "observe_ranks"]
