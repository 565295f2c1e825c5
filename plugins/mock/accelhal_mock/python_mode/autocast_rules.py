"""Automatic mixed precision on boards, by torch's own operator lists for CUDA.

The lists are those of docs.pytorch.org/docs/stable/amp.html#cuda-op-specific-behavior. Operators
on none of them run in the type of their operands.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from accelhal_mock.python_mode.tensor import BoardTensor

LOWER_PRECISION = (
    "__matmul__ addbmm addmm addmv addr baddbmm bmm chain_matmul conv1d conv2d conv3d "
    "conv_transpose1d conv_transpose2d conv_transpose3d conv_tbc convolution _convolution linear "
    "matmul mm mv prelu linalg_vecdot linalg_multi_dot scaled_dot_product_attention "
    "_thnn_fused_gru_cell _thnn_fused_lstm_cell gru_cell lstm_cell rnn_relu_cell rnn_tanh_cell"
)
"""Names of operators that run in the autocast type."""

FLOAT32 = (
    "__rpow__ acos asin binary_cross_entropy_with_logits cdist cosh cosine_embedding_loss "
    "cosine_similarity cross_entropy_loss cumprod cumsum dist erfinv exp expm1 group_norm "
    "hinge_embedding_loss huber_loss kl_div l1_loss layer_norm log log10 log1p log2 log_softmax "
    "margin_ranking_loss mse_loss multi_margin_loss multilabel_margin_loss native_layer_norm "
    "nll_loss nll_loss2d nll_loss_nd norm pdist poisson_nll_loss polar pow prod reciprocal renorm "
    "rsqrt sinh smooth_l1_loss soft_margin_loss softmax softmin softplus stft sum tan "
    "triplet_margin_loss"
)
"""Those that run in float32."""

WIDEST = "addcdiv addcmul atan2 bilinear cross dot grid_sampler index_put scatter_add tensordot"
"""Those that run in the widest type among their operands."""

_REFUSED = "binary_cross_entropy"
_keys: Any = torch._C.DispatchKey
_AUTOCAST = torch._C.DispatchKeySet(_keys.AutocastPrivateUse1)


def register_autocast(library: torch.library.Library, name: str) -> None:
    """Give all listed operators their autocast kernels; the others are let through."""
    for names, target in (
        (LOWER_PRECISION, lambda tensors: torch.get_autocast_dtype(name)),
        (FLOAT32, lambda tensors: torch.float32),
        (WIDEST, _widest),
    ):
        for operator_name in names.split():
            _register(library, operator_name, target)
    library.impl(_REFUSED, _refuse, "AutocastPrivateUse1")


def _register(
    library: torch.library.Library,
    name: str,
    target: Callable[[list[torch.Tensor]], torch.dtype],
) -> None:
    packet = getattr(torch.ops.aten, name, None)
    for overload_name in packet.overloads() if packet is not None else ():
        overload = getattr(packet, overload_name)
        if any(
            argument.alias_info is not None and argument.alias_info.is_write
            for argument in overload._schema.arguments
        ):
            continue  # torch casts no result that the caller has given

        def run(*args: Any, _overload: Any = overload, **kwargs: Any) -> Any:
            dtype = target(_floating((*args, *kwargs.values())))
            with torch._C._ExcludeDispatchKeyGuard(_AUTOCAST):
                return _overload(
                    *[_cast(value, dtype) for value in args],
                    **{key: _cast(value, dtype) for key, value in kwargs.items()},
                )

        suffix = "" if overload_name == "default" else f".{overload_name}"
        library.impl(f"{name}{suffix}", run, "AutocastPrivateUse1")


def _refuse(*args: Any, **kwargs: Any) -> Any:
    raise RuntimeError(
        "torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast.\n"
        "Many models use a sigmoid layer right before the binary cross entropy layer.\n"
        "In this case, combine the two layers using torch.nn.functional."
        "binary_cross_entropy_with_logits or torch.nn.BCEWithLogitsLoss.  "
        "binary_cross_entropy_with_logits and BCEWithLogits are safe to autocast."
    )


def _widest(tensors: list[torch.Tensor]) -> torch.dtype:
    widths = {torch.float32} & {tensor.dtype for tensor in tensors}
    return torch.float32 if widths or not tensors else tensors[0].dtype


def _floating(values: tuple[Any, ...]) -> list[torch.Tensor]:
    found: list[torch.Tensor] = []
    for value in values:
        if isinstance(value, (list, tuple)):
            found.extend(_floating(tuple(value)))
        elif _eligible(value):
            found.append(value)
    return found


def _eligible(value: Any) -> bool:
    """Floating-point tensors of a board, double precision apart, as autocast_mode.h has it."""
    return (
        isinstance(value, BoardTensor)
        and value.is_floating_point()
        and value.dtype is not torch.float64
    )


def _cast(value: Any, dtype: torch.dtype) -> Any:
    if _eligible(value):
        return value.to(dtype)
    if type(value) in (list, tuple):
        return type(value)([_cast(part, dtype) for part in value])
    return value
