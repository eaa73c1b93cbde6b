package setup

import (
	"context"
	"errors"

	"emberd/internal/cli"
)

const staging = "The staging server runs Postgres 15"

// knowOnce adds a fact twice, from two places.
func (d *demo) knowOnce(ctx context.Context) error {
	return errors.Join(
		d.keep(ctx, "old", "save", "--if-new", staging, "--from", "deploy.md:12"),
		d.expect("learned 2 times", "save", "--if-new", staging, "--quote", "image: postgres:15")(ctx),
		d.expect("confirmed", "search", "--check", staging)(ctx))
}

// disagree asks for a later fact before it is added in the place of the earlier.
func (d *demo) disagree(ctx context.Context) error {
	const now = "The staging server runs Postgres 16"
	return errors.Join(
		d.code(ctx, cli.ExitConflict, "search", "--check", now),
		d.keep(ctx, "new", "save", "--if-new", now),
		d.expect("edited", "edit", "@new", "--supersedes", "@old")(ctx),
		d.expect("superseded by", "search", "--all-kinds", "staging server")(ctx))
}
