package main

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

// buildVersion names this build: what the linker was told, else what the Go
// command knows, else "devel".
func buildVersion() string {
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

func (s *state) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Tell the versions of this program and of the daemon",
		Long: `Tell the versions of this program and of the daemon that answers, if any. The
two fit when their protocols are equal.`,
		Example:     `  emberd version --json | jq -r .client.version`,
		Annotations: exits(nil),
		Args:        takes(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			v := versions{Client: op.VersionResult{Version: buildVersion(), Protocol: op.Protocol, Go: runtime.Version()}}
			daemon, err := call(cmd.Context(), s, op.Version, &op.VersionRequest{})
			if err == nil {
				v.Daemon = daemon
			}
			if s.json {
				return s.printJSON(v)
			}
			s.row("emberd", versionText(&v.Client))
			if err != nil {
				s.row("daemon", clean(err.Error()))
				return nil
			}
			s.row("daemon", versionText(daemon)+fmt.Sprintf(", process %d", daemon.PID))
			return nil
		},
	}
}

func versionText(v *op.VersionResult) string {
	return fmt.Sprintf("%s, protocol %d, %s", v.Version, v.Protocol, v.Go)
}
