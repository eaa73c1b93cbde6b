package setup

import (
	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/op"
)

func primaryDeviceCommand(s *cli.App) *cobra.Command {
	keeper := cli.Command("primary-device", cli.NoArgs, nil, func(cmd *cobra.Command, _ []string) error {
		return cli.Show(cmd.Context(), s, op.Keeper, &op.KeeperRequest{}, printKeeper)
	})
	keeper.AddCommand(cli.Command("here", cli.NoArgs, nil, func(cmd *cobra.Command, _ []string) error {
		return cli.Show(cmd.Context(), s, op.KeeperHere, &op.KeeperHereRequest{}, printKeeper)
	}))
	return keeper
}

func printKeeper(s *cli.App, r *op.KeeperResult) {
	name, why := cli.DeviceName(r.Device, r.Name), "primary, because no other device seen within 14 days has a lower ID"
	if r.Here {
		name += ", this device"
	}
	if !r.Claimed.IsZero() {
		why = "primary since " + r.Claimed.Local().Format("2006-01-02 15:04")
	}
	s.Printf("%s\n", name)
	s.Note("%s", why)
}
