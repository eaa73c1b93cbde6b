package main

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"emberd/embedding"
	"emberd/internal/config"
	"emberd/internal/engines"
	"emberd/internal/fetch"
	"emberd/internal/models"
	"emberd/memory"
)

// engineRow is an engine as lists show it.
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

// placeRow is a place that llama.cpp is found at, and that no engine was installed from.
type placeRow struct {
	Dir  string `json:"dir"`
	What string `json:"what"`
}

// engineList is what emberd engine list tells.
type engineList struct {
	Engines []engineRow `json:"engines"`
	Found   []placeRow  `json:"found"` // not installed
	Folder  string      `json:"folder"`
	Without string      `json:"without,omitempty"` // why none is used
}

func (s *state) engineListCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the engines there are, and which is used",
		Long: `List the installed engines, and which of them the settings choose. Known places
of this machine are looked at, too: what lies there is named, and not used until
it is installed.`,
		Example: `  emberd engine list
  emberd engine list --json | jq -r '.engines[] | select(.used).release'`,
		Annotations: exits(endings{exitNothing: "no engine is installed"}),
		Args:        takes(0, 0, ""),
		RunE: func(*cobra.Command, []string) error {
			c, err := s.load()
			if err != nil {
				return err
			}
			list, err := listEngines(c)
			if err != nil {
				return engineError(err)
			}
			return s.found(list, len(list.Engines), func() { s.printEngines(list) })
		},
	}
}

// listEngines tells of all engines, and of the one that embedding.engine chooses.
func listEngines(c *config.Config) (*engineList, error) {
	installed, err := enginesOf(c).List()
	if err != nil {
		return nil, err
	}
	list := &engineList{Engines: []engineRow{}, Found: []placeRow{}, Folder: filepath.Join(c.Embedding.Folder, "engines")}
	used, err := engineDir(c)
	if err != nil {
		used, list.Without = "", err.Error()
	}
	if c.Embedding.Engine == noEngine {
		used, list.Without = "", "embedding.engine is none"
	}
	if _, err := embedding.FindHelper(); used != "" && err != nil {
		used, list.Without = "", err.Error()
	}
	here := map[string]bool{}
	for _, e := range installed {
		row := rowOf(&e.Engine)
		row.Used, row.Problem = e.Dir == used, e.Problem
		list.Engines = append(list.Engines, row)
		here[e.Dir], here[e.Linked], here[e.Source] = true, true, true
	}
	if used != "" && !here[used] {
		list.Engines = append(list.Engines, engineRow{Name: used, Dir: used, Used: true, Source: "embedding.engine"})
		here[used] = true
	}
	for _, p := range engines.KnownPlaces() {
		if p.Holds && p.Problem == "" && !here[p.Dir] {
			list.Found = append(list.Found, placeRow{Dir: p.Dir, What: p.What})
		}
	}
	return list, nil
}

func rowOf(e *engines.Engine) engineRow {
	row := engineRow{Name: e.Name, Dir: e.Dir, Release: e.Release, System: e.System, Backends: e.Backends,
		Source: e.Source, Installed: e.Added, Warning: e.Warning}
	if e.Linked == "" {
		row.Bytes = e.Bytes()
	}
	return row
}

func (s *state) printEngines(list *engineList) {
	for i := range list.Engines {
		s.printEngineRow(&list.Engines[i])
	}
	for _, p := range list.Found {
		s.printf("%s\n", s.screen.paint(faint, "not installed: "+clean(p.What)))
		s.printf("%s", s.screen.paragraph("emberd engine install "+clean(p.Dir), nil, "    "))
	}
	if list.Without != "" {
		s.note("none is used: %s", clean(list.Without))
	}
}

// printEngineRow shows an engine under its name.
func (s *state) printEngineRow(e *engineRow) {
	name := s.screen.paint(bold, clean(e.Name))
	if e.Used {
		name += "  " + s.screen.paint(green, "used")
	}
	s.printf("%s\n", name)
	parts := nonEmpty(releaseText(e.Release), strings.Join(e.Backends, ", "))
	if e.Bytes > 0 {
		parts = append(parts, size(e.Bytes))
	} else if e.Source != "" {
		parts = append(parts, "in "+e.Dir)
	}
	s.printf("%s", s.screen.paragraph(clean(strings.Join(parts, "; ")), nil, "    "))
	if since := ago(s.now(), e.Installed); e.Source == e.Dir {
		s.printf("%s", s.screen.paragraph("linked "+since, nil, "    "))
	} else if !e.Installed.IsZero() {
		s.printf("%s", s.screen.paragraph(clean("from "+e.Source+", "+since), nil, "    "))
	}
	for _, said := range nonEmpty(e.Warning, e.Problem) {
		s.printf("%s", s.colouredLines(yellow, clean(said)))
	}
}

// colouredLines is a paragraph in one colour, below a name.
func (s *state) colouredLines(colour style, text string) string {
	var b strings.Builder
	for _, l := range lines(text, max(0, s.screen.width-4)) {
		b.WriteString("    " + s.screen.paint(colour, text[l.from:l.to]) + "\n")
	}
	return b.String()
}

