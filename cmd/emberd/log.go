package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/spf13/cobra"

	"emberd/internal/durable"
	"emberd/memory"
	"emberd/stm"
)

func (s *state) logCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "log",
		Short: "Look into the log files, with and without a daemon",
		Long: `Look into the log files: check that every line is whole, or print the lines. All
of it only reads, and works with and without a daemon. PATH is a data folder,
the folder of one device in it, or one file; without it the data folder of the
configuration is read.`,
		Example: `  emberd log check
  emberd log dump --id 456789ab
  emberd log cat --id 456789ab | jq .`,
		Annotations: exits(endings{exitNothing: ""}),
	}
	asGroup(cmd)
	cmd.AddCommand(s.logCheckCommand(), s.logDumpCommand(), s.logCatCommand())
	return cmd
}

// logPath is what a log command reads: its argument or the configured folder.
func (s *state) logPath(args []string) (string, error) {
	if len(args) > 0 {
		return args[0], nil
	}
	c, err := s.load()
	if err != nil {
		return "", err
	}
	return c.Data, nil
}

// noLog is the error for a path without log files.
func noLog(path string, err error) error {
	switch {
	case err == nil:
		return memory.Errorf(memory.NotFound, "there is no log file in %s; name a data folder, the folder of a device, or a file", path)
	case errors.Is(err, fs.ErrNotExist):
		return memory.Errorf(memory.NotFound, "there is no %s; emberd config data tells where the data folder is", path)
	}
	return memory.Errorf(memory.Invalid, "%w", err)
}

// logReport is what a check of the log found; with --json it is the result.
type logReport struct {
	Path    string       `json:"path"`
	OK      bool         `json:"ok"`
	Wrong   int          `json:"wrong"`
	Lines   int          `json:"lines"`
	Bytes   int64        `json:"bytes"`
	Files   []logFile    `json:"files"`
	Missing []logFinding `json:"missing"`
}

type logFile struct {
	File     string       `json:"file"`
	Lines    int          `json:"lines"`
	Bytes    int64        `json:"bytes"`
	Sealed   bool         `json:"sealed"`
	Findings []logFinding `json:"findings"`
}

// logFinding is one thing that a check found. Harmless is what a crash left and
// what costs nothing that was acknowledged.
type logFinding struct {
	File     string `json:"file"`
	Offset   int64  `json:"offset"`
	Line     int    `json:"line,omitempty"`
	Reason   string `json:"reason"`
	Harmless bool   `json:"harmless,omitempty"`
}

func (s *state) logCheckCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "check [PATH]",
		Short: "Read every log file and list what is wrong",
		Long: `Read every log file and verify each checksum, header and seal, and that stamps
and numbers follow each other. What is wrong is listed by file and line. What a
crash leaves behind, such as half a last line, is listed as harmless, and so are
damaged lines of the configured folder that were decided about.`,
		Example: `  emberd log check
  emberd log check ~/Sync/emberd/stm/k7q2mzxa
  emberd log check --json | jq -r '.files[].findings[]'`,
		Annotations: exits(endings{exitDone: "nothing is wrong", exitNothing: "something is wrong, or there is no log"}),
		Args:        takes(0, 1, "at most one path"),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := s.logPath(args)
			if err != nil {
				return err
			}
			r, err := s.checkLog(cmd.Context(), path)
			if err != nil {
				return err
			}
			if s.json {
				err = s.printJSON(r)
			} else {
				s.printLogReport(r)
			}
			if err == nil && !r.OK {
				err = &exit{code: exitNothing}
			}
			return err
		},
	}
}

func (s *state) checkLog(ctx context.Context, path string) (*logReport, error) {
	c, err := s.readLog(ctx, path)
	if err != nil && ctx.Err() != nil {
		return nil, err
	}
	if err != nil || len(c.Files) == 0 {
		return nil, noLog(path, err)
	}
	r := &logReport{Path: path, Wrong: c.Wrong(), OK: c.Wrong() == 0, Missing: asFindings(c.Missing)}
	for _, f := range c.Files {
		r.Lines, r.Bytes = r.Lines+f.Lines, r.Bytes+f.Bytes
		r.Files = append(r.Files, logFile{File: f.File, Lines: f.Lines, Bytes: f.Bytes, Sealed: f.Sealed, Findings: asFindings(f.Findings)})
	}
	return r, nil
}

// readLog checks a log. If it is the configured one, what was decided about its
// damaged lines is known.
func (s *state) readLog(ctx context.Context, path string) (*stm.LogCheck, error) {
	if c, err := s.load(); err == nil && c.Data == path {
		return stm.CheckDecidedLog(ctx, durable.OS{}, path, c.State, s.now())
	}
	return stm.CheckLog(ctx, durable.OS{}, path, s.now())
}

func asFindings(in []stm.LogFinding) []logFinding {
	out := make([]logFinding, len(in))
	for i, f := range in {
		out[i] = logFinding(f)
	}
	return out
}

func (s *state) printLogReport(r *logReport) {
	for _, f := range r.Files {
		for _, g := range f.Findings {
			s.printFinding(r.Path, g)
		}
	}
	for _, g := range r.Missing {
		s.printFinding(r.Path, g)
	}
	verdict := "nothing is wrong"
	if !r.OK {
		verdict = count(r.Wrong, "thing is wrong", "things are wrong")
	}
	s.note("%s: %s in %s, %s: %s", r.Path, count(r.Lines, "line", "lines"), count(len(r.Files), "file", "files"), size(r.Bytes), verdict)
}

func (s *state) printFinding(root string, f logFinding) {
	where := f.File
	if below, err := filepath.Rel(root, f.File); err == nil && below != "." {
		where = below
	}
	if f.Line > 0 {
		where = fmt.Sprintf("%s:%d", where, f.Line)
	}
	text := fmt.Sprintf("%s (offset %d)", f.Reason, f.Offset)
	if f.Harmless {
		text = s.screen.paint(faint, "harmless: "+text)
	}
	s.printf("%s: %s\n", s.screen.paint(cyan, flat(where)), clean(text))
}
