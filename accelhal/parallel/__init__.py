"""Layers split among ranks that run unchanged on each board."""

from accelhal.parallel.checkpoint_shard import CheckpointShard
from accelhal.parallel.embedding import VocabParallelEmbedding
from accelhal.parallel.gradients import clip_grad_norm_, gradient_norm
from accelhal.parallel.linear import ColumnParallelLinear, RowParallelLinear
from accelhal.parallel.optimizer_state import load_optimizer_state, optimizer_state
from accelhal.parallel.plan import parallelize_module
from accelhal.parallel.styles import Colwise, Rowwise
from accelhal.parallel.transformer_plan import plan_for

__all__ = [
    "CheckpointShard",
    "ColumnParallelLinear",
    "Colwise",
    "RowParallelLinear",
    "Rowwise",
    "VocabParallelEmbedding",
    "clip_grad_norm_",
    "gradient_norm",
    "load_optimizer_state",
    "optimizer_state",
    "parallelize_module",
    "plan_for",
]