func releaseText(release string) string {
	if release == "" {
		return "a release that does not tell its number"
	}
	return "llama.cpp " + release
}

// engineError says what kind of error it is that failed with engines or models, which
// exit codes and programs that read JSON go by.
func engineError(err error) error {
	switch {
	case err == nil, errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, engines.ErrNone), errors.Is(err, engines.ErrUnknown), errors.Is(err, models.ErrUnknown):
		return memory.Errorf(memory.NotFound, "%w", err)
	case errors.Is(err, engines.ErrTaken), errors.Is(err, models.ErrTaken):
		return memory.Errorf(memory.Conflict, "%w", err)
	case errors.Is(err, engines.ErrBusy), errors.Is(err, fetch.ErrBusy):
		return memory.Errorf(memory.Busy, "%w", err)
	case errors.Is(err, engines.ErrName), errors.Is(err, models.ErrName), errors.Is(err, fetch.ErrDigest):
		return memory.Errorf(memory.Invalid, "%w", err)
	case errors.Is(err, fetch.ErrNoSpace):
		return memory.Errorf(memory.DiskFull, "%w", err)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return memory.Errorf(memory.DiskFull, "%w; make room on that disk and run this again", err)
	case isPathError(err):
		return &exit{code: exitDisk, err: err}
	case memory.CodeOf(err) == memory.Internal: // what came is not what it should be
		return &exit{code: exitNothing, err: memory.Errorf(memory.Invalid, "%w", err)}
	}
	return err
}

func (s *state) engineUseCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "use NAME",
		Short: "Choose the engine that runs models",
		Long: `Choose which installed engine runs models, where embedding.engine is auto. A
daemon that runs takes it when it is started again. What was made with another
engine stays: vectors of one model are the same with each.`,
		Example:           `  emberd engine use v0.5.0`,
		Annotations:       exits(endings{exitNothing: "no engine of that name", exitDisk: "the choice cannot be written"}),
		Args:              takes(1, 1, "the name of an engine"),
		ValidArgsFunction: s.completeEngines,
		RunE: func(_ *cobra.Command, args []string) error {
			c, err := s.load()
			if err != nil {
				return err
			}
			installed := enginesOf(c)
			e, err := installed.Intact(args[0])
			if err == nil {
				err = installed.Use(args[0])
			}
			if err != nil {
				return engineError(err)
			}
			row := rowOf(e)
			row.Used = c.Embedding.Engine == anyEngine || c.Embedding.Engine == row.Name
			if s.json {
				return s.printJSON(row)
			}
			s.printEngineRow(&row)
			s.noteChosen(c, row.Name)
			return nil
		},
	}
}

// noteChosen says what it takes to have a chosen engine used.
func (s *state) noteChosen(c *config.Config, name string) {
	if at := c.Embedding.Engine; at != anyEngine && at != name {
		st, err := c.Explain("embedding.engine")
		if err == nil {
			s.note("embedding.engine is %s (%s), which overrules this; set it to auto", clean(at), clean(st.From))
		}
		return
	}
	s.note("a daemon that runs takes it when it is started again")
}

func (s *state) engineRemoveCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "remove NAME",
		Short: "Remove an installed engine",
		Long: `Remove an installed engine. Of one that was linked the libraries stay where they
are. A daemon that runs one goes on with it until its process ends, as after
embedding.unload_after without use, and then has none.`,
		Example:           `  emberd engine remove b8390`,
		Annotations:       exits(endings{exitNothing: "no engine of that name", exitDisk: "it cannot be removed"}),
		Args:              takes(1, 1, "the name of an engine"),
		ValidArgsFunction: s.completeEngines,
		RunE: func(_ *cobra.Command, args []string) error {
			c, err := s.load()
			if err != nil {
				return err
			}
			if err := enginesOf(c).Remove(args[0]); err != nil {
				return engineError(err)
			}
			if s.json {
				return s.printJSON(map[string]string{"removed": args[0]})
			}
			s.printf("removed %s\n", clean(args[0]))
			if _, err := engineDir(c); err != nil && c.Embedding.Engine != noEngine {
				s.note("no engine is used now: %s", clean(err.Error()))
			}
			return nil
		},
	}
}

// completeEngines offers installed engines.
func (s *state) completeEngines(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	c, err := s.load()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	installed, err := enginesOf(c).List()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []cobra.Completion
	for _, e := range installed {
		names = append(names, cobra.CompletionWithDesc(e.Name, strings.Join(nonEmpty(releaseText(e.Release), strings.Join(e.Backends, ", ")), "; ")))
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// helperMissing is the error of what needs the helper, where there is none.
func helperMissing() error {
	if _, err := embedding.FindHelper(); err != nil {
		return memory.Errorf(memory.NotFound, "engines are loaded by a program of their own: %w", err)
	}
	return nil
}
