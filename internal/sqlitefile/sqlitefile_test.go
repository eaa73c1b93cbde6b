package sqlitefile

import (
	"bytes"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"emberd/internal/testutil/dirsnap"
	"emberd/internal/testutil/sqlitetest"
)

const table = "CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT); CREATE INDEX i ON t (text);"

// some is SQL for a few hundred rows, over several pages.
const some = "INSERT INTO t (text) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 500) " +
	"SELECT 'row ' || i || ' ' || hex(zeroblob(50)) FROM n;"

// countRows opens a database, checks the table t, and returns how many rows it has.
func countRows(t *testing.T, name string) (int64, error) {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	d, err := Open(t.Context(), name)
	if err != nil {
		noCopies(t)
		return 0, err
	}
	defer func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		noCopies(t)
	}()
	if err := d.Check(t.Context(), "t"); err != nil {
		return 0, err
	}
	for row, err := range d.Rows(t.Context(), "SELECT count(*) AS n FROM t") {
		if err != nil {
			return 0, err
		}
		return row["n"].(int64), nil
	}
	return 0, errors.New("no row")
}

// noCopies checks that nothing is left in the folder for temporary files.
func noCopies(t *testing.T) {
	t.Helper()
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// A program runs, with what it committed in its write-ahead log, or in the middle of a transaction.
func TestWhileTheProgramRuns(t *testing.T) {
	for name, c := range map[string]struct {
		statements string
		part       string // the file that the program has beside the database
		want       int64
	}{
		"write-ahead log": {"PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0;" + table + some, "-wal", 500},
		"uncommitted in the log": {"PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0; PRAGMA cache_size=1;" + table +
			some + "BEGIN;" + some, "-wal", 500},
		"uncommitted in the database": {"PRAGMA journal_mode=DELETE; PRAGMA cache_size=1;" + table + some + "BEGIN;" + some +
			"DELETE FROM t WHERE id < 100;", "-journal", 500},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "a b?#%.db")
			sqlitetest.Open(t, "file:"+strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(file), c.statements)
			if info, err := os.Stat(file + c.part); err != nil || info.Size() == 0 {
				t.Fatalf("the program has no %s: %v", c.part, err)
			}
			before := dirsnap.Take(t, filepath.Dir(file))
			if n, err := countRows(t, file); err != nil || n != c.want {
				t.Errorf("read %d rows, %v; want the %d that were committed", n, err, c.want)
			}
			before.Compare(t)
		})
	}
}

// Files that are not databases, or no longer whole, are refused.
func TestDamage(t *testing.T) {
	whole := filepath.Join(t.TempDir(), "whole.db")
	sqlitetest.Make(t, whole, table+some)
	good, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	page := bytes.Repeat([]byte{0xa5}, 4096)
	for name, c := range map[string]struct {
		data []byte
		want error
	}{
		"an overwritten page":   {append(append(bytes.Clone(good[:5*4096]), page...), good[6*4096:]...), ErrDamaged},
		"cut in half":           {good[:len(good)/8192*4096], ErrDamaged},
		"cut within a page":     {good[:len(good)-1000], ErrDamaged},
		"another kind of file":  {[]byte("id,text\n1,one\n" + strings.Repeat("x", 9000)), ErrNotDatabase},
		"a header and no pages": {[]byte(Header), ErrNotDatabase},
		"an encrypted database": {append(append(bytes.Clone(page[:100]), page...), page...), ErrNotDatabase},
		"whole":                 {good, nil},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "x.db")
			if err := os.WriteFile(file, c.data, 0o600); err != nil {
				t.Fatal(err)
			}
			if n, err := countRows(t, file); !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
				t.Errorf("read %d rows, %v; want %v", n, err, c.want)
			}
		})
	}
}

