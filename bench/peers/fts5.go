package main

import (
	"database/sql"
	"errors"
	"io"
	"path/filepath"
	"strings"

	_ "modernc.org/sqlite"
)

// fts5 is SQLite's full-text search over a table that has the texts too.
type fts5 struct {
	db   *sql.DB
	name string
}

// openFTS5 has every commit synced before it returns.
func openFTS5(dir string) (engine, error) {
	db, err := sql.Open("sqlite", filepath.Join(dir, "fts5.db")+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	f := &fts5{db: db}
	if err := db.QueryRow("SELECT sqlite_version()").Scan(&f.name); err != nil {
		return nil, err
	}
	_, err = db.Exec("CREATE VIRTUAL TABLE texts USING fts5(id UNINDEXED, body, tokenize = 'porter unicode61')")
	return f, err
}

func (f *fts5) version() string { return f.name }

// load puts all into one transaction.
func (f *fts5) load(next func() (item, error)) error {
	tx, err := f.db.Begin()
	if err != nil {
		return err
	}
	insert, err := tx.Prepare("INSERT INTO texts VALUES (?, ?)")
	if err != nil {
		return errors.Join(err, tx.Rollback())
	}
	for {
		it, err := next()
		if errors.Is(err, io.EOF) {
			return tx.Commit()
		}
		if err == nil {
			_, err = insert.Exec(it.ID, it.Text)
		}
		if err != nil {
			return errors.Join(err, tx.Rollback())
		}
	}
}

func (f *fts5) save(it item) error {
	_, err := f.db.Exec("INSERT INTO texts VALUES (?, ?)", it.ID, it.Text)
	return err
}

// search finds any of the words, and cuts a snippet from each of the ten best.
func (f *fts5) search(words []string) (ids []string, err error) {
	const query = "SELECT id, snippet(texts, 1, '', '', '…', 32) FROM texts " +
		"WHERE texts MATCH ? ORDER BY rank LIMIT 10"
	rows, err := f.db.Query(query, `"`+strings.Join(words, `" OR "`)+`"`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id, snippet string
		if err := rows.Scan(&id, &snippet); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

func (f *fts5) settle() error {
	_, err := f.db.Exec("PRAGMA wal_checkpoint(TRUNCATE)")
	return err
}
