package data

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/internal/importer"
	"emberd/memory"
)

func importCSVCommand(s *cli.App) *cobra.Command {
	var o importOptions
	var separator, dates string
	cmd := cli.Command("csv FILE|-", cli.ArgCount(1, 1, "one file, or - for stdin"), nil,
		func(cmd *cobra.Command, args []string) error {
			comma, err := parseSeparator(separator)
			if err != nil {
				return err
			}
			if o.dates, err = parseOrder(dates); err != nil {
				return err
			}
			o.columns = make(map[string]string)
			c := &columns{s: s, rules: o.rules, template: o.template, named: o.columns}
			o.read = func(in io.Reader) iter.Seq2[sourceLine, error] { return csvLines(in, comma, c) }
			err = importJSONL(cmd.Context(), s, &o, args[0])
			c.noteRest(o.dryRun)
			return err
		})
	mappingFlags(cmd, &o)
	cmd.Flags().StringVar(&separator, "separator", "", "")
	cmd.Flags().StringVar(&dates, "dates", "", "")
	return cmd
}

// parseOrder reads the flag that says how dates with slashes begin.
func parseOrder(text string) (importer.DateOrder, error) {
	orders := map[string]importer.DateOrder{"": importer.OrderUnknown, "day-first": importer.DayFirst,
		"month-first": importer.MonthFirst}
	order, ok := orders[text]
	if !ok {
		return 0, memory.Errorf(memory.Invalid, "invalid --dates %s; use day-first or month-first", cli.JsonText(text))
	}
	return order, nil
}

// parseSeparator reads the flag; 0 stands for what the header has.
func parseSeparator(text string) (rune, error) {
	if text == "" {
		return 0, nil
	}
	if strings.EqualFold(text, "tab") || text == `\t` {
		return '\t', nil
	}
	comma, size := utf8.DecodeRuneInString(text)
	if size != len(text) || comma == '"' || comma == '\r' || comma == '\n' || comma == utf8.RuneError {
		return 0, memory.Errorf(memory.Invalid, "invalid --separator %s; use , ; | or tab", cli.JsonText(text))
	}
	return comma, nil
}

// csvLines reads rows as objects, with the names of the first row as keys and texts as
// values. A bad row is told and the next one read; only an error of the reader itself, or a
// first row that gives no names, ends the walk early.
func csvLines(r io.Reader, comma rune, c *columns) iter.Seq2[sourceLine, error] {
	return func(yield func(sourceLine, error) bool) {
		rows, err := newRows(r, comma, c)
		if err != nil {
			yield(sourceLine{}, err)
			return
		}
		for {
			line, err := rows.next()
			if errors.Is(err, io.EOF) {
				return
			}
			if !yield(line, err) || err != nil {
				return
			}
		}
	}
}

// rows are those of a table below the names of its columns.
type rows struct {
	csv    *csv.Reader
	bound  *rowBound
	kinds  *columns
	names  []string
	before int64
}

func newRows(r io.Reader, comma rune, c *columns) (*rows, error) {
	in := bufio.NewReaderSize(r, 64<<10)
	if mark, _ := in.Peek(3); bytes.Equal(mark, []byte("\ufeff")) {
		_, _ = in.Discard(len(mark)) // they were there
	}
	if comma == 0 {
		head, _ := in.Peek(16 << 10) // a shorter file is fine, another error comes again
		comma = guessSeparator(head)
	}
	bound := &rowBound{r: in}
	out := &rows{csv: csv.NewReader(bound), bound: bound, kinds: c}
	out.csv.Comma, out.csv.FieldsPerRecord = comma, -1
	names, err := out.csv.Read()
	if errors.Is(err, io.EOF) {
		return nil, memory.Errorf(memory.Invalid, "the file is empty; the first row must contain the column names")
	}
	if err == nil {
		names = named(names)
		err = checkColumns(names)
	}
	if err != nil {
		return nil, memory.Errorf(memory.Invalid, "the first row must contain the column names: %w", err)
	}
	out.names, out.before = c.known(names), out.csv.InputOffset()
	return out, c.checkText(names)
}

