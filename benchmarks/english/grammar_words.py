"""The words of `benchmarks.english.grammar_pairs`, by class, and their forms.

Every member of a class makes sense where another one does: each verb of `takes` goes with each noun of `thing`. Verbs
come with what follows them ("live in a small village"), and their first word is inflected; "_" is the place of an
object, and the form `rest` is what follows it. A member may have a choice of its own, "[good|bad]". Written for this
purpose, not taken from a collection.
"""

IRREGULAR_VERBS = {
    verb: (past, participle)
    for verb, past, participle in map(
        str.split,
        """begin began begun; break broke broken; bring brought brought; buy bought bought;
        catch caught caught; choose chose chosen; come came come; cut cut cut; do did done; draw drew drawn;
        drink drank drunk; drive drove driven; eat ate eaten; fall fell fallen; feed fed fed; find found found;
        fly flew flown; forget forgot forgotten; freeze froze frozen; give gave given; go went gone; grow grew grown;
        have had had; hear heard heard; hide hid hidden; hold held held; hurt hurt hurt; know knew known;
        leave left left; lose lost lost; make made made; meet met met; put put put; ride rode ridden; ring rang rung;
        run ran run; say said said; see saw seen; sell sold sold; shake shook shaken; sing sang sung;
        sleep slept slept; speak spoke spoken; steal stole stolen; swim swam swum; take took taken;
        teach taught taught; tear tore torn; think thought thought; throw threw thrown;
        wake woke woken; wear wore worn; win won won; write wrote written""".split(";"),
    )
}
IRREGULAR_PLURALS = {
    **{man: man[:-2] + "en" for man in ("man", "woman", "policeman", "fisherman", "businessman")},
    **{"child": "children", "grandchild": "grandchildren", "mouse": "mice", "goose": "geese", "tooth": "teeth"},
    **{"knife": "knives", "leaf": "leaves", "shelf": "shelves", "loaf": "loaves", "wolf": "wolves"},
    **{"calf": "calves", "thief": "thieves"},
    **{"radio": "radios", "photo": "photos"},
}
DOUBLED = ("travel",)  # the last letter is doubled before an ending

