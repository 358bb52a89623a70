"""Minimal pairs of English grammar for choosing pre-training recipes, up to 250 of each rule.

    python -m benchmarks.english.grammar_pairs --out FILE.jsonl [--each 50] [--seed 0]
    bertlab minimal-pairs FILE.jsonl MODEL

The table below lists the paradigms: each is a rule of grammar with a few templates. In a template, "{thing}" is a
random member of a class of `benchmarks.english.grammar_words`, "{thing.pl}" the same one in another form, "{thing2}"
another one; of "[is|are]" the correct sentence has the first part, the incorrect one the second. The templates of a
paradigm are used in turn. The same seed makes the same file.

Supports: benchmarks/training/README.md, "2,650 minimal pairs".
"""

import argparse
import json
import random
import re
from dataclasses import dataclass
from dataclasses import field as field_of
from pathlib import Path

from benchmarks.english.grammar_words import CLASSES, form_of
from bertlab.common.files import write_text

SLOT = re.compile(r"\{([a-z_]+)(\d?)(?:\.(\w+))?\}")
CHOICE = re.compile(r"\[([^|\[\]]*)\|([^|\[\]]*)\]")
TRIES = 200  # for one pair, before a template counts as used up

# "== field term", then for each paradigm "name: rule" and its templates.
TABLE = """
== morphology subject_verb_agreement
agreement_regular_verb: The verb has the number of its subject.
    The {person} [{habit.s}|{habit}].
    The {person.pl} [{habit}|{habit.s}].
    The {animal} [{roam.s}|{roam}] {often}.
    The {animal.pl} [{roam}|{roam.s}] {often}.
agreement_irregular_verb: So have the forms of 'be', 'have' and 'do'.
    The {person} [is|are] {state}.
    The {person.pl} [were|was] {state}.
    The {person} [has|have] {feat.part}.
    The {person.pl} [have|has] {feat.part}.
    The {person} [does|do] not {habit}.
    The {person.pl} [do|does] not {habit}.
agreement_irregular_noun: A plural that does not end in s is a plural, too.
    The {odd_person.pl} [{habit}|{habit.s}].
    The [{odd_person.pl}|{odd_person}] {habit}.
    The [{odd_person}|{odd_person.pl}] {habit.s}.
    The [{odd_animal.pl}|{odd_animal}] {roam} {often}.
agreement_across_phrase: A noun of the other number in a phrase between subject and verb changes nothing.
    The {person} behind the {person2.pl} [is|are] {state}.
    The {person.pl} next to the {person2} [are|is] {state}.
    The {thing} near the {thing2.pl} [is|are] {look}.
    The {person} with the {thing.pl} [{habit.s}|{habit}].
agreement_across_relative_clause: A noun in a relative clause of the subject changes nothing either.
    The {person} who {meets.past} the {person2.pl} [{habit.s}|{habit}].
    The {person.pl} who {meets.past} the {person2} [{habit}|{habit.s}].
    The {person} that the {person2.pl} {meets.past} [is|are] {state}.
    The {person.pl} that the {person2} {meets.past} [are|is] {state}.
agreement_with_head_noun: The verb agrees with the noun before 'of', not with the one after it.
    The {property} of the {thing.pl} [is|are] {judged}.
    The {property} of the {thing.pl} [was|were] {judged}.
    The {relative} of the {person.pl} [{habit.s}|{habit}].
    The {relative.pl} of the {person} [{habit}|{habit.s}].
== morphology determiner_noun_agreement
determiner_noun: 'This' and 'that' go with a singular noun, 'these' and 'those' with a plural one.
    {one} {takes.past} [these|this] {thing.pl} {when}.
    {one} {takes.past} [that|those] {thing} {when}.
    {one} {takes.past} those [{thing.pl}|{thing}] {when}.
    {one} {takes.past} this [{thing}|{thing.pl}] {when}.
determiner_irregular_noun: The same with irregular plurals.
    {one} {sees.past} [these|this] {odd_thing.pl} {when}.
    {one} {sees.past} this [{odd_thing}|{odd_thing.pl}] {when}.
    {one} {meets.past} those [{odd_person.pl}|{odd_person}].
    {one} {meets.past} [that|those] {odd_person}.
determiner_adjective_noun: The same with an adjective between them.
    {one} {takes.past} [these|this] {look} {thing.pl} {when}.
    {one} {takes.past} [that|those] {look} {thing} {when}.
    {one} {takes.past} these {look} [{thing.pl}|{thing}] {when}.
    {one} {takes.past} this {look} [{thing}|{thing.pl}] {when}.
numeral_noun: Numbers, 'many' and 'both' go with a plural noun, 'every' and 'another' with a singular one.
    {one} {takes.past} {several} [{thing.pl}|{thing}] {when}.
    {one} {takes.past} {every} [{thing}|{thing.pl}] {when}.
== morphology anaphor_agreement
reflexive_gender: A reflexive has the gender of its antecedent.
    {she} {self.past} [herself|himself] {self.rest}.
    {he} {self.past} [himself|herself] {self.rest}.
reflexive_number: A reflexive has the number of its antecedent.
    The {person.pl} {self.past} [themselves|himself] {self.rest}.
    The {person.pl} {self.past} [themselves|herself] {self.rest}.
    {he} {self.past} [himself|themselves] {self.rest}.
    {she} {self.past} [herself|themselves] {self.rest}.
reflexive_person: A reflexive has the person of its antecedent.
    I {self.past} [myself|himself] {self.rest} {when}.
    We {self.past} [ourselves|themselves] {self.rest} {when}.
    The {person.pl} {self.past} [themselves|ourselves] {self.rest}.
    {he} {self.past} [himself|yourself] {self.rest}.
== morphology irregular_forms
irregular_past: The past is not the participle.
    {one} [{irregular.past}|{irregular.part}] {when}.
    The {person} [{irregular.past}|{irregular.part}] {when}.
irregular_participle: The participle, not the past, follows 'have' and 'be' and describes a noun.
    {one} has [{irregular.part}|{irregular.past}].
    The {person.pl} have [{irregular.part}|{irregular.past}].
    {was_done} by {one}.
    {one} {sees.past} {worn} {when}.
== syntax argument_structure
object_needs_transitive_verb: An intransitive verb has no object.
    {one} [{takes.past}|{smiles.past}] the {thing} {when}.
    The {person.pl} [{takes.past}|{smiles.past}] the {thing.pl} {when}.
object_cannot_be_left_out: Some transitive verbs cannot do without an object.
    {one} [{smiles.past}|{strict.past}] {nearby} {ago}.
    The {person.pl} [{smiles.past}|{strict.past}] {nearby} {ago}.
causative: 'Drop', 'kill' say who causes something; 'fall', 'die' cannot.
    {one} {causes} {when}.
    The {person} {causes} {when}.
passive: Only transitive verbs have a passive.
    The {thing} was [{takes.part}|{smiles.part}] by {one}.
    The {thing.pl} were [{takes.part}|{smiles.part}] {when}.
verb_with_preposition: Some verbs have a preposition before their object, others must not have one.
    {one} {turns_to} {when}.
    The {person.pl} {turns_to} {when}.
two_objects: 'Tell' and 'give' can have two objects, 'say' and 'describe' cannot.
    {one} {tells_us} {when}.
    The {person.pl} {tells_us} {when}.
== syntax filler_gap_dependency
gap_needs_what: A clause without its object begins with 'what', not with 'that'.
    {we_know} [what|that] {one} {strict.past} {ago}.
    {we_know} [what|that] the {person} {strict.past} {ago}.
no_gap_needs_that: A clause that has its object begins with 'that', not with 'what'.
    {we_know} [that|what] {one} {carries.past} the {thing} {when}.
    {we_know} [that|what] the {person} {carries.past} the {thing.pl} {when}.
gap_far_away: The same where the object belongs to a clause inside that clause.
    {we_know} [what|that] {one} {claims.past} that the {person} {strict.past} {ago}.
    {we_know} [that|what] {one} {claims.past} that the {person} {carries.past} the {thing} {when}.
gap_stays_empty: The object that a question or relative clause is about is not named a second time.
    What did {one} {holds} [last week|the {thing}]?
    Which {thing.pl} did {one} {holds} [there|them]?
    The {thing} that {one} {holds.past} [yesterday|it] was {look}.
    The {thing.pl} that {one} {holds.past} [last week|the {thing2.pl}] were {look}.
where_or_which: 'Where', not 'which', follows a place in which something happens.
    This is the {place} [where|which] {one} {lives.past}.
    {we_find} the {place} [where|which] the {person} {lives.past}.
== syntax island_effects
adjunct_island: A question cannot ask for the object of a clause with 'before' or 'after'.
    [Which {thing} did {she} {strict} {before} she {leaves.past}|\
Which {thing} did {she} {leaves} {before} she {strict.past}]?
    [What did {he} {strict} {before} he {leaves.past}|What did {he} {leaves} {before} he {strict.past}]?
complex_noun_phrase_island: A question cannot ask for the object of a relative clause.
    Which {thing} did {one} {believes} [that the {person}|the {person} that] had {strict.part}?
    [Which {thing} did the {person} who {meets.past} the {person2} {strict}|\
Which {thing} did the {person2} {meets} the {person} who {strict.past}]?
wh_island: A question cannot ask for the object of a question inside it.
    What did {she} {says_she} had {strict.part} {ago}?
    Which {thing.pl} did {he} {says_he} had {strict.part} {ago}?
coordinate_island: A question cannot ask for one of two parts that 'and' joins.
    What did {one} {spots} [{near}|and] the {thing}?
    Which {thing} did {one} {strict} [{before}|and] the {person} {leaves.past}?
subject_island: A question cannot ask for a part of a subject.
    [Who did the {relative} of the {person} {meets}|Who did the {relative} of {meets} the {person}]?
    [Which {person} did the {relative} of {he_name} {meets}|Which {person} did the {relative} of {meets} {he_name}]?
left_branch_island: 'Which' and 'whose' are not separated from their noun.
    [Which {thing} did {one} {takes} {when}|Which did {one} {takes} {thing} {when}]?
    [Whose {thing} did {one} {takes} {when}|Whose did {one} {takes} {thing} {when}]?
== syntax ellipsis
noun_ellipsis: The noun can be left out after a number, not after a number and an adjective.
    {one} {gets.past} [two {sort} {thing.pl} and {one2} {gets.past} {number}|\
two {thing.pl} and {one2} {gets.past} {number} {sort}].
    The {person} {gets.past} [one {sort} {thing} and {one} {gets.past} {number}|\
one {thing} and {one} {gets.past} {number} {sort}].
verb_phrase_ellipsis: An auxiliary alone can replace what was said before, a transitive verb without its object cannot.
    {one} did not {strict} the {thing}, but {one2} [did|{strict.past}].
    {one} {strict.past} the {thing} before {one2} [did|{strict.past}].
ellipsis_auxiliary: What is left of the second clause has the auxiliary of the first.
    The {person} is {state}, and the {person2} [is|does] too.
    The {person} is {state}, and the {person2} [is|has] too.
    The {person} {habit.s}, and the {person2} [does|is] too.
    {one} has {feat.part}, and {one2} [has|is] too.
== semantics npi_licensing
ever_under_negation: 'Ever' needs a negation before it.
    [No|Some] {person} has ever {feat.part}.
    [Nobody|Somebody] {here} has ever {feat.part}.
    [None|Most] of the {person.pl} have ever {feat.part}.
any_under_negation: 'Any' and 'anything' need a negation before them.
    {one} has [not|just] {takes.part} any {thing.pl}.
    {one} did [not|really] {takes} any {thing.pl} {when}.
    [Nobody|Somebody] {takes.past} any {thing.pl} {when}.
    [Nobody|Everybody] {carries.past} anything {when}.
at_all_under_negation: 'At all' needs a negation before it.
    {one} did [not|really] {likes} the {show} at all.
    {one} {claims.past} that the {show} was [not|very] {quality} at all.
ever_after_only: 'Ever' may follow 'only'.
    {only} {one} has ever {feat.part}.
    {only} the {person.pl} have ever {feat.part}.
    {one} is the [only|other] {person} who has ever {feat.part}.
    {she_name} and {he_name} are the [only|other] {person.pl} who have ever {feat.part}.
ever_in_questions: 'Ever' may be in a question.
    [Has {one}|{one} has] ever {feat.part}?
    I [wonder whether|believe that] {one} has ever {feat.part}.
    We [wondered if|believed that] the {person} had ever {feat.part}.
ever_after_if: 'Ever' may be in a condition.
    [If|Because] {one} ever {comes}, {reply}.
    [If|Although] the {person} ever {comes}, {reply}.
== semantics quantifiers
superlative_under_negation: 'More than' and 'fewer than' can follow a negation, 'at most' cannot.
    No {person} {takes.past} [fewer than|at most] {number} {thing.pl}.
    {one} did not {takes} [more than|at most] {number} {thing.pl}.
    [Every|No] {person} {takes.past} at most {number} {thing.pl}.
there_with_quantifier: 'There is' introduces a, some, no things, not every, all, most, both things.
    There is [one|every] {thing} {spot}.
    There are [{some}|{all}] {thing.pl} {spot}.
    There were [{some}|{all}] {person.pl} {where}.
    {one} {claims.past} that [they|there] were both {where} {when}.
many_or_much: 'Many' and 'few' go with what is counted, 'much' and 'little' with what is not.
    There were too [many|much] {thing.pl} {spot}.
    There was too [much|many] {stuff} {larder}.
    {one} {gets.past} only a [few|little] {thing.pl} {when}.
    There was only a [little|few] {stuff} {larder}.
== syntax_semantics control_raising
there_as_subject: 'There' can be the subject of 'seem', not of 'try'.
    There {seemed} to be a {thing} {spot}.
    There {seemed} to be some {thing.pl} {spot}.
there_as_object: 'There' can be the object of 'expect', not of 'persuade'.
    {one} {wanted} there to be a {thing} {spot}.
    {one} {wanted} there to be some {thing.pl} {spot}.
it_as_subject: 'It' can announce a clause with 'seem', not with 'try'.
    It {seems_that} that {one} {habit.s}.
    It {seems_that} that the {person.pl} {habit}.
easy_or_likely: After 'easy' the infinitive has no object of its own, after 'likely' it does what its subject does.
    The {person} is {likely} to {feat}.
    The {thing} was {hard} to {hard_to}.
== syntax_semantics binding
reflexive_and_possessor: A reflexive means the whole subject, not a noun inside it.
    The {she_relative} of the {boy} {self.past} [herself|himself] {self.rest}.
    The {he_relative} of the {girl} {self.past} [himself|herself] {self.rest}.
    {he_name}'s {she_relative} {self.past} [herself|himself] {self.rest}.
    {she_name}'s {he_relative} {self.past} [himself|herself] {self.rest}.
reflexive_after_relative_clause: A reflexive does not mean a noun in a relative clause of the subject.
    The {girl} who {meets.past} {he} {self.past} [herself|himself] {self.rest}.
    The {boy} who {meets.past} {she} {self.past} [himself|herself] {self.rest}.
reflexive_in_its_clause: A reflexive means a noun of its own clause.
    {she} {says.past} that {he} {self.past} [himself|herself] {self.rest}.
    {he} {says.past} that {she} {self.past} [herself|himself] {self.rest}.
reflexive_or_pronoun: A reflexive is not a subject, 'she' and 'he' are not objects.
    {she} {claims.past} that [she|herself] {habit.past}.
    {he} {claims.past} that [he|himself] {habit.past}.
    {she} {self.past} [herself|she] {self.rest}.
    {he} {self.past} [himself|he] {self.rest}.
each_other: 'Each other' needs more than one.
    The [{person.pl}|{person}] {greets.past} each other {when}.
    [We|I] {greets.past} each other {nearby} {ago}.
    [They|{she_name}] {greets.past} each other {when}.
    [They|{he_name}] {greets.past} each other {when}.
"""


