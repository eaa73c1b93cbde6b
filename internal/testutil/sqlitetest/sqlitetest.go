// Package sqlitetest makes databases of SQLite for tests.
package sqlitetest

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"testing"

	_ "modernc.org/sqlite" // the driver of the databases
)

// Run runs SQL statements on a database, which it creates if there is none.
func Run(name, statements string) error {
	db, err := sql.Open("sqlite", name)
	if err != nil {
		return err
	}
	_, err = db.Exec(statements)
	return errors.Join(err, db.Close())
}

// Make makes a database of SQL statements.
func Make(t testing.TB, name, statements string) {
	t.Helper()
	if err := Run(name, statements); err != nil {
		t.Fatal(err)
	}
}

// Open makes a database and leaves it open, as a running program does, until the test ends.
func Open(t testing.TB, name, statements string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(t.Context(), statements); err != nil {
		t.Fatal(err)
	}
	return db
}

// File makes a database of a file with SQL statements, in a folder of the test, and returns its name.
func File(t testing.TB, statements string) string {
	t.Helper()
	text, err := os.ReadFile(statements)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "store.db")
	Make(t, name, string(text))
	return name
}