_CLASSES = {
    # === People, animals ===
    "person": """teacher, doctor, driver, farmer, writer, student, neighbour, nurse, painter, lawyer, singer, guest,
        visitor, boss, artist, player, worker, manager, officer, soldier, customer, actor, scientist, engineer,
        reporter""",
    "odd_person": "child, man, woman, policeman, fisherman, grandchild, thief, businessman",
    "relative": "friend, sister, brother, son, daughter, uncle, aunt, cousin",
    "animal": "dog, cat, horse, bird, cow, duck, rabbit, goat, pig, donkey",
    "odd_animal": "mouse, goose, calf",
    "she_name": "Mary, Anna, Sarah, Alice, Emma, Helen, Julia, Kate, Jane, Susan",
    "he_name": "Peter, David, John, Tom, Paul, Robert, George, Henry, Jack, Michael",
    "she_relative": "sister, mother, daughter, wife, aunt, grandmother",
    "he_relative": "brother, father, son, uncle, husband, nephew",
    "girl": "woman, queen, princess, actress, waitress, old lady",
    "boy": "man, king, prince, waiter, businessman, policeman, old man",
    # === Things, places ===
    "thing": """clock, lamp, camera, radio, bag, box, chair, bottle, book, map, picture, ring, key, ball, cup, coat,
        hat, letter, computer, phone, guitar, shirt, photo""",
    "odd_thing": "knife, leaf, shelf, loaf, mouse, goose, wolf, tooth, calf",
    "larder": "in the kitchen, on the table, in the bag, in the house, in the box, in the car",
    "stuff": "water, milk, bread, sugar, rice, salt, oil, money, furniture, paper, food, meat",
    "place": "house, village, town, hotel, street, office, school, restaurant, library, hospital, city, factory",
    "show": "film, book, concert, lesson, party, game, joke, speech, song, story",
    "property": "price, colour, size, shape, quality, value, weight, age",
    "spot": "on the table, in the kitchen, in the car, under the bed, in the hall, behind the door, in the garden",
    "where": "in the garden, at the station, in the kitchen, at the door, in the hall, at the office, at the hotel",
    "when": "yesterday, last week, last night, this morning, last year, last Monday, two days ago",
    "nearby": "near the station, outside the house, behind the hotel, beside the river, next to the school",
    # No noun phrase: "she described last night" could have an object.
    "ago": "two days ago, a week ago, a month ago, before dinner, after lunch, before the party, after the game",
    "here": "here, in our town, in my class, in this office, in this house",
    # === Numbers, short words ===
    "number": "three, four, five, ten",
    "several": "two, three, four, ten, many, several, a few, both",
    "every": "every, another, one",
    "some": "some, several, many, three, no, four",
    "all": "all, most, both",
    "near": "near, behind, beside",
    "before": "before, after",
    # === Adjectives ===
    "state": "tired, happy, late, ill, hungry, angry, ready, busy, famous, rich, nervous, sad, poor, afraid of dogs",
    "look": "new, old, dirty, heavy, expensive, cheap, beautiful, ugly, small, big",
    "sort": "small, old, new, big, red, black, green, beautiful, heavy, ugly",
    "judged": "important, surprising, interesting, unusual, unknown",
    "quality": "interesting, funny, good, long, boring, exciting",
    # === Verbs that a subject needs nothing else for. In `habit` and `roam` the base is never the past ===
    "habit": """live in a small village, work in the city, play the piano, speak three languages, drink tea in the
        morning, walk to work, sing in a choir, sell old furniture, write short stories, collect old coins, drive a
        small car, play classical music, wear a black hat, cook on Sundays, swim in the lake, travel by train, stay at
        home, listen to the radio, grow vegetables, feed the birds, sleep until noon, watch old films""",
    "roam": """sleep in the barn, run across the field, eat from the bucket, drink from the river, wait at the gate,
        play in the garden, rest under the tree""",
    "often": "every day, every night, in summer, in winter",
    "feat": """visit the museum, climb the mountain, ride a horse, drive a truck, win a prize, swim in the lake, live
        alone, sleep in a tent, play the piano, catch a fish, write a song, break a bone, cook for ten people, sing on
        a stage, steal a car, speak to the president, lose a key, fly to Paris""",
    "smiles": "smile, laugh, arrive, sleep, wait, listen, talk, cough, cry, sneeze",
    "leaves": """leave the house, go home, wash the dishes, cook dinner, go to bed, have lunch, open the door, come
        home, see the news, close the window""",
    "lives": """live, work, sleep, wait for us, grow up, have lunch, meet a friend, lose the key, fall ill, play the
        piano""",
    # === Verbs with an object. `strict`: it cannot be left out. `carries`, `holds`: no second object can follow it ===
    "strict": "find, bring, take, touch, mention, describe, recognise, need",
    "carries": "carry, touch, move, clean, use, hold, lose, hide, need, lift",
    "holds": "carry, touch, mention, describe, need, use, lift, lose, forget, receive, see, notice",
    "hard_to": "find, carry, describe, replace, recognise",
    "takes": "find, bring, carry, take, touch, need, use, want, sell, clean, move, hide, lose, borrow, like",
    "gets": "buy, sell, bring, carry, receive, steal, lose, take, borrow",
    "spots": "find, see, notice, touch, leave, hide, put",
    "sees": "see, notice, find, like, remember, describe, mention",
    "likes": "like, enjoy, remember",
    "meets": "like, love, meet, visit, thank, follow, invite, admire, call",
    "greets": "meet, visit, thank, follow, invite, help, call, blame",
    "self": """see _ in the mirror, hurt _ on the stairs, introduce _ to the family, blame _ for the mistake, teach _
        to swim, cut _ with a knife, make _ a cup of tea, buy _ a new coat, ask _ the same question, describe _ in a
        letter, lock _ in the bathroom, wash _ in the river, prepare _ for the test""",
    "says": "say, think, believe, know, hear",
    "claims": "say, think, believe, claim",
    "irregular": """write a long letter, eat the whole cake, drink the milk, break the window, take the bus, drive to
        the coast, speak to the judge, steal the money, forget the keys, choose the red shirt, wear a black hat, give
        the book to the family, see the new film, do the washing, go to the market, begin the lesson, sing a song,
        ring the bell, know the answer, throw the ball, draw a map, fly to Paris, ride the horse, hide the money, fall
        from the ladder, shake the bottle, wake the baby, freeze the meat, tear the paper""",
    # === Clauses and parts of them ===
    "we_find": "we found, I remember, we visited, nobody knows, they showed us, my friends like",
    "we_know": "I know, we remember, they forgot, the police discovered, everybody knows, I have heard, nobody knew",
    "comes": """comes back, calls us, leaves the town, needs help, finds the money, loses the key, visits our town,
        wins a prize, falls ill, tells the truth""",
    "reply": """I will be happy, we will have a party, the family will be surprised, you will hear about it,
        everything will change, I will tell you, the children will laugh""",
    # === Choices: good|bad ===
    "was_done": """the letter was [written|wrote], the cake was [eaten|ate], the window was [broken|broke], the money
        was [stolen|stole], the horse was [ridden|rode], the song was [sung|sang], the car was [driven|drove], the
        picture was [drawn|drew], the milk was [drunk|drank], the keys were [taken|took], the bell was [rung|rang],
        the shirt was [chosen|chose], the ball was [thrown|threw], the paper was [torn|tore], the bags were
        [hidden|hid], the speech was [given|gave], the ladder was [shaken|shook], the village was [forgotten|forgot]""",
    "worn": """the [broken|broke] window, the [stolen|stole] car, the [frozen|froze] lake, the [torn|tore] shirt, the
        [hidden|hid] door, the [forgotten|forgot] village, the [fallen|fell] tree, the [written|wrote] answer, the
        [chosen|chose] colour""",
    "causes": """[woke|slept] the baby, [dropped|fell] the cups, [stopped|waited] the car, [melted|fell] the butter,
        [killed|died] the insects, [raised|rose] the flag, [brought|came] the children to the house, [kept|stayed] the
        dog in the house, [showed|appeared] the map to the children, [hid|remained] the money, [sent|went] the
        children to school, [caused|happened] an accident, [amused|laughed] the children, [lost|went] the keys,
        [destroyed|happened] the letters, [grew|existed] the vegetables""",
    "turns_to": """[looked|saw] at the clock, [listened|heard] to the radio, [waited|expected] for the bus,
        [spoke|told] to the judge, [laughed|enjoyed] at the joke, [pointed|showed] at the map, [smiled|thanked] at the
        baby, [thought|considered] about the problem, [stared|noticed] at the sea, [relied|trusted] on the map,
        [looked|lost] for the keys, [agreed|accepted] with the idea, [talked|visited] to the family,
        [searched|noticed] for the letter""",
    "tells_us": """[told|said] us the truth, [told|said] me the news, [gave|said] him the answer, [showed|described]
        us the house, [gave|described] me the plan, [showed|explained] her the way, [told|explained] them the rules,
        [sent|announced] us the results, [told|announced] them the date, [told|mentioned] her the price,
        [sent|received] us a letter, [offered|suggested] us a better plan, [promised|demanded] me an answer,
        [asked|said] her a question, [wished|hoped] us good luck""",
    "only": "[Only|Perhaps], [Only|Surely], [Only|Certainly], [Only|Recently]",
    "believes": "believe, know, hear",
    "says_she": "[say she|ask who], [think she|wonder who], [believe she|know who], [claim she|forget who]",
    "says_he": "[say he|ask who], [think he|wonder who], [believe he|know who], [claim he|forget who]",
    "seemed": """[seemed|tried], [appeared|hoped], [happened|decided], [used|agreed], [seemed|offered],
        [appeared|refused], [happened|planned], [seemed|learned], [appeared|tried]""",
    "wanted": """[wanted|persuaded], [expected|advised], [believed|reminded], [expected|told], [wanted|invited],
        [believed|convinced], [expected|begged], [wanted|warned]""",
    "seems_that": """[seems|tries], [appears|starts], [seemed|managed], [appeared|refused], [seems|needs],
        [seems|begins], [is likely|is quick], [is clear|is able], [is possible|is ready], [is true|is busy], [is
        certain|is tired]""",
    "likely": "[likely|easy], [certain|difficult], [able|hard], [likely|simple], [ready|difficult], [willing|easy]",
    "hard": "[hard|likely], [easy|able], [difficult|certain], [hard|eager], [easy|willing], [difficult|likely]",
}
CLASSES = {name: [" ".join(member.split()) for member in words.split(",")] for name, words in _CLASSES.items()}
CLASSES["she"] = [*CLASSES["she_name"], "my sister", "my mother", "my aunt", "the girl", "the queen", "my daughter"]
CLASSES["he"] = [*CLASSES["he_name"], "my brother", "my father", "my uncle", "the boy", "the king", "my son"]
CLASSES["one"] = [*CLASSES["she"], *CLASSES["he"]]  # somebody


