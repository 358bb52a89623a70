"""The results of a fine-tuning: every run, each setting's mean ± standard deviation over seeds, and the best run."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from bertlab.common.files import read_json, write_json
from bertlab.training.finetuning.settings import STARTS


@dataclass(frozen=True)
class RunResult:
    """One run. epochs: a row for each with the training loss and the development figures; figures: the kept epoch's.

    diverged: where the loss became no number, and what helps; such a run has no epochs and no metrics.

    Example:
        >>> run = RunResult("pre-trained", 32, 5e-5, 3, 1, [], 2, {"accuracy": 0.9}, seconds=8.0, rows_per_second=100.0)
        >>> run.seed, run.main, RunResult.from_dict(run.to_dict()) == run
        (1, 0.9, True)
    """

    start: str  # one of STARTS
    batch_size: int
    learning_rate: float
    planned_epochs: int
    seed: int
    epochs: list[dict]
    kept_epoch: int
    figures: dict[str, float]
    seconds: float  # of training
    rows_per_second: float
    diverged: str | None = None

    @property
    def setting(self) -> tuple:
        """The values that it shares with the runs of other seeds."""
        return self.start, self.batch_size, self.learning_rate, self.planned_epochs

    @property
    def main(self) -> float:
        """The metric that models are chosen by; −∞ where it is undefined."""
        return main_figure(self.figures)

    def to_dict(self) -> dict:
        """JSON values."""
        return json_values(asdict(self))

    @classmethod
    def from_dict(cls, values: dict) -> "RunResult":
        """The inverse of `to_dict`."""
        epochs = [row | {"figures": _figures(row["figures"])} for row in values["epochs"]]
        return cls(**values | {"epochs": epochs, "figures": _figures(values["figures"])})

    def save(self, path: Path) -> None:
        """Writes JSON, whole or not at all."""
        write_json(path, self.to_dict())

    @classmethod
    def load(cls, path: Path) -> "RunResult":
        """The inverse of `save`."""
        return cls.from_dict(read_json(path))


def main_figure(figures: dict[str, float]) -> float:
    """The first figure; −∞ where it is undefined, such as the correlation of a constant."""
    first = next(iter(figures.values()), float("nan"))
    return first if np.isfinite(first) else float("-inf")


def json_values(values):
    """The same with null for every infinite number and NaN, which JSON does not have."""
    if isinstance(values, dict):
        return {name: json_values(value) for name, value in values.items()}
    if isinstance(values, list | tuple):
        return [json_values(value) for value in values]
    return None if isinstance(values, float) and not np.isfinite(values) else values


def _figures(values: dict) -> dict[str, float]:
    return {name: float("nan") if value is None else value for name, value in values.items()}


def run_name(start: str, batch_size: int, learning_rate: float, epochs: int, seed: int) -> str:
    """The name of a run's file: from-scratch-b16-lr2e-05-e3-s1."""
    return f"{start.replace(' ', '-')}-b{batch_size}-lr{learning_rate}-e{epochs}-s{seed}"


@dataclass(frozen=True)
class Summary:
    """The runs of one setting with several seeds: mean and standard deviation of each metric.

    Where one of them diverged there is no mean, and the setting cannot be chosen.
    """

    runs: tuple[RunResult, ...]
    mean: dict[str, float]
    sd: dict[str, float]  # with n − 1; NaN for a single seed

    @property
    def diverged(self) -> int:
        """The number of runs that diverged."""
        return sum(run.diverged is not None for run in self.runs)

    @classmethod
    def of(cls, runs: Sequence[RunResult]) -> "Summary":
        names = [name for name in runs[0].figures if all(name in run.figures for run in runs)]
        values = {name: np.array([run.figures[name] for run in runs]) for name in names}
        mean = {name: float(figures.mean()) for name, figures in values.items()}
        several = len(runs) > 1
        sd = {name: float(figures.std(ddof=1)) if several else float("nan") for name, figures in values.items()}
        return cls(tuple(runs), mean, sd)


