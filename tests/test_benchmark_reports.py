"""The benchmarks' figures: compared rightly with each other and with the targets, written down, drawn. No time is tested."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("tqdm", reason="the benchmarks need the extra train")

from benchmarks import callgrind, chart, floors, page, peers, profile, report, throughput
from benchmarks.contenders import SETTINGS, SIZES, Setting

JP, FOUR = Setting("mitch_jp", 3), Setting("mitchell", 4)


# --- What the figures say.


def made_up(**changes: float) -> dict[str, list[float]]:
    """Rounds at which every target is just reached."""
    middle = {
        f"{JP}, AEC": 70.0,
        floors.no_op_name(JP): 100.0,
        peers.LEDUC: 7.0,
        f"{FOUR}, AEC": 60.0,
        floors.no_op_name(FOUR): 100.0,
        peers.CRAZY_EIGHTS: 10.0,
        peers.SPARROW: 5.0,
        floors.memory_name(JP): 1400.0,
    }
    for setting, rate in zip(SETTINGS, (350.0, 350.0, 200.0, 200.0), strict=True):
        middle |= {f"{setting}, Batch of {n}": rate for n in SIZES} | {f"{setting}, Batch of 8192, 2 threads": 1.7 * rate}
    return {name: [rate] * 31 for name, rate in (middle | changes).items()}


STARTS = {
    kind: {game: [most] for game in ("mitch_jp", "mitch_ru", "mitchell")} for kind, most in (("warm", 0.99), ("cold", 24.9))
}
MEMORY = {"mitch": 1023, "mitchell": 2047}


def test_targets_are_reached_at_their_bounds() -> None:
    found = report.targets(made_up(), STARTS, MEMORY)
    assert all(one.is_reached for one in found), [one.what for one in found if not one.is_reached]
    assert [one.what for one in found if one.is_goal] == [f"{FOUR}, Batch of 1024: sparrow_mahjong"]
    assert [(one.bound, one.at_least) for one in found] == (
        [(0.7, True), (10, True), (0.6, True), (0.25, True), (35, True), (15, True), (40, True)]
        + [(1.7, True)] * 4
        + [(1.5, False)] * 4
        + [(1024, False), (2048, False)]
        + [(1.0, False)] * 3
        + [(25.0, False)] * 3
    )


@pytest.mark.parametrize(
    ("name", "value", "missed"),
    [
        (f"{JP}, AEC", 69.9, {f"{JP}, AEC: of the no-op AECEnv", f"{JP}, AEC: leduc_holdem_v4"}),
        (f"{FOUR}, AEC", 59.0, {f"{FOUR}, AEC: of the no-op AECEnv"}),
        (floors.memory_name(JP), 1401.0, {f"{JP}, Batch of 1024: of its memory floor"}),
        (peers.SPARROW, 5.1, {f"{FOUR}, Batch of 1024: sparrow_mahjong"}),
        (peers.CRAZY_EIGHTS, 10.1, {f"{JP}, Batch of 1024: crazy_eights"}),
        (f"{JP}, Batch of 8192, 2 threads", 590.0, {f"{JP}, Batch of 8192, 2 threads: of one thread"}),
        ("mitchell 8p, Batch of 64", 301.0, {"mitchell 8p, Batch of 64 to 8192: most over least time a decision"}),
        ("mitch_ru 3p, Batch of 1024", 233.0, {"mitch_ru 3p, Batch of 64 to 8192: most over least time a decision"}),
    ],
)
def test_a_target_is_missed_below_its_bound(name: str, value: float, missed: set[str]) -> None:
    found = report.targets(made_up(**{name: value}), STARTS, MEMORY)
    assert {one.what for one in found if not one.is_reached} == missed


def test_figures_of_targets_are_those_ratios() -> None:
    figures = {one.what: one.figure for one in report.targets(made_up(), STARTS, MEMORY)}
    assert figures[f"{JP}, AEC: leduc_holdem_v4"] == 10.0 and figures[f"{JP}, Batch of 1024: of its memory floor"] == 0.25
    assert figures["mitch_ru 3p, Batch of 8192, 2 threads: of one thread"] == pytest.approx(1.7)
    assert figures["memory of a table of mitchell"] == 2047


def test_the_interval_of_a_ratio_holds_what_slows_a_round_for_all_against_both() -> None:
    """A machine that is half as fast in some rounds leaves the ratio as it is; noise of one contender alone does not."""
    rng = np.random.default_rng(1)
    machine, own = rng.choice([0.5, 1.0], 31), rng.uniform(0.8, 1.25, 31)
    together = made_up() | {f"{JP}, AEC": list(70.0 * machine), floors.no_op_name(JP): list(100.0 * machine)}
    alone = made_up() | {f"{JP}, AEC": list(70.0 * own)}
    steady, noisy = (report.targets(rates, STARTS, MEMORY)[0] for rates in (together, alone))
    assert steady.low == steady.high == steady.figure == pytest.approx(0.7) and steady.text == "0.70 x"
    assert noisy.low is not None and noisy.high is not None and noisy.figure is not None
    assert 0.6 < noisy.low < noisy.figure < noisy.high < 0.8 and noisy.high - noisy.low > 0.02
    assert noisy.text == f"{noisy.figure:.2f} x ({noisy.low:.2f} to {noisy.high:.2f})"
    assert noisy.text in report.targets_table([noisy])
    assert noisy.is_reached == (noisy.figure >= 0.7) and noisy.may_be_missed
    assert report.targets(alone, STARTS, MEMORY)[0] == noisy, "the same redraws every time"


def test_what_was_not_measured_is_neither_reached_nor_missed() -> None:
    found = report.targets({f"{JP}, AEC": [1.0]}, {}, {})
    assert all(one.is_reached is None for one in found)
    assert report.targets_table(found).count("not measured") == len(found)
    assert "not reached" in report.targets_table(report.targets(made_up(), STARTS, {"mitch": 1024}))


def test_ratios_are_medians_of_those_within_rounds_and_stand_with_the_range() -> None:
    rates = {
        f"{JP}, AEC": [90.0, 300.0, 100.0],
        f"{JP}, Batch of 64": [800.0, 1600.0, 700.0],
        "mitch_ru 3p, AEC": [50.0, 50.0, 50.0],
        peers.LEDUC: [5.0, 15.0, 1.0],
        floors.no_op_name(JP): [200.0, 600.0, 200.0],
        floors.memory_name(JP): [1600.0, 3200.0, 7000.0],
    }
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in report.ratios_table(rates).splitlines()]
    assert lines[0] == ["", "decisions/s", "range", "x leduc", "x floor"]
    assert lines[2] == [f"{JP}, AEC", "100", "90 to 300", "20.0", "0.50"]
    assert lines[3] == [f"{JP}, Batch of 64", "800", "700 to 1,600", "160", "0.50"]
    assert lines[4] == ["mitch_ru 3p, AEC", "50", "50 to 50", "10.0", "0.25"]
    assert lines[5] == [peers.LEDUC, "5", "1 to 15", "1.00", "-"]


def test_flatness_is_that_of_the_medians_without_the_noise_of_the_machine() -> None:
    machine = np.array([1.0, 0.5, 1.0, 0.25, 2.0])
    rates = {f"{JP}, Batch of {n}": list(rate * machine) for n, rate in ((64, 100.0), (1024, 140.0), (8192, 120.0))}
    flat = report.flatness(rates, JP)
    assert flat.figure == pytest.approx(1.4) and flat.low == pytest.approx(1.4) and flat.high == pytest.approx(1.4)
    assert flat.is_reached and report.flatness({}, JP).figure is None


def test_those_who_are_compared_play_next_to_each_other() -> None:
    everybody = list(throughput.contenders().values())
    order = [one.name for one in throughput.in_order_of_play(everybody)]
    assert sorted(order) == sorted(one.name for one in everybody)

    def distance(one: str, other: str) -> int:
        return abs(order.index(one) - order.index(other))

    assert distance(f"{JP}, AEC", floors.no_op_name(JP)) <= 2 and distance(f"{JP}, AEC", peers.LEDUC) <= 2
    assert distance(f"{FOUR}, AEC", floors.no_op_name(FOUR)) == 1
    assert distance(f"{JP}, Batch of 1024", floors.memory_name(JP)) <= 2
    assert distance(f"{JP}, Batch of 1024", peers.CRAZY_EIGHTS) <= 2
    assert distance(f"{FOUR}, Batch of 1024", peers.SPARROW) <= 2
    few = [one for one in everybody if one.name in (peers.LEDUC, f"{JP}, Batch of 64")]
    assert throughput.in_order_of_play(few) == few


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "-"), (123456.0, "123,456"), (12.34, "12.3"), (1.234, "1.23"), (0.1234, "0.12"), (0.01234, "0.012")],
)
def test_figures_have_digits_that_count(value: float | None, text: str) -> None:
    assert report.figure_text(value) == text


# --- The command.


def test_the_command_writes_everything_down(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    only = [f"{JP}, AEC", floors.no_op_name(JP), floors.memory_name(FOUR)]
    arguments = ["--only", *only, "--rounds", "2", "--seconds", "0.01", "--out", str(tmp_path / "new")]
    assert throughput.main(arguments) == 0
    found = json.loads((tmp_path / "new" / "throughput.json").read_text())
    assert found["command"].startswith("python -m benchmarks.throughput --only 'mitch_jp 3p, AEC'")
    assert found["versions"].keys() >= {"python", "mitch-env", "numpy", "numba", "pettingzoo", "open_spiel", "pgx", "rlcard"}
    assert found["versions"]["numpy"] == np.__version__ and found["processor"] and found["date"]
    assert set(found["contenders"]) == {*only, f"{JP}, AEC in wrappers"}
    rounds = found["contenders"][f"{JP}, AEC"]["rounds"]
    assert len(rounds) == 2 and all(one["decisions"] > 0 for one in rounds)
    assert found["contenders"][floors.memory_name(FOUR)]["facts"]["bytes"] == 1387
    assert found["table_bytes"].keys() == {"mitch", "mitchell"} and found["settings"]["rounds"] == 2
    what = {one["what"]: one for one in found["targets"]}
    assert what[f"{JP}, AEC: of the no-op AECEnv"]["is_reached"] in (True, False)
    assert what[f"{JP}, AEC: leduc_holdem_v4"]["is_reached"] is None
    out = capsys.readouterr().out
    assert "| mitch_jp 3p, AEC " in out and "no-op AECEnv" in out and "leduc" not in out
    unmeasured = sum(one["figure"] is None for one in what.values())
    assert f"Not measured in this run: {unmeasured} of {len(what)} targets." in out and "not measured" not in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["--only", "whist"], "--list names them all"), (["--rounds", "0"], "1 or more"), (["--seconds", "0"], "more than 0")]
    + [(["--seconds", wrong], "less than 3600") for wrong in ("nan", "inf", "-1", "3600")],
)
def test_bad_arguments_say_what_to_do(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        throughput.main(arguments)
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("module", ["throughput", "training"])
def test_a_folder_that_cannot_be_made_is_refused_before_anything_is_measured(
    module: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SystemExit):
        importlib.import_module(f"benchmarks.{module}").main(["--out", str(tmp_path / "file")])
    assert "name a folder that can be made and written to" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        importlib.import_module(f"benchmarks.{module}").main(["--out", "/proc/self"])
    assert "--out /proc/self: " in capsys.readouterr().err


def test_all_contenders_can_be_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert throughput.main(["--list"]) == 0
    assert capsys.readouterr().out.splitlines() == list(throughput.contenders())


def test_the_first_step_is_timed_in_a_process_of_its_own() -> None:
    assert throughput.first_step("mitch_jp") > 0.05
    with pytest.raises(RuntimeError, match="whist"):
        throughput.first_step("whist")


def test_the_picture_is_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from matplotlib import image

    rates = {name: [10.0 ** (1 + at % 6), 2 * 10.0 ** (1 + at % 6)] for at, name in enumerate(throughput.contenders())}
    groups = {name: one.group for name, one in throughput.contenders().items()}
    chart.draw_chart(tmp_path / "all.png", rates, groups, "made up")
    chart.draw_chart(tmp_path / "one.png", {f"{JP}, AEC": [1.0]}, groups, "made up")
    everybody, one = image.imread(tmp_path / "all.png"), image.imread(tmp_path / "one.png")
    assert everybody.shape[0] > 2 * one.shape[0] > 100
    for color in chart.COLORS.values():
        rgb = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        assert (np.abs(everybody[..., :3] - rgb).max(-1) < 0.01).sum() > 1000


def test_contenders_stand_in_the_right_panel() -> None:
    many = {name for name in throughput.contenders() if chart.is_many(name)}
    assert f"{JP}, Batch of 1024" in many and peers.SPARROW in many and floors.memory_name(JP) in many
    assert not many & {f"{JP}, Batch of 1", f"{JP}, AEC", peers.LEDUC, peers.CRAZY_EIGHTS, floors.no_op_name(JP)}


# --- Profile.


@pytest.mark.parametrize("setting", [JP, FOUR], ids=str)
def test_doing_a_part_again_or_not_at_all_changes_nothing_in_the_play(setting: Setting) -> None:
    repeating, twin = profile.Repeating(setting.batch(30), 60), setting.batch(30)
    scored = 0
    for step in range(profile.WARM_UP + 60):
        twin.step(twin.random_actions())
        scored += int(twin.scored.sum()) if step >= profile.WARM_UP else 0
    for name, times in profile.variants().items():
        repeating.rewind()
        repeating.run(times)
        assert repeating.batch.tables.tobytes() == twin.tables.tobytes(), name
        assert np.array_equal(repeating.batch._policy, twin._policy)
        assert repeating.counts[0] == times[profile.CHECK] * repeating.decisions
        assert 0 < repeating.counts[1] == scored
        if times[profile.OBSERVATION]:
            assert np.array_equal(repeating.batch.observation, twin.observation)
        if times[profile.MASK]:
            assert np.array_equal(repeating.batch.mask, twin.mask)


def test_costs_are_differences_over_repetitions() -> None:
    runs = {name: [100.0, 200.0, 300.0] for name in profile.variants()}
    runs["copy of a table, again"] = [103.0, 206.0, 303.0]
    runs["rules, again"] = [130.0, 233.0, 333.0]
    runs["mask, again"] = [112.0, 212.0, 999.0]
    runs["mask, left out"] = [95.0, 195.0, 295.0]
    found = {one.part: one for one in profile.costs(runs)}
    assert (found["copy of a table"].again, found["rules"].again) == (1.0, 10.0)
    assert (found["mask"].again, found["mask"].left_out) == (4.0, 5.0)
    assert (found["observation"].again, found["observation"].left_out, found["rules"].left_out) == (0.0, 0.0, None)


def test_the_calls_of_a_batch_and_what_happens_are_counted() -> None:
    batch, twin = JP.batch(64), JP.batch(64)
    calls = profile.batch_calls(batch, 100)
    assert calls.keys() == {"pick_rows", "step_rows", "Python"} and min(calls.values()) > 0
    found = profile.happenings(twin, 100)
    assert batch.tables.tobytes() == twin.tables.tobytes()
    assert 0 < found["matches ended"] <= found["deals scored"] < 0.1 and 1 < found["legal actions"] < 20
    batch.step(batch.random_actions())
    assert profile.batch_calls(batch, 1).keys() == calls.keys()  # the kernels were put back


def test_the_profile_prints_every_part(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        profile.main(["mitchell", "--players", "4", "--tables", "16", "--steps", "5", "--rounds", "1", "--no-instructions"])
        == 0
    )
    out = capsys.readouterr().out
    assert all(f"| {name} " in out for name in (*profile.PARTS, "all of a step", "step_rows", "forced decisions"))
    with pytest.raises(SystemExit):
        profile.main(["mitchell", "--players", "9"])


def test_without_valgrind_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(callgrind.shutil, "which", lambda name: None)
    monkeypatch.setattr(callgrind.platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(callgrind.sys, "platform", "linux")
    assert "valgrind is not there" in callgrind.why_not()


@pytest.mark.slow
@pytest.mark.skipif(bool(callgrind.why_not()), reason=callgrind.why_not())
def test_instructions_add_up() -> None:
    """The parts of a step are nearly all of it."""
    found, plain = profile.counted_costs(JP, 16)
    parts = sum(one.again for one in found[: profile.COPY])
    assert 0.8 * plain < parts < 1.05 * plain and min(one.again for one in found) > 0


# --- Training.


@pytest.mark.parametrize("name", ["MaskablePPO, Gymnasium view", "MaskablePPO, our tables, shared ReLU trunk", "ours"])
def test_a_window_is_trained_on_and_its_time_is_shared_out(name: str) -> None:
    pytest.importorskip("sb3_contrib")
    from benchmarks import training

    settings = {
        "game": "mitch_jp",
        "threads": 1,
        "tables": 8,
        "window": 16,
        "batch_size": 32,
        "epochs": 2,
        "width": 8,
        "depth": 1,
    }
    window = training.Window(training.contenders(settings)[name].make())
    before = [one.detach().clone() for one in window.model.policy.parameters()]
    counted = window(0.0)
    assert any((a != b).any() for a, b in zip(before, window.model.policy.parameters(), strict=True))
    assert counted["collected"] == 8 * 16 and 0 < counted["decisions"] <= 8 * 16
    assert (counted["decisions"] == 8 * 16) == ("Gymnasium" in name)
    parts = training.shares([counted, window(0.0)])
    assert parts.keys() == {*training.PARTS, "rest"} and min(parts.values()) > 0
    assert sum(parts.values()) == pytest.approx(1.0)


def test_shares_are_those_of_the_whole_time() -> None:
    pytest.importorskip("sb3_contrib")
    from benchmarks import training

    rounds = [
        {"seconds": 4.0, "engine": 1.0, "inference": 1.0, "update": 1.0},
        {"seconds": 6.0, "engine": 1.0, "inference": 0.0, "update": 4.0},
    ]
    assert training.shares(rounds) == pytest.approx({"engine": 0.2, "inference": 0.1, "update": 0.5, "rest": 0.2})


def test_the_training_command_writes_everything_down(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("sb3_contrib")
    from benchmarks import training

    sizes = ["--tables", "8", "--window", "8", "--batch-size", "32", "--width", "8", "--depth", "1", "--rounds", "1"]
    assert training.main([*sizes, "--only", "ours", "--out", str(tmp_path)]) == 0
    found = json.loads((tmp_path / "training_mitch_jp.json").read_text())
    assert set(found["contenders"]) == {"ours"} and found["versions"]["torch"] and "--window 8" in found["command"]
    assert found["contenders"]["ours"]["rounds"][0]["decisions"] > 0
    assert "| ours " in capsys.readouterr().out
    with pytest.raises(SystemExit):
        training.main(["--only", "whist"])


# --- The pages made of them.


def test_the_pages_show_what_was_measured() -> None:
    speed, trainings, profiles = page.read(page.MEASURED)
    assert page.speed_page(speed, trainings, profiles) == page.PAGE.read_text(encoding="utf-8"), "python -m benchmarks.page"
    readme = page.README.read_text(encoding="utf-8")
    assert page.with_part(readme, page.readme_part(speed)) == readme, "python -m benchmarks.page docs/measured"
    assert {one["settings"]["game"] for one in trainings} >= {"mitch_jp", "mitchell"}
    assert {one["setting"] for one in profiles} >= {str(JP), str(FOUR)}
    assert set(speed["contenders"]) == set(throughput.contenders()) and not speed["missing"]


def test_the_targets_on_the_page_are_the_measured_ones() -> None:
    speed, _, _ = page.read(page.MEASURED)
    found = report.targets(page.played(speed).rates(), speed["first_step_s"], speed["table_bytes"])
    assert page.targets(speed) == found
    missed = [one.what for one in found if not one.is_reached]
    assert all(f"- {what}: " in page.not_reached(speed) for what in missed)
    close = [one for one in found if one.is_reached and one.may_be_missed]
    assert all(one.low < one.bound if one.at_least else one.high >= one.bound for one in close)  # type: ignore[operator]
    assert all(f"- {one.what}\n" in page.not_reached(speed) + "\n" for one in close)
    assert page.not_reached(speed).count("\n- ") == len(missed) + len(close)


def test_a_page_is_not_made_of_half_of_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = page.PAGE.read_text(encoding="utf-8"), page.README.read_text(encoding="utf-8")
    for path in page.MEASURED.glob("*.json"):
        (tmp_path / path.name).write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    speed = json.loads((tmp_path / "throughput.json").read_text(encoding="utf-8"))

    def refused(folder: Path, *words: str) -> None:
        with pytest.raises(SystemExit):
            page.main([str(folder)])
        said = capsys.readouterr().err
        assert all(word in said for word in words), said

    for changes, word in (
        ({"missing": {"RLCard uno": "not installed"}}, "RLCard uno"),
        ({"first_step_s": {"warm": {}}}, "--cold"),
    ):
        (tmp_path / "throughput.json").write_text(json.dumps(speed | changes), encoding="utf-8")
        refused(tmp_path, word)
    del speed["command"]
    (tmp_path / "throughput.json").write_text(json.dumps(speed), encoding="utf-8")
    with pytest.raises(KeyError):  # no command writes such a file
        page.main([str(tmp_path)])
    (tmp_path / "throughput.json").unlink()
    refused(tmp_path, "throughput.json", "--help")
    assert before == (page.PAGE.read_text(encoding="utf-8"), page.README.read_text(encoding="utf-8"))
    with pytest.raises(ValueError, match="made by"):
        page.with_part("a page without marks", "a part")
