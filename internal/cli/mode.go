package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A mode is a command that a flag of another one selects: emberd show --why runs the command that
// explains a score. It is a hidden command below the other one, called what the flag is called.
// Flags begin with a hyphen, so the command line cannot name it in another way.

// onlyWith annotates a flag that has a meaning in one mode only.
const onlyWith = "emberd_only_with"

// AddMode makes other a mode of cmd. Spec is the name of its flag, and after a comma the short one;
// a name that ends in = is of a flag with a value, which becomes the last argument of other, behind
// the words that were given. Flags of other that cmd lacks are added to cmd; a flag that only one of
// them has is refused together with, or without, the mode.
func AddMode(cmd *cobra.Command, spec string, other *cobra.Command) {
	name, short, _ := strings.Cut(spec, ",")
	name, valued := strings.CutSuffix(name, "=")
	other.Hidden = true
	Rename(other, "--"+name)
	other.Flags().VisitAll(func(f *pflag.Flag) { shareFlag(cmd.Flags(), f, name) })
	if valued {
		cmd.Flags().StringP(name, short, "", "")
	} else {
		cmd.Flags().BoolP(name, short, false, "")
	}
	cmd.AddCommand(other)
	wrapMode(cmd, other, name, valued)
}

// Rename gives a command another name and keeps the rest of its usage.
func Rename(cmd *cobra.Command, name string) {
	_, rest, _ := strings.Cut(cmd.Use, " ")
	cmd.Use = strings.TrimSpace(name + " " + rest)
}

// shareFlag adds the flag of a mode to the flags of its command. If these have one of that name, its
// values are recorded, so that the mode can be given them.
func shareFlag(to *pflag.FlagSet, f *pflag.Flag, mode string) {
	own := to.Lookup(f.Name)
	switch {
	case own == nil:
		shown := *f // has the same value, and a help of its own
		shown.Annotations = map[string][]string{onlyWith: {mode}}
		to.AddFlag(&shown)
	case !isRecorded(own.Value):
		if own.DefValue == "[]" {
			own.DefValue = "" // help shows what is the zero value of a kind of flag it does not know
		}
		own.Value = &recorded{Value: own.Value}
	}
}

// recorded is the value of a flag that remembers the texts that it was set to.
type recorded struct {
	pflag.Value
	texts []string
}

func (r *recorded) Set(text string) error {
	r.texts = append(r.texts, text)
	return r.Value.Set(text)
}

func isRecorded(v pflag.Value) bool {
	_, is := v.(*recorded)
	return is
}

// wrapMode has cmd run other if the flag called name is given.
func wrapMode(cmd, other *cobra.Command, name string, valued bool) {
	args, run, complete := cmd.Args, cmd.RunE, cmd.ValidArgsFunction
	given := func(words []string) []string {
		if !valued {
			return words
		}
		value := cmd.Flags().Lookup(name).Value.String()
		if len(words) == 0 {
			return []string{value}
		}
		return []string{strings.Join(words, " "), value}
	}
	cmd.Args = func(cmd *cobra.Command, words []string) error {
		if !inMode(cmd, name) {
			return firstError(unfit(cmd, name), func() error { return checkArgs(args, cmd, words) })
		}
		return firstError(passFlags(cmd, other, name), func() error { return other.ValidateArgs(given(words)) })
	}
	cmd.RunE = func(cmd *cobra.Command, words []string) error {
		if !inMode(cmd, name) {
			return run(cmd, words)
		}
		other.SetContext(cmd.Context())
		return other.RunE(other, given(words))
	}
	if other.ValidArgsFunction == nil && complete == nil {
		return
	}
	cmd.ValidArgsFunction = func(cmd *cobra.Command, words []string, typed string) ([]cobra.Completion,
		cobra.ShellCompDirective) {
		offer := complete
		if inMode(cmd, name) {
			offer = other.ValidArgsFunction
		}
		if offer == nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return offer(cmd, words, typed)
	}
}

func firstError(err error, next func() error) error {
	if err != nil {
		return err
	}
	return next()
}

func checkArgs(check cobra.PositionalArgs, cmd *cobra.Command, words []string) error {
	if check == nil {
		return nil
	}
	return check(cmd, words)
}

// inMode reports whether the flag of a mode is given.
func inMode(cmd *cobra.Command, name string) bool {
	f := cmd.Flags().Lookup(name)
	return f.Changed && f.Value.String() != "false"
}

// unfit is the error about a flag that needs the mode called name, which is not given.
func unfit(cmd *cobra.Command, name string) (err error) {
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if modes := f.Annotations[onlyWith]; f.Changed && len(modes) > 0 && modes[0] == name && err == nil {
			err = UsageError(cmd, "--%s requires --%s", f.Name, name)
		}
	})
	return err
}

// passFlags sets the flags of a mode to what those of its command were set to, and refuses a flag
// that the mode does not have.
func passFlags(cmd, other *cobra.Command, name string) (err error) {
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		r, _ := f.Value.(*recorded)
		switch {
		case err != nil || !f.Changed || f.Name == name:
		case other.Flags().Lookup(f.Name) == nil:
			err = UsageError(cmd, "--%s and --%s cannot be combined", name, f.Name)
		case len(f.Annotations[onlyWith]) > 0:
			other.Flags().Lookup(f.Name).Changed = true
		case r != nil:
			for _, text := range r.texts {
				err = firstError(err, func() error { return other.Flags().Set(f.Name, text) })
			}
			if err != nil {
				err = FlagError(cmd, err)
			}
		}
	})
	return err
}

// IsMode reports whether cmd is a mode of the command above it.
func IsMode(cmd *cobra.Command) bool { return strings.HasPrefix(cmd.Name(), "--") }

// IsDocumented reports whether cmd has a page of its own: it is neither a mode nor another name.
func IsDocumented(cmd *cobra.Command) bool { return !IsMode(cmd) && StandsFor(cmd) == "" }

// Modes returns the modes of a command.
func Modes(cmd *cobra.Command) (modes []*cobra.Command) {
	for _, sub := range cmd.Commands() {
		if IsMode(sub) {
			modes = append(modes, sub)
		}
	}
	return modes
}

// InMode returns the mode of cmd that its flags select, or cmd itself.
func InMode(cmd *cobra.Command) *cobra.Command {
	for _, mode := range Modes(cmd) {
		if inMode(cmd, strings.TrimPrefix(mode.Name(), "--")) {
			return mode
		}
	}
	return cmd
}