@dataclass(frozen=True)
class Paradigm:
    """A rule of grammar and its templates. field, term: the larger groups that it belongs to."""

    name: str
    term: str
    field: str
    rule: str
    templates: list[str] = field_of(default_factory=list)


def read_table(table: str) -> list[Paradigm]:
    """The paradigms of a table."""
    paradigms, field, term = [], "", ""
    for line in filter(str.strip, table.splitlines()):
        if line.startswith("=="):
            _, field, term = line.split()
        elif line.startswith(" "):
            paradigms[-1].templates.append(line.strip())
        else:
            name, _, rule = line.partition(": ")
            paradigms.append(Paradigm(name, term, field, rule))
    return paradigms


PARADIGMS = read_table(TABLE)


def pairs_of(paradigm: Paradigm, each: int, seed: int) -> list[tuple[str, str]]:
    """`each` different pairs of a paradigm, (good, bad), from its templates in turn.

    Raises ValueError if a template has not enough different pairs.
    """
    rng, pairs = random.Random(f"{seed} {paradigm.name}"), {}
    for number in range(each):
        template = paradigm.templates[number % len(paradigm.templates)]
        for _ in range(TRIES):
            pair = fill(template, rng)
            if pair not in pairs:
                pairs[pair] = None
                break
        else:
            raise ValueError(f"{template!r} has not enough pairs; ask for fewer than {each} with --each")
    return list(pairs)


