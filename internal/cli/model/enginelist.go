package model

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"emberd/embedding"
	"emberd/internal/cli"
	"emberd/internal/cli/daemon"
	"emberd/internal/config"
	"emberd/internal/models"
	"emberd/memory"
)

// engineRow is an engine in a list.
type engineRow struct {
	Name      string    `json:"name"`
	Used      bool      `json:"used"`
	Dir       string    `json:"dir"` // of the libraries
	Release   string    `json:"release,omitempty"`
	System    string    `json:"system,omitempty"`
	Backends  []string  `json:"backends,omitempty"`
	Bytes     int64     `json:"bytes,omitempty"` // 0 where the libraries stayed where they were
	Source    string    `json:"source,omitempty"`
	Installed time.Time `json:"installed,omitzero"`
	Warning   string    `json:"warning,omitempty"`
	Problem   string    `json:"problem,omitempty"`
}

// engineList is the result of emberd model runtime list.
type engineList struct {
	Engines []engineRow `json:"engines"`
	Folder  string      `json:"folder"`
	Without string      `json:"without,omitempty"` // why none is used
}

func engineListCommand(s *cli.App) *cobra.Command {
	return cli.Command("list", cli.NoArgs, nil,
		s.Configured(func(_ *cobra.Command, _ []string, c *config.Config) error {
			list, err := ListEngines(c)
			if err != nil {
				return engineError(err)
			}
			return s.Found(list, len(list.Engines), func() { printEngines(s, list) })
		}))
}

// ListEngines returns all engines and marks the one that embedding.engine chooses.
func ListEngines(c *config.Config) (*engineList, error) {
	installed, err := daemon.RuntimesOf(c).List()
	if err != nil {
		return nil, err
	}
	folder := filepath.Join(c.Embedding.Folder, "engines")
	list := &engineList{Engines: []engineRow{}, Folder: folder}
	used, err := daemon.EngineDir(c)
	if err != nil {
		used, list.Without = "", err.Error()
	}
	if c.Embedding.Engine == daemon.NoEngine {
		used, list.Without = "", "the setting embedding.engine is none"
	}
	if _, err := embedding.FindHelper(); used != "" && err != nil {
		used, list.Without = "", err.Error()
	}
	for _, e := range installed {
		row := rowOf(&e.Runtime)
		row.Used, row.Problem = e.Dir == used, e.Problem
		list.Engines = append(list.Engines, row)
	}
	if isUsed := func(r engineRow) bool { return r.Used }; used != "" && !slices.ContainsFunc(list.Engines, isUsed) {
		list.Engines = append(list.Engines, engineRow{Name: used, Dir: used, Used: true, Source: "embedding.engine"})
	}
	return list, nil
}

func rowOf(e *models.Runtime) engineRow {
	return engineRow{Name: e.Name, Dir: e.Dir, Release: e.Release, System: e.System, Backends: e.Backends,
		Bytes: e.Bytes(), Source: e.Source, Installed: e.Added, Warning: e.Warning}
}

func printEngines(s *cli.App, list *engineList) {
	for i := range list.Engines {
		printEngineRow(s, &list.Engines[i])
	}
	if list.Without != "" {
		s.Note("emberd uses no runtime for embeddings: %s", cli.Clean(list.Without))
	}
}

// printEngineRow prints an engine under its name.
func printEngineRow(s *cli.App, e *engineRow) {
	name := s.Screen.Paint(cli.Bold, cli.Clean(e.Name))
	if e.Used {
		name += "  " + s.Screen.Paint(cli.Green, "used")
	}
	s.Printf("%s\n", name)
	parts := cli.NonEmpty(releaseText(e.Release), strings.Join(e.Backends, ", "))
	if e.Bytes > 0 {
		parts = append(parts, cli.Size(e.Bytes))
	} else if e.Source != "" {
		parts = append(parts, "in "+e.Dir)
	}
	s.Printf("%s", s.Screen.Paragraph(cli.Clean(strings.Join(parts, "; ")), nil, "    "))
	if since := cli.Ago(s.Now(), e.Installed); e.Source == e.Dir {
		s.Printf("%s", s.Screen.Paragraph("linked "+since, nil, "    "))
	} else if !e.Installed.IsZero() {
		s.Printf("%s", s.Screen.Paragraph(cli.Clean("from "+e.Source+", "+since), nil, "    "))
	}
	for _, said := range cli.NonEmpty(e.Warning, e.Problem) {
		s.Printf("%s", colouredLines(s, cli.Yellow, cli.Clean(said)))
	}
}