@dataclass(frozen=True)
class FineTuningResult:
    """All runs of a task. metric: the one that models are chosen by. dev: the kept model's metrics.

    notes: lines for the user, such as the number of rows that were cut. test: the kept model's metrics on labelled
    test rows. model: what was trained; parameters: how many numbers training changed (both unknown in folders of
    earlier versions).

    Example:
        >>> run = RunResult("pre-trained", 32, 5e-5, 3, 1, [], 2, {"accuracy": 0.9}, seconds=8.0, rows_per_second=100.0)
        >>> other = RunResult.from_dict(run.to_dict() | {"seed": 2, "figures": {"accuracy": 0.8}})
        >>> result = FineTuningResult("films", "accuracy", (run, other), dev=run.figures)
        >>> result.best.seed, round(result.of("pre-trained").mean["accuracy"], 2)
        (1, 0.85)
    """

    task: str
    metric: str
    runs: tuple[RunResult, ...]
    dev: dict[str, float]
    notes: tuple[str, ...] = ()
    test: dict[str, float] | None = None
    model: str = ""
    parameters: int = 0

    @property
    def summaries(self) -> list[Summary]:
        """One for each setting, best mean first; those from scratch after the pre-trained ones."""
        settings = dict.fromkeys(run.setting for run in self.runs)
        found = [Summary.of([run for run in self.runs if run.setting == setting]) for setting in settings]
        return sorted(
            found, key=lambda s: (STARTS.index(s.runs[0].start), -float(np.mean([run.main for run in s.runs])))
        )

    def of(self, start: str) -> Summary | None:
        """The best setting of one start."""
        return next((summary for summary in self.summaries if summary.runs[0].start == start), None)

    @property
    def best(self) -> RunResult:
        """The best seed of the best setting, pre-trained where some runs are: the run whose weights are kept."""
        return best_run(self.runs)

    def advantage(self) -> tuple[float, float]:
        """(pre-trained − from scratch, in the task's metric; the same in standard deviations of the runs).

        The deviation is pooled over both starts: √((s₁² + s₂²) / 2), each s with one degree of freedom taken off.
        """
        pretrained, scratch = (self.of(start) for start in STARTS)
        difference = pretrained.mean[self.metric] - scratch.mean[self.metric]
        deviation = float(np.sqrt((pretrained.sd[self.metric] ** 2 + scratch.sd[self.metric] ** 2) / 2))
        if difference == 0:
            return 0.0, 0.0  # also where no run differs from another
        return difference, difference / deviation if deviation else float(np.copysign(np.inf, difference))

    def summary(self) -> str:
        """A table: one line for each setting."""
        lines = [f"{'start':<13} {'batch':>5} {'rate':>7} {'epochs':>6} {'seeds':>5}  {self.metric} (development)"]
        for summary in self.summaries:
            run = summary.runs[0]
            lines.append(
                f"{run.start:<13} {run.batch_size:>5} {run.learning_rate:>7g} {run.planned_epochs:>6} "
                f"{len(summary.runs):>5}  {self._figure(summary)}"
            )
        lines.append(f"kept: seed {self.best.seed}, epoch {self.best.kept_epoch}: {_in_one_line(self.dev)}")
        if self.test is not None:
            lines.append(f"test rows: {_in_one_line(self.test)}")
        return "\n".join(lines)

    def _figure(self, summary: Summary) -> str:
        if summary.diverged:
            return "diverged" + (f" ({summary.diverged} of {len(summary.runs)})" if len(summary.runs) > 1 else "")
        spread = summary.sd[self.metric]
        return f"{summary.mean[self.metric]:.4f}" + ("" if np.isnan(spread) else f" ± {spread:.4f}")

    def to_dict(self) -> dict:
        """JSON values: results.json. NaN and infinite numbers are null."""
        own = {name: getattr(self, name) for name in ("task", "model", "parameters", "metric", "dev", "test")}
        settings = [
            dict(zip(("start", "batch_size", "learning_rate", "epochs"), one.runs[0].setting))
            | {"seeds": [run.seed for run in one.runs], "diverged": one.diverged, "mean": one.mean, "sd": one.sd}
            for one in self.summaries
        ]
        runs = [asdict(run) for run in self.runs]
        return json_values(own | {"best": asdict(self.best), "settings": settings, "runs": runs, "notes": self.notes})

    @classmethod
    def from_dict(cls, values: dict) -> "FineTuningResult":
        """The inverse of `to_dict`."""
        runs, test = tuple(map(RunResult.from_dict, values["runs"])), values.get("test")
        return cls(
            values["task"], values["metric"], runs, _figures(values["dev"]), tuple(values["notes"]),
            None if test is None else _figures(test), values.get("model", ""), values.get("parameters", 0),
        )  # fmt: skip


def _in_one_line(figures: dict[str, float]) -> str:
    parts = [name for name in figures if name.partition(":")[0] in figures and ":" in name]  # f1:PER beside f1
    return ", ".join(f"{name} {value:.4f}" for name, value in figures.items() if name not in parts)


def best_run(runs: Sequence[RunResult]) -> RunResult:
    """The best seed of the setting with the best mean, among the pre-trained runs; one that did not diverge.

    Without pre-trained runs (a student from fresh weights), among all.
    """
    own = [run for run in runs if run.start == STARTS[0]] or runs

    def merit(run: RunResult) -> tuple[bool, float, float]:
        mean = float(np.mean([other.main for other in own if other.setting == run.setting]))
        return run.diverged is None, mean, run.main

    return max(own, key=merit)
