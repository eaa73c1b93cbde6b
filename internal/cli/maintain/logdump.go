package maintain

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/internal/durable"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// logFilter selects lines of the log. The zero filter selects all.
type logFilter struct {
	id, op, since, lines string

	after       time.Time
	first, last int // of lines, 0 for no bound
}

func (f *logFilter) flags(s *cli.App, cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.id, "id", "", "")
	flags.StringVar(&f.op, "op", "", "")
	flags.StringVar(&f.since, "since", "", "")
	flags.StringVar(&f.lines, "lines", "", "")
	_ = cmd.RegisterFlagCompletionFunc("id", s.CompleteIDs) // fails only for a flag that is not there
	cli.CompleteWords(cmd, "op", "put", "set", "del", "all", "use", "seg", "seal")
}

// settle reads the flags that are texts.
func (f *logFilter) settle(cmd *cobra.Command, now time.Time) error {
	if f.id != "" && len(f.id) < 4 {
		return cli.UsageError(cmd, "invalid --id %q; use at least four characters of the beginning or end of an ID",
			f.id)
	}
	f.id = strings.ToLower(f.id)
	if err := f.settleSince(now); err != nil {
		return cli.UsageError(cmd, "invalid --since %s; use 12h, 7d or 3mo, or a date such as 2026-01-31",
			cli.JsonText(f.since))
	}
	if f.lines == "" {
		return nil
	}
	from, to, ranged := strings.Cut(f.lines, "-")
	var err1, err2 error
	f.first, err1 = strconv.Atoi(cmp.Or(from, "1"))
	f.last = f.first
	if ranged {
		f.last, err2 = strconv.Atoi(cmp.Or(to, "0"))
	}
	if cmp.Or(err1, err2) != nil || f.first < 1 || f.last != 0 && f.last < f.first {
		return cli.UsageError(cmd, "invalid --lines %s; use FROM-TO, such as 10-20, 10- or 7", cli.JsonText(f.lines))
	}
	return nil
}

func (f *logFilter) settleSince(now time.Time) (err error) {
	if f.since == "" {
		return nil
	}
	var w cli.Window
	if w.Set(f.since) == nil {
		f.after = now.Add(-time.Duration(w.Days * float64(24*time.Hour)))
		return nil
	}
	f.after, err = cli.ParseTime(f.since)
	return err
}

// selects reports whether a line is asked for. What a line that is not good says
// cannot be trusted, so it is selected by its place only.
func (f *logFilter) selects(l *stm.LogLine) bool {
	if l.Number < f.first || f.last > 0 && l.Number > f.last {
		return false
	}
	if l.State != stm.LineGood && l.State != stm.LineUnknown {
		return f.id == "" && f.op == "" && f.since == ""
	}
	return (f.op == "" || l.Op == f.op) && !l.Stamp.Time().Before(f.after) && (f.id == "" || about(l, f.id))
}

// about reports whether a line changes or counts a memory whose id begins or
// ends with part.
func about(l *stm.LogLine, part string) bool {
	fits := func(id string) bool { return strings.HasPrefix(id, part) || strings.HasSuffix(id, part) }
	if slices.ContainsFunc(l.Changes, func(c stm.LogChange) bool { return fits(string(c.ID)) }) {
		return true
	}
	var totals map[string]json.RawMessage
	if l.Op != "use" || json.Unmarshal(l.Data, &totals) != nil {
		return false
	}
	for id := range totals {
		if fits(id) {
			return true
		}
	}
	return false
}

func logDumpCommand(s *cli.App) *cobra.Command {
	var f logFilter
	cmd := cli.Command("dump [PATH]", cli.ArgCount(0, 1, "at most one path"), nil,
		func(cmd *cobra.Command, args []string) error {
			return eachLogLine(s, cmd, args, &f, func(l *stm.LogLine) error { return dumpLine(s, l) })
		})
	f.flags(s, cmd)
	return cmd
}

func logCatCommand(s *cli.App) *cobra.Command {
	var f logFilter
	cmd := cli.Command("cat [PATH]", cli.ArgCount(0, 1, "at most one path"), nil,
		func(cmd *cobra.Command, args []string) error {
			return eachLogLine(s, cmd, args, &f, func(l *stm.LogLine) error {
				if s.Screen.Width > 0 { // a terminal
					s.Printf("%s\n", bytes.TrimSuffix(l.Raw, []byte("\n")))
					return nil
				}
				_, err := s.Stdout.Write(l.Raw)
				if err == nil && !bytes.HasSuffix(l.Raw, []byte("\n")) {
					err = s.Stdout.WriteByte('\n')
				}
				return err
			})
		})
	f.flags(s, cmd)
	return cmd
}

