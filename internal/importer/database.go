package importer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"emberd/internal/sqlitefile"
	"emberd/memory"
)

// database is the SQLite database of another system that is read into a Result.
type database struct {
	*builder
	db      *sqlitefile.DB
	columns map[string][]string // of all tables
	texts   int64               // bytes of text that were read
}

// A databaseKind is a system whose database can be read.
type databaseKind struct {
	system string // as import calls it
	name   string // in a sentence
	file   string // the usual name of the database
	table  string // that only this system has, with these columns
	has    []string
}

// kinds lists the databases that can be told apart, each by a table.
var kinds = []databaseKind{
	{"chroma", "ChromaDB", "chroma.sqlite3", "embedding_metadata", []string{"id", "key", "string_value"}},
	{"mem0", "mem0", "history.db", "history", []string{"memory_id", "new_memory", "event"}},
	{"claude-mem", "claude-mem", "claude-mem.db", "observations", []string{"project", "text", "created_at_epoch"}},
	{"mcp-memory-service", "mcp-memory-service", "sqlite_vec.db", "memories", []string{"content_hash", "content"}},
}

func kindNamed(system string) databaseKind {
	return kinds[slices.IndexFunc(kinds, func(k databaseKind) bool { return k.system == system })]
}

// databaseIn returns the database of a system in a folder, by its usual name, and any other name as it is.
func databaseIn(system, name string) (string, error) {
	info, err := os.Stat(name)
	if err != nil || !info.IsDir() {
		return name, nil // opening it returns the error
	}
	file := kindNamed(system).file
	inside := filepath.Join(name, file)
	if _, err := os.Stat(inside); errors.Is(err, fs.ErrNotExist) {
		return "", memory.Errorf(memory.Invalid, "the folder does not contain %s; pass the path of the database", file)
	}
	return inside, nil
}

// IsDatabase reports whether name is a folder or a SQLite database, which the functions for databases read.
func IsDatabase(name string) bool {
	info, err := os.Stat(name)
	return err == nil && (info.IsDir() || sqlitefile.IsDatabase(name))
}

// readDatabase opens the database of a system, checks that it is one, and has it read.
func readDatabase(ctx context.Context, system, name string, o *Options, read func(*database) error) (*Result, error) {
	name, err := databaseIn(system, name)
	if err != nil {
		return nil, err
	}
	file, err := sqlitefile.Open(ctx, name)
	if err != nil {
		return nil, databaseError(err)
	}
	defer file.Close()
	d := &database{builder: newBuilder(system, o), db: file}
	if err = d.outline(ctx); err == nil {
		err = d.expect(kindNamed(system))
	}
	if err == nil {
		err = read(d)
	}
	if err != nil {
		return nil, databaseError(err)
	}
	return &d.Result, nil
}

// CheckText returns an error for a SQLite database in place of a file of text. The error names the commands for
// databases.
func CheckText(name string) error {
	if !sqlitefile.IsDatabase(name) {
		return nil
	}
	var commands []string
	for _, kind := range kinds {
		commands = append(commands, "emberd import "+kind.system+" FILE")
	}
	return memory.Errorf(memory.Invalid, "this is a SQLite database; to import it, run one of: %s",
		strings.Join(commands, ", "))
}

// outline finds out which tables there are.
func (d *database) outline(ctx context.Context) error {
	tables, err := d.db.Tables(ctx)
	d.columns = make(map[string][]string, len(tables))
	for _, table := range tables {
		if err == nil {
			d.columns[table], err = d.db.Columns(ctx, table)
		}
	}
	return err
}

// expect returns an error unless the database is of a kind. The error names the command for the kind that it has.
func (d *database) expect(want databaseKind) error {
	for _, kind := range append([]databaseKind{want}, kinds...) {
		is := true
		for _, column := range kind.has {
			is = is && d.has(kind.table, column)
		}
		switch {
		case is && kind.system == want.system:
			return nil
		case is:
			return memory.Errorf(memory.Invalid, "this is the database of %s; run: emberd import %s FILE", kind.name,
				kind.system)
		}
	}
	return memory.Errorf(memory.Invalid, "this is not a %s database: table %s with the expected columns not found",
		want.name, want.table)
}

