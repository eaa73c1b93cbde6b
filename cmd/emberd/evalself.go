package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"emberd/internal/config"
	"emberd/internal/eval"
	"emberd/memory"
	"emberd/op"
	"emberd/vault"
)

type evalSelfOptions struct {
	vault string
	most  int
	seed  uint64
	apply bool
}

// mostOwn bounds the questions of emberd eval self, each of which is asked for every
// setting that is tried.
const mostOwn = 5000

func (s *state) evalSelfCommand() *cobra.Command {
	var o evalSelfOptions
	cmd := &cobra.Command{
		Use:   "self",
		Short: "Grade search by your own links and questions",
		Long: `Grade search by what you wrote yourself. The text of a link stands for the note
that it leads to, an alias for its note, a heading or a line that asks something
for the note or memory that it is in: these are questions with known answers,
where they leave no doubt. The running daemon is asked a sample of them with its
present settings and with others, one at a time. Nothing is changed or counted.

What a setting does is chosen by one half of the questions and confirmed by the
other. It is proposed only where its gain is beyond chance: where 95 of 100
samples would show one. --apply writes what is proposed to the config file.

Headings and questions stand in what answers them word for word, and some texts
hold its name: words find these easily, so each class is shown by itself.

--vault DIR grades a folder of notes by a daemon of its own, with the settings
that emberd ships with and what --set changes.`,
		Example: `  emberd eval self
  emberd eval self --apply
  emberd eval self --vault ~/Notes --set embedding.model=~/models/minilm.gguf`,
		Annotations: exits(endings{exitNothing: "there is nothing to ask", exitDisk: "the config file cannot be written"}),
		Args:        takes(0, 0, ""),
		RunE:        func(cmd *cobra.Command, _ []string) error { return s.evalSelf(cmd.Context(), &o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.vault, "vault", "", "grade the notes in `DIR` instead, without a daemon")
	f.IntVar(&o.most, "sample", 300, "ask at most `N` questions, 1 to 5,000")
	f.Uint64Var(&o.seed, "seed", 1, "draw the sample by this `NUMBER`")
	f.BoolVar(&o.apply, "apply", false, "write the proposed settings to the config file")
	return cmd
}

func (s *state) evalSelf(ctx context.Context, o *evalSelfOptions) error {
	switch {
	case o.most < 1 || o.most > mostOwn:
		return memory.Errorf(memory.Invalid, "--sample is %d, outside 1 to %s", o.most, grouped(mostOwn))
	case o.vault != "" && o.apply:
		return memory.Errorf(memory.Invalid, "--apply is for the settings of your daemon, which --vault leaves out; leave one of them out")
	case o.vault != "":
		return s.inEvalHome(false, func(home string) error { return s.selfVault(ctx, o, home) })
	}
	client, err := s.connect()
	if err != nil {
		return err
	}
	c, err := s.load()
	if err != nil {
		return err
	}
	return s.gradeSelf(ctx, o, client, c)
}

// selfVault grades a folder by a daemon of its own in home.
func (s *state) selfVault(ctx context.Context, o *evalSelfOptions, home string) (err error) {
	dir, err := filepath.Abs(o.vault)
	if info, statErr := os.Stat(dir); err != nil || statErr != nil || !info.IsDir() {
		return memory.Errorf(memory.Invalid, "%s is not a folder; name one with notes", o.vault)
	}
	if _, err := s.manifest(dir, home); err != nil { // which refuses settings of places
		return err
	}
	c, err := config.Load(config.Source{Flags: s.set, Env: foreignFree(s.env), Home: home, UserHome: home})
	if err != nil {
		return memory.Errorf(memory.Invalid, "%w", err)
	}
	run := &evalRun{s: s, set: &eval.Set{Unit: eval.Notes}}
	if run.daemon, err = s.newTemporary(home); err != nil {
		return err
	}
	flags, err := s.evalFlags()
	if err != nil {
		return err
	}
	if err := run.daemon.start(ctx, append(flags, "--vault", dir)...); err != nil {
		return ended(ctx, err)
	}
	defer func() { err = cmp.Or(err, run.daemon.stop(syscall.SIGTERM)) }()
	if err := run.indexed(ctx); err != nil {
		return err
	}
	if err := run.embedded(ctx); err != nil {
		return err
	}
	return s.gradeSelf(ctx, o, run.daemon.Client, c)
}

// gradeSelf asks, and tells what came of it.
func (s *state) gradeSelf(ctx context.Context, o *evalSelfOptions, client op.Invoker, c *config.Config) error {
	st, err := op.Status.Call(ctx, client, &op.StatusRequest{})
	if err != nil {
		return err
	}
	items, err := ownItems(ctx, client, c, st)
	if err != nil {
		return err
	}
	own := eval.OwnQuestions(items, o.most, o.seed)
	if len(own.Questions) == 0 {
		return &exit{code: exitNothing, err: fmt.Errorf("there is nothing to ask: no link, alias, heading or question of yours stands for one note or memory alone; " +
			"link notes by other words than their names, or give them aliases, and try again")}
	}
	g := &selfRun{s: s, client: client, own: own, weights: own.Weigh(), held: own.HeldOut(o.seed), seed: o.seed, meaning: st.Meaning}
	report, err := g.grade(ctx, c)
	if err != nil {
		return err
	}
	if o.apply {
		if err := s.applyProposals(c, report); err != nil {
			return err
		}
	}
	if s.json {
		return s.printJSON(report)
	}
	s.printSelf(report)
	return nil
}

// ownItems reads what stands for something in the vault and in memories.
func ownItems(ctx context.Context, client op.Invoker, c *config.Config, st *op.StatusResult) ([]eval.Item, error) {
	var items []eval.Item
	for _, at := range st.Vaults {
		v, err := vault.Open(at.Path, &vault.Options{Ignore: slices.Concat(c.Vault.Ignore, []string{c.Vault.ArchiveFolder + "/"})})
		if err != nil {
			return nil, err
		}
		found, err := knownItems(ctx, v)
		if err := cmp.Or(err, v.Close()); err != nil {
			return nil, err
		}
		items = append(items, found...)
	}
	asked, err := askedMemories(ctx, client)
	return append(items, asked...), err
}

// askedMemories are the lines of memories that ask something. An export counts as no
// access, and what it gives is not taken for recalled.
func askedMemories(ctx context.Context, client op.Invoker) ([]eval.Item, error) {
	var items []eval.Item
	req := &op.ExportRequest{}
	for first := true; first || req.Cursor != ""; first = false {
		page, err := op.Export.Call(ctx, client, req)
		if err != nil {
			return nil, err
		}
		for _, r := range page.Records {
			var content, stage string
			if !r.Forgotten.IsZero() || json.Unmarshal(r.Fields["content"], &content) != nil {
				continue
			}
			if json.Unmarshal(r.Fields["stage"], &stage) == nil && memory.Stage(stage).Cold() {
				continue // of which only a sentence is left
			}
			for _, line := range eval.Asking(content) {
				items = append(items, eval.Item{Kind: eval.Asked, Text: line, Note: string(r.ID), Memory: true})
			}
		}
		req.Cursor = page.NextCursor
	}
	return items, nil
}
