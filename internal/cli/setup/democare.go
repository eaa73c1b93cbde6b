package setup

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// beHealthy reports on the memories, and keeps one of two that say the same.
func (d *demo) beHealthy(ctx context.Context) error {
	return errors.Join(
		d.save(ctx, "lint", "The linter runs before every commit in the web client"),
		d.save(ctx, "linted", "The linter runs before every commit, in the web client."),
		d.expect("1  pair says nearly the same", "health")(ctx),
		d.expect("similarity 1.00", "health", "duplicates")(ctx),
		d.expect("is in the trash", "health", "merge", "@lint", "@linted")(ctx))
}

// decide lets the agents ask about two memories, and answers.
func (d *demo) decide(ctx context.Context) error {
	err := errors.Join(
		d.save(ctx, "parcels", "Parcels for the north leave the depot in Leith on Tuesdays"),
		d.save(ctx, "depot", "On Tuesdays the parcels for the north leave the depot in Leith"),
		d.expect("1 filed for review", "health", "consolidate", "--agent", "cluster")(ctx))
	if err != nil {
		return err
	}
	out, _, err := d.run(ctx, "review", "list", "--agent", "cluster")
	if err != nil {
		return err
	}
	item := regexp.MustCompile(`rev-[0-9a-f]{8}`).FindString(out)
	if item == "" {
		return fmt.Errorf("no review item is in: %s", strings.TrimSpace(out))
	}
	return errors.Join(
		d.expect("closed: merge", "review", "close", item, "merge")(ctx),
		d.expect("undid", "undo")(ctx))
}

// cleanUp plans a cleanup, carries it out and takes it back.
func (d *demo) cleanUp(ctx context.Context) error {
	all := []string{"health", "cleanup", "-c", "knowledge", "--mode", "full"}
	return errors.Join(
		d.save(ctx, "junk", "asdf asdf asdf"),
		d.expect("1 deletion", all...)(ctx),
		d.expect("to take it back", append(all, "--execute")...)(ctx),
		d.expect("undid cleanup", "undo")(ctx),
		d.expect("asdf", "show", "@junk")(ctx))
}
