"""House rules drawn at random, to train one policy that can play them all (domain randomisation).

```python
import gymnasium
from mitch_env import Batch
from mitch_env.house_rules import house_rules

batch = Batch("mitch_jp", options=house_rules("mitch_jp", 1024, seed=1))
vector = gymnasium.make_vec(
    "mitch_env/Mitchell-v0",
    num_envs=64,
    vectorization_mode="vector_entry_point",
    options=house_rules("mitchell", 64, seed=1, vary=["unplayed", "release_wins", "hand_size"], players=4),
)
```

An observation tells all the rules that are played, and is padded to the most players of any table: one network fits all.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .chance import checked_seed
from .game import Game
from .mitch import options as mitch
from .mitchell import options as mitchell
from .options import OptionsError, check_int, unknown_name
from .registry import get_game

_BOTH = (False, True)

#: The values that each option is drawn from unless others are given.
VALUES: dict[type, dict[str, Sequence[Any]]] = {
    mitch.MitchOptions: {
        "players": range(2, mitch.MAX_PLAYERS + 1),
        "deals": ("players", 1, 2, 3),
        "hand_size": range(3, 9),
        "clock": mitch.CLOCKS,
        "clock_cards": range(1, 5),
        "column_step": mitch.COLUMN_STEPS,
        "must_place": _BOTH,
        "take_discard": _BOTH,
        "closer_plays": _BOTH,
        "scoring": mitch.SCORINGS,
        "lost_column_penalty": _BOTH,
        "tie_break": mitch.TIE_BREAKS,
        "shortest_double": _BOTH,
        "waiting_penalty": _BOTH,
        "playoffs": (0, 1, 3, 10),
        "suits": range(2, 5),
        "ranks": range(7, 14),
    },
    mitchell.MitchellOptions: {
        "players": range(2, mitchell.MAX_PLAYERS + 1),
        "target_score": (300, 500, 1000),
        "rounds": (1, 3, 5, 10),
        "hand_size": range(4, 10),
        "unplayed": mitchell.UNPLAYED,
        "release_wins": _BOTH,
        "ask_everyone": _BOTH,
        "max_turns": (200, 1000, 10_000),
    },
}
#: What is not drawn unless it is named: a smaller pack is another game, and a limit of turns is no rule.
_ONLY_IF_NAMED = ("suits", "ranks", "max_turns")

#: Draws in a row that may be refused before that is an error.
_MOST_REFUSED = 2000


def house_rules(
    game: str | Game, n: int, seed: int, vary: Mapping[str, Sequence[Any]] | Sequence[str] | None = None, **fixed: Any
) -> list[Any]:
    """``n`` sets of rules for a game, drawn at random.

    Each option in ``vary`` is drawn uniformly from its values, independently of the others; what the game refuses is drawn
    again. So among rules that go together with few others only some are left: with all options of Mitch drawn,
    ``scoring="longest"`` and ``clock="ace_hand"`` come less often than the others.

    Args:
        game: The game or its name.
        n: How many.
        seed: The same seed draws the same rules.
        vary: Which options are drawn: a mapping from names to lists of values, or a list of names (then from ``VALUES``). By
            default all but those in ``fixed``, the size of the pack, decks and the limit of turns.
        **fixed: Options by name that are the same in all rules.

    Returns:
        Options objects, for ``Batch(game, options=...)`` and ``make_vec(..., options=...)``.

    Raises:
        OptionsError: If a name is unknown, a given value can occur in no rules, or nothing that is drawn is allowed.
    """
    named = get_game(game)
    check_int("n", n, 1, 1 << 31)
    values = _values(named, vary, fixed)
    rng = np.random.default_rng(checked_seed(seed))
    if isinstance(vary, Mapping):
        _check_each(named, values, fixed, rng.spawn(1)[0])
    return [_drawn(named, values, fixed, rng) for _ in range(n)]


def _values(game: Game, vary: Any, fixed: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The values of each option that is drawn, every name and list checked."""
    known = [field.name for field in dataclasses.fields(game.defaults)]
    usual = VALUES.get(type(game.defaults), {})
    if vary is None:
        vary = [name for name in usual if name not in fixed and name not in _ONLY_IF_NAMED]
    if isinstance(vary, str) or not isinstance(vary, (Mapping, Sequence)):
        raise OptionsError(f"vary={vary!r:.60}: a list of options is needed, or a mapping from options to lists of values")
    for name in [*vary, *fixed]:
        if name not in known:
            raise OptionsError(unknown_name("option", name, known))
        if name in vary and name in fixed:
            raise OptionsError(f"{name} stands in vary and is fixed to {fixed[name]!r}: leave out one of them")
    drawn: dict[str, list[Any]] = {}
    for name in vary:
        given = vary[name] if isinstance(vary, Mapping) else usual.get(name)
        if given is None:
            raise OptionsError(f"{name} has no usual values: give them, vary={{{name!r}: [...]}}")
        if isinstance(given, (str, Mapping)) or not isinstance(given, Sequence) or not given:
            raise OptionsError(f"vary: {name}: {given!r:.60}: a list of at least one value is needed")
        drawn[name] = list(given)
    return drawn


def _check_each(game: Game, values: Mapping[str, list[Any]], fixed: Mapping[str, Any], rng: np.random.Generator) -> None:
    """A value that was asked for must occur in some rules, instead of being drawn again without a word."""
    for name, given in values.items():
        for value in given:
            _drawn(game, {**values, name: [value]}, fixed, rng)


def _drawn(game: Game, values: Mapping[str, list[Any]], fixed: Mapping[str, Any], rng: np.random.Generator) -> Any:
    """One set of rules."""
    reasons: Counter[str] = Counter()
    for _ in range(_MOST_REFUSED):
        changes = {name: given[rng.integers(len(given))] for name, given in values.items()}
        try:
            return game.options({**changes, **fixed})
        except OptionsError as error:
            reasons[str(error)] += 1
    alone = {name: given[0] for name, given in values.items() if len(given) == 1}
    what = ", ".join(f"{name}={value!r:.40}" for name, value in {**fixed, **alone}.items()) or "what is drawn"
    raise OptionsError(f"{what}: {_MOST_REFUSED} draws in a row were refused, mostly since {reasons.most_common(1)[0][0]}")
