"""Texts from the Hugging Face hub, streamed, through the optional `datasets` package."""

from collections.abc import Iterator

from bertlab.common.errors import DataError, MissingDependencyError


def parse_hub_name(text: str) -> list[tuple[str, str | None, str]]:
    """The (name, configuration, split) that "NAME[/CONFIG][:SPLIT]" may mean, most likely first.

    "a/b" is first the data set b of the owner a, then configuration b of the data set a. The split is train by default.
    """
    path, _, split = text.partition(":")
    parts = path.split("/")
    split = split or "train"
    if not all(parts) or len(parts) > 3:
        example = "hf:Salesforce/wikitext/wikitext-2-raw-v1:train"
        raise DataError(f"hf:{text}: expected hf:NAME[/CONFIG][:SPLIT], such as {example}")
    if len(parts) == 1:
        return [(path, None, split)]
    if len(parts) == 2:
        return [(path, None, split), (parts[0], parts[1], split)]
    return [(f"{parts[0]}/{parts[1]}", parts[2], split)]


def hub_texts(text: str) -> Iterator[str]:
    """The text column of a data set, row by row. Raises DataError if there is no such data set or column."""
    readings = parse_hub_name(text)
    try:
        import datasets
    except ImportError:
        message = "reading from the Hugging Face hub needs the package datasets: pip install bertlab[hub]"
        raise MissingDependencyError(message) from None
    reasons = []
    for name, configuration, split in readings:
        try:
            rows = datasets.load_dataset(name, configuration, split=split, streaming=True)
        except (FileNotFoundError, ValueError, ConnectionError) as error:
            reasons.append(f"{name}: {error}")
        else:
            return _text_column(rows, text)
    raise DataError(f"hf:{text}: cannot load this data set ({'; '.join(reasons)})")


def _text_column(rows, text: str) -> Iterator[str]:
    columns = rows.column_names or list(next(iter(rows)))
    if "text" not in columns:
        raise DataError(f"hf:{text}: no column 'text'; it has {', '.join(columns)}")
    return (row["text"] for row in rows)
