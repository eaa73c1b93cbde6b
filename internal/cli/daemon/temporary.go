package daemon

import (
	"fmt"
	"os"

	"emberd/internal/cli"
	"emberd/internal/tempdaemon"
)

// NewTemporary prepares a daemon of this program in home, which exists.
func NewTemporary(s *cli.App, home string) (*tempdaemon.Daemon, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("cannot find the emberd program: %w", err)
	}
	return tempdaemon.New(exe, os.Args[0], home, cli.BuildVersion(), s.Env), nil
}
