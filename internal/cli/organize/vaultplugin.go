package organize

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/internal/obsidian"
	"emberd/memory"
)

func vaultPluginCommand(s *cli.App) *cobra.Command {
	return cli.Group("plugin", pluginInstallCommand(s), pluginRemoveCommand(s))
}

// pluginFlags are those of both commands.
type pluginFlags struct {
	from, config string
	force, yes   bool
}

// pluginChange is the answer of both commands.
type pluginChange struct {
	Path    string   `json:"path"`
	Version string   `json:"version,omitempty"` // that is there now
	Before  string   `json:"before,omitempty"`  // that was there
	Kept    []string `json:"kept,omitempty"`    // files that emberd did not write, or that were changed since
}

func pluginInstallCommand(s *cli.App) *cobra.Command {
	var o pluginFlags
	cmd := cli.Command("install --from FOLDER [VAULT]", cli.ArgCount(0, 1, "one vault"), nil,
		func(cmd *cobra.Command, args []string) error {
			if o.from == "" {
				return cli.UsageError(cmd, "missing --from; run \"make plugin\" in the source code of "+
					"emberd, and set --from to the folder that this command creates")
			}
			return withPluginFolder(s, &o, args, func(f *obsidian.PluginFolder) error {
				return installPlugin(cmd.Context(), s, &o, f)
			})
		})
	cmd.Flags().StringVar(&o.from, "from", "", "")
	cmd.Flags().BoolVar(&o.force, "force", false, "")
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "")
	cmd.Flags().StringVar(&o.config, "config-folder", ".obsidian", "")
	return cmd
}

func pluginRemoveCommand(s *cli.App) *cobra.Command {
	var o pluginFlags
	cmd := cli.Command("remove [VAULT]", cli.ArgCount(0, 1, "one vault"), nil,
		func(cmd *cobra.Command, args []string) error {
			return withPluginFolder(s, &o, args, func(f *obsidian.PluginFolder) error {
				return removePlugin(cmd.Context(), s, &o, f)
			})
		})
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "")
	cmd.Flags().StringVar(&o.config, "config-folder", ".obsidian", "")
	return cmd
}

// withPluginFolder calls with the plugin's folder in the named vault, or in the only one of the settings.
func withPluginFolder(s *cli.App, o *pluginFlags, args []string, act func(*obsidian.PluginFolder) error) error {
	vault, err := namedVault(s, args)
	if err != nil {
		return err
	}
	f, err := obsidian.OpenPluginFolder(vault, o.config)
	if err != nil {
		return err
	}
	defer f.Close()
	return act(f)
}

func namedVault(s *cli.App, args []string) (string, error) {
	if len(args) == 1 {
		return filepath.Abs(args[0])
	}
	c, err := s.Load()
	if err != nil {
		return "", err
	}
	if len(c.Vaults) == 0 {
		return "", memory.Errorf(memory.NotFound, "no vault is configured; pass the folder of a vault")
	}
	return c.Vaults[0], nil
}

func installPlugin(ctx context.Context, s *cli.App, o *pluginFlags, f *obsidian.PluginFolder) error {
	p, err := obsidian.ReadPlugin(o.from)
	if err != nil {
		return err
	}
	before, err := replaceable(o, f, p)
	if err != nil {
		return err
	}
	question := fmt.Sprintf("write main.js, manifest.json and styles.css of version %s into %s?", p.Version,
		cli.Flat(f.Path))
	if err := agreedTo(ctx, s, o, question); err != nil {
		return err
	}
	if err := f.Install(p); err != nil {
		return err
	}
	return printPlugin(s, &pluginChange{Path: f.Path, Version: p.Version, Before: before})
}

// replaceable returns the version that is there, "" for none, unless it is one that only --force replaces.
func replaceable(o *pluginFlags, f *obsidian.PluginFolder, p *obsidian.Plugin) (string, error) {
	version, ours, err := f.Installed()
	if err != nil || o.force {
		return version, err
	}
	changed, err := f.Changed(p)
	switch {
	case err != nil:
		return "", err
	case version == "" && len(changed) == 0:
		return "", nil
	case version != "" && !ours:
		return "", memory.Errorf(memory.Conflict,
			"this command did not install plugin version %s in %s; to replace the plugin, use --force", version, f.Path)
	case obsidian.Older(p.Version, version):
		return "", memory.Errorf(memory.Conflict,
			"plugin version %s is installed, but version %s is older; to install the older version, use --force",
			version, p.Version)
	case len(changed) > 0:
		return "", memory.Errorf(memory.Conflict,
			"these files are not from emberd, or were changed: %s in %s; to replace them, use --force",
			strings.Join(changed, ", "), f.Path)
	}
	return version, nil
}

func removePlugin(ctx context.Context, s *cli.App, o *pluginFlags, f *obsidian.PluginFolder) error {
	version, _, err := f.Installed()
	if err != nil {
		return err
	}
	if err := agreedTo(ctx, s, o, fmt.Sprintf("remove the plugin from %s?", cli.Flat(f.Path))); err != nil {
		return err
	}
	kept, err := f.Remove()
	if err != nil {
		return err
	}
	return printPlugin(s, &pluginChange{Path: f.Path, Before: version, Kept: kept})
}

// agreedTo asks on a terminal. Elsewhere it requires --yes.
func agreedTo(ctx context.Context, s *cli.App, o *pluginFlags, question string) error {
	if o.yes {
		return nil
	}
	if !s.Interactive() {
		return memory.Errorf(memory.Invalid, "cannot ask for confirmation without a terminal; to confirm, use --yes")
	}
	agreed, err := s.Agreed(ctx, question)
	if err == nil && !agreed {
		s.Note("nothing was changed")
		err = &cli.Exit{Code: cli.ExitNothing}
	}
	return err
}

func printPlugin(s *cli.App, c *pluginChange) error {
	if s.JSON {
		return s.PrintJSON(c)
	}
	if c.Version == "" {
		s.Printf("removed the plugin from %s\n", cli.Flat(c.Path))
		if len(c.Kept) > 0 {
			s.Note("did not remove these files, because they are not from emberd or were changed: %s",
				cli.Flat(strings.Join(c.Kept, ", ")))
		}
		return nil
	}
	s.Printf("installed plugin version %s in %s\n", c.Version, cli.Flat(c.Path))
	if c.Before == "" {
		s.Note("to use the plugin, open Settings > Community plugins in " +
			"Obsidian, turn on community plugins, and enable Emberd")
		return nil
	}
	s.Note("to load this version, restart Obsidian, or turn Emberd off and on in Settings > Community plugins")
	return nil
}
