"""A plan for transformer blocks of common shape, made from the names of their layers."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from typing import Any

from torch import nn

from accelhal.errors import UsageError
from accelhal.parallel.styles import Colwise, Rowwise, Style

_BLOCK = re.compile(r"(?:.*\.)?\d+\.")
"""Up to the number of a block: "model.layers.3."."""

_ATTENTION_IN = re.compile(r"(?:.*\.)?(?:[qkv]_proj|query|key|value|[qkv]_lin)")
_ATTENTION_OUT = re.compile(r"(?:.*\.)?(?:o_proj|out_proj|out_lin|attention\.output\.dense)")
_FEED_FORWARD_IN = re.compile(r"(?:.*\.)?(?:gate_proj|up_proj|fc1|lin1|intermediate\.dense)")
_FEED_FORWARD_OUT = re.compile(r"(?:(?!.*attention\.).*\.)?(?:down_proj|fc2|lin2|output\.dense)")

_WHOLE = re.compile(
    r"(?:.*\.)?(?![qk]_)(?:\w*layer_?norm\w*|(?:attn|attention|mlp|ffn|ff)_norm|norm_?\d?|ln_?\d?)",
    re.IGNORECASE,
)
"""Norms between the parts of a block. Those of queries and keys are not among them: each rank would
see the gradient of its own heads alone."""

_VOCABULARY = re.compile(r"(?:.*\.)?(?:embed_tokens|word_embeddings|tok_embeddings)")
_HEAD = re.compile(r"(?:.*\.)?(?:lm_head|embed_out)")

_HEAD_COUNTS = ("num_key_value_heads", "num_attention_heads", "n_heads")
"""Attributes of a configuration, the one that limits the split first."""

_WHOLE_HEADS = frozenset({*_HEAD_COUNTS, "num_heads", "num_kv_heads", "n_head"})
"""Attributes of an attention with the number of all heads."""


def plan_for(
    model: nn.Module, *, heads: int | None = None, vocabulary: bool = False
) -> dict[str, Style]:
    """A plan that splits the attention by heads and the feed-forward layers by features.

    Blocks are known by the names that decoders (q_proj, k_proj, v_proj, o_proj, gate_proj, up_proj,
    down_proj) and encoders (query, key, value, intermediate.dense, output.dense; q_lin, fc1 and the
    like) of the transformers library give their layers. What is outside of blocks stays whole. A
    model without numbered blocks is taken for one block.

    Args:
        model: the model.
        heads: heads of keys and values, which are not cut; taken from the `config` of the model,
            or of its attention, when None. Queries that share keys stay together.
        vocabulary: also split the embedding of the vocabulary and the output layer.

    Raises:
        UsageError: the model has no such block; layers in its blocks have other names, all of
            which are listed; nobody says how many heads there are; or an attention reshapes by the
            number of all heads.
    """
    alone = not any(_BLOCK.match(name) for name, _ in model.named_modules())
    plan: dict[str, Style] = {}
    unmatched, in_blocks = [], 0
    for name, module in model.named_modules():
        if not any(True for _ in module.parameters(recurse=False)):
            continue
        block = _BLOCK.match(name)
        inside = name[block.end() :] if block else name if alone else ""
        if not inside:
            if vocabulary:
                plan.update(_of_vocabulary(name, module))
            continue
        attention = model.get_submodule(name.rpartition(".")[0])
        heads_here = heads or _heads_of(model) or _heads_of(attention)
        style = _style(inside, module, attention, heads_here)
        if style is not None:
            plan[name] = style
            in_blocks += 1
        elif not _WHOLE.fullmatch(inside):
            unmatched.append(name)
    if unmatched and not (alone and not in_blocks):
        raise UsageError(
            f"no plan is known for {len(unmatched)} layers: {', '.join(_families(unmatched))}",
            operation="plan_for",
            hint="pass a plan of your own to parallelize_module: name -> colwise or rowwise",
        )
    if not in_blocks:
        raise UsageError(
            f"{type(model).__name__} has no transformer block whose names are known",
            operation="plan_for",
            hint="pass a plan of your own to parallelize_module: name -> colwise or rowwise",
        )
    return plan


def _style(inside: str, module: nn.Module, attention: nn.Module, heads: int | None) -> Style | None:
    if not isinstance(module, nn.Linear):
        return None
    if _ATTENTION_IN.fullmatch(inside):
        _require_any_heads(attention)
        return Colwise(multiple_of=_unit(module.out_features, heads, inside))
    if _ATTENTION_OUT.fullmatch(inside):
        return Rowwise(multiple_of=_unit(module.in_features, heads, inside))
    if _FEED_FORWARD_IN.fullmatch(inside):
        return Colwise()
    if _FEED_FORWARD_OUT.fullmatch(inside):
        return Rowwise()
    return None


def _require_any_heads(attention: nn.Module) -> None:
    """Refuse code that knows the number of all heads: of a part, it mixes up positions and heads.

    Such code says `view(batch, -1, self.num_heads, size)`, which fits a part of the heads too.
    """
    for kind in type(attention).__mro__[: type(attention).__mro__.index(nn.Module)]:
        for name, function in vars(kind).items():
            code = (
                getattr(inspect.unwrap(function), "__code__", None) if name != "__init__" else None
            )
            if code is not None and not _WHOLE_HEADS.isdisjoint(code.co_names):
                raise UsageError(
                    f"{kind.__name__}.{name} uses the number of all heads, of which each rank "
                    "would have some",
                    operation="plan_for",
                    hint="set the number of heads of the attention modules to that of a rank, and "
                    "pass a plan of your own to parallelize_module",
                )


def _of_vocabulary(name: str, module: nn.Module) -> Mapping[str, Style]:
    if isinstance(module, nn.Embedding) and _VOCABULARY.fullmatch(name):
        return {name: Rowwise()}
    if isinstance(module, nn.Linear) and _HEAD.fullmatch(name):
        return {name: Colwise(gather_output=True)}
    return {}


def _heads_of(module: nn.Module) -> int | None:
    """Heads of keys and values by its configuration."""
    config: Any = getattr(module, "config", None)
    counts = (getattr(config, attribute, None) for attribute in _HEAD_COUNTS)
    return next((count for count in counts if count), None)


def _unit(features: int, heads: int | None, name: str) -> int:
    """Features of one head of keys and values, with all the queries that use it."""
    if not heads or features % heads:
        raise UsageError(
            f"{name}: its {features} features are not those of {heads} heads"
            if heads
            else "the model's config does not say how many heads its attention has",
            operation="plan_for",
            hint="plan_for(model, heads=N), with the number of heads of keys and values",
        )
    return features // heads


def _families(names: list[str]) -> list[str]:
    """The names with the numbers of blocks left out, each once."""
    return list(dict.fromkeys(re.sub(r"(?<=\.)\d+(?=\.)|^\d+(?=\.)", "*", name) for name in names))
