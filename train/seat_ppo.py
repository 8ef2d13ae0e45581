"""MaskablePPO with an update that can also imitate a teacher, and says what it did on the decisions that it learnt from."""

from __future__ import annotations

import torch
from sb3_contrib import MaskablePPO
from torch.nn.functional import mse_loss

from train.rollouts import SeatRolloutBuffer


class SeatPPO(MaskablePPO):
    """PPO (Schulman et al. 2017) over the seat-linked decisions of a :class:`~train.rollouts.SeatRolloutBuffer`.

    While ``is_imitating``, an update learns from the teacher at the tables instead: the policy learns what the teacher would
    have done in the decisions that the policy met (DAgger, Ross et al. 2011), the value what came of them, each decision once.

    Attributes:
        is_imitating: Whether the next update imitates the teacher.
    """

    rollout_buffer: SeatRolloutBuffer
    is_imitating: bool = False

    def train(self) -> None:
        """Several epochs of clipped policy, value and entropy gradients; or one of the teacher's and the value's."""
        self.policy.set_training_mode(True)
        self._update_learning_rate(self.policy.optimizer)
        clip = float(self.clip_range(self._current_progress_remaining))  # type: ignore[operator]
        logs: list[torch.Tensor] = []
        for _ in range(1 if self.is_imitating else self.n_epochs):
            for data, taught in self.rollout_buffer.batches(self.batch_size):
                values, log_prob, entropy, teacher_log_prob = self.policy.evaluate(  # type: ignore[operator]
                    data.observations, data.actions.long().flatten(), data.action_masks, taught
                )
                advantages = data.advantages
                if self.normalize_advantage and len(advantages) > 1:
                    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
                log_ratio = log_prob - data.old_log_prob
                ratio = log_ratio.exp()
                policy_loss = -torch.min(advantages * ratio, advantages * ratio.clamp(1 - clip, 1 + clip)).mean()
                value_loss = mse_loss(values.flatten(), data.returns)
                teacher_loss = -teacher_log_prob.mean()
                loss = teacher_loss if self.is_imitating else policy_loss - self.ent_coef * entropy.mean()
                self.policy.optimizer.zero_grad()
                (loss + self.vf_coef * value_loss).backward()
                torch.nn.utils.clip_grad_norm_(self.policy.parameters(), self.max_grad_norm)
                self.policy.optimizer.step()
                with torch.no_grad():
                    kl = (ratio - 1 - log_ratio).mean()
                    clipped = ((ratio - 1).abs() > clip).float().mean()
                    logs.append(torch.stack([policy_loss, value_loss, entropy.mean(), kl, clipped, teacher_loss]))
            self._n_updates += 1
        names = ("policy_loss", "value_loss", "entropy", "approx_kl", "clip_fraction", "teacher_loss")
        means = torch.stack(logs).mean(0).tolist() if logs else [float("nan")] * len(names)
        for name, value in zip(names, means, strict=True):
            self.logger.record(f"train/{name}", value)
