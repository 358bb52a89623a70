"""The time line of docs/before_bert.md: `python -m scripts.docs_history` writes docs/pictures/before_bert.svg.

Years up to 2010 are narrow and later ones wide, because most of what BERT uses is from the five years before it.
"""

from pathlib import Path
from xml.sax.saxutils import escape

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "pictures" / "before_bert.svg"
WIDTH, HEIGHT, AXIS, LINE_HEIGHT = 1220, 420, 210, 30
FONT = 'font-family="sans-serif" font-size="15"'

# (year, text, level): above the line if positive, below it if negative. Texts begin at their stem, so a later one that
# is above an earlier one's text would cross it: levels fall from left to right within a group.
EVENTS = [
    (1953, "1953 cloze test", 4),
    (1957, "1957 words known by their company", -3),
    (1986, "1986 back-propagation", 3),
    (1990, "1990 recurrent networks", -2),
    (1997, "1997 LSTM, multi-task learning", 2),
    (2003, "2003 neural language model", -1),
    (2012, "2012 WordPiece", 1),
    (2013, "2013 word2vec", -2),
    (2014.7, "2014 attention for translation", 6),
    (2015.9, "2015 pre-trained language model (Dai & Le)", -6),
    (2016.5, "2016 LayerNorm, GELU", 5),
    (2017.45, "2017 Transformer", -5),
    (2018.1, "2018 ELMo, ULMFiT", 4),
    (2018.45, "2018 GPT", 3),
    (2018.78, "October 2018 BERT", -4),
    (2019.5, "2019 XLNet, RoBERTa", 2),
    (2019.75, "2019 ALBERT, DistilBERT", -3),
    (2019.94, "2019 Google Search", -2),
    (2020.4, "2020 GPT-3", 1),
]


def across(year: float) -> float:
    """The horizontal position of a year."""
    return 30 + 5.2 * (year - 1953) if year < 2010 else 326 + 70 * (year - 2010)


def svg() -> str:
    """The picture."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" {FONT}>',
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        f'<path d="M20 {AXIS} H{across(2020.9):.0f}" stroke="#444444" stroke-width="3"/>',
    ]
    for year, text, level in EVENTS:
        x, y = across(year), AXIS - LINE_HEIGHT * level - (8 if level > 0 else -8)
        ours = "BERT" in text.split()
        colour, weight = ("#b00020", "bold") if ours else ("#1a1a1a", "normal")
        parts += [
            f'<path d="M{x:.0f} {AXIS} V{y:.0f}" stroke="#9a9a9a"/>',
            f'<circle cx="{x:.0f}" cy="{AXIS}" r="5" fill="{colour}"/>',
            f'<text x="{x + 5:.0f}" y="{y + 5:.0f}" fill="{colour}" font-weight="{weight}">{escape(text)}</text>',
        ]
    return "\n".join([*parts, "</svg>", ""])


def main() -> None:
    """Writes the picture."""
    PICTURE.write_text(svg(), encoding="utf-8")
    print(f"{PICTURE}: {PICTURE.stat().st_size} bytes")


if __name__ == "__main__":
    main()
