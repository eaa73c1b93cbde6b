package main

import (
	"github.com/spf13/cobra"

	"emberd/op"
)

func (s *state) keeperCommand() *cobra.Command {
	keeper := &cobra.Command{
		Use:   "keeper",
		Short: "Tell which device does the work that only one may do",
		Long: `Tell which of the devices that share the data folder is the keeper: the one
that does in the background what only one may do, such as writing notes into a
shared vault. It is the device that said "keeper here" last; if none did, or
that one was not seen for 14 days, the one with the lowest id of those that
were.`,
		Example: `  emberd keeper
  emberd keeper here`,
		Annotations: exits(endings{exitNoDaemon: ""}),
		Args:        takes(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			res, err := call(cmd.Context(), s, op.Keeper, &op.KeeperRequest{})
			if err != nil {
				return err
			}
			return s.printKeeper(res)
		},
	}
	keeper.AddCommand(s.keeperHereCommand())
	return keeper
}

func (s *state) keeperHereCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "here",
		Short: "Make this device the keeper",
		Long: `Make this device the keeper. The other devices follow when the sync tool has
carried the file that says so to them.`,
		Example:     `  emberd keeper here`,
		Annotations: exits(endings{exitNoDaemon: ""}),
		Args:        takes(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			res, err := call(cmd.Context(), s, op.KeeperHere, &op.KeeperHereRequest{})
			if err != nil {
				return err
			}
			return s.printKeeper(res)
		},
	}
}

func (s *state) printKeeper(r *op.KeeperResult) error {
	if s.json {
		return s.printJSON(r)
	}
	name, why := deviceName(r.Device, r.Name), "it has the lowest id of the devices seen within 14 days"
	if r.Here {
		name += ", this device"
	}
	if !r.Claimed.IsZero() {
		why = "it was made the keeper on " + r.Claimed.Local().Format("2006-01-02 15:04")
	}
	s.printf("%s\n", name)
	s.note("%s", why)
	return nil
}

// deviceName is a device's id with the name of its host, which a file says that
// anybody may have written.
func deviceName(id, host string) string {
	if host == "" {
		return clean(id)
	}
	return clean(id) + " (" + clean(host) + ")"
}