def form_of(member: str, form: str | None) -> str:
    """A member of a class in a form: pl of nouns; s, past, part of verbs; rest, what follows the object's place.

    Example:
        >>> form_of("cut _ with a knife", "past"), form_of("cut _ with a knife", "rest"), form_of("box", "pl")
        ('cut', 'with a knife', 'boxes')
    """
    head, _, rest = member.partition("_")
    if form == "rest":
        return rest.strip()
    word, *others = head.split()
    if form is not None:
        word = FORMS[form](word)
    return " ".join([word, *others])


def plural(noun: str) -> str:
    """The plural of a noun."""
    return IRREGULAR_PLURALS.get(noun) or with_s(noun)


def with_s(word: str) -> str:
    """A word with the ending s: the third person of a verb, or a regular plural."""
    if word == "have":
        return "has"
    if word.endswith("y") and word[-2] not in "aeiou":
        return word[:-1] + "ies"
    return word + ("es" if word.endswith(("s", "sh", "ch", "x", "z", "o")) else "s")


def with_ed(verb: str) -> str:
    """A regular verb's past."""
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb[:-1] + "ied"
    return (verb + verb[-1] * (verb in DOUBLED)).removesuffix("e") + "ed"


def past(verb: str) -> str:
    """The past of a verb."""
    return IRREGULAR_VERBS[verb][0] if verb in IRREGULAR_VERBS else with_ed(verb)


def participle(verb: str) -> str:
    """The past participle of a verb."""
    return IRREGULAR_VERBS[verb][1] if verb in IRREGULAR_VERBS else with_ed(verb)


FORMS = {"pl": plural, "s": with_s, "past": past, "part": participle}
