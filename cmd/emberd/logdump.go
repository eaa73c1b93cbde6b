package main

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

	"emberd/internal/durable"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// logFilter selects lines of the log. The zero filter selects all.
type logFilter struct {
	id, device, op, entry string
	since                 string
	lines                 string
	deleted               bool

	after       time.Time
	first, last int // of lines, 0 for no bound
}

func (f *logFilter) flags(s *state, cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.id, "id", "", "only lines about the memory `ID`, whole or shortened")
	flags.StringVar(&f.entry, "entry", "", "only lines of the journal entry `TX`")
	flags.StringVar(&f.device, "device", "", "only lines stamped by `DEVICE`")
	flags.StringVar(&f.op, "op", "", "only lines with the operation `OP`: put, set, del, all, use, seg or seal")
	flags.StringVar(&f.since, "since", "", "only lines not older than this `TIME`, as in 12h, 7d or 2026-01-31")
	flags.StringVar(&f.lines, "lines", "", "only lines `FROM-TO` of each file, counted from 1")
	flags.BoolVar(&f.deleted, "deleted", false, "only lines that forget a memory")
	_ = cmd.RegisterFlagCompletionFunc("id", s.completeIDs) // fails only for a flag that is not there
	_ = cmd.RegisterFlagCompletionFunc("op", cobra.FixedCompletions(
		[]cobra.Completion{"put", "set", "del", "all", "use", "seg", "seal"}, cobra.ShellCompDirectiveNoFileComp))
}

// settle reads the flags that are texts.
func (f *logFilter) settle(cmd *cobra.Command, now time.Time) error {
	if f.id != "" && len(f.id) < 4 {
		return wrong(cmd, "--id %q is too short; give at least four characters of the beginning or end", f.id)
	}
	f.id = strings.ToLower(f.id)
	if err := f.settleSince(now); err != nil {
		return wrong(cmd, "--since does not take %s: use 12h, 7d or 3mo, or a date as in 2026-01-31", jsonText(f.since))
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
		return wrong(cmd, "--lines does not take %s: use FROM-TO, as in 10-20, 10- or 7", jsonText(f.lines))
	}
	return nil
}

func (f *logFilter) settleSince(now time.Time) (err error) {
	if f.since == "" {
		return nil
	}
	var w window
	if w.Set(f.since) == nil {
		f.after = now.Add(-time.Duration(w.days * float64(24*time.Hour)))
		return nil
	}
	f.after, err = parseTime(f.since)
	return err
}

