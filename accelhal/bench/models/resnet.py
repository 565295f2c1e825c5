"""ResNet-50 in its published shape, with random weights."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  (torch's own convention)

from accelhal.bench.workload import MakeBatch

STAGES = ((64, 3), (128, 4), (256, 6), (512, 3))
"""Width and number of blocks of each stage; He et al. (2015), table 1, "50-layer"."""

EXPANSION = 4
"""A block's outputs for each channel of its width."""

IMAGE = 224
CLASSES = 1000


class Bottleneck(nn.Module):
    """1x1, 3x3 and 1x1 convolutions around a shortcut.

    The stride is in the 3x3 convolution ("v1.5"), as in torchvision and MLPerf.
    """

    def __init__(self, inputs: int, width: int, stride: int) -> None:
        super().__init__()
        outputs = width * EXPANSION
        self.reduce = _conv(inputs, width, kernel=1)
        self.reduce_norm = nn.BatchNorm2d(width)
        self.conv = _conv(width, width, kernel=3, stride=stride)
        self.conv_norm = nn.BatchNorm2d(width)
        self.expand = _conv(width, outputs, kernel=1)
        self.expand_norm = nn.BatchNorm2d(outputs)
        self.shortcut: nn.Module = nn.Identity()
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.Sequential(
                _conv(inputs, outputs, kernel=1, stride=stride), nn.BatchNorm2d(outputs)
            )

    def forward(self, x: Tensor) -> Tensor:
        """Transform (batch, channels, height, width)."""
        inner = F.relu(self.reduce_norm(self.reduce(x)))
        inner = F.relu(self.conv_norm(self.conv(inner)))
        inner = self.expand_norm(self.expand(inner))
        return F.relu(inner + self.shortcut(x))


class ResNet50(nn.Module):
    """Stem, four stages of bottleneck blocks, average pooling and a linear head."""

    def __init__(self) -> None:
        super().__init__()
        channels = 64
        self.stem = nn.Sequential(
            _conv(3, channels, kernel=7, stride=2),
            nn.BatchNorm2d(channels),
            nn.ReLU(),
            nn.MaxPool2d(kernel_size=3, stride=2, padding=1),
        )
        self.stages = nn.ModuleList()
        for number, (width, blocks) in enumerate(STAGES):
            stage = nn.Sequential()
            for block in range(blocks):
                stride = 2 if number > 0 and block == 0 else 1
                stage.append(Bottleneck(channels, width, stride))
                channels = width * EXPANSION
            self.stages.append(stage)
        self.head = nn.Linear(channels, CLASSES)

    def forward(self, images: Tensor) -> Tensor:
        """Class scores (batch, 1000) of images (batch, 3, 224, 224)."""
        x = self.stem(images)
        for stage in self.stages:
            x = stage(x)
        scores: Tensor = self.head(F.adaptive_avg_pool2d(x, 1).flatten(1))
        return scores


def resnet50() -> tuple[nn.Module, MakeBatch]:
    """ResNet-50 on 224x224 images."""
    return ResNet50(), _images


def _images(batch_size: int) -> Tensor:
    return torch.randn(batch_size, 3, IMAGE, IMAGE)


def _conv(inputs: int, outputs: int, *, kernel: int, stride: int = 1) -> nn.Conv2d:
    return nn.Conv2d(inputs, outputs, kernel, stride, padding=kernel // 2, bias=False)
