"""The soak command itself: a short run for every game, and what it says when a match goes otherwise than the referee."""

from __future__ import annotations

import json
from typing import Any

import pytest
import soak

from mitch_env import GAMES
from mitch_env.records import replay


@pytest.mark.parametrize("name", GAMES)
def test_a_short_soak_agrees(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert soak.main(["--matches", "24", "--seed", "5", "--game", name]) == 0, capsys.readouterr().out
    assert capsys.readouterr().out == f"24 matches of {name} agree with the referees\n"


@pytest.mark.parametrize("via", ["TableEnv", "Batch"])
def test_a_deviation_is_told_with_a_record_that_shows_it(
    via: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    told = []

    def disagrees(game: Any, options: Any, record: Any, decisions: Any) -> None:
        told.append(record)
        if len(told) == {"TableEnv": 1, "Batch": 3}[via]:
            raise AssertionError("planted")

    monkeypatch.setattr(soak, "the_referee_agrees", disagrees)
    assert soak.main(["--matches", "4", "--seed", "5", "--game", "mitchell"]) == 1
    said = capsys.readouterr().out
    assert "deviation: AssertionError: planted" in said and f"played through {via}" in said
    assert replay(json.loads(said.partition("\nrecord ")[2])) == []
