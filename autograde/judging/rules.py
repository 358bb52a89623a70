"""Rules that every result of a random function must obey, and the events that are counted in it.

    events = RULES["chosen positions"](given, result)      a list of words such as "position 3", or a Difference

`given` are the question's arguments; `result` is an untrusted plain value (see `values`): types are compared exactly,
lengths before contents. `random_claims` tests how often each event happens. A Difference's kind names the broken rule;
known mistakes are distinguished by it.
"""

from collections.abc import Callable
from itertools import combinations

import numpy as np

from autograde.boundary.plain_values import is_whole_number, whole_numbers
from autograde.judging.binomial_bounds import FALSE_ALARM
from autograde.judging.compare import Difference

MAX_SHOWN = 60
STREAMED = 60  # batches that are taken from a data set without end
FEWEST_SHUFFLED = 24  # examples, of which an order is no accident
FEWEST_EPOCHS, LARGEST_AGREEMENT = 5, 0.7  # their orders are correlated by more once in 10¹⁰ times


def shown(value) -> str:
    """A value in a message, shortened."""
    text = repr(value) if type(value) in (list, tuple, str, int, float, bool, type(None)) else type(value).__name__
    return text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 1] + "…"


def _pairs(name: str, positions: list[int]) -> list[str]:
    """The event that two of these happen together, for every two."""
    return [f"{name} {one} and {other}" for one, other in combinations(positions, 2)]


# --- masks ---


def each_masked(given, result):
    """(masked ids, positions): each token on its own is the mask or what it was. Events: which, and how many."""
    token_ids, mask_id, _ = given
    if type(result) not in (tuple, list) or len(result) != 2:
        return Difference("type", f"expected two values, the masked ids and the positions; yours is {shown(result)}")
    masked, positions = map(whole_numbers, result)
    if masked is None or positions is None:
        return Difference("type", f"expected two lists of whole numbers; yours is {shown(result)}")
    if len(masked) != len(token_ids):
        return Difference("length", f"{len(token_ids)} tokens went in, {len(masked)} came out")
    for position, (before, after) in enumerate(zip(token_ids, masked)):
        if after not in (before, mask_id):
            return Difference("other token", f"at [{position}]: {before} became {after}, neither itself nor the mask")
    where = [position for position, token in enumerate(masked) if token == mask_id]
    if positions != where:
        others = [position for position in range(len(masked)) if position not in where]
        kinds = {"counted from 1": [position + 1 for position in where], "positions of the others": others}
        kind = next((kind for kind, numbers in kinds.items() if positions == numbers), "positions")
        return Difference(kind, f"the masks are at {shown(where)}; your positions are {shown(positions)}")
    each = [event for position in where for event in ("masked", f"position {position}")]
    return [f"{len(where)} masked", *each, *_pairs("positions", where)]


