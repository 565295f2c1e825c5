"""Layers and batches split among boards, running unchanged on each vendor's."""

from accelhal.parallel.checkpoint_shard import CheckpointShard
from accelhal.parallel.embedding import VocabParallelEmbedding
from accelhal.parallel.gradients import clip_grad_norm_, gradient_norm
from accelhal.parallel.linear import ColumnParallelLinear, RowParallelLinear
from accelhal.parallel.optimizer_state import load_optimizer_state, optimizer_state
from accelhal.parallel.plan import parallelize_module
from accelhal.parallel.prefetching import prefetch
from accelhal.parallel.splitting import BatchSplitter, LocalDataParallel, observe_ranks
from accelhal.parallel.styles import Colwise, Rowwise
from accelhal.parallel.transformer_plan import plan_for

__all__ = [
    "BatchSplitter",
    "CheckpointShard",
    "ColumnParallelLinear",
    "Colwise",
    "LocalDataParallel",
    "RowParallelLinear",
    "Rowwise",
    "VocabParallelEmbedding",
    "clip_grad_norm_",
    "gradient_norm",
    "load_optimizer_state",
    "observe_ranks",
    "optimizer_state",
    "parallelize_module",
    "plan_for",
    "prefetch",
]
