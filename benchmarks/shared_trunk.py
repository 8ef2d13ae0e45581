"""Our network as stock policies can use it: a ReLU trunk that policy and value share."""

from __future__ import annotations

from typing import Any

import torch
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import nn


class SharedTrunk(BaseFeaturesExtractor):
    """``width`` units in each of ``depth`` layers, as a features extractor."""

    def __init__(self, space: Any, width: int, depth: int) -> None:
        super().__init__(space, width)
        layers: list[nn.Module] = []
        inputs = int(space.shape[0])
        for _ in range(depth):
            layers += [nn.Linear(inputs, width), nn.ReLU()]
            inputs = width
        self.trunk = nn.Sequential(*layers)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Features float32[n, width]."""
        features: torch.Tensor = self.trunk(observations)
        return features