// has reports whether there is a table with a column.
func (d *database) has(table, column string) bool { return slices.Contains(d.columns[table], column) }

// list returns the columns of a table for a query, those that it does not have as NULL.
func (d *database) list(table string, columns ...string) string {
	var list []string
	for _, name := range columns {
		if !d.has(table, name) {
			name = "NULL AS " + name
		}
		list = append(list, name)
	}
	return strings.Join(list, ", ")
}

// rows checks the tables and hands each row of a query to f.
func (d *database) rows(ctx context.Context, tables []string, query string, f func(record, Place) error) error {
	if err := d.db.Check(ctx, tables...); err != nil {
		return err
	}
	for row, err := range d.db.Rows(ctx, query) {
		if err != nil {
			return err
		}
		s, size, valid := recordOf(row)
		if d.texts += size; d.texts > MaxBytes {
			return memory.Errorf(memory.TooLarge, "too much text in the database (limit %d MiB)", MaxBytes>>20)
		}
		at := Place{Path: tables[0] + "[" + plain(s["row"]) + "]"}
		if !valid {
			d.note(at, "emberd replaced bytes that are not UTF-8 with �")
		}
		if err := f(s, at); err != nil {
			return err
		}
	}
	return nil
}

// recordOf returns a row as JSON, how many bytes of text it has, and whether all of it is UTF-8. Columns without a
// value and with bytes, such as vectors, are left out; what is not UTF-8 becomes replacement characters.
func recordOf(row sqlitefile.Row) (s record, size int64, valid bool) {
	s, valid = make(record, len(row)), true
	for name, value := range row {
		switch value := value.(type) {
		case nil, []byte:
		case time.Time:
			s[name] = encoded(value.Format(time.RFC3339Nano))
		case string:
			size, valid = size+int64(len(value)), valid && utf8.ValidString(value)
			s[name] = encoded(value)
		default:
			s[name] = encoded(value)
		}
	}
	return s, size, valid
}

// encoded returns a value as JSON, with signs such as < as they are, and nil for an infinite number.
func encoded(value any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(value) != nil {
		return nil
	}
	return bytes.TrimSpace(b.Bytes())
}

// parse replaces the texts under keys by the JSON that they contain. A text that is not JSON stays.
func (s record) parse(keys ...string) {
	for _, key := range keys {
		var text string
		if json.Unmarshal(s[key], &text) == nil && json.Valid([]byte(text)) && utf8.ValidString(text) {
			s[key] = json.RawMessage(text)
		}
	}
}

// rename moves a value to the key by which [record.into] knows it, unless there is none.
func (s record) rename(from, to string) {
	if s[from] != nil {
		s[to] = s[from]
	}
	delete(s, from)
}

// drop removes keys, and those whose value says nothing.
func (s record) drop(keys ...string) {
	for _, key := range keys {
		delete(s, key)
	}
	for key, value := range s {
		if slices.Contains([]string{"", "null", `""`, "[]", "{}"}, string(value)) {
			delete(s, key)
		}
	}
}

// databaseError returns what the caller can do about a database that cannot be read.
func databaseError(err error) error {
	switch {
	case errors.Is(err, sqlitefile.ErrDamaged):
		return memory.Errorf(memory.Invalid, "%w; nothing was imported; repair a copy with: sqlite3 FILE .recover", err)
	case errors.Is(err, sqlitefile.ErrBusy):
		return memory.Errorf(memory.Invalid, "%w continuously; nothing was imported; stop that program and try again",
			err)
	case errors.Is(err, sqlitefile.ErrNotDatabase), errors.Is(err, sqlitefile.ErrTooLarge):
		return memory.Errorf(memory.Invalid, "%w; nothing was imported", err)
	}
	return err
}