def chosen_positions(given, result):
    """Ascending positions of regular tokens, as many as asked for. Events: which."""
    token_ids, special_ids, count = given
    positions = whole_numbers(result)
    if positions is None:
        return Difference("type", f"expected a list of whole numbers; yours is {shown(result)}")
    allowed = [position for position, token in enumerate(token_ids) if token not in special_ids]
    if any(not 0 <= position < len(token_ids) for position in positions):
        kind = "ids" if set(positions) <= set(token_ids) else "no position"
        return Difference(kind, f"{shown(positions)}: expected positions from 0 to {len(token_ids) - 1}")
    special = [position for position in positions if position not in allowed]
    if special:
        return Difference("special", f"position {special[0]} has a special token, {token_ids[special[0]]}")
    if len(set(positions)) < len(positions):
        return Difference("twice", f"{shown(positions)} holds a position twice")
    wanted = min(count, len(allowed))
    if len(positions) != wanted:
        kind = f"{len(positions)} of {wanted} positions"
        return Difference(kind, f"yours has {len(positions)} positions; expected {wanted}")
    if positions != sorted(positions):
        return Difference("order", f"{shown(positions)} is not in ascending order")
    together, indices = " ".join(map(str, positions)), [allowed.index(position) for position in positions]
    events = [f"all of {together}", *(f"position {one}" for one in positions), *_pairs("positions", positions)]
    if 2 * sum(index < len(allowed) // 2 for index in indices) > len(indices):
        events.append("mostly in the first half")
    if any(after - one == 1 for one, after in zip(indices, indices[1:])):
        events.append("two neighbours")
    return events


def replaced(given, result):
    """New ids: only the chosen positions may differ. Events: what became of a chosen token, and by what."""
    token_ids, positions, mask_id, replacements = given
    masked = whole_numbers(result)
    if masked is None:
        return Difference("type", f"expected a list of whole numbers; yours is {shown(result)}")
    if len(masked) != len(token_ids):
        return Difference("length", f"{len(token_ids)} tokens went in, {len(masked)} came out")
    outcomes: dict[str, list[int]] = {"masked": [], "unchanged": [], "replaced by another token": []}
    for position, (before, after) in enumerate(zip(token_ids, masked)):
        if position not in positions:
            if after != before:
                changed = [t for t in range(len(masked)) if t not in positions and masked[t] != token_ids[t]]
                return Difference(
                    f"not chosen: {changed[0]}", f"at [{position}], which was not chosen: {before} became {after}"
                )
        elif after == mask_id:
            outcomes["masked"].append(position)
        elif after == before:
            outcomes["unchanged"].append(position)
        elif after in replacements:
            outcomes["replaced by another token"].append(position)
        else:
            kind = f"index {after}" if 0 <= after < len(replacements) else "no replacement"  # a constant is no index
            return Difference(kind, f"at [{position}]: {after} is neither the mask nor a replacement")
    return _joint_outcomes(outcomes, masked)


def _joint_outcomes(outcomes: dict[str, list[int]], masked: list[int]) -> list[str]:
    """Events of one call: each outcome with its position, by twos and in number; and the replacements, one by one, with
    their positions and by twos."""
    others = [masked[position] for position in outcomes["replaced by another token"]]
    events = [f"{len(outcomes['masked'])} masked", f"{len(outcomes['replaced by another token'])} replaced"]
    for outcome, positions in outcomes.items():
        events += [outcome for _ in positions] + [f"{outcome} at {position}" for position in positions]
        events += _pairs(f"{outcome} at", positions)
    events += [f"replaced by {token}" for token in others]
    events += [f"replaced by {masked[position]} at {position}" for position in outcomes["replaced by another token"]]
    if len(others) > 1:
        events.append("first two replaced by the same" if others[0] == others[1] else "first two replaced by others")
    return events


# --- tokens ---


def drawn_token(given, result):
    """The id of a token. given: the scores of all tokens, and what else the function takes. Events: which."""
    scores = given[0]
    if type(result) is not int and not is_whole_number(result):
        return Difference("type", f"expected a whole number, the id of a token; yours is {shown(result)}")
    token = int(result)
    if not 0 <= token < len(scores):
        return Difference("no token", f"expected an id from 0 to {len(scores) - 1}; yours is {token}")
    return [f"token {token}"]


# --- pairs ---


def _text(value):
    """NumPy's string, which `rng.choice` returns and which is an array here, as Python's; all else as it is."""
    return value.item() if type(value) is np.ndarray and value.ndim == 0 and value.dtype.kind == "U" else value


def _pair(result) -> tuple[str, str, int] | Difference:
    """Two sentences and a label of 0 or 1, or why the result is something else."""
    if type(result) not in (tuple, list) or len(result) != 3:
        return Difference("type", f"expected three values, A, B and the label; yours is {shown(result)}")
    first, second = map(_text, result[:2])
    label = result[2].item() if is_whole_number(result[2]) else result[2]
    if type(first) is not str or type(second) is not str or type(label) is not int or label not in (0, 1):
        return Difference("type", f"expected two sentences and the integer 0 or 1 as label; yours is {shown(result)}")
    return first, second, label


def next_sentence(given, result):
    """(A, B, label): 0 and the next sentence, or 1 and a sentence of another document. Events: which."""
    documents, document, sentence = given
    pair = _pair(result)
    if isinstance(pair, Difference):
        return pair
    first, second, label = pair
    if first != documents[document][sentence]:
        return Difference("other A", f"A is {shown(first)}, not sentence {sentence} of document {document}")
    is_next = second == documents[document][sentence + 1]
    found = [index for index, sentences in enumerate(documents) if second in sentences]
    others = [index for index in found if index != document]  # several, if documents have equal sentences
    if not found:
        return Difference("unknown B", f"B is not in any document: {shown(second)}")
    if label == 0 and not is_next or label == 1 and is_next and not others:
        kind = "next, called 1" if is_next else "not next, called 0"
        return Difference(kind, f"B is {'' if is_next else 'not '}the next sentence, but the label is {label}")
    if label == 1 and not others:
        return Difference("same document", "the label is 1, but B comes from the same document as A")
    if label == 0:
        return ["next"]
    events = [f"sentence {documents[index].index(second)} of document {index}" for index in others[:1]]
    like_a = ["a document like A's"] * (documents[others[0]] == documents[document])
    return ["not next", f"document {others[0]}", *events, *like_a]


def sentence_order(given, result):
    """(A, B, label): a sentence and the next one, 0 in order or 1 exchanged. Events: which."""
    document, sentence = given
    pair = _pair(result)
    if isinstance(pair, Difference):
        return pair
    first, second, label = pair
    in_order = tuple(document[sentence : sentence + 2])
    if (first, second) not in (in_order, in_order[::-1]):
        other = [text for text in (first, second) if text not in in_order]
        kind = "not consecutive" if set(other) <= set(document) else "unknown sentence"
        return Difference(kind, f"expected sentences {sentence} and {sentence + 1}; yours are {shown((first, second))}")
    if label != int((first, second) != in_order):
        said = "in the document's order" if label else "exchanged"
        return Difference(f"label {label}", f"A and B are {said}, but the label is {label}")
    return ["exchanged" if label else "in order"]


def guessed(given, result):
    """(new ids, labels): the chosen tokens are drawn from a vocabulary, and each label says whether a token differs
    from the original. Events: which token is at which chosen position, and each two of them."""
    token_ids, positions, logits = given
    if type(result) not in (tuple, list) or len(result) != 2:
        return Difference("type", f"expected two values, the new ids and the labels; yours is {shown(result)}")
    corrupted, labels = map(whole_numbers, result)
    if corrupted is None or labels is None:
        return Difference("type", f"expected two lists of whole numbers; yours is {shown(result)}")
    if len(corrupted) != len(token_ids) or len(labels) != len(token_ids):
        return Difference(
            "length", f"{len(token_ids)} tokens went in; out came {len(corrupted)} and {len(labels)} labels"
        )
    for position, (before, after) in enumerate(zip(token_ids, corrupted)):
        if position not in positions and after != before:
            return Difference("not chosen", f"at [{position}], which was not chosen: {before} became {after}")
        if not 0 <= after < logits.shape[-1] and position in positions:
            return Difference(
                "no token", f"at [{position}]: {after} is not in a vocabulary of {logits.shape[-1]} tokens"
            )
    right = [int(before != after) for before, after in zip(token_ids, corrupted)]
    if labels != right:
        kinds = {
            "chosen": [int(position in positions) for position in range(len(token_ids))],
            "turned": [1 - label for label in right],
        }
        kind = next((kind for kind, numbers in kinds.items() if labels == numbers), "labels")
        return Difference(
            kind, f"{shown(corrupted)} differs from the original at {shown(right)}; yours: {shown(labels)}"
        )
    drawn = [(position, corrupted[position]) for position in positions]
    events = [f"{token} at {position}" for position, token in drawn]
    return [*events, *(f"{one} and {other}" for one, other in combinations(events, 2))]


def control_tags(given, result):
    """A tag for each token, one of those given, and the same for the same word. Events: each word's tag, and which two
    words have the same."""
    words, tags = given
    if type(result) not in (list, tuple):
        return Difference("type", f"expected a list of tags; yours is {shown(result)}")
    drawn = list(map(_text, result))
    if any(type(tag) is not str for tag in drawn):
        return Difference("type", f"expected a list of strings; yours is {shown(result)}")
    if len(drawn) != len(words):
        return Difference("length", f"{len(words)} words went in, {len(drawn)} tags came out")
    unknown = [tag for tag in drawn if tag not in tags]
    if unknown:
        return Difference("no tag", f"{shown(unknown[0])} is not among the tags")
    of_type = dict(zip(words, drawn))
    for word, tag in zip(words, drawn):
        if of_type[word] != tag:
            return Difference("two tags", f"{word!r} has two tags, {shown(tag)} and {shown(of_type[word])}")
    pairs = combinations(of_type.items(), 2)
    alike = [f"{one} and {other} alike" for (one, tag), (other, others) in pairs if tag == others]
    return [*(f"{word}: {tag}" for word, tag in of_type.items()), *alike]


# --- batches ---


def epochs(given, result):
    """Batches of whole examples; each epoch has every example at most once, in an order of its own."""
    examples, size, _ = given
    total = len(examples["input_ids"])
    orders, known = [], {row.tobytes(): number for number, row in enumerate(examples["input_ids"])}
    for number, batch in enumerate(result):
        rows = _rows_of(batch, examples, known)
        if isinstance(rows, Difference):
            return rows
        if len(rows) != size:
            return Difference("size", f"batch {number} has {len(rows)} examples, not {size}")
        orders.append(rows)
    each = total // size
    whole = [sum(orders[start : start + each], []) for start in range(0, len(orders) - each + 1, each)]
    orders = whole or [sum(orders, [])]  # of very many examples, the beginning of the first epoch
    if len(result) < STREAMED:
        return Difference("end", f"your data set ended after {len(result)} batches; expected one without end")
    if any(len(set(order)) < len(order) for order in orders):
        return Difference("repeated", f"an example occurs twice in {each} batches, which should be one epoch")
    return _fault_of_order(orders, size, total) or []


def _rows_of(batch, examples, known):
    """The numbers of the examples that a batch holds; or what is wrong with it. known: bytes of a row → its number."""
    if type(batch) is not dict or set(batch) != set(examples):
        return Difference("type", f"expected a batch to be a dict of {', '.join(examples)}; yours is {shown(batch)}")
    for name, array in batch.items():
        right = type(array) is np.ndarray and array.dtype == examples[name].dtype
        if not right or array.shape[1:] != examples[name].shape[1:] or not array.ndim:
            return Difference("shape", f"{name} of a batch differs in shape or dtype from {name} of the examples")
    if len({len(array) for array in batch.values()}) != 1:
        return Difference("apart", "the parts of a batch have different numbers of examples")
    rows = [known.get(row.tobytes(), -1) for row in batch["input_ids"]]
    if -1 in rows:
        return Difference("no example", "a batch contains a row that is not one of the examples")
    if any(not np.array_equal(array, examples[name][rows]) for name, array in batch.items()):
        return Difference("apart", "the parts of a batch are in different orders: each row must be one example")
    return rows


def _fault_of_order(orders, size, total):
    """An order that chance would give less than once in 10⁹ times.

    Of few examples all orders are likely; but in many epochs each of them comes first once. Where each epoch drops a
    rest, it is another one.
    """
    if total * (1 - 1 / total) ** len(orders) < FALSE_ALARM and len({order[0] for order in orders}) < total:
        return Difference("never first", f"in {len(orders)} epochs one of the {total} examples never comes first")
    missing = total - len(set().union(*orders))
    if missing and total * (1 - len(orders[0]) / total) ** len(orders) < FALSE_ALARM:
        return Difference("never there", f"in {len(orders)} epochs {missing} of the {total} examples never occur")
    if total < FEWEST_SHUFFLED:
        return None
    first = orders[0]
    if first == sorted(first):
        return Difference("unshuffled", "the examples come in the order in which they are stored")
    if any(one == other for one, other in combinations(orders, 2)):
        return Difference("same order", "two epochs have the same order")
    batches = [first[start : start + size] for start in range(0, len(first), size)]
    if all(batch == list(range(batch[0], batch[0] + size)) for batch in batches):
        return Difference("whole batches", "consecutive examples stay together: batches were shuffled, not examples")
    farthest = max(row - index for order in orders for index, row in enumerate(order))
    if farthest < size:
        said = f"no example comes {size} places or more before its place in the stored order: hardly a shuffle"
        return Difference("batch as buffer", said)
    if _agreement([order for order in orders if len(order) == total]) > LARGEST_AGREEMENT:
        return Difference("like the last", "an epoch has nearly the order of the one before: hardly a shuffle")
    if farthest < total // 2:
        said = f"no example comes more than {farthest} of {total} places before its place in the stored order"
        return Difference("small buffer", f"{said}: is the buffer too small?")
    together = max(sum(row + 1 == after for row, after in zip(order, order[1:])) for order in orders)
    if together > total // 2:
        return Difference("neighbours", "most examples are followed by the one that is stored behind them")
    return None


def _agreement(orders) -> float:
    """The mean correlation of an epoch's order with that of the epoch before; 0 for few epochs."""
    if len(orders) < FEWEST_EPOCHS:
        return 0.0
    ranks = np.argsort(orders, axis=1)
    return float(np.mean([np.corrcoef(one, other)[0, 1] for one, other in zip(ranks, ranks[1:])]))


RULES: dict[str, Callable] = {
    "each masked": each_masked,
    "chosen positions": chosen_positions,
    "replaced": replaced,
    "drawn token": drawn_token,
    "next sentence": next_sentence,
    "sentence order": sentence_order,
    "guessed": guessed,
    "control tags": control_tags,
    "epochs": epochs,
}
