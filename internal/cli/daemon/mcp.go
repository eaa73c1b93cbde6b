package daemon

import (
	"log/slog"
)

// Quiet raises the level info to warn: clients show their users all that a server writes to
// stderr as an error.
func Quiet(level string) slog.Level {
	if level == "info" {
		return slog.LevelWarn
	}
	return LevelOf(level)
}
