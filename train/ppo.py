"""Trains a policy by self-play with MaskablePPO, exports it, and plays a small tournament.

    python train/ppo.py --config configs/mitch_jp_3p.yaml
    python train/ppo.py --config configs/mitch_jp_3p.yaml decisions=6e6 options.players=4
    python train/ppo.py --resume runs/mitch_jp_3p

Everything goes to runs/NAME/: config.yaml, curves.jsonl and curves.png, TensorBoard files, checkpoints, policy.safetensors
(and .onnx), evaluation.json, tournament.json and tournament.png.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # `python train/ppo.py` finds the packages beside it
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy's threads would fight torch's for the same cores
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # spinning threads crawl on a machine that is shared

import numpy as np
import torch
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import configure
from tqdm import tqdm

from agents import make_agent, tournament
from agents.agent import try_out
from agents.policy import PolicyAgent, PolicyCard
from mitch_env import get_game
from train.checkpoints import check_checkpoint, latest_checkpoint, load_progress, load_snapshots, save_checkpoint
from train.config import TrainConfig, between, keys_help, load_config, save_config
from train.curves import append_point, draw_curves, forget_after, read_points
from train.export import versions, write_both
from train.files import write_whole
from train.rollouts import SeatRolloutBuffer
from train.seat_ppo import SeatPPO
from train.table_vec_env import TableVecEnv
from train.trunk_policy import TrunkPolicy


def policy_card(config: TrainConfig, decisions: int, evaluation: dict[str, Any]) -> PolicyCard:
    """What the exported file says of the policy."""
    options = config.rules()
    return PolicyCard.of(
        get_game(config.game),
        options,
        options.players,
        config.encoder,
        [config.width] * config.depth,
        training=config.__dict__,
        decisions=decisions,
        seed=config.seed,
        versions=versions(),
        evaluation=evaluation,
    )


def policy_agent(config: TrainConfig, weights: dict[str, np.ndarray], name: str, sample: bool) -> PolicyAgent:
    """A frozen copy of a policy as an agent."""
    return PolicyAgent(policy_card(config, 0, {}), weights, get_game(config.game), name, sample)


def make_env(config: TrainConfig, seed: int, snapshots: list[dict[str, np.ndarray]]) -> TableVecEnv:
    """The tables, with the opponents that the config names."""
    opponents = [make_agent(name, config.game) for name in config.opponents if name != "snapshots"]
    n_fixed = len(opponents)
    opponents += [policy_agent(config, weights, "snapshot", sample=True) for weights in snapshots]
    if not opponents:  # until there is a first snapshot
        opponents = [make_agent("random", config.game)]
    return TableVecEnv(
        get_game(config.game),
        config.rules(),
        config.tables,
        seed=seed,
        reward=config.reward,
        reward_scale=config.reward_scale,
        canonical=config.encoder == "canonical",
        self_play=config.self_play,
        opponents=opponents,
        n_fixed=n_fixed,
        threads=config.threads,
    )


def make_model(config: TrainConfig, env: TableVecEnv) -> SeatPPO:
    """MaskablePPO with the pieces that make every seat learn."""
    return SeatPPO(
        TrunkPolicy,
        env,
        policy_kwargs={"width": config.width, "depth": config.depth},
        learning_rate=lambda left: config.learning_rate_at(1 - left),
        n_steps=config.window,
        batch_size=config.batch_size,
        n_epochs=config.epochs,
        gamma=config.gamma,
        gae_lambda=config.lam,
        clip_range=config.clip,
        ent_coef=config.entropy[0],
        vf_coef=config.value_weight,
        max_grad_norm=config.max_grad_norm,
        rollout_buffer_class=SeatRolloutBuffer,
        rollout_buffer_kwargs={"env": env, "seed": config.seed},
        seed=config.seed,
        device="cpu",
    )


class Trainer(BaseCallback):
    """What happens around the updates: annealing, opponents, evaluation, checkpoints, curves, the progress bar."""

    def __init__(self, config: TrainConfig, run: Path, env: TableVecEnv, snapshots: list[dict[str, np.ndarray]]) -> None:
        super().__init__()
        self.config, self.run, self.env, self.snapshots = config, run, env, snapshots
        self.teacher = make_agent(config.teacher, config.game) if config.teacher else None
        if self.teacher is not None:
            self.teacher.reset(None, np.random.default_rng(config.seed))
        self.bar: Any = None
        self.seconds_before = 0.0
        self.done_at = dict.fromkeys(("snapshot", "evaluate", "checkpoint"), 0)
        self.learnt = 0  # decisions of the windows that are complete
        self.is_cut_short = False  # by max_minutes, in the last window

    def _on_training_start(self) -> None:
        self.started = self.window_started = time.monotonic()
        self.counted = (self.env.n_deals, self.env.n_decisions, self.num_timesteps)
        self.bar = tqdm(total=self.config.decisions, initial=self.num_timesteps, unit="dec", unit_scale=True, desc="training")

    def _on_rollout_start(self) -> None:
        self._do_what_is_due()
        model: Any = self.model
        config = self.config
        self.learnt = self.num_timesteps
        done = self.num_timesteps / config.decisions
        model.ent_coef = between(config.entropy, config.ppo_done(done))
        model.is_imitating = done < config.imitating_share()
        self.env.teacher = self.teacher if model.is_imitating else None

    def _on_step(self) -> bool:
        self.is_cut_short = self.is_out_of_time()
        return not self.is_cut_short

    def _on_training_end(self) -> None:
        if not self.is_cut_short:
            self.learnt = self.num_timesteps

    def _on_rollout_end(self) -> None:
        """A window is complete and the update is about to begin."""
        self.bar.update(self.num_timesteps - self.bar.n)
        self._log_window()

    def _do_what_is_due(self) -> None:
        """Between an update and the next window: all decisions so far have been learnt from."""
        if self._is_due("snapshot", self.config.snapshot_every) and "snapshots" in self.config.opponents:
            self._take_snapshot()
        if self._is_due("evaluate", self.config.evaluate_every):
            self.evaluate()
        if self._is_due("checkpoint", self.config.checkpoint_every):
            self.save()

    def _is_due(self, what: str, every: int) -> bool:
        if self.num_timesteps - self.done_at[what] < every:
            return False
        self.done_at[what] = self.num_timesteps
        return True

    def is_out_of_time(self) -> bool:
        """Whether ``max_minutes`` are over."""
        limit = self.config.max_minutes * 60
        return 0 < limit <= self.seconds()

    def seconds(self) -> float:
        """Seconds trained, those before a resume included."""
        return self.seconds_before + time.monotonic() - self.started

    def _log_window(self) -> None:
        buffer: Any = self.model.rollout_buffer
        now = time.monotonic()
        counts = (self.env.n_deals, self.env.n_decisions, self.num_timesteps)
        deals, played, decisions = (after - before for after, before in zip(counts, self.counted, strict=True))
        mask = buffer.action_masks.sum(2)
        point = {
            "decisions": self.num_timesteps,
            "seconds": round(self.seconds(), 1),
            "decisions_per_second": round(decisions / max(now - self.window_started, 1e-9)),
            "deal_length": round(played / deals, 2) if deals else None,
            "entropy": float(-buffer.log_probs[mask > 1].mean()) if (mask > 1).any() else np.nan,
            "usable": float(buffer.usable.mean()),
            "explained_variance": buffer.explained_variance(),
        }
        self.counted, self.window_started = counts, now
        self._write({key: value for key, value in point.items() if value is not None and not np.isnan(value)})

    def _write(self, point: dict[str, Any]) -> None:
        append_point(self.run / "curves.jsonl", point)
        for key, value in point.items():
            if isinstance(value, (int, float)) and key != "decisions":
                self.logger.record(f"run/{key}", value)

    def _take_snapshot(self) -> None:
        self.snapshots.append(self.model.policy.weights())  # type: ignore[operator, union-attr]
        del self.snapshots[: -self.config.snapshots_kept]
        agent = policy_agent(self.config, self.snapshots[-1], "snapshot", sample=True)
        if self.env.n_fixed == 0 and len(self.snapshots) == 1:
            self.env.opponents.clear()  # the stand-in leaves
        self.env.add_opponent(agent, self.config.snapshots_kept)

    def evaluate(self) -> dict[str, Any]:
        """Plays the policy (best actions) against the fixed opponents; returns the duels by opponent."""
        config = self.config
        agent = policy_agent(config, self.model.policy.weights(), "policy", sample=False)  # type: ignore[operator, union-attr]
        game, rules = get_game(config.game), tournament.rated_options(get_game(config.game), config.options)
        duels = {
            name: tournament.duel(game, rules, (agent, make_agent(name, game)), config.evaluate_blocks, config.seed)
            for name in config.evaluate_against
        }
        scores = {name: [one.margin, one.low, one.high] for name, one in duels.items()}
        for name, one in duels.items():
            self.logger.record(f"score/{name}", one.margin)
        self._write({"decisions": self.num_timesteps, "seconds": round(self.seconds(), 1), "scores": scores})
        title = f"{config.name} ({config.game}, {config.rules().players} players)"
        draw_curves(read_points(self.run / "curves.jsonl"), self.run / "curves.png", title)
        self.bar.set_postfix({name: f"{one.margin:+.1f}" for name, one in duels.items()})
        return {name: one.__dict__ for name, one in duels.items()}

    def save(self) -> None:
        """Writes a checkpoint."""
        progress = {"decisions": self.num_timesteps, "seconds": self.seconds(), "done_at": self.done_at}
        save_checkpoint(self.run, self.model, self.snapshots, progress)


def train(config: TrainConfig, run: Path, resume: Path | None = None) -> PolicyAgent:
    """Trains, or goes on from a checkpoint, exports the policy and returns it as an agent."""
    torch.set_num_threads(config.threads)
    snapshots = load_snapshots(resume)[-config.snapshots_kept :] if resume and "snapshots" in config.opponents else []
    progress = load_progress(resume) if resume else {}
    # A resumed run plays other matches than those that it has learnt from already.
    env = make_env(config, config.seed + int(progress.get("decisions", 0)), snapshots)
    model = make_model(config, env)
    if resume:
        model.set_parameters(resume / "model.zip", device="cpu")
        model.num_timesteps = progress["decisions"]
        forget_after(run / "curves.jsonl", model.num_timesteps)
    model.set_logger(configure(str(run), ["tensorboard"]))
    trainer = Trainer(config, run, env, snapshots)
    trainer.seconds_before = progress.get("seconds", 0.0)
    trainer.done_at |= progress.get("done_at", {})
    try:
        model.learn(config.decisions - model.num_timesteps, callback=trainer, reset_num_timesteps=False)
    finally:
        if trainer.bar is not None:
            trainer.bar.close()
    model.num_timesteps = trainer.num_timesteps = trainer.learnt
    if trainer.is_cut_short:
        print(
            f"stopped by max_minutes={config.max_minutes:g} after {trainer.learnt:,} of {config.decisions:,} decisions; "
            f"to go on: {how_to_resume(run)} max_minutes=0"
        )
    trainer.save()
    evaluation = trainer.evaluate()
    written = {"decisions": model.num_timesteps} | evaluation
    write_whole(run / "evaluation.json", json.dumps(written, indent=1) + "\n")
    weights = model.policy.weights()  # type: ignore[operator, union-attr]
    card = policy_card(config, model.num_timesteps, evaluation)
    for path in write_both(run / "policy.safetensors", card, weights):
        print(f"written: {path}")
    return PolicyAgent.load(run / "policy.safetensors")


def final_tournament(config: TrainConfig, run: Path) -> None:
    """The exported policy against the fixed opponents, one against the rest, printed, drawn and written down."""
    game = get_game(config.game)
    rules = tournament.rated_options(game, config.options)
    names = [*config.evaluate_against, f"policy:{run / 'policy.safetensors'}"]
    duels = tournament.run(game, names, options=rules, blocks=config.final_blocks, seed=config.seed + 1, progress=True)
    print(tournament.table_text(duels))
    summary = tournament.results(game, rules, duels, config.seed + 1)
    write_whole(run / "tournament.json", json.dumps(summary, indent=1) + "\n")
    tournament.draw_matrix(duels, run / "tournament.png", f"{config.name}, {config.final_blocks} blocks")
    print(f"written: {run / 'tournament.json'}, {run / 'tournament.png'}, {run / 'curves.png'}")


def check_agents(config: TrainConfig) -> None:
    """Makes every agent that the config names, so that a wrong name is told now and not after hours.

    Raises:
        ValueError: If a name stands for nothing, or the agent cannot play here.
        OSError: If a policy file cannot be read.
    """
    players = config.rules().players
    names = [name for name in config.opponents if name != "snapshots"] + config.evaluate_against
    for name in [*names, config.teacher] if config.teacher else names:
        agent = make_agent(name, config.game)
        if isinstance(agent, PolicyAgent) and agent.card.seats_encoded != players:
            raise ValueError(f"{name}: it plays with seats_encoded={agent.card.seats_encoded}, here are players={players}")
        try_out(agent, config.game, config.rules())


def check_resumed(before: TrainConfig, config: TrainConfig) -> None:
    """The name of the folder, and what the weights depend on, cannot change in a run.

    Raises:
        ValueError: If it does.
    """
    for key in ("name", "game", "encoder", "width", "depth"):
        if getattr(before, key) != getattr(config, key):
            raise ValueError(f"{key}={getattr(config, key)!r}: the run was begun with {getattr(before, key)!r}")
    if before.rules().players != config.rules().players:
        raise ValueError(f"players={config.rules().players}: the run was begun with {before.rules().players}")


def check_what_is_left(before: TrainConfig, config: TrainConfig, progress: dict[str, Any]) -> None:
    """Says so if nothing is left to learn: a run that was broken off after its last window is only evaluated and exported.

    Raises:
        ValueError: If the change of the configuration asks for less than is done.
    """
    if progress["decisions"] >= config.decisions:
        if config.decisions != before.decisions:
            raise ValueError(f"decisions={config.decisions}: {progress['decisions']} are done; to go on, ask for more")
    elif 0 < config.max_minutes * 60 <= progress["seconds"]:
        if config.max_minutes != before.max_minutes:
            raise ValueError(f"max_minutes={config.max_minutes}: they are over; to go on, ask for more, or 0 for no limit")
    else:
        return
    over = "decisions" if progress["decisions"] >= config.decisions else "max_minutes"
    print(f"{over}={getattr(config, over)} are used up: the run is only evaluated and exported; to go on, add {over}=...")


def quoted(path: Path) -> str:
    """A path as a shell takes it."""
    return shlex.quote(str(path))


def how_to_resume(run: Path) -> str:
    """The command that goes on with a run."""
    return f"python train/ppo.py --resume {quoted(run)}"


def new_run(name: str, root: Path) -> Path:
    """A folder for a run that does not exist yet: NAME, NAME-2, NAME-3 ..."""
    number = 1
    while True:
        run = root / (name if number == 1 else f"{name}-{number}")
        try:
            run.mkdir(parents=True)
        except FileExistsError:
            number += 1
            continue
        return run


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser(
        prog="python train/ppo.py",
        description=__doc__,
        epilog=keys_help(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--config", type=Path, help="a YAML file with keys that differ from the defaults")
    top.add_argument("--resume", type=Path, metavar="RUN", help="go on with a run (a folder) from its latest checkpoint")
    top.add_argument("--runs", type=Path, default=Path("runs"), help="where new runs go (default: runs)")
    top.add_argument("changes", nargs="*", metavar="key=value", help="keys that differ from the config")
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Trains; wrong input is a sentence on stderr and exit status 2."""
    known = parser().parse_args(arguments)
    try:
        if (known.config is None) == (known.resume is None):
            raise ValueError("either --config FILE or --resume RUN is needed")
        if known.resume is not None:
            run = known.resume
            if not (run / "config.yaml").is_file():
                raise ValueError(f"{run} is no run: there is no config.yaml in it")
            checkpoint = latest_checkpoint(run)
            config = load_config(run / "config.yaml", known.changes)
            if checkpoint is None:
                raise ValueError(
                    f"{run}: there is no checkpoint to go on from; start anew with --config {quoted(run / 'config.yaml')}"
                )
            before = load_config(run / "config.yaml")
            check_resumed(before, config)
            progress = check_checkpoint(checkpoint)
            check_agents(config)
            check_what_is_left(before, config, progress)
        else:
            config, checkpoint = load_config(known.config, known.changes), None
            check_agents(config)
            run = new_run(config.name, known.runs)
        save_config(config, run / "config.yaml")
    except (ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    imitated = round(config.imitating_share() * config.decisions)
    parts = f" ({imitated:,} of them to imitate {config.teacher})" if imitated else ""
    print(f"{config.game}: {config.decisions:,} decisions{parts}, all files in {run}")
    try:
        train(config, run, checkpoint)
    except KeyboardInterrupt:
        print(f"\ninterrupted; to go on: {how_to_resume(run)}", file=sys.stderr)
        return 130
    except OSError as error:  # a full disk, a folder that was taken away
        print(
            f"\nerror: {error}; when that is mended, to go on from the latest checkpoint: {how_to_resume(run)}", file=sys.stderr
        )
        return 1
    if config.final_blocks and config.evaluate_against:
        try:
            final_tournament(config, run)
        except KeyboardInterrupt:
            print(f"\ninterrupted in the tournament; the policy is exported: {run / 'policy.safetensors'}", file=sys.stderr)
            return 130
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
