//go:build !linux

package daemon

import (
	"context"

	"emberd/internal/config"
)

// exitOutside is the exit code of a daemon whose keeper is to start it again.
const exitOutside = 88

// keeps reports whether a daemon with these settings runs below a keeper: only a sandbox needs one.
func keeps(*config.Config) bool { return false }

func afterKeeper(context.Context, string) {}

func keep(context.Context, *config.Config) error { return nil }
