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


READ = {  # what is read of a file: its name, its text, the lines in which "afresh" is found
    "Markdown without its code": (
        "a.md", "Once\nafresh.\n\n```sh\nafresh\n```\n\n    afresh\n\n`afresh` and afresh\n", [2, 10]
    ),
    "Python where people read it": (
        "a.py",
        '"""Done afresh."""\n'  # 1: a docstring
        "afresh = 'afresh'\n"  # a name and a key: code
        "# made\n# afresh\n"  # 4: a comment
        "f'made {afresh} afresh'\n"  # 5: a message, once
        "help = 'Make it afresh.'\n",  # 6: a help text
        [1, 4, 5, 6],
    ),
    "neither code in a text nor names of arguments": (
        "a.py",
        'def f(afresh):\n    """Makes\n    afresh: a number, made again"""\n'  # an argument's name: code
        'mistake("id", "go afresh", "stop afresh", hint="Draw afresh.")\n'  # 4: the hint only
        'CELL = """def g():\n    return "made afresh"\n"""\n',  # a student's answer: code
        [4],
    ),
    "a notebook's text as Markdown": (
        "n.py", "# %% [markdown]\n# Draw afresh.\n#\n#     afresh\n\n# %%\nx = 1  # afresh\n", [2, 7]
    ),
    "a page without tags, styles and placeholders": (
        "p.html",
        "<style>\n.afresh {}\n</style>\n<p title='afresh'>{{ afresh }} {% if afresh %}\nmade afresh</p>",
        [5],
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", READ)
def test_prose_is_read_where_people_read_it(what, tmp_path):
    name, source, lines = READ[what]
    (tmp_path / name).write_text(source, encoding="utf-8")
    rule = check_words.Rule(re.compile("afresh"), "again", "afresh", "again")
    assert sorted(found.line for found in check_words.check(tmp_path / name, [rule], tmp_path)) == lines


def test_an_area_that_matches_nothing_is_an_error():
    with pytest.raises(SystemExit, match="matches no file"):
        check_words.tracked_files(["docs/not_there.md"])
