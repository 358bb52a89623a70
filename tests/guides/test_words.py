"""The word list of scripts/words.toml: each rule finds what it is for, and the areas that it guards are free of it."""

import re

import pytest

from scripts import check_words

AREAS, RULES = check_words.load_config()


@pytest.mark.parametrize("rule", RULES, ids=[rule.bad for rule in RULES])
def test_a_rule_finds_its_bad_example_and_leaves_its_good_one_alone(rule):
    assert rule.pattern.search(rule.bad)
    assert not rule.pattern.search(rule.good)
    assert set(rule.kinds) <= set(check_words.KINDS)


@pytest.mark.slow
def test_the_areas_are_free_of_listed_words():
    found = [str(finding) for path in check_words.tracked_files(AREAS) for finding in check_words.check(path, RULES)]
    assert not found, "\n".join(found)


def _found(tmp_path, name, source):
    path = tmp_path / name
    path.write_text(source, encoding="utf-8")
    rule = check_words.Rule(re.compile("afresh"), "again", "afresh", "again")
    return [finding.line for finding in check_words.check(path, [rule], tmp_path)]


def test_markdown_is_read_without_its_code(tmp_path):
    text = "Once\nafresh.\n\n```sh\nafresh\n```\n\n    afresh\n\n`afresh` and afresh\n"
    assert _found(tmp_path, "a.md", text) == [2, 10]


def test_python_is_read_where_people_read_it(tmp_path):
    source = (
        '"""Done afresh."""\n'  # 1: a docstring
        "afresh = 'afresh'\n"  # a name and a key: code
        "# made\n# afresh\n"  # 4: a comment
        "f'made {afresh} afresh'\n"  # 5: a message, once
        "help = 'Make it afresh.'\n"  # 6: a help text
    )
    assert sorted(_found(tmp_path, "a.py", source)) == [1, 4, 5, 6]


def test_code_in_a_text_and_names_of_arguments_are_not_prose(tmp_path):
    source = (
        'def f(afresh):\n    """Makes\n    afresh: a number, made again"""\n'  # an argument's name: code
        'mistake("id", "go afresh", "stop afresh", hint="Draw afresh.")\n'  # 4: the hint only
        'CELL = """def g():\n    return "made afresh"\n"""\n'  # a student's answer: code
    )
    assert _found(tmp_path, "a.py", source) == [4]


def test_a_notebooks_text_is_read_as_markdown(tmp_path):
    source = "# %% [markdown]\n# Draw afresh.\n#\n#     afresh\n\n# %%\nx = 1  # afresh\n"
    assert _found(tmp_path, "n.py", source) == [2, 7]


def test_a_page_is_read_without_its_tags_styles_and_placeholders(tmp_path):
    source = "<style>\n.afresh {}\n</style>\n<p title='afresh'>{{ afresh }} {% if afresh %}\nmade afresh</p>"
    assert _found(tmp_path, "p.html", source) == [5]


def test_an_area_that_matches_nothing_is_an_error():
    with pytest.raises(SystemExit, match="matches no file"):
        check_words.tracked_files(["docs/not_there.md"])
