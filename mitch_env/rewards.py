"""What a seat is paid, from the points that the game gives.

``points``: the game's own points, when a deal is scored. ``relative``: points minus the mean over the seats.
``outcome``: at the match's end the winners share +1, the others share -1; if all tie, 0 each.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .jit import rule

REWARDS = ("points", "relative", "outcome")
POINTS, RELATIVE, OUTCOME = range(3)


@rule
def pay_deal(s: Any) -> None:
    """Adds the rewards of the deal whose points stand in ``s.points``."""
    if s.reward_kind == OUTCOME:
        return
    mean = 0.0
    if s.reward_kind == RELATIVE:
        for seat in range(s.players):
            mean += s.points[seat]
        mean /= s.players
    for seat in range(s.players):
        s.reward[seat] += np.float32(s.points[seat] - mean)


@rule
def is_winner(s: Any, seat: int) -> bool:
    """Whether nobody has a higher total than ``seat``."""
    for other in range(s.players):
        if s.totals[other] > s.totals[seat]:
            return False
    return True


@rule
def pay_match(s: Any) -> None:
    """Adds the rewards of the finished match, from ``s.totals``."""
    if s.reward_kind != OUTCOME:
        return
    n_winners = 0
    for seat in range(s.players):
        if is_winner(s, seat):
            n_winners += 1
    if n_winners == s.players:
        return
    for seat in range(s.players):
        if is_winner(s, seat):
            s.reward[seat] += np.float32(1.0 / n_winners)
        else:
            s.reward[seat] -= np.float32(1.0 / (s.players - n_winners))


@rule
def clear_rewards(s: Any) -> None:
    """Forgets the rewards of the last step."""
    for seat in range(s.players):
        s.reward[seat] = 0.0
