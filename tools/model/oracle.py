"""Writes the tokens and vectors that the makers' own Python runtime has for texts of all sorts.

    python oracle.py MODEL OUT.jsonl

MODEL is the folder of the model as it was published. Each line of OUT is an object of a text: kind, text, tokens (up to
max_seq_length, with those of the ends) and vector. The texts are the same each time. What a text spells never becomes
a special token here, as in emberd: split_special_tokens, which sentence-transformers leaves off.
"""

import json
import random
import sys

WORDS = {
    "words": """the a of in memory note search vault broker port release policy van insurance harbour dawn ship tea green
        meeting moved Tuesday Friday engine model vector token daemon restart crash cursor cache queue deploy staging rollback
        unbelievable misconfiguration electroencephalography reindexing Kubernetes PostgreSQL RabbitMQ xylophone zeitgeist
        I you we they didn't can't it's Anna's co-operate e-mail""".split(),
    "accents": """Zürich ÉCOLE naïve café résumé façade Ångström Łódź zażółć gęślą jaźń İstanbul ısı straße STRASSE ﬁle œuvre
        Ærø ñandú cafe\u0301 e\u0301te\u0301 A\u030Angstro\u0308m o\u0328\u0304 ǖ ṩ Việt Nguyễn Dvořák ẞ ſ Ǆ ΑΣ Όμηρος ἀρχή ёлка Йод""".split(),
    "scripts": """記憶 猫 港口黎明 日本語 カタカナ ひらがな ﾃｽﾄ Ａｂｃ 메모 한국어 각하 память ключ ذاكرة مُحَمَّد स्मृति हिन्दी বাংলা தமிழ் ไทย
        ภาษาไทย שָׁלוֹם ქართული հայերեն አማርኛ ខ្មែរ မြန်မာ བོད་ ᚠᚢᚦ 𠀀 𪜀 𫠝 𫤠 𝔘𝔫𝔦 𐍈 豈 﨎""".split(),
    "emoji": "🦊 👩‍👩‍👧 ❤️ ❤ 🇪🇺 👍🏽 🙂🙃 → … — – € ½ ² № ™ © ° × ÷ ≤ ∑ √ ♫ ☃ ✓ 1️⃣ 🫠 🪿 „“ ‚‘ «» ‹› § ¶ † ‡ ¿ ¡".split(),
    "odd": ["\u200b", "\u00a0", "\ufeff", "\u0000", "\u007f", "\u0085", "\u000b", "\u000c", "\u001c", "\u001f", "\u2028", "\u2029",
            "\u3000", "\u180e", "\u2060", "\u202e", "\u00ad", "\u0301", "\u0903", "\u20dd", "\ufe0f", "\ue000", "\ufffd", "\ufffe",
            "\u0378", "\U000e0041", "\U0010ffff", "\u2581", "a\u2581b", "\u2581note", "##ing", "▁▁", "no\u00adte", "a\u034fb",
            "[CLS]", "[SEP]", "[UNK]", "[MASK]", "[PAD]", "<s>", "x" * 99, "x" * 100, "x" * 101, "é" * 100, "e\u0301" * 101,
            "ค" * 120, "한" * 34, "カ" * 101],
    "code": ["func main() {", "}", "return nil, fmt.Errorf(\"open %s: %w\", name, err)", "a[i]++", "x := 0x1F", "// TODO", "SELECT * FROM notes;",
             "std::vector<int>", "foo_bar", "fooBar", "FooBarBaz2", "$HOME/.config", "C:\\Users\\ada", "https://example.org/a?b=c#d",
             "user@example.org", "sha256:53aa51172d142c89", "192.168.0.1:5432", "3.14", "2026-11-21T10:00:00Z", "v1.2.3-rc.1", "--dry-run",
             "{\"key\": [1, 2.5e-3, null]}", "<div class=\"x\">", "`code`", "**bold**", "[[link|alias]]", "#tag/sub", "- [ ] task", "| a | b |",
             "&amp;", "git rebase -i HEAD~3", "λx.x", "∀x∃y"],
}
SPACES = [" ", " ", " ", " ", "  ", "\n", ", ", "", "\t", ". ", "\n\n", "; "]


def sentence(draw, kinds, words):
    text = ""
    for _ in range(words):
        kind = WORDS[kinds[draw.randrange(len(kinds))]]
        text += kind[draw.randrange(len(kind))] + SPACES[draw.randrange(len(SPACES))]
    return text


def texts(count):
    """Yields (kind, text): fixed ones, then short, long and mixed ones in turns."""
    draw = random.Random(42)
    yield from (("fixed", t) for t in ("", " ", "\n\t\n", "a", "memory " * 3000, "[CLS] [SEP]"))
    every = list(WORDS)
    plans = [("short", ["words"], 1, 12), ("sentences", ["words"], 12, 40), ("accents", ["words", "accents"], 3, 30),
             ("scripts", ["words", "scripts"], 2, 30), ("scripts", ["scripts"], 1, 20), ("emoji", ["words", "emoji"], 2, 30),
             ("odd", ["words", "odd"], 2, 30), ("code", ["words", "code"], 2, 40), ("mixed", every, 5, 60),
             ("long", ["words", "code", "accents"], 150, 600)]
    for n in range(6, count):
        if n % 100 == 7:  # 10,000 characters
            yield "10,000", sentence(draw, every if n % 200 == 7 else ["words"], 4000)[:10000]
            continue
        kind, kinds, least, most = plans[n % len(plans)]
        yield kind, sentence(draw, kinds, least + draw.randrange(most - least + 1))


def main(model, out, count):
    import sentence_transformers
    import tokenizers
    import torch
    import transformers

    torch.set_num_threads(1)
    runtime = sentence_transformers.SentenceTransformer(model, device="cpu")
    runtime.tokenizer.split_special_tokens = True
    kinds, given = zip(*texts(count))
    vectors = runtime.encode(list(given), batch_size=8, normalize_embeddings=True)
    with open(out, "w", encoding="utf-8") as to:
        for kind, text, vector in zip(kinds, given, vectors):
            tokens = runtime.tokenizer(text, truncation=True, max_length=runtime.max_seq_length)["input_ids"]
            json.dump({"kind": kind, "text": text, "tokens": tokens, "vector": [float(v) for v in vector]}, to)
            to.write("\n")
    print(f"sentence-transformers {sentence_transformers.__version__}, transformers {transformers.__version__}, "
          f"tokenizers {tokenizers.__version__}, torch {torch.__version__}: {count} texts of up to {runtime.max_seq_length} tokens")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 1000)
