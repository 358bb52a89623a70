"""Our metrics beside scikit-learn's, SciPy's, seqeval's and torchmetrics'."""

import numpy as np
import pytest

from bertlab.data.tasks import metrics
from bertlab.data.tasks.class_report import averages, calibration, class_scores, confusion_counts
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


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("classes", [2, 3, 7])
def test_confusions_and_the_scores_of_each_class_agree_with_scikit_learn(seed, classes):
    theirs = pytest.importorskip("sklearn.metrics")
    gold, guess = drawn(seed, classes, rows=12)  # some classes do not occur
    counts = confusion_counts(gold, guess, classes)
    names = list(range(classes))
    assert counts.tolist() == theirs.confusion_matrix(gold, guess, labels=names).tolist()
    ours = class_scores(list(map(str, names)), np.diag(counts), counts.sum(axis=1), counts.sum(axis=0))
    expected = theirs.precision_recall_fscore_support(gold, guess, labels=names, zero_division=0)
    for name, values in zip(("precision", "recall", "f1", "support"), expected):
        assert [getattr(one, name) for one in ours] == pytest.approx(values.tolist())
    for average, means in averages(ours).items():
        expected = theirs.precision_recall_fscore_support(gold, guess, average=average, zero_division=0)[:3]
        assert [means[name] for name in ("precision", "recall", "f1")] == pytest.approx(expected)


@pytest.mark.parametrize("seed", SEEDS)
def test_labels_of_a_row_agree_with_scikit_learns_report(seed):
    theirs = pytest.importorskip("sklearn.metrics")
    random = np.random.default_rng(seed)
    truth, guess = random.random((2, 30, 4)) < 0.3
    ours = class_scores("abcd", (truth & guess).sum(axis=0), truth.sum(axis=0), guess.sum(axis=0))
    expected = theirs.classification_report(truth, guess, target_names=list("abcd"), output_dict=True, zero_division=0)
    for one in ours:
        assert (one.precision, one.recall, one.f1, one.support) == pytest.approx(tuple(expected[one.label].values()))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_bins_of_the_calibration_agree_with_scikit_learn(seed):
    theirs = pytest.importorskip("sklearn.calibration")
    random = np.random.default_rng(seed)
    sure = np.concatenate([random.random(200), [0.0, 0.5, 0.1, 1.0]])  # also on the edges
    right = random.random(len(sure)) < sure**2
    accuracies, confidences = theirs.calibration_curve(right, sure, n_bins=10, strategy="uniform")
    ours = calibration(sure, right)
    assert [one.accuracy for one in ours.bins] == pytest.approx(accuracies.tolist())
    assert [one.confidence for one in ours.bins] == pytest.approx(confidences.tolist())
    counts = np.array([one.count for one in ours.bins])
    assert ours.error == pytest.approx(np.sum(counts * np.abs(accuracies - confidences)) / len(sure))


@pytest.mark.parametrize("seed", SEEDS[:5])
def test_errors_of_numbers_agree_with_scikit_learn(seed):
    theirs = pytest.importorskip("sklearn.metrics")
    random = np.random.default_rng(seed)
    gold, guess = random.normal(size=(2, 40))
    assert metrics.mean_absolute_error(gold, guess) == pytest.approx(theirs.mean_absolute_error(gold, guess))
    expected = theirs.root_mean_squared_error(gold, guess)
    assert metrics.root_mean_squared_error(gold, guess) == pytest.approx(expected)
