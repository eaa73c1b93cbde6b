package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"emberd/internal/config"
	"emberd/internal/text/spelling"
	"emberd/memory"
)

// groupUse ends the usage of what only holds other commands. One with words and commands
// of its own, as eval, is no group.
const groupUse = " COMMAND"

func IsGroup(cmd *cobra.Command) bool { return strings.HasSuffix(cmd.Use, groupUse) }

// Group returns a command that only holds others.
func Group(name string, commands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: name}
	AsGroup(cmd)
	cmd.AddCommand(commands...)
	return cmd
}

// AsGroup makes a command that only holds others: alone it shows its help, and
// a word it does not know gets a suggestion.
func AsGroup(cmd *cobra.Command) {
	cmd.Use += groupUse
	cmd.DisableFlagsInUseLine = true
	cmd.Args = cobra.ArbitraryArgs
	cmd.SuggestionsMinimumDistance = 2
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		return NoCommand(cmd, args[0])
	}
}

// NoCommand is the error about a word that a group has no command for.
func NoCommand(group *cobra.Command, word string) error {
	return UnknownError(group, "command "+word, group.SuggestionsFor(word))
}

// HelpOnly shows the help of commands there are. Cobra shows that of the group when
// --help comes with another word, and calls that success. A command with others below it
// that takes arguments itself has its own help.
func (s *App) HelpOnly(show func(*cobra.Command, []string)) func(*cobra.Command, []string) {
	return func(cmd *cobra.Command, args []string) {
		if words := cmd.Flags().Args(); IsGroup(cmd) && len(words) > 0 {
			s.helpless = NoCommand(cmd, words[0])
			return
		}
		show(cmd, args)
	}
}

// UsageError is an error about how cmd was called.
func UsageError(cmd *cobra.Command, format string, args ...any) error {
	return memory.Errorf(memory.Invalid, "%s; run: %s --help", fmt.Sprintf(format, args...), cmd.CommandPath())
}

// UnknownError is an error about a misspelt name, with what it may mean.
func UnknownError(cmd *cobra.Command, what string, near []string) error {
	if len(near) == 0 {
		return UsageError(cmd, "unknown %s", what)
	}
	return memory.Errorf(memory.Invalid, "unknown %s; did you mean %s?", what, strings.Join(near, " or "))
}

// FlagError says what is wrong with a flag in the manner of all our errors.
func FlagError(cmd *cobra.Command, err error) error {
	if errors.Is(err, pflag.ErrHelp) {
		return err
	}
	if e, ok := errors.AsType[*pflag.NotExistError](err); ok {
		name := e.GetSpecifiedName()
		near := nearFlags(cmd, name)
		switch {
		case len(near) > 0:
			return UnknownError(cmd, "flag "+dashed(name), near)
		case strings.ContainsAny(name+e.GetSpecifiedShortnames(), " \t\n"):
			return dashedText(cmd)
		case strings.Contains(cmd.Use, "…"): // words, of which one may begin with a dash
			return memory.Errorf(memory.Invalid, "unknown flag %s; if it is text, put -- before the text, for "+
				"example: %s -- '- milk'", dashed(name), cmd.CommandPath())
		}
		return UnknownError(cmd, "flag "+dashed(name), nil)
	}
	if _, ok := errors.AsType[*pflag.InvalidSyntaxError](err); ok {
		return dashedText(cmd)
	}
	if e, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		return UsageError(cmd, "flag %s requires a value", dashed(e.GetSpecifiedName()))
	}
	if e, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return UsageError(cmd, "invalid value %s for --%s: %s", JsonText(e.GetValue()), e.GetFlag().Name,
			reason(e))
	}
	return UsageError(cmd, "%v", err)
}

// dashedText is the error about a text that was read as a flag.
func dashedText(cmd *cobra.Command) error {
	return memory.Errorf(memory.Invalid,
		"text starting with \"-\" was parsed as a flag; put -- before it, for example: %s -- '- milk'",
		cmd.CommandPath())
}

// reason is what a flag's value says is wrong, without the names of Go's
// functions.
func reason(e *pflag.InvalidValueError) string {
	if m, ok := errors.AsType[*memory.Error](e); ok {
		return m.Message
	}
	switch e.GetFlag().Value.Type() {
	case "int", "float64":
		return "must be a number"
	case "bool":
		return "must be true or false"
	}
	return e.Unwrap().Error()
}

func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// nearFlags returns the flags of cmd that a misspelt name may mean.
func nearFlags(cmd *cobra.Command, name string) []string {
	var near []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && len(name) > 2 && (strings.HasPrefix(f.Name, name) || spelling.Distance(f.Name, name) <= 2) {
			near = append(near, "--"+f.Name)
		}
	})
	return near
}

// NoArgs refuses arguments.
var NoArgs = ArgCount(0, 0, "")

// Command returns a command that runs run. complete, which may be nil, completes its arguments.
func Command(use string, args cobra.PositionalArgs, complete cobra.CompletionFunc,
	run func(cmd *cobra.Command, args []string) error) *cobra.Command {
	return &cobra.Command{Use: use, Args: args, ValidArgsFunction: complete, RunE: run}
}

// Configured reads the settings before it calls run.
func (s *App) Configured(run func(cmd *cobra.Command, args []string, c *config.Config) error) func(*cobra.Command,
	[]string) error {
	return func(cmd *cobra.Command, args []string) error {
		c, err := s.Load()
		if err != nil {
			return err
		}
		return run(cmd, args, c)
	}
}

// ArgCount checks the number of arguments and names them when it is wrong.
func ArgCount(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return UsageError(cmd, "%s requires %s", cmd.CommandPath(), what)
		case most >= 0 && len(args) > most && most == 0:
			return UsageError(cmd, "%s accepts no arguments, received %q", cmd.CommandPath(), args[0])
		case most >= 0 && len(args) > most:
			return UsageError(cmd, "%s accepts %s, received %d arguments", cmd.CommandPath(), what, len(args))
		}
		return nil
	}
}