// named cuts what has no name at the end, as spreadsheets write cleared columns. It keeps names that are all empty.
func named(names []string) []string {
	for i := len(names); i > 0; i-- {
		if names[i-1] != "" {
			return names[:i]
		}
	}
	return names
}

// guessSeparator takes what the first row has most of outside quotes, in case of doubt the
// comma.
func guessSeparator(head []byte) rune {
	counts := map[rune]int{}
	quoted := false
	for _, c := range string(head) {
		if c == '"' {
			quoted = !quoted
		}
		if c == '\n' && !quoted {
			break
		}
		if !quoted {
			counts[c]++
		}
	}
	best := ','
	for _, c := range []rune{';', '\t', '|'} {
		if counts[c] > counts[best] {
			best = c
		}
	}
	return best
}

// saveAsUTF8 names the format as spreadsheets do.
const saveAsUTF8 = "in the spreadsheet, save the table again as \"CSV UTF-8\""

func checkColumns(names []string) error {
	seen := map[string]bool{}
	for i, name := range names {
		switch {
		case !utf8.ValidString(name):
			return fmt.Errorf("the name of column %d is not valid UTF-8; "+saveAsUTF8, i+1)
		case name == "" && len(names) > 1:
			return fmt.Errorf("column %d has no name", i+1)
		case seen[name]:
			return fmt.Errorf("two columns have the name %s", cli.JsonText(cli.Cut(name, 80)))
		}
		seen[name] = true
	}
	return nil
}

// next is the next row. Rows without any cell that says something are passed over.
func (r *rows) next() (sourceLine, error) {
	for {
		cells, err := r.csv.Read()
		line := sourceLine{bytes: int(r.csv.InputOffset() - r.before)}
		r.before = r.csv.InputOffset()
		r.bound.read = 0
		if bad, ok := errors.AsType[*csv.ParseError](err); ok {
			line.number = bad.StartLine
			line.err = misplacedQuote(bad)
			return line, nil
		}
		if err != nil {
			return line, err
		}
		line.number, _ = r.csv.FieldPos(0)
		line.object, line.err = r.object(cells)
		if line.err != nil || len(line.object) > 0 {
			return line, nil
		}
	}
}

func misplacedQuote(e *csv.ParseError) error {
	return memory.Errorf(memory.Invalid, "misplaced quotation mark at character %d of line %d (%w); "+
		"if a cell contains quotation marks, put the cell in quotation marks and write each one inside twice, or "+
		saveAsUTF8, e.Column, e.Line, e.Err)
}

func (r *rows) object(cells []string) (map[string]json.RawMessage, error) {
	object := make(map[string]json.RawMessage, len(cells))
	for i, cell := range cells {
		switch {
		case strings.TrimSpace(cell) == "":
		case i >= len(r.names):
			return nil, memory.Errorf(memory.Invalid, "the first row has no name for cell %d", i+1)
		case !utf8.ValidString(cell):
			return nil, memory.Errorf(memory.Invalid, "the row is not valid UTF-8; "+saveAsUTF8)
		default:
			object[r.names[i]] = cli.JsonText(cell)
		}
	}
	if _, says := object[r.kinds.text]; r.kinds.text != "" && !says && len(object) > 0 {
		return nil, memory.Errorf(memory.Invalid, "the text is empty").At("content")
	}
	r.kinds.look(cells)
	return object, nil
}

// rowBound fails when one row takes too much, as one does whose last quote is missing.
type rowBound struct {
	r    io.Reader
	read int // since the last row
}

func (b *rowBound) Read(p []byte) (int, error) {
	if b.read > maxLine {
		return 0, memory.Errorf(memory.TooLarge,
			"too many bytes in a row (limit %d, 4 MiB); check for an unclosed quotation mark", maxLine)
	}
	n, err := b.r.Read(p)
	b.read += n
	return n, err
}
