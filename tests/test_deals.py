"""The figures on what deals are like, counted again one match at a time."""

from __future__ import annotations

import numpy as np
import pytest

from agents import View
from agents.tournament import rated_options
from agents.uniform import RandomAgent
from benchmarks import deals
from mitch_env import GAMES, TableEnv
from mitch_env.chance import match_seeds


class Last(RandomAgent):
    """Takes the last legal action."""

    def act_batch(self, view: View) -> np.ndarray:
        return view.mask.shape[1] - 1 - np.argmax(view.mask[:, ::-1], 1)


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("players", [2, 5])
def test_every_figure_is_that_of_matches_played_one_by_one(name: str, players: int) -> None:
    game = GAMES[name]
    changes = {"deck": {"change": 8, "move": 6, "stakeout": 9, "brawl": 9, "cancel": 4}, "hand_size": 3}
    options = rated_options(game, {"players": players, **(changes if name == "mitchell" else {})})
    counted = deals.play_deals(game, options, "test_deals:Last", 20, seed=4)
    for at, seed in enumerate(match_seeds(4, 20).tolist()):
        env = TableEnv(game, options)
        env.reset(seed=seed)
        decisions = forced = 0
        points = np.zeros(players)
        while env.agents and not any(env.terminations.values()) and not any(env.truncations.values()):
            legal = np.flatnonzero(env.last()[0]["action_mask"])
            decisions, forced = decisions + 1, forced + (len(legal) == 1)
            env.step(int(legal[-1]))
            points += list(env.rewards.values())
        assert (counted.decisions[at], counted.forced[at]) == (decisions, forced)
        assert counted.points[at].tolist() == points.tolist() and counted.truncated[at] == any(env.truncations.values())
        if name == "mitchell" and (points == 200).any():
            assert counted.turns[at] == env.table.turns_done


def test_deals_that_ask_nobody_anything_count_as_well() -> None:
    game = GAMES["mitchell"]
    deck = {"revenge": 100, "brawl": 6}
    options = rated_options(game, {"players": 2, "deck": deck, "hand_size": 1, "max_turns": 20})
    counted = deals.play_deals(game, options, "random", 200, seed=1)
    silent = np.flatnonzero(counted.decisions == 0)
    assert 20 < len(silent) < 180
    for at in silent.tolist():
        env = TableEnv(game, options)
        env.reset(seed=match_seeds(1, 200).tolist()[at])
        assert counted.points[at].tolist() == env.table.totals[:2].tolist()
        assert (counted.turns[at], counted.truncated[at]) == (env.table.turns_done, any(env.truncations.values()))
        assert counted.turns[at] or counted.points[at].any()


def test_the_command_prints_a_row_for_each_agent_and_number_of_players(capsys: pytest.CaptureFixture[str]) -> None:
    assert deals.main(["--game", "mitch_jp", "--agents", "random", "rule", "--players", "3", "2", "3", "--deals", "30"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert [row.split(" | ")[:2] for row in rows[2:]] == [
        ["| 3", "random"],
        ["| 3", "rule"],
        ["| 2", "random"],
        ["| 2", "rule"],
    ]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--players", "9"], "players=9"),
        (["--agents", "best"], "unknown agent 'best'"),
        (["--deals", "1"], "--deals: 2 or more"),
        (["--agents", "policy:/nope"], "--agents policy:/nope: "),
        (["--seed", "-1"], "--seed must be an integer from 0"),
    ],
)
def test_the_command_says_what_is_wrong(arguments: list[str], reason: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        deals.main([*arguments])
    assert reason in capsys.readouterr().err
