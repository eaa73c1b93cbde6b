package main

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"emberd/internal/config"
	"emberd/internal/engines"
	"emberd/memory"
)

type engineInstall struct {
	sha256, name       string
	link, replace, yes bool
}

func (s *state) engineInstallCommand() *cobra.Command {
	var o engineInstall
	cmd := &cobra.Command{
		Use:   "install [PATH|URL]",
		Short: "Install libraries of llama.cpp, from a folder, an archive or a URL",
		Long: `Install an engine: libraries of llama.cpp in a folder, in an archive as its
releases have them (.tar.gz, .zip), or at an address. Without an argument, known
places of this machine are looked at, such as Homebrew's.

Nothing is downloaded unless you name the address, and what comes from one has
to have the SHA-256 that you name with --sha256, or be one of the archives that
emberd was tested with and knows. What is in an archive or a folder is copied;
--link leaves a folder's libraries where they are. Before it counts, an engine
is loaded in a process of its own: what does not load is not installed.`,
		Example: `  emberd engine install
  emberd engine install ~/Downloads/llama-b8390-bin-ubuntu-x64.tar.gz
  emberd engine install /opt/homebrew/lib --link
  emberd engine install https://example.org/llama.tar.gz --sha256 3f2c…`,
		Annotations: exits(endings{
			exitNothing:  "nothing was found, or it does not load, or is not what it should be",
			exitConflict: "another engine has the name; --replace takes its place",
			exitDisk:     "the disk is full, or a file cannot be read or written",
			exitAgain:    "another process is installing; try again",
		}),
		Args: takes(0, 1, "a path or a URL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := s.load()
			if err != nil {
				return err
			}
			what, err := s.engineAt(cmd.Context(), args, &o)
			if err != nil {
				return err
			}
			if err := helperMissing(); err != nil {
				return err
			}
			return s.installEngine(cmd.Context(), c, what)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.sha256, "sha256", "", "the `HEX` digest that the archive must have")
	f.StringVar(&o.name, "name", "", "call it `NAME`; its release if left out, system with --link")
	f.BoolVar(&o.link, "link", false, "leave the libraries of a folder where they are")
	f.BoolVar(&o.replace, "replace", false, "take the place of another engine of this name")
	f.BoolVarP(&o.yes, "yes", "y", false, "do not ask about what was found")
	return cmd
}

// engineAt is where the engine comes from that is to be installed.
func (s *state) engineAt(ctx context.Context, args []string, o *engineInstall) (engines.Source, error) {
	var what engines.Source
	if len(args) == 0 {
		place, err := s.foundEngine(ctx, o.yes)
		if err != nil {
			return what, err
		}
		what = engines.Source{Dir: place.Dir, Link: place.Link}
	} else {
		var err error
		if what, err = engines.From(args[0]); err != nil {
			return what, memory.Errorf(memory.Invalid, "%w", err)
		}
	}
	if err := engines.CheckName(o.name); err != nil {
		return what, engineError(err)
	}
	for _, path := range []*string{&what.Dir, &what.Archive} {
		if full, err := filepath.Abs(*path); err == nil && *path != "" {
			*path = full
		}
	}
	what.SHA256, what.Name, what.Replace = o.sha256, o.name, o.replace
	what.Link = what.Link || o.link
	return what, nil
}

// foundEngine is a known place that has libraries, if whoever sits here agrees to install
// them.
func (s *state) foundEngine(ctx context.Context, yes bool) (*engines.Place, error) {
	var looked []string
	var found []engines.Place
	for _, p := range engines.KnownPlaces() {
		looked = append(looked, p.Dir)
		switch {
		case p.Problem != "":
			s.note("passed over %s: %s", clean(p.Dir), clean(p.Problem))
		case p.Holds:
			found = append(found, p)
		}
	}
	if len(found) == 0 {
		return nil, memory.Errorf(memory.NotFound, "there is no llama.cpp in the places that are looked at (%s); "+
			"name a folder, an archive or an address, as emberd engine install --help shows", strings.Join(looked, ", "))
	}
	for _, p := range found {
		s.note("found %s: %s", clean(p.What), clean(p.Dir))
	}
	first := &found[0]
	if len(found) > 1 {
		s.note("the first of them is taken; emberd engine install PATH takes another")
	}
	if yes {
		return first, nil
	}
	if !s.interactive() {
		return nil, memory.Errorf(memory.Invalid, "nobody can be asked whether to install %s; say so with --yes", first.Dir)
	}
	switch agreed, err := s.agreed(ctx, "install it?"); {
	case err != nil:
		return nil, err
	case !agreed:
		s.note("nothing was installed")
		return nil, &exit{code: exitNothing}
	}
	return first, nil
}

// installEngine installs, shows what became of it, and says how to go on.
func (s *state) installEngine(ctx context.Context, c *config.Config, what engines.Source) error {
	var shown *progress
	doing := ""
	e, err := enginesOf(c).Install(ctx, what, func(now string, done, total int64) {
		if now != doing {
			if shown != nil {
				shown.done()
			}
			doing, shown = now, s.newTransfer(now)
		}
		shown.reached(done, total)
	})
	if shown != nil {
		shown.done()
	}
	if err != nil {
		return engineError(err)
	}
	row := rowOf(e)
	used, _ := engineDir(c) // which says on its own why there is none
	row.Used = used == e.Dir
	if s.json {
		return s.printJSON(row)
	}
	s.printEngineRow(&row)
	if row.Used {
		s.noteChosen(c, row.Name)
	} else {
		s.note("emberd engine use %s has it used", clean(row.Name))
	}
	s.note("emberd engine selftest tries it out")
	return nil
}

// chosenEngine is an engine by name or, without one, the one that settings choose.
func chosenEngine(c *config.Config, name string) (dir string, err error) {
	switch {
	case name != "":
		e, err := enginesOf(c).Intact(name)
		if err != nil {
			return "", engineError(err)
		}
		return e.Dir, nil
	case c.Embedding.Engine == noEngine:
		return "", memory.Errorf(memory.NotFound, "embedding.engine is none, so that no engine is used; name an installed one")
	default:
		dir, err = engineDir(c)
	}
	if err != nil {
		return "", engineError(err)
	}
	return dir, nil
}
