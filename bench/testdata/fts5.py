"""SQLite's full-text search over a vault, for comparison.

    fts5.py build DATABASE VAULT   indexes every note in one transaction and
                                   tells how large the index is without texts
    fts5.py ask DATABASE           answers questions, a JSON object on a line
                                   each, with its nanoseconds and its hits
"""

import json
import os
import sqlite3
import sys
import time

ANSWER = "SELECT path, snippet(notes, 1, '', '', '…', 32) FROM notes WHERE notes MATCH ? %s ORDER BY rank LIMIT 10"


def notes(vault):
    for folder, _, names in os.walk(vault):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, encoding="utf-8") as file:
                yield os.path.relpath(path, vault), file.read()


def build(database, vault):
    db = sqlite3.connect(database)
    db.execute("CREATE VIRTUAL TABLE notes USING fts5(path UNINDEXED, body, tokenize = 'porter unicode61')")
    with db:
        db.executemany("INSERT INTO notes VALUES (?, ?)", notes(vault))
    print(*db.execute("SELECT sum(length(block)) FROM notes_data").fetchone())


def ask(database):
    db = sqlite3.connect(database)
    for line in sys.stdin:
        question = json.loads(line)
        sql, values = ANSWER % "", [question["match"]]
        if question["folder"]:
            sql, values = ANSWER % "AND path LIKE ?", values + [question["folder"] + "%"]
        begun = time.perf_counter_ns()
        hits = db.execute(sql, values).fetchall()
        print(json.dumps({"nanos": time.perf_counter_ns() - begun, "hits": len(hits)}), flush=True)


{"build": build, "ask": ask}[sys.argv[1]](*sys.argv[2:])
