"""Several threads may read programs at once."""

import gc
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from autograde.common import syntax


@pytest.fixture
def threads_change_while_a_tree_is_built():
    """The garbage collector runs often, and lets another thread go on whenever it does."""

    def give_way(phase, info):
        time.sleep(0)

    before = gc.get_threshold()
    gc.callbacks.append(give_way)
    gc.set_threshold(50)
    yield
    gc.set_threshold(*before)
    gc.callbacks.remove(give_way)


def test_threads_that_parse_at_once_all_get_their_trees(threads_change_while_a_tree_is_built):
    """Without the lock this fails on CPython before 3.11.9 and 3.12.3."""
    source = "\n".join(f"def f{n}(x):\n    return [x, (x, {{x: [x + {n}]}})]" for n in range(100))
    with ThreadPoolExecutor(4) as pool:
        trees = list(pool.map(syntax.parse, [source] * 20))
    assert [len(tree.body) for tree in trees] == [100] * 20
