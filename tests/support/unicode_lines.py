"""Lines of text that a tokenizer has to get right: many scripts, and what is none."""

import random
import sys

SENTENCES = [
    "The quick brown fox jumps over the lazy dog, doesn't it?", "Don't panic: 42 is 6*7 (or is it?) - see §3.1, p. 17.",
    "L'été dernier, à Paris, j'ai mangé des crêpes très sucrées.", "Äpfel, Öl und Übermut — Straße & GROẞE Füße",
    "El niño pidió ¿cuánto cuesta? ¡Qué caro!", "Zażółć gęślą jaźń, źdźbło", "Příliš žluťoučký kůň úpěl ďábelské ódy",
    "Pijamalı hasta yağız şoföre çabucak güvendi. İSTANBUL ılık", "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία ΟΔΟΣ Σ",
    "Съешь же ещё этих мягких французских булок, да выпей чаю. Й ё Ё", "Щастям б'єш жук їх глицю в фон", "האם אתה יכול? שָׁלוֹם עֲלֵיכֶם",
    "مرحبا بالعالم، كيف حالك؟ السَّلَامُ عَلَيْكُمْ", "یک متن فارسی با نیم‌فاصله و عدد ۱۲۳", "नमस्ते दुनिया, क्या हाल है? क़िला ज़रा",
    "আমি বাংলায় গান গাই। ড় ঢ় য়", "தமிழ் எழுத்துகள் அழகு", "తెలుగు అక్షరాలు", "ಕನ್ನಡ ಲಿಪಿ", "മലയാളം അക്ഷരം", "ภาษาไทยไม่มีช่องว่าง น้ำ",
    "ພາສາລາວ ນ້ຳ", "မြန်မာဘာသာ", "ភាសាខ្មែរ", "བོད་སྐད་ཡིག", "ქართული ენა ᲥᲐᲠᲗᲣᲚᲘ", "Հայերեն լեզու ԵՒ և", "አማርኛ ቋንቋ።", "ᏣᎳᎩ ꮳꮃꭹ",
    "你好，世界！今天天气怎么样？「漢字」", "日本語のテキスト、カタカナとｶﾀｶﾅ。ガギグ", "안녕하세요 세계, 한국어 텍스트", "Tiếng Việt có nhiều dấu: ộ ễ ữ Ậ",
    "ᠮᠣᠩᠭᠣᠯ ᠪᠢᠴᠢᠭ᠌", "𐐐𐐯𐑊𐐬 𝓗𝓮𝓵𝓵𝓸 𝔸𝔹ℂ ＡＢＣ ① Ⅳ ⅳ ﬁ ﬀ ½ ²", "x ∈ ℝ, ∀ε>0 ∃δ: |f(x)−L|<ε ≠ ≰ ⊄", "€5 £6 ¥7 ₹8 $9 ₿", "👍🏽 👩‍👩‍👧‍👦 🇩🇪 ❤️ 🤗☃ 1️⃣",
    "https://example.org/a_b?c=d&e=%20#f user@example.org C:\\path\\to", "def f(x): return x**2  # square\n\tprint(f(3))",
    "{\"key\": [1, 2.5e-3, null]}", "E=mc^2 ~ `code` <b>bold</b> «quoted» “double” ‘single’ … – —",
]
SPECIAL = ["[SEP]", "[CLS]", "[MASK]", "[PAD]", "[UNK]", "[sep]", "[ SEP ]", "[SEP", "SEP]", "[[MASK]]", "##ing", "##", "[unused7]"]
INVISIBLE = "\u200b\u200c\u200d\u2060\u2061\ufeff\u00ad\u180e\u061c\u200e\u202a\u202e\u2066\ufff9\U000e0001\U000e0041\u115f\u3164\u034f\ufe0f\ufffd\ufffc"
BLANKS = " \t\n\r\v\f\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2000\u2007\u200a\u2028\u2029\u202f\u205f\u3000"
MARKS = [*range(0x300, 0x370), *range(0x483, 0x48A), *range(0x591, 0x5C8), *range(0x610, 0x61B), *range(0x64B, 0x660), *range(0x8D3, 0x900),
         *range(0x1AB0, 0x1ACF), *range(0x1DC0, 0x1E00), *range(0x20D0, 0x20F1), 0x302E, 0x302F, 0x1E000, 0x3099, 0x309A, *range(0xFE20, 0xFE30), 0x1D165, 0x1D16D]


def character(draw: random.Random) -> str:
    """Any but a surrogate: mostly of the planes that are in use, at times what nobody has assigned."""
    while True:
        code = draw.choice((draw.randrange(0x80), draw.randrange(0x250), draw.randrange(0x3000), draw.randrange(0x10000),
                            draw.randrange(0x1E000, 0x20000), draw.randrange(0x10000, 0x20000), draw.randrange(0x110000)))
        if not 0xD800 <= code < 0xE000:
            return chr(code)


def put_in(draw: random.Random, text: str, parts) -> str:
    for _ in range(draw.randint(1, 6)):
        at = draw.randint(0, len(text))
        text = text[:at] + draw.choice(parts) + text[at:]
    return text


def unicode_lines(count: int, vocabulary: list[str], seed: int = 7) -> list[str]:
    """`count` lines; those of `vocabulary` are glued together in some."""
    draw = random.Random(seed)
    control = [chr(c) for c in range(32)] + ["\x7f", "\x80", "\x9f"]
    marks = [chr(c) for c in MARKS]
    pieces = [piece.removeprefix("##") for piece in vocabulary]

    def sentence() -> str:
        return draw.choice(SENTENCES)

    kinds = [
        sentence,
        lambda: "".join(character(draw) for _ in range(draw.randint(0, 60))),
        lambda: " ".join(character(draw) + draw.choice(pieces) for _ in range(20)),
        lambda: put_in(draw, sentence(), control),
        lambda: put_in(draw, sentence(), INVISIBLE),
        lambda: put_in(draw, sentence(), BLANKS),
        lambda: put_in(draw, sentence(), marks),
        lambda: put_in(draw, sentence(), SPECIAL),
        lambda: put_in(draw, sentence(), [chr(0xE000), chr(0xF8FF), chr(0xF0000), chr(0x10FFFF), chr(0x378), chr(0x2FE0), chr(0xFFFE), chr(0x1FFFF)]),
        lambda: sentence() + " " + "".join(draw.choice(control) for _ in range(draw.randint(1, 3))),
        lambda: sentence() + " " + "".join(chr(draw.randint(32, 500)) for _ in range(draw.randint(1, 3))),
        lambda: "".join(draw.choice(pieces) for _ in range(draw.randint(1, 12))),
        lambda: "".join(draw.choice(marks + list("aeiouAEIOUçÇßﬁ가ガ")) for _ in range(30)),
        lambda: draw.choice("aé世가x\u0301") * draw.randint(95, 105) + draw.choice(("", " ", ".", "\u0301")) + draw.choice(pieces),
        lambda: sentence().swapcase() + sentence().title() + "".join(draw.choices(sentence(), k=10)),
        lambda: " ".join(sentence() for _ in range(draw.randint(5, 20))),
    ]
    return [draw.choice(kinds)() for _ in range(count)]


def all_characters(every: int = 32) -> list[str]:
    """Lines that have every character between two letters, and alone; of the planes that are empty or private, some."""
    used = [*range(0xD800), *range(0xE000, 0x34000), *range(0xE0000, 0xE1000), *range(0x34000, sys.maxunicode + 1, 257)]
    characters = [chr(c) for c in used]
    return [" ".join(f"a{c}b {c}" for c in characters[i : i + every]) for i in range(0, len(characters), every)]
