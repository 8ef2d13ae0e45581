"""A maskable actor-critic policy that is quick on CPUs: one ReLU trunk for policy and value, and plain masked arithmetic."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from torch import nn


def masked_log_softmax(logits: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Log-probabilities over the legal actions; minus infinity for the others."""
    return torch.log_softmax(logits.masked_fill(~mask, -torch.inf), dim=-1)


def entropy_of(log_probs: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """The entropy of each row of masked log-probabilities, in nats."""
    return -(log_probs.exp() * log_probs.masked_fill(~mask, 0.0)).sum(-1)


def sample(log_probs: torch.Tensor, mask: torch.Tensor, uniform: torch.Tensor) -> torch.Tensor:
    """One action for each row by the inverse of the cumulative distribution; never an illegal one, whatever the rounding.

    Args:
        log_probs: float32[n, actions], masked.
        mask: bool[n, actions].
        uniform: float32[n] from [0, 1).
    """
    cumulative = log_probs.exp().cumsum(-1)
    target = (uniform * cumulative[:, -1]).unsqueeze(-1)
    index = torch.searchsorted(cumulative, target, right=True).squeeze(-1)
    # Rounding can put the target at the very end: then the last legal action is meant.
    last_legal = mask.shape[-1] - 1 - mask.flip(-1).to(torch.uint8).argmax(-1)
    return torch.minimum(index, last_legal)


class TrunkPolicy(MaskableActorCriticPolicy):
    """``width`` units in each of ``depth`` layers, shared by the policy and the value head."""

    def __init__(self, *args: Any, width: int = 256, depth: int = 2, **kwargs: Any) -> None:
        self.width = width
        self.depth = depth
        optimizer = {"fused": True, "eps": 1e-5} | (kwargs.pop("optimizer_kwargs", None) or {})
        super().__init__(*args, net_arch=[width] * depth, activation_fn=nn.ReLU, optimizer_kwargs=optimizer, **kwargs)

    def _build(self, lr_schedule: Any) -> None:
        layers: list[nn.Module] = []
        inputs = self.features_dim
        for _ in range(self.depth):
            layers += [nn.Linear(inputs, self.width), nn.ReLU()]
            inputs = self.width
        self.trunk = nn.Sequential(*layers)
        self.action_net = nn.Linear(inputs, int(self.action_space.n))  # type: ignore[attr-defined]
        self.value_net = nn.Linear(inputs, 1)
        for module, gain in [(self.trunk, np.sqrt(2)), (self.action_net, 0.01), (self.value_net, 1.0)]:
            for layer in module.modules():
                if isinstance(layer, nn.Linear):
                    nn.init.orthogonal_(layer.weight, gain=float(gain))
                    nn.init.zeros_(layer.bias)
        self.optimizer = self.optimizer_class(self.parameters(), lr=lr_schedule(1), **self.optimizer_kwargs)

    def _get_constructor_parameters(self) -> dict[str, Any]:
        data = super()._get_constructor_parameters()
        for name in ("net_arch", "activation_fn"):
            data.pop(name)
        return data | {"width": self.width, "depth": self.depth}

    def _heads(self, obs: torch.Tensor, action_masks: Any) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Values [n, 1], masked log-probabilities [n, actions] and the mask."""
        hidden = self.trunk(obs)
        logits = self.action_net(hidden)
        if action_masks is None:
            mask = torch.ones_like(logits, dtype=torch.bool)
        else:
            mask = torch.as_tensor(action_masks, device=logits.device).reshape(logits.shape).bool()
        return self.value_net(hidden), masked_log_softmax(logits, mask), mask

    def forward(
        self, obs: torch.Tensor, deterministic: bool = False, action_masks: np.ndarray | None = None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Actions [n], values [n, 1] and log-probabilities [n]."""
        values, log_probs, mask = self._heads(obs, action_masks)
        if deterministic:
            actions = log_probs.argmax(-1)
        else:
            actions = sample(log_probs, mask, torch.rand(len(log_probs), device=log_probs.device))
        return actions, values, log_probs.gather(-1, actions.unsqueeze(-1)).squeeze(-1)

    def evaluate_actions(
        self, obs: torch.Tensor, actions: torch.Tensor, action_masks: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Values [n, 1], log-probabilities [n] and entropies [n]."""
        values, log_probs, mask = self._heads(obs, action_masks)
        chosen = log_probs.gather(-1, actions.long().unsqueeze(-1)).squeeze(-1)
        return values, chosen, entropy_of(log_probs, mask)

    def evaluate(
        self, obs: torch.Tensor, actions: torch.Tensor, action_masks: torch.Tensor, taught: torch.Tensor | None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        """As ``evaluate_actions``, and the log-probabilities of a teacher's actions (zeros without a teacher)."""
        values, log_probs, mask = self._heads(obs, action_masks)
        chosen = log_probs.gather(-1, actions.unsqueeze(-1)).squeeze(-1)
        if taught is None:
            teacher_log_probs = torch.zeros_like(chosen)
        else:
            teacher_log_probs = log_probs.gather(-1, taught.unsqueeze(-1)).squeeze(-1)
        return values, chosen, entropy_of(log_probs, mask), teacher_log_probs

    def predict_values(self, obs: torch.Tensor) -> torch.Tensor:
        """Values [n, 1]."""
        values: torch.Tensor = self.value_net(self.trunk(obs))
        return values

    def _predict(self, observation: Any, deterministic: bool = False, action_masks: np.ndarray | None = None) -> torch.Tensor:
        return self.forward(observation, deterministic, action_masks)[0]

    def weights(self) -> dict[str, np.ndarray]:
        """Copies of all weights (float32), by the names of the policy files."""
        linears = [layer for layer in self.trunk if isinstance(layer, nn.Linear)]
        named = {f"trunk.{i}": layer for i, layer in enumerate(linears)} | {"policy": self.action_net, "value": self.value_net}
        return {
            f"{name}.{part}": getattr(layer, part).detach().cpu().numpy().astype(np.float32).copy()
            for name, layer in named.items()
            for part in ("weight", "bias")
        }
