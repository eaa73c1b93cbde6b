"""Prints tables of the SQLite database argv[1] as SQL, without bytes such as vectors: dump.py FILE TABLE…"""
import sqlite3
import sys

db = sqlite3.connect(sys.argv[1])
for table in sys.argv[2:]:
    (create,) = db.execute("SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?", [table]).fetchone()
    print(create.strip() + ";")
    names = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
    quoted = " || ', ' || ".join(f"CASE typeof({n}) WHEN 'blob' THEN 'x'''''  ELSE quote({n}) END" for n in names)
    for (values,) in db.execute(f"SELECT {quoted} FROM {table} ORDER BY rowid"):
        print(f"INSERT INTO {table} VALUES ({values});")
