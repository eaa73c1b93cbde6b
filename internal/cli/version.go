package cli

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"emberd/op"
)

// version is set by the linker; a plain go build leaves it empty.
var version string

// BuildVersion names this build: what the linker was told, else what the Go
// command knows, else "devel".
func BuildVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "(devel)" {
		return cmp.Or(version, info.Main.Version, "devel")
	}
	return cmp.Or(version, "devel")
}

// versions is what the version command prints with --json.
type versions struct {
	Client op.VersionResult  `json:"client"`
	Daemon *op.VersionResult `json:"daemon"` // null when none answers
}

func VersionCommand(s *App) *cobra.Command {
	return Command("version", ArgCount(0, 0, ""), nil, func(cmd *cobra.Command, _ []string) error {
		v := versions{Client: op.VersionResult{Version: BuildVersion(), Protocol: op.Protocol,
			Go: runtime.Version()}}
		daemon, err := Call(cmd.Context(), s, op.Version, &op.VersionRequest{})
		if err == nil {
			v.Daemon = daemon
		}
		if s.JSON {
			return s.PrintJSON(v)
		}
		s.Row("emberd", VersionText(&v.Client))
		if err != nil {
			s.Row("daemon", Clean(err.Error()))
			return nil
		}
		s.Row("daemon", VersionText(daemon)+fmt.Sprintf(", process %d", daemon.PID))
		return nil
	})
}

func VersionText(v *op.VersionResult) string {
	return fmt.Sprintf("%s, protocol %d, %s", v.Version, v.Protocol, v.Go)
}
