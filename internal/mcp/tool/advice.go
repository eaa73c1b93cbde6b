package tool

import "regexp"

// A Replacement is a command that messages of errors tell people to type, as a regular
// expression, and the words that a model reads instead: a tool that its profile lists, or
// that its user can type the command.
type Replacement struct{ Command, Tool string }

// WithoutAgain returns the replacements for tools without a parameter again.
func WithoutAgain() []Replacement {
	return []Replacement{
		{`, or save it again with --again \(again\)`, ""},
		{`save it again with --again \(again\)`, "use other words to save it"},
		{`restore it with (emberd rekindle [0-9a-f]+)`, "the user can restore it with: $1"},
	}
}

// Advice returns a function that applies replacements to a message, in their order, and then
// those that hold for every profile.
func Advice(all ...Replacement) func(message string) string {
	all = append(all, Replacement{
		`remove it, or set allow_secret \(--allow-secret\) to save it anyway`, "remove it",
	}, Replacement{`--[a-z-]+ \(([a-z_]+)\)`, "$1: true"})
	commands := make([]*regexp.Regexp, len(all))
	for i, r := range all {
		commands[i] = regexp.MustCompile(r.Command)
	}
	return func(message string) string {
		for i, command := range commands {
			message = command.ReplaceAllString(message, all[i].Tool)
		}
		return message
	}
}
