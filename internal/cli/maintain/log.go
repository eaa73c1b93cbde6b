package maintain

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/internal/durable"
	"emberd/memory"
	"emberd/stm"
)

func logCommand(s *cli.App) *cobra.Command {
	return cli.Group("log",
		logCheckCommand(s), logRepairCommand(s), logDumpCommand(s), logCatCommand(s), compactCommand(s))
}

// logPath is what a log command reads: its argument or the configured folder.
func logPath(s *cli.App, args []string) (string, error) {
	if err := s.WithoutToken("emberd doctor log reads the log of all memories from its files"); err != nil {
		return "", err
	}
	if len(args) > 0 {
		return args[0], nil
	}
	c, err := s.Load()
	if err != nil {
		return "", err
	}
	return c.Data, nil
}

// noLog is the error for a path without log files.
func noLog(path string, err error) error {
	switch {
	case err == nil:
		return memory.Errorf(memory.NotFound,
			"no log file in %s; pass a data folder, the folder of a device, or a file", path)
	case errors.Is(err, fs.ErrNotExist):
		return memory.Errorf(memory.NotFound, "%s not found; to show the data folder, run: emberd config data", path)
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
	// BareTrash are memories of the trash that came back from a copy without their texts.
	BareTrash int `json:"bare_trash,omitempty"`
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

func logCheckCommand(s *cli.App) *cobra.Command {
	return cli.Command("check [PATH]", cli.ArgCount(0, 1, "at most one path"), nil,
		func(cmd *cobra.Command, args []string) error {
			path, err := logPath(s, args)
			if err != nil {
				return err
			}
			r, err := checkLog(cmd.Context(), s, path)
			if err != nil {
				return err
			}
			if s.JSON {
				err = s.PrintJSON(r)
			} else {
				printLogReport(s, r)
			}
			if err == nil && !r.OK {
				err = &cli.Exit{Code: cli.ExitNothing}
			}
			return err
		})
}

func checkLog(ctx context.Context, s *cli.App, path string) (*logReport, error) {
	c, err := readLog(ctx, s, path)
	if err != nil && ctx.Err() != nil {
		return nil, err
	}
	if err != nil || len(c.Files) == 0 {
		return nil, noLog(path, err)
	}
	r := &logReport{Path: path, BareTrash: bareTrash(s, c), Missing: asFindings(c.Missing)}
	r.Wrong = c.Wrong() + min(1, r.BareTrash)
	r.OK = r.Wrong == 0
	for _, f := range c.Files {
		r.Lines, r.Bytes = r.Lines+f.Lines, r.Bytes+f.Bytes
		r.Files = append(r.Files, logFile{File: f.Path, Lines: f.Lines, Bytes: f.Bytes, Sealed: f.Sealed,
			Findings: asFindings(f.Findings)})
	}
	return r, nil
}

// readLog checks a log. If it is the configured one, what was decided about its
// damaged lines is known.
func readLog(ctx context.Context, s *cli.App, path string) (*stm.LogCheck, error) {
	if c, err := s.Load(); err == nil && c.Data == path {
		return stm.CheckDecidedLog(ctx, durable.OS{}, path, c.State, s.Now())
	}
	return stm.CheckLog(ctx, durable.OS{}, path, s.Now())
}

// bareTrash counts the memories that could be restored from the trash if their texts had come back.
func bareTrash(s *cli.App, check *stm.LogCheck) int {
	c, err := s.Load()
	if err != nil {
		return 0
	}
	return check.BareSince(s.Now().Add(-c.TrashKeep))
}

// bareText is "" if no text is missing.
func bareText(n int) string {
	if n == 0 {
		return ""
	}
	return cli.Count(n, "memory of the trash", "memories of the trash") + " restored without text"
}

func asFindings(in []stm.LogFinding) []logFinding {
	out := make([]logFinding, len(in))
	for i, f := range in {
		out[i] = logFinding(f)
	}
	return out
}

func printLogReport(s *cli.App, r *logReport) {
	for _, f := range r.Files {
		for _, g := range f.Findings {
			printFinding(s, r.Path, g)
		}
	}
	for _, g := range r.Missing {
		printFinding(s, r.Path, g)
	}
	if why := bareText(r.BareTrash); why != "" {
		s.Printf("%s\n", why)
	}
	verdict := "no problems"
	if !r.OK {
		verdict = cli.Count(r.Wrong, "problem found", "problems found")
	}
	s.Note("%s: %s in %s, %s: %s", r.Path, cli.Count(r.Lines, "line", "lines"),
		cli.Count(len(r.Files), "file", "files"), cli.Size(r.Bytes), verdict)
	if !r.OK {
		s.Note("when the daemon starts again, emberd restores the records of the "+
			"snapshot; to restore other records, stop the daemon and run: %s", cli.Again(s, "doctor", "log", "repair"))
	}
}

func printFinding(s *cli.App, root string, f logFinding) {
	where := f.File
	if below, err := filepath.Rel(root, f.File); err == nil && below != "." {
		where = below
	}
	if f.Line > 0 {
		where = fmt.Sprintf("%s:%d", where, f.Line)
	}
	text := fmt.Sprintf("%s (offset %d)", f.Reason, f.Offset)
	if f.Harmless {
		text = s.Screen.Paint(cli.Faint, "harmless: "+text)
	}
	s.Printf("%s: %s\n", s.Screen.Paint(cli.Cyan, cli.Flat(where)), cli.Clean(text))
}
