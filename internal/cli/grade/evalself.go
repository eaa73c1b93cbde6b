package grade

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/internal/cli/daemon"
	"emberd/internal/config"
	"emberd/internal/eval"
	"emberd/internal/tempdaemon"
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

// maxOwn bounds the questions of emberd eval self, each of which is asked for every
// setting that is tried.
const maxOwn = 5000

func evalSelfCommand(s *cli.App) *cobra.Command {
	var o evalSelfOptions
	cmd := cli.Command("self", cli.NoArgs, nil,
		func(cmd *cobra.Command, _ []string) error { return evalSelf(cmd.Context(), s, &o) })
	f := cmd.Flags()
	f.StringVar(&o.vault, "vault", "", "")
	f.IntVar(&o.most, "sample", 300, "")
	f.Uint64Var(&o.seed, "seed", 1, "")
	f.BoolVar(&o.apply, "apply", false, "")
	return cmd
}

func evalSelf(ctx context.Context, s *cli.App, o *evalSelfOptions) error {
	switch {
	case o.most < 1 || o.most > maxOwn:
		return memory.Errorf(memory.Invalid, "--sample %d is out of range (1 to %s)", o.most, cli.Grouped(maxOwn))
	case o.vault != "" && o.apply:
		return memory.Errorf(memory.Invalid, "--apply and --vault cannot be combined")
	case o.vault != "":
		return selfVault(ctx, s, o)
	}
	client, err := s.Connect()
	if err != nil {
		return err
	}
	c, err := s.Load()
	if err != nil {
		return err
	}
	return gradeSelf(ctx, s, o, client, c)
}

// selfVault grades a folder by a daemon of its own in a temporary folder.
func selfVault(ctx context.Context, s *cli.App, o *evalSelfOptions) (err error) {
	dir, err := filepath.Abs(o.vault)
	if info, statErr := os.Stat(dir); err != nil || statErr != nil || !info.IsDir() {
		return memory.Errorf(memory.Invalid, "%s is not a folder; pass a folder with notes", o.vault)
	}
	own, err := s.Load()
	if err != nil {
		return err
	}
	settings, err := tempdaemon.Settings(s.Set, own)
	if err != nil {
		return err
	}
	home, err := os.MkdirTemp("", "emberd-eval-")
	if err != nil {
		return fmt.Errorf("cannot create a folder for the evaluation: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(home)) }()
	c, err := config.Load(config.Source{Flags: s.Set, Env: cli.ForeignFree(s.Env), Home: home, UserHome: home})
	if err != nil {
		return memory.Errorf(memory.Invalid, "%w", err)
	}
	daemon, err := daemon.NewTemporary(s, home)
	if err != nil {
		return err
	}
	if err := daemon.Start(ctx, append(tempdaemon.Flags(settings), "--vault", dir)...); err != nil {
		return cmp.Or(ctx.Err(), error(&cli.Exit{Code: cli.ExitNoDaemon, Err: err}))
	}
	defer func() { err = cmp.Or(err, daemon.Stop(syscall.SIGTERM)) }()
	if err := daemon.WaitIndexed(ctx); err != nil {
		return err
	}
	if _, err := daemon.WaitEmbedded(ctx); err != nil {
		return err
	}
	return gradeSelf(ctx, s, o, daemon.Client, c)
}

// gradeSelf asks, and tells what came of it.
func gradeSelf(ctx context.Context, s *cli.App, o *evalSelfOptions, client op.Invoker, c *config.Config) error {
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
		return &cli.Exit{Code: cli.ExitNothing,
			Err: fmt.Errorf("no queries found: no link, alias, heading or question has exactly one answer; " +
				"add aliases, or links whose text is not the name of the note, and try again")}
	}
	g := &selfRun{s: s, client: client, own: own, weights: own.Weigh(), held: own.HeldOut(o.seed), seed: o.seed,
		meaning: st.Meaning}
	report, err := g.grade(ctx, c)
	if err != nil {
		return err
	}
	if o.apply {
		if err := applyProposals(s, c, report); err != nil {
			return err
		}
	}
	return s.Answer(report, func() { printSelf(s, report) })
}

// ownItems reads what stands for something in the vault and in memories.
func ownItems(ctx context.Context, client op.Invoker, c *config.Config, st *op.StatusResult) ([]eval.Item, error) {
	var items []eval.Item
	for _, at := range st.Vaults {
		v, err := vault.Open(at.Path, &vault.Options{Ignore: slices.Concat(c.Vault.Ignore,
			[]string{c.Vault.ArchiveFolder + "/"})})
		if err != nil {
			return nil, err
		}
		found, err := eval.KnownItems(ctx, v)
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