// eachLogLine calls fn for every line that the filter selects.
func eachLogLine(s *cli.App, cmd *cobra.Command, args []string, f *logFilter, fn func(*stm.LogLine) error) error {
	if err := f.settle(cmd, s.Now()); err != nil {
		return err
	}
	path, err := logPath(s, args)
	if err != nil {
		return err
	}
	names, err := stm.LogFiles(durable.OS{}, path)
	if err != nil || len(names) == 0 {
		return noLog(path, err)
	}
	found := false
	for _, name := range names {
		for l, err := range stm.ReadLog(durable.OS{}, name) {
			if err == nil {
				err = cmd.Context().Err()
			}
			if err != nil {
				return err
			}
			if !f.selects(&l) {
				continue
			}
			if found = true; fn(&l) != nil {
				return nil // nobody reads on; run tells when the answer was not written
			}
		}
	}
	if !found {
		s.Note("no matching log lines")
		return &cli.Exit{Code: cli.ExitNothing}
	}
	return nil
}

// logLine is a decoded line as --json shows it.
type logLine struct {
	File    string          `json:"file"`
	Offset  int64           `json:"offset"`
	Line    int             `json:"line"`
	State   stm.LineState   `json:"state"`
	Reason  string          `json:"reason,omitempty"`
	At      time.Time       `json:"at,omitzero"`
	Stamp   string          `json:"stamp,omitempty"`
	Seq     uint64          `json:"seq,omitempty"`
	Op      string          `json:"op,omitempty"`
	Entry   string          `json:"entry,omitempty"`
	Verb    string          `json:"verb,omitempty"`
	By      json.RawMessage `json:"by,omitempty"`
	Undoes  string          `json:"undoes,omitempty"`
	Cut     bool            `json:"cut,omitempty"`
	Changes []logChange     `json:"changes,omitempty"`
	Data    json.RawMessage `json:"data,omitempty"`
}

type logChange struct {
	Op   string          `json:"op"`
	ID   memory.ID       `json:"id"`
	Prev json.RawMessage `json:"prev,omitempty"`
	Data json.RawMessage `json:"data,omitempty"`
}

func decoded(l *stm.LogLine) *logLine {
	out := &logLine{File: l.File, Offset: l.Offset, Line: l.Number, State: l.State, Reason: l.Reason}
	if l.Stamp.IsZero() {
		return out
	}
	out.At, out.Stamp, out.Seq, out.Op, out.Verb, out.Cut = l.Stamp.Time(), l.Stamp.String(), l.Seq, l.Op, l.Verb, l.Cut
	out.By, out.Data = l.By, l.Data
	if l.Verb != "" {
		out.Entry = l.Tx.String()
	}
	if !l.Undoes.IsZero() {
		out.Undoes = l.Undoes.String()
	}
	for _, c := range l.Changes {
		out.Changes = append(out.Changes, logChange{Op: c.Op, ID: c.ID, Prev: c.Prev, Data: c.Data})
	}
	return out
}

func dumpLine(s *cli.App, l *stm.LogLine) error {
	d := decoded(l)
	if s.JSON {
		return cli.WriteJSONLine(s.Stdout, d)
	}
	s.Printf("%s", s.Screen.Paint(cli.Faint, fmt.Sprintf("%s:%d", cli.Flat(filepath.Base(l.File)), l.Number)))
	if l.State != stm.LineGood {
		s.Printf("  %s", s.Screen.Paint(cli.Yellow, string(l.State)+": "+cli.Clean(l.Reason)))
	}
	if d.Stamp != "" {
		s.Printf("  %s  %s", d.At.In(s.Zone).Format("2006-01-02 15:04:05.000"), d.Stamp)
		s.Printf("  %s", strings.Join(cli.NonEmpty(s.Screen.Paint(cli.Bold, d.Op), cli.Clean(d.Verb), cli.By(l.Actor()),
			undone(d)), "  "))
	}
	s.Printf("\n")
	for _, c := range l.Changes {
		dumpChange(s, &c)
	}
	dumpTotals(s, l)
	return s.Stdout.Flush()
}

func undone(d *logLine) string {
	if d.Undoes == "" {
		return ""
	}
	return "undoes " + d.Undoes
}

func dumpChange(s *cli.App, c *stm.LogChange) {
	var prev struct {
		Keys map[string]json.RawMessage `json:"d"`
	}
	var now map[string]json.RawMessage
	// What does not decode is shown as nothing; log cat has it.
	_ = json.Unmarshal(c.Prev, &prev)
	_ = json.Unmarshal(c.Data, &now)
	s.Printf("    %s %s\n", c.Op, s.Screen.Paint(cli.Yellow, string(c.ID)))
	if c.Op == "del" {
		now = map[string]json.RawMessage{}
		for key := range prev.Keys {
			now[key] = nil
		}
	}
	for _, key := range slices.Sorted(maps.Keys(now)) {
		cli.PrintField(s, op.FieldChange{Name: key, From: prev.Keys[key], To: now[key]})
	}
}

// dumpTotals prints what a line says that changes no memory.
func dumpTotals(s *cli.App, l *stm.LogLine) {
	var data map[string]json.RawMessage
	if len(l.Changes) > 0 || json.Unmarshal(l.Data, &data) != nil {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(data)) {
		s.Printf("        %s %s\n", s.Screen.Paint(cli.Faint, cli.Pad(cli.Clean(key), 12)), cli.Plain(data[key]))
	}
}
