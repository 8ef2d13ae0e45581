"""The plain rules and the compiled kernels are the same rules: equal bytes after every decision."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numba
import numpy as np
import pytest
from games import EVERY_TABLE, player_counts, some_options, times
from laws import NO_ACTIONS, Compiled, Match, Plain, hold

from mitch_env import GAMES, Game
from mitch_env.bits import lowest_bit, popcount
from mitch_env.chance import POLICY_STREAM, advanced, below, draw_below, mix, next_seed, stream
from mitch_env.game import PHASE_DEAL, PHASE_OVER
from mitch_env.jit import config, kernel


def plain_and_compiled_agree(plain: Match, compiled: Match, seed: int, every: int = 1) -> None:
    """Plays a match in both; views, state, legality and redealt worlds are compared at every ``every``-th decision."""
    law, rng, drivers = plain_and_compiled_agree, random.Random(seed), (plain.driver, compiled.driver)

    def compare(what: str, found: Sequence[Any]) -> None:
        if found[0] != found[1]:
            hold(False, law, f"{what}: plain {found[0]!r:.300}, compiled {found[1]!r:.300}, in {plain!r}")

    def compare_worlds() -> None:
        seat, key = rng.randrange(plain.options.players), rng.getrandbits(64)
        worlds = [type(driver)(plain.game, driver.tables.copy()) for driver in drivers]
        for world in worlds:
            world.redeal(seat, key)
        compare(f"world redealt for seat{seat} with key {key}", [world.tables.tobytes() for world in worlds])

    def compare_all() -> None:
        everything = (*range(plain.driver.n_actions + 1), *NO_ACTIONS)
        counter = np.uint64(rng.getrandbits(64))
        compare("is_legal", [driver.legal_among(everything) for driver in drivers])
        compare("pick_legal", [driver.pick(counter) for driver in drivers])
        compare("state", [driver.state().tobytes() for driver in drivers])
        for seat in range(plain.options.players):
            compare(f"view of seat{seat}", [driver.view(seat).tobytes() for driver in drivers])
        compare_worlds()

    for driver in drivers:
        driver.start()
    while plain.table.phase != PHASE_OVER:
        compare("table", [driver.tables.tobytes() for driver in drivers])
        if plain.table.phase == PHASE_DEAL:
            compare_worlds()
            for step in ("shuffle", "open"):
                for driver in drivers:
                    getattr(driver, step)()
                compare(f"table after {step}", [driver.tables.tobytes() for driver in drivers])
            continue
        masks = [driver.mask().tolist() for driver in drivers]
        compare("mask", masks)
        if len(plain.actions) % every == 0:
            compare_all()
        action = rng.choice(np.flatnonzero(masks[0]).tolist())
        plain.play(action)
        compiled.play(action)
    compare("table", [driver.tables.tobytes() for driver in drivers])
    compare_worlds()


def both(game: Game, options: Any, seed: int, **settings: Any) -> tuple[Match, Match]:
    plain, compiled = (Match(game, options, seed, driver, with_referee=False, **settings) for driver in (Plain, Compiled))
    return plain, compiled


@pytest.mark.parametrize(("name", "players"), EVERY_TABLE)
def test_plain_rules_and_kernels_agree_byte_for_byte(name: str, players: int) -> None:
    game = GAMES[name]
    for seed, options in enumerate(some_options(game, players, times(4), 20)):
        encoded = players + seed % (game.rules.max_seats - players + 1)
        reward = ("points", "relative", "outcome")[seed % 3]
        plain_and_compiled_agree(*both(game, options, seed, seats_encoded=encoded, reward=reward), seed, every=9)


@pytest.mark.parametrize("name", GAMES)
def test_renaming_agrees(name: str) -> None:
    """``canonical`` and ``relabel`` by the kernel that batches use, and by the plain rules."""
    game = GAMES[name]
    for players in player_counts(game):
        match, twin = both(game, list(some_options(game, players, 2, 21))[-1], players)
        rules, driver = game.rules, twin.driver
        assert isinstance(driver, Compiled)
        scratch, code, actor = driver.tables.copy(), np.zeros(1, np.int64), np.zeros(1, np.int8)
        view, mask = np.zeros((1, driver.size), np.float32), np.zeros((1, driver.n_actions), np.uint8)
        for _ in match.moments(random.Random(players)):
            if not match.is_live or len(match.actions) % 4:
                continue
            driver.tables[0] = match.table
            raw = scratch.view(type(driver.raw))
            driver.kernels.view_canonical_rows(driver.raw, np.zeros(1, np.int64), 0, 1, raw, code, view, mask, actor)
            renamed = Plain(game, match.driver.tables.copy())
            assert code[0] == rules.canonical(match.table, int(match.table.actor))
            rules.relabel(match.table, int(code[0]), renamed.table)
            assert view[0].tobytes() == renamed.view(int(actor[0])).tobytes()
            assert mask[0].tobytes() == renamed.mask().tobytes()


def test_the_generator_agrees() -> None:
    """Chance in plain Python and compiled: mixing, streams, unbiased draws, bit counts."""

    def draws(counters: Any, out: Any) -> None:
        s = counters[0]
        for i in range(out.shape[0]):
            out[i, 0] = mix(s.rng)
            out[i, 1] = stream(s.rng, POLICY_STREAM)
            out[i, 2] = next_seed(s.rng)
            out[i, 3] = below(s.rng, i + 1)
            out[i, 4] = popcount(s.rng)
            out[i, 5] = lowest_bit(s.rng | np.uint64(1 << 63))
            out[i, 6] = draw_below(s, i + 1)
            out[i, 7] = advanced(s.rng)

    dtype = np.dtype([("rng", "u8")])
    signature = numba.types.void(numba.from_dtype(dtype)[::1], numba.types.uint64[:, ::1])
    found = []
    for run in (draws, kernel(draws, signature, "test of chance")):
        counters, out = np.full(1, (1 << 64) - 12345, dtype).view(np.recarray), np.zeros((300, 8), np.uint64)
        run(counters if run is draws or config.DISABLE_JIT else counters.view(np.ndarray), out)
        found.append((out.tolist(), int(counters.rng[0])))
    assert found[0] == found[1]
