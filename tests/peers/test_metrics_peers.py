"""Our metrics beside scikit-learn's, SciPy's, seqeval's and torchmetrics'."""

import numpy as np
import pytest

from bertlab.data.tasks import metrics
from bertlab.data.tasks.metrics_entities import entity_scores
from bertlab.data.tasks.metrics_squad import squad_scores

pytestmark = pytest.mark.peers
SEEDS = range(20)


def drawn(seed, classes, rows=60):
    """Gold labels, and predictions that are right about half of the time."""
    random = np.random.default_rng(seed)
    gold = random.integers(0, classes, rows)
    return gold, np.where(random.random(rows) < 0.5, gold, random.integers(0, classes, rows))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("classes", [2, 3, 7])
def test_classification_agrees_with_scikit_learn(seed, classes):
    theirs = pytest.importorskip("sklearn.metrics")
    gold, guess = drawn(seed, classes)
    assert metrics.accuracy(gold, guess) == pytest.approx(theirs.accuracy_score(gold, guess))
    assert metrics.matthews(gold, guess) == pytest.approx(theirs.matthews_corrcoef(gold, guess))
    assert metrics.macro_f1(gold, guess) == pytest.approx(theirs.f1_score(gold, guess, average="macro"))
    if classes == 2:
        assert metrics.f1(gold, guess) == pytest.approx(theirs.f1_score(gold, guess))


@pytest.mark.parametrize("seed", SEEDS)
def test_correlations_agree_with_scipy_with_and_without_ties(seed):
    theirs = pytest.importorskip("scipy.stats")
    random = np.random.default_rng(seed)
    real = random.normal(size=50)
    for gold, guess in ((real, real + random.normal(size=50)), drawn(seed, 5)):
        assert metrics.pearson(gold, guess) == pytest.approx(theirs.pearsonr(gold, guess).statistic)
        assert metrics.spearman(gold, guess) == pytest.approx(theirs.spearmanr(gold, guess).statistic)


@pytest.mark.parametrize("seed", SEEDS)
def test_entities_agree_with_seqeval_also_on_malformed_tags(seed):
    theirs = pytest.importorskip("seqeval.metrics")
    random = np.random.default_rng(seed)
    tags = np.array(["O", "B-PER", "I-PER", "B-LOC", "I-LOC"])
    gold = [tags[random.integers(0, 5, size)].tolist() for size in random.integers(1, 15, 20)]
    guess = [[tag if random.random() < 0.7 else str(random.choice(tags)) for tag in row] for row in gold]
    scores = entity_scores(gold, guess)
    assert scores["f1"] == pytest.approx(theirs.f1_score(gold, guess))
    assert scores["precision"] == pytest.approx(theirs.precision_score(gold, guess))
    assert scores["recall"] == pytest.approx(theirs.recall_score(gold, guess))
    by_type = theirs.f1_score(gold, guess, average=None)  # in the order of the types' names
    assert [scores["f1:LOC"], scores["f1:PER"]] == pytest.approx(by_type.tolist())


@pytest.mark.parametrize("seed", SEEDS)
def test_squad_figures_agree_with_torchmetrics(seed):
    theirs = pytest.importorskip("torchmetrics.functional.text")
    random = np.random.default_rng(seed)
    words = ["The", "a", "cat", "Cat!", "sat", "on", "mat.", "U.S.", "1,000"]

    def text(least):
        return "cat " * least + " ".join(random.choice(words, random.integers(0, 5)))

    answers = {str(number): [text(least=1) for _ in range(random.integers(1, 4))] for number in range(50)}
    predictions = {id: text(least=0) for id in answers}
    expected = theirs.squad(
        [{"id": id, "prediction_text": prediction} for id, prediction in predictions.items()],
        [{"id": id, "answers": {"text": texts, "answer_start": [0] * len(texts)}} for id, texts in answers.items()],
    )
    scores = squad_scores(answers, predictions)
    assert 100 * scores["exact"] == pytest.approx(expected["exact_match"].item())
    assert 100 * scores["f1"] == pytest.approx(expected["f1"].item())
