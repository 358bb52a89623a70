"""The report of loading: for each variable of the model, the source of its value."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Origin:
    """One variable. source: file and name of its tensor; None: it kept its initial value, for the given reason."""

    variable: str
    shape: tuple[int, ...]
    source: str | None
    reason: str = ""


@dataclass(frozen=True)
class LoadReport:
    """The outcome of a load; `print` it for a table.

    origins: one for each variable of the model, in the model's order.
    unused: our paths of tensors that belong to a head or pooler which this model does not have.
    unexpected: names of tensors that no model of this configuration has (only with strict=False).

    Example:
        >>> report = load("bertlab-mini").load_report
        >>> len(report.loaded), report.unused
        (78, ())
    """

    checkpoint: str
    model: str
    origins: tuple[Origin, ...]
    unused: tuple[str, ...] = ()
    unexpected: tuple[str, ...] = ()

    @property
    def loaded(self) -> list[str]:
        """Variables that were filled from the checkpoint."""
        return [origin.variable for origin in self.origins if origin.source is not None]

    @property
    def initialised(self) -> list[str]:
        """Variables that kept their initial value: those of a fresh head, and the missing ones."""
        return [origin.variable for origin in self.origins if origin.source is None]

    @property
    def missing(self) -> list[str]:
        """Variables that the checkpoint lacks (only with strict=False)."""
        return [origin.variable for origin in self.origins if origin.reason == "missing"]

    def summary(self) -> str:
        """One line: the numbers of loaded, initialised and unused variables."""
        return (
            f"{self.model} from {self.checkpoint}: {len(self.loaded)} variables loaded, "
            f"{len(self.initialised)} initialised, {len(self.unused)} tensors not used, "
            f"{len(self.unexpected)} unexpected"
        )

    def __str__(self) -> str:
        rows = [
            (origin.variable, "×".join(map(str, origin.shape)), origin.source or f"initialised ({origin.reason})")
            for origin in self.origins
        ]
        rows += [("—", "", f"{path} (not used by this model)") for path in self.unused]
        rows += [("—", "", f"{name} (unexpected)") for name in self.unexpected]
        rows.insert(0, ("variable", "shape", "came from"))
        widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
        lines = [f"{name:<{widths[0]}}  {shape:<{widths[1]}}  {source}" for name, shape, source in rows]
        return "\n".join([self.summary(), *lines])
