// Package sqlitefile reads tables of a SQLite database that belongs to another program, also while
// that program runs.
//
// [Open] copies the database, with its write-ahead log or rollback journal, into a folder of its own
// and reads the copy. So it locks nothing, writes no file beside the database, and sees every
// transaction that was committed, none by half. It refuses a database that changes while it is
// copied, and one that SQLite finds damaged.
package sqlitefile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// Header is how a database of SQLite begins (https://www.sqlite.org/fileformat.html#the_database_header).
const Header = "SQLite format 3\x00"

// maxValue bounds the bytes of one value or row that is read.
const maxValue = 64 << 20

// Errors of this package; errors.Is finds them in what [Open] and [DB.Check] return.
var (
	ErrNotDatabase = errors.New("not a SQLite database")
	ErrDamaged     = errors.New("the database is damaged")
	ErrBusy        = errors.New("another program is writing to the database")
	ErrTooLarge    = fmt.Errorf("the database is larger than %d GiB", MaxBytes>>30)
)

// A DB is a copy of a database, open for reading.
type DB struct {
	db     *sql.DB
	folder string
}

// Open copies a database and opens the copy. Call Close to remove the copy.
func Open(ctx context.Context, name string) (*DB, error) {
	folder, err := os.MkdirTemp("", "emberd-import-")
	if err != nil {
		return nil, err
	}
	d := &DB{folder: folder}
	copied := filepath.Join(folder, "copy.db")
	if err = copyDatabase(ctx, name, copied); err == nil {
		err = d.open(ctx, copied)
	}
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// open opens the copy. Nothing can be written through it, and functions in its schema are not
// trusted. SQLite itself writes to the copy: it replays a write-ahead log or a journal.
func (d *DB) open(ctx context.Context, name string) (err error) {
	place := url.URL{Scheme: "file", Path: name}
	options := url.Values{"_pragma": {"query_only(1)", "trusted_schema(0)", "cell_size_check(1)"}}
	if d.db, err = sql.Open("sqlite", place.String()+"?"+options.Encode()); err != nil {
		return err
	}
	d.db.SetMaxOpenConns(1)
	conn, err := d.db.Conn(ctx)
	if err != nil {
		return explain(err)
	}
	defer conn.Close()
	if _, err = sqlite.Limit(conn, lib.SQLITE_LIMIT_LENGTH, maxValue); err != nil {
		return err
	}
	_, err = conn.ExecContext(ctx, "SELECT count(*) FROM sqlite_schema")
	return explain(err)
}

// Close removes the copy.
func (d *DB) Close() error {
	var err error
	if d.db != nil {
		err = d.db.Close()
	}
	return errors.Join(err, os.RemoveAll(d.folder))
}

// Tables returns the names of the tables in lower case, without views and virtual tables.
func (d *DB) Tables(ctx context.Context) ([]string, error) {
	return d.names(ctx, "SELECT lower(name) FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 ORDER BY 1")
}

// Columns returns the names of a table's columns in lower case, and none if there is no such table.
func (d *DB) Columns(ctx context.Context, table string) ([]string, error) {
	tables, err := d.Tables(ctx)
	if err != nil || !slices.Contains(tables, table) {
		return nil, err
	}
	return d.names(ctx, "SELECT lower(name) FROM pragma_table_info(?)", table)
}

func (d *DB) names(ctx context.Context, query string, args ...any) (all []string, err error) {
	rows, err := d.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, explain(err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, explain(err)
		}
		all = append(all, name)
	}
	return all, explain(rows.Err())
}

// Check looks for damage in tables and their indexes. The error is [ErrDamaged] with the first
// damage that SQLite reports.
func (d *DB) Check(ctx context.Context, tables ...string) error {
	for _, table := range tables {
		found, err := d.names(ctx, "SELECT * FROM pragma_integrity_check(?)", table)
		if err != nil {
			return err
		}
		if len(found) > 0 && found[0] != "ok" {
			return fmt.Errorf("%w: %s", ErrDamaged, strings.Join(strings.Fields(found[0]), " "))
		}
	}
	return nil
}

// A Row has the values of a row by the names of its columns: nil, bool, int64, float64, string,
// []byte or time.Time.
type Row map[string]any

// Rows runs a query and yields its rows. It ends after the first error. Other methods wait until the loop over the rows
// has ended, so do not call them in the loop.
func (d *DB) Rows(ctx context.Context, query string, args ...any) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		rows, err := d.db.QueryContext(ctx, query, args...)
		if err != nil {
			yield(nil, explain(err))
			return
		}
		defer rows.Close()
		names, err := rows.Columns()
		for err == nil && rows.Next() {
			var row Row
			if row, err = scan(rows, names); err == nil && !yield(row, nil) {
				return
			}
		}
		if err = errors.Join(err, rows.Err()); err != nil {
			yield(nil, explain(err))
		}
	}
}

func scan(rows *sql.Rows, names []string) (Row, error) {
	values, places := make([]any, len(names)), make([]any, len(names))
	for i := range values {
		places[i] = &values[i]
	}
	if err := rows.Scan(places...); err != nil {
		return nil, err
	}
	row := make(Row, len(names))
	for i, name := range names {
		row[name] = values[i]
	}
	return row, nil
}

// explain returns what an error of SQLite means for the file.
func explain(err error) error {
	of, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return err
	}
	switch of.Code() & 0xff {
	case lib.SQLITE_NOTADB:
		return fmt.Errorf("%w, or an encrypted database", ErrNotDatabase)
	case lib.SQLITE_CORRUPT:
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if of.Code() == lib.SQLITE_IOERR_SHORT_READ {
		return fmt.Errorf("%w: the file is truncated", ErrDamaged)
	}
	return err
}

// IsDatabase reports whether a file begins as a database of SQLite does.
func IsDatabase(name string) bool {
	f, err := openRegular(name)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, len(Header))
	n, err := f.ReadAt(head, 0)
	return err == nil && n == len(head) && string(head) == Header
}

// isMissing reports whether an error says that a file does not exist.
func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