def fill(template: str, rng: random.Random) -> tuple[str, str]:
    """A template with random words: the correct sentence and the incorrect one. No word is in two slots."""
    chosen = {}

    def words(match: re.Match) -> str:
        name, number, form = match.groups()
        if name + number not in chosen:
            left = [member for member in CLASSES[name] if member not in chosen.values()]
            chosen[name + number] = rng.choice(left)
        return form_of(chosen[name + number], form)

    text = SLOT.sub(words, template)
    return sentence(CHOICE.sub(r"\1", text)), sentence(CHOICE.sub(r"\2", text))


def sentence(text: str) -> str:
    """A text with a capital letter, and without a space too many.

    Example:
        >>> sentence("a dog  barks .")
        'A dog barks.'
    """
    text = re.sub(r"\s+(?=[.,?]|\s)", "", text.strip())
    return text[0].upper() + text[1:]


def records(each: int, seed: int) -> list[dict]:
    """The lines of a file in BLiMP's format: `each` pairs of each paradigm."""
    return [
        {
            "sentence_good": good,
            "sentence_bad": bad,
            "field": paradigm.field,
            "linguistics_term": paradigm.term,
            "UID": paradigm.name,
            "pair_id": number,
        }
        for paradigm in PARADIGMS
        for number, (good, bad) in enumerate(pairs_of(paradigm, each, seed))
    ]


def write_pairs(file: Path, each: int, seed: int) -> int:
    """Writes the records, one per line, and returns their number."""
    rows = records(each, seed)
    write_text(file, "".join(json.dumps(row) + "\n" for row in rows))
    return len(rows)


def main(arguments: list[str] | None = None) -> None:
    """Writes the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="the .jsonl file to write")
    parser.add_argument("--each", type=int, default=50, help="pairs of each paradigm")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    try:
        count = write_pairs(options.out, options.each, options.seed)
    except ValueError as error:
        parser.error(str(error))
    print(f"{options.out}: {count} pairs of {len(PARADIGMS)} paradigms")


if __name__ == "__main__":
    main()
