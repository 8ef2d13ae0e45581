"""All randomness of the games: one 64-bit counter-based generator in each table.

The generator is SplitMix64 (Steele, Lea & Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014): the state
is a counter, the output a mix of it. Streams for other purposes start from the same match seed with another constant, so
that the deals of a match never depend on who plays it or how it is run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .jit import rule, wrapping_rule

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_LOW_32 = np.uint64(0xFFFFFFFF)
_TWO_32 = np.uint64(1 << 32)
_S27, _S30, _S31, _S32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)

#: What a match seed is mixed with to start each stream.
CHANCE_STREAM = np.uint64(0x6D69746368000001)
POLICY_STREAM = np.uint64(0x6D69746368000002)
NEXT_MATCH_STREAM = np.uint64(0x6D69746368000003)
REDEAL_STREAM = np.uint64(0x6D69746368000004)

#: Seeds drawn by the library have 53 bits, so that every JSON reader keeps them exact.
_SEED_SHIFT = np.uint64(11)


@wrapping_rule
def mix(z: np.uint64) -> np.uint64:
    """SplitMix64's output function of one counter value."""
    z = z + GOLDEN
    z = (z ^ (z >> _S30)) * _MIX_1
    z = (z ^ (z >> _S27)) * _MIX_2
    return z ^ (z >> _S31)


@wrapping_rule
def advanced(counter: np.uint64) -> np.uint64:
    """The counter one draw later."""
    return counter + GOLDEN


@rule
def stream(seed: np.uint64, purpose: np.uint64) -> np.uint64:
    """The first counter of the stream that a match seed opens for a purpose."""
    return mix(seed ^ purpose)


@rule
def next_seed(seed: np.uint64) -> np.uint64:
    """The seed of the match that follows the match with ``seed`` at the same table."""
    return mix(stream(seed, NEXT_MATCH_STREAM)) >> _SEED_SHIFT


@rule
def draw_below(s: Any, n: int) -> int:
    """A uniform integer from 0 to ``n`` - 1 from the table's generator (Lemire 2019, without bias)."""
    bound = np.uint64(n)
    product = (mix(s.rng) >> _S32) * bound
    s.rng = advanced(s.rng)
    if product & _LOW_32 < bound:
        threshold = (_TWO_32 - bound) % bound
        while product & _LOW_32 < threshold:
            product = (mix(s.rng) >> _S32) * bound
            s.rng = advanced(s.rng)
    return int(product >> _S32)


@rule
def shuffle(s: Any, cards: Any, n: int) -> None:
    """Shuffles the first ``n`` entries of ``cards`` in place (Fisher-Yates) with the table's generator."""
    for i in range(n - 1, 0, -1):
        j = draw_below(s, i + 1)
        card = cards[i]
        cards[i] = cards[j]
        cards[j] = card


@rule
def below(bits: np.uint64, n: int) -> int:
    """One of 0 to ``n`` - 1 from 64 random bits; the bias is below n / 2**32."""
    return int(((bits >> _S32) * np.uint64(n)) >> _S32)


def checked_seed(seed: Any, name: str = "seed") -> int:
    """``seed`` as an int from 0 to 2**64 - 1.

    Raises:
        ValueError: If it is anything else.
    """
    if isinstance(seed, (bool, np.bool_)) or not isinstance(seed, (int, np.integer)) or not 0 <= int(seed) < 1 << 64:
        raise ValueError(f"{name} must be an integer from 0 to 2**64 - 1, got {seed!r}")
    return int(seed)


def match_seeds(seed: int | Sequence[int] | np.ndarray | None, n: int) -> np.ndarray:
    """``n`` match seeds (uint64): spread from one number by ``np.random.SeedSequence``, or the given ones as they are."""
    if seed is None or np.ndim(seed) == 0:
        entropy = None if seed is None else checked_seed(seed)
        return np.random.SeedSequence(entropy).generate_state(n, np.uint64) >> _SEED_SHIFT
    if np.ndim(seed) != 1 or len(seed) != n:  # type: ignore[arg-type]
        raise ValueError(f"seed must be one integer or one for each of the {n} tables, got shape {np.shape(seed)}")
    return np.array([checked_seed(one, f"seed[{i}]") for i, one in enumerate(seed)], np.uint64)  # type: ignore[arg-type]