// colouredLines returns a paragraph in one color, below a name.
func colouredLines(s *cli.App, colour cli.Style, text string) string {
	var b strings.Builder
	for _, l := range cli.Lines(text, max(0, s.Screen.Width-4)) {
		b.WriteString("    " + s.Screen.Paint(colour, text[l.From:l.To]) + "\n")
	}
	return b.String()
}

func releaseText(release string) string {
	if release == "" {
		return "unknown release"
	}
	return "llama.cpp " + release
}

// engineError gives an error of engines or models its code, which decides the exit code and what
// programs read with --json.
func engineError(err error) error {
	for kind, code := range map[error]memory.Code{
		models.ErrNone: memory.NotFound, models.ErrUnknown: memory.NotFound, models.ErrInput: memory.Invalid,
		models.ErrUntrusted: memory.Invalid,
		models.ErrTaken:     memory.Conflict, models.ErrInUse: memory.Conflict, models.ErrBusy: memory.Busy,
		models.ErrNoSpace: memory.DiskFull,
	} {
		if errors.Is(err, kind) {
			return memory.Errorf(code, "%w", err)
		}
	}
	switch {
	case err == nil, errors.Is(err, context.Canceled):
		return err
	case cli.IsPathError(err):
		return &cli.Exit{Code: cli.ExitDisk, Err: err}
	case memory.CodeOf(err) != memory.Internal:
		return err
	}
	// the file is not what it should be
	return &cli.Exit{Code: cli.ExitNothing, Err: memory.Errorf(memory.Invalid, "%w", err)}
}

func engineUseCommand(s *cli.App) *cobra.Command {
	return cli.Command("use NAME", cli.ArgCount(1, 1, "the name of a runtime"), s.Offer(completeEngines),
		s.Configured(func(_ *cobra.Command, args []string, c *config.Config) error {
			e, err := daemon.RuntimesOf(c).Use(args[0])
			if err != nil {
				return engineError(err)
			}
			row := rowOf(e)
			row.Used = c.Embedding.Engine == daemon.AnyEngine || c.Embedding.Engine == row.Name
			return s.Answer(row, func() {
				printEngineRow(s, &row)
				noteChosen(s, c, row.Name)
			})
		}))
}

// noteChosen prints what the user has to do before the daemon uses a chosen engine.
func noteChosen(s *cli.App, c *config.Config, name string) {
	if at := c.Embedding.Engine; at != daemon.AnyEngine && at != name {
		st, err := c.Explain("embedding.engine")
		if err == nil {
			s.Note("the setting embedding.engine is %s (from %s) and overrides this "+
				"selection; to use the selected runtime, set embedding.engine to auto", cli.Clean(at),
				cli.Clean(st.From))
		}
		return
	}
	s.Note("to apply the change, restart the daemon")
}

func engineRemoveCommand(s *cli.App) *cobra.Command {
	return cli.Command("remove NAME", cli.ArgCount(1, 1, "the name of a runtime"), s.Offer(completeEngines),
		s.Configured(func(_ *cobra.Command, args []string, c *config.Config) error {
			if err := daemon.RuntimesOf(c).Remove(args[0]); err != nil {
				return engineError(err)
			}
			return s.Answer(map[string]string{"removed": args[0]}, func() {
				s.Printf("removed %s\n", cli.Clean(args[0]))
				if _, err := daemon.EngineDir(c); err != nil && c.Embedding.Engine != daemon.NoEngine {
					s.Note("emberd uses no runtime for embeddings now: %s", cli.Clean(err.Error()))
				}
			})
		}))
}

// completeEngines offers installed engines.
func completeEngines(s *cli.App, _ *cobra.Command, args []string, _ string) ([]cobra.Completion,
	cobra.ShellCompDirective) {
	c, err := s.Load()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	installed, err := daemon.RuntimesOf(c).List()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []cobra.Completion
	for _, e := range installed {
		names = append(names, cobra.CompletionWithDesc(e.Name, strings.Join(cli.NonEmpty(releaseText(e.Release),
			strings.Join(e.Backends, ", ")), "; ")))
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// helperMissing returns an error if the helper program is not installed.
func helperMissing() error {
	if _, err := embedding.FindHelper(); err != nil {
		return memory.Errorf(memory.NotFound, "cannot load runtimes without the program emberd-llama: %w", err)
	}
	return nil
}
