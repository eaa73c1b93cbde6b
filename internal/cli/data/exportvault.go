package data

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"

	"github.com/spf13/cobra"

	"emberd/engine/promote"
	"emberd/internal/cli"
	"emberd/internal/notefolder"
	"emberd/memory"
	"emberd/op"
	"emberd/vault"
)

func exportVaultCommand(s *cli.App) *cobra.Command {
	x := &vaultExport{s: s}
	cmd := cli.Command("vault FOLDER", cli.ArgCount(1, 1, "one folder"), nil,
		func(cmd *cobra.Command, args []string) error { return x.run(cmd.Context(), args[0]) })
	x.part.add(cmd)
	return cmd
}

// vaultExport writes all memories as notes. It reads all twice, for a note links to others
// by names that depend on all of them.
type vaultExport struct {
	s      *cli.App
	part   part
	folder *notefolder.Folder
	names  map[memory.ID]string
	spared map[memory.ID]string // names of notes that stay, of memories that are not in the part
	texts  archivedTexts
	left   int // memories for which no name is free
}

func (x *vaultExport) run(ctx context.Context, dir string) error {
	path, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if err := outsideVaults(ctx, x.s, path); err != nil {
		return err
	}
	if err := x.part.choose(ctx, x.s); err != nil {
		return err
	}
	wanted, err := x.wanted(ctx) // nothing is made if nobody answers
	if err != nil {
		return err
	}
	if x.folder, err = notefolder.Open(path); err != nil {
		return onDisk(err)
	}
	defer x.folder.Close()
	if err := onDisk(x.write(ctx, wanted)); err != nil {
		return err
	}
	return x.print(dir, path)
}

// outsideVaults refuses a folder in a vault that is followed: each exported note would become the note of its memory.
func outsideVaults(ctx context.Context, s *cli.App, dir string) error {
	status, err := cli.Call(ctx, s, op.Status, &op.StatusRequest{})
	if err != nil {
		return err
	}
	for i := range status.Vaults {
		v := status.Vaults[i].Path
		if rel, err := filepath.Rel(cli.Linkless(v), cli.Linkless(dir)); v != "" && err == nil &&
			filepath.IsLocal(rel) {
			return memory.Errorf(memory.Invalid, "the folder is in the vault %s, where each exported note would "+
				"become the note of its memory; use a folder outside of the vault; to create notes for memories "+
				"in the vault, run: emberd promote ID", cli.Flat(v))
		}
	}
	return nil
}

// onDisk gives an error of the disk its exit code.
func onDisk(err error) error {
	if err != nil && cli.IsPathError(err) {
		return &cli.Exit{Code: cli.ExitDisk, Err: err}
	}
	return err
}

// wantedName is what the note of a memory is best called, and what it is called if that is
// taken.
type wantedName struct {
	id        memory.ID
	name, own string
}

// wanted is of all memories, whatever the part: a name is the same in each.
func (x *vaultExport) wanted(ctx context.Context) (all []wantedName, err error) {
	err = eachLive(ctx, x.s, new(part), func(m *memory.Memory, _ []memory.Relation) error {
		name, own := promote.NoteNames(m)
		all = append(all, wantedName{m.ID, name, own})
		return nil
	})
	return all, err
}

func (x *vaultExport) write(ctx context.Context, wanted []wantedName) error {
	if err := x.spare(wanted); err != nil {
		return err
	}
	if err := x.folder.Begin(x.choose(wanted)); err != nil {
		return err
	}
	err := eachLive(ctx, x.s, &x.part, func(m *memory.Memory, from []memory.Relation) error {
		name, chosen := x.names[m.ID]
		if !chosen {
			return nil // of which there is no name, or that came since
		}
		x.texts.restore(ctx, x.s, m)
		return x.folder.Write(name, promote.Note(m, x.links(from)))
	})
	if err != nil {
		return err
	}
	return x.folder.End()
}

// spare leaves notes alone whose memories live and are not in the part.
func (x *vaultExport) spare(wanted []wantedName) error {
	if x.part.all() {
		return nil
	}
	others := make(map[memory.ID]bool, len(wanted))
	for _, w := range wanted {
		others[w.id] = !x.part.has(w.id)
	}
	x.spared = make(map[memory.ID]string)
	return x.folder.Spare(func(name string, note []byte) bool {
		carried := vault.CarriedBy(note)
		if carried == nil || !others[memory.ID(carried.ID)] {
			return false
		}
		x.spared[memory.ID(carried.ID)] = name
		return true
	})
}

// choose gives each memory a name of its own. Of those that want the same one all have the
// end of their ids in theirs, and keep it, so that names do not depend on the order.
func (x *vaultExport) choose(wanted []wantedName) (names []string) {
	want := make(map[string]int, len(wanted))
	for _, w := range wanted {
		want[notefolder.Fold(w.name)]++
	}
	x.names = make(map[memory.ID]string, len(wanted))
	given := make(map[string]bool, len(wanted))
	for _, w := range wanted {
		if !x.part.has(w.id) {
			continue
		}
		name := w.name
		if want[notefolder.Fold(name)] > 1 || !x.folder.Free(name) || x.folder.Wrote(w.own) {
			name = w.own
		}
		if given[notefolder.Fold(name)] || !x.folder.Free(name) {
			x.left++
			continue
		}
		given[notefolder.Fold(name)] = true
		x.names[w.id], names = name, append(names, name)
	}
	return names
}

func (x *vaultExport) links(from []memory.Relation) (out []promote.NoteLink) {
	for _, r := range from {
		if to := cmp.Or(x.names[r.To], x.spared[r.To]); to != "" {
			out = append(out, promote.NoteLink{Type: r.Type, Kind: r.Kind, To: to})
		}
	}
	return out
}

func (x *vaultExport) print(dir, path string) error {
	done := &x.folder.Done
	if x.s.JSON {
		return x.s.PrintJSON(map[string]any{"folder": path, "notes": len(x.names), "written": done.Written,
			"unchanged": done.Unchanged,
			"removed":   done.Removed, "kept": done.Kept, "summaries": x.texts.missing, "left_out": x.left})
	}
	x.s.Printf("exported %s to %s: %s written, %s unchanged, %s removed\n",
		cli.Count(len(x.names), "memory", "memories"), dir, cli.Grouped(done.Written), cli.Grouped(done.Unchanged),
		cli.Grouped(done.Removed))
	for _, name := range done.Kept {
		x.s.Note("emberd kept %s, because the file changed after the export", cli.Flat(name))
	}
	x.texts.note(x.s)
	if x.left > 0 {
		return &cli.Exit{Code: cli.ExitNothing, Err: errors.New("cannot " +
			"export " + cli.Count(x.left, "memory", "memories") +
			": other files in the folder have the same names; choose another folder")}
	}
	return nil
}