func TestMissingAndOdd(t *testing.T) {
	dir := t.TempDir()
	if _, err := countRows(t, filepath.Join(dir, "none.db")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	if _, err := countRows(t, dir); err == nil {
		t.Error("a folder was opened")
	}
	if IsDatabase(dir) || IsDatabase(filepath.Join(dir, "none.db")) {
		t.Error("a folder or nothing is taken for a database")
	}
}

// A copy counts only if nothing was written a moment before or meanwhile.
func TestCopyOfAChangingDatabase(t *testing.T) {
	now := time.Now()
	for age, want := range map[time.Duration]bool{0: false, settleTime - 1: false, settleTime: true, time.Hour: true,
		-time.Hour: true} {
		if got := settled([3]fileState{{1, now.Add(-time.Hour)}, {1, now.Add(-age)}}, now); got != want {
			t.Errorf("a file of the age %v is settled: %v", age, got)
		}
	}
	file := filepath.Join(t.TempDir(), "x.db")
	sqlitetest.Make(t, file, table)
	before, err := states(file)
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "copy")
	if same, err := copyParts(t.Context(), file, to, before); err != nil || !same {
		t.Errorf("a copy of a file at rest: %v, %v", same, err)
	}
	if err := os.WriteFile(file+"-wal", []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	if same, err := copyParts(t.Context(), file, to, before); err != nil || same {
		t.Errorf("a copy after a change: %v, %v", same, err)
	}
}

// Another program moves amounts between rows, in transactions, while the database is read: their sum is the same in every
// copy.
func TestBesideAWriter(t *testing.T) {
	for _, mode := range []string{"WAL", "DELETE"} {
		t.Run(mode, func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "x.db")
			db := sqlitetest.Open(t, name, "PRAGMA journal_mode="+mode+"; CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER, pad TEXT);"+
				"INSERT INTO t (n, pad) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 200) SELECT 1, hex(zeroblob(500)) FROM n;")
			stop, stopped := make(chan struct{}), make(chan error, 1)
			go func() { stopped <- transfer(db, stop) }()
			read := 0
			for range 5 {
				switch sum, err := sumOf(t, name); {
				case errors.Is(err, ErrBusy):
				case err != nil || sum != 200:
					t.Errorf("a copy has the sum %d, %v; want 200", sum, err)
				default:
					read++
				}
			}
			close(stop)
			if err := <-stopped; err != nil {
				t.Fatal(err)
			}
			t.Logf("%d of 5 copies were made beside the writer", read)
		})
	}
}

// transfer moves amounts until it is stopped, with pauses as a program has them.
func transfer(db *sql.DB, stop <-chan struct{}) error {
	for i := 0; ; i++ {
		_, err := db.Exec("BEGIN; UPDATE t SET n = n + 1 WHERE id % 2 = 0; UPDATE t SET n = n - 1 WHERE id % 2 = 1; COMMIT")
		if err != nil {
			return err
		}
		select {
		case <-stop:
			return nil
		case <-time.After(time.Duration(i%3) * settleTime):
		}
	}
}

func sumOf(t *testing.T, name string) (int64, error) {
	d, err := Open(t.Context(), name)
	if err != nil {
		return 0, err
	}
	defer d.Close()
	var sum int64
	for row, err := range d.Rows(t.Context(), "SELECT sum(n) AS n FROM t") {
		if err != nil {
			return 0, err
		}
		sum = row["n"].(int64)
	}
	return sum, d.Check(t.Context(), "t")
}

// Views and virtual tables run code of the database's author, so they are not taken for tables.
func TestTables(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.db")
	sqlitetest.Make(t, file, table+"CREATE VIEW v AS SELECT * FROM t; CREATE VIRTUAL TABLE f USING fts5(text);")
	d, err := Open(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	tables, err := d.Tables(t.Context())
	if err != nil || strings.Join(tables, " ") != "f_config f_content f_data f_docsize f_idx t" {
		t.Errorf("tables %q, %v", tables, err)
	}
	if names, err := d.Columns(t.Context(), "v"); err != nil || len(names) > 0 {
		t.Errorf("a view has the columns %q, %v", names, err)
	}
	for _, err := range d.Rows(t.Context(), "DELETE FROM t") {
		if err == nil || !strings.Contains(err.Error(), "readonly") {
			t.Errorf("writing: %v, want that it is refused", err)
		}
	}
}