// selects reports whether a line is asked for. What a line that is not good says
// cannot be trusted, so it is selected by its place only.
func (f *logFilter) selects(l *stm.LogLine) bool {
	if l.Number < f.first || f.last > 0 && l.Number > f.last {
		return false
	}
	if l.State != stm.LineGood && l.State != stm.LineUnknown {
		return f.id == "" && f.device == "" && f.op == "" && f.entry == "" && f.since == "" && !f.deleted
	}
	switch {
	case f.device != "" && l.Stamp.Dev.String() != f.device,
		f.op != "" && l.Op != f.op,
		f.entry != "" && l.Tx.String() != f.entry,
		!f.after.IsZero() && l.Stamp.Time().Before(f.after),
		f.id != "" && !about(l, f.id),
		f.deleted && !slices.ContainsFunc(l.Changes, func(c stm.LogChange) bool { return c.Op == "del" }):
		return false
	}
	return true
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

func (s *state) logDumpCommand() *cobra.Command {
	var f logFilter
	cmd := &cobra.Command{
		Use:   "dump [PATH]",
		Short: "Print the lines of the log for people",
		Long: `Print the lines of the log for people: where each stands, when and by which
device it was written, and what it changed from what to what. With --json it is
one object a line. PATH is a data folder, the folder of a device, or a file.`,
		Example: `  emberd log dump --since 1h
  emberd log dump --id 456789ab --op set
  emberd log dump --deleted --json | jq .changes`,
		Annotations: exits(endings{exitNothing: "no such line, or no log"}),
		Args:        takes(0, 1, "at most one path"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.eachLogLine(cmd, args, &f, s.dumpLine)
		},
	}
	f.flags(s, cmd)
	return cmd
}

func (s *state) logCatCommand() *cobra.Command {
	var f logFilter
	cmd := &cobra.Command{
		Use:   "cat [PATH]",
		Short: "Print the lines of the log as they stand there",
		Long: `Print the lines of the log as they stand there, byte for byte, so that jq and
grep work on them. The flags select lines as those of log dump do. PATH is a
data folder, the folder of a device, or a file.`,
		Example: `  emberd log cat --id 456789ab | jq -r .t
  emberd log cat --op del | jq .prev.d.content
  emberd log cat data/stm/k7q2mzxa/s-00000042.jsonl --lines 10-20`,
		Annotations: exits(endings{exitNothing: "no such line, or no log"}),
		Args:        takes(0, 1, "at most one path"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.eachLogLine(cmd, args, &f, func(l *stm.LogLine) error {
				_, err := s.stdout.Write(l.Raw)
				if err == nil && !bytes.HasSuffix(l.Raw, []byte("\n")) {
					err = s.stdout.WriteByte('\n')
				}
				return err
			})
		},
	}
	f.flags(s, cmd)
	return cmd
}

// eachLogLine calls fn for every line that the filter selects.
func (s *state) eachLogLine(cmd *cobra.Command, args []string, f *logFilter, fn func(*stm.LogLine) error) error {
	if err := f.settle(cmd, s.now()); err != nil {
		return err
	}
	path, err := s.logPath(args)
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
		s.note("no line of the log fits")
		return &exit{code: exitNothing}
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

func (s *state) dumpLine(l *stm.LogLine) error {
	d := decoded(l)
	if s.json {
		enc := json.NewEncoder(s.stdout)
		enc.SetEscapeHTML(false)
		return enc.Encode(d)
	}
	s.printf("%s", s.screen.paint(faint, fmt.Sprintf("%s:%d", flat(filepath.Base(l.File)), l.Number)))
	if l.State != stm.LineGood {
		s.printf("  %s", s.screen.paint(yellow, string(l.State)+": "+clean(l.Reason)))
	}
	if d.Stamp != "" {
		s.printf("  %s  %s", d.At.In(s.zone).Format("2006-01-02 15:04:05.000"), d.Stamp)
		s.printf("  %s", strings.Join(nonEmpty(s.screen.paint(bold, d.Op), clean(d.Verb), by(l.Actor()), undone(d)), "  "))
	}
	s.printf("\n")
	for _, c := range l.Changes {
		s.dumpChange(&c)
	}
	s.dumpTotals(l)
	return s.stdout.Flush()
}

func undone(d *logLine) string {
	if d.Undoes == "" {
		return ""
	}
	return "takes back " + d.Undoes
}

// by says who asked for something.
func by(a memory.Actor) string {
	return clean(strings.Join(nonEmpty(a.Via, a.Client, a.Session), " "))
}

func (s *state) dumpChange(c *stm.LogChange) {
	var prev struct {
		Keys map[string]json.RawMessage `json:"d"`
	}
	var now map[string]json.RawMessage
	// What does not decode is shown as nothing; log cat has it.
	_ = json.Unmarshal(c.Prev, &prev)
	_ = json.Unmarshal(c.Data, &now)
	s.printf("    %s %s\n", c.Op, s.screen.paint(yellow, string(c.ID)))
	if c.Op == "del" {
		now = map[string]json.RawMessage{}
		for key := range prev.Keys {
			now[key] = nil
		}
	}
	for _, key := range slices.Sorted(maps.Keys(now)) {
		s.printField(op.FieldChange{Name: key, From: prev.Keys[key], To: now[key]})
	}
}

// dumpTotals prints what a line says that changes no memory.
func (s *state) dumpTotals(l *stm.LogLine) {
	var data map[string]json.RawMessage
	if len(l.Changes) > 0 || json.Unmarshal(l.Data, &data) != nil {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(data)) {
		s.printf("        %s %s\n", s.screen.paint(faint, pad(clean(key), 12)), plain(data[key]))
	}
}
