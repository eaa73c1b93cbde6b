package tool

import "regexp"

// A Replacement is a command that messages of errors tell people to type, as a regular
// expression, and the words that a model reads instead: a tool that its profile lists, or
// that its user can type the command.
type Replacement struct{ Command, Tool string }

// WithoutAgain returns the replacements for tools without a parameter again.
func WithoutAgain() []Replacement {
	return []Replacement{
		{`(rekindle [0-9a-f]+); to save the text again, use --again \(again\)`, "$1"},
		{`to save the text again, use --again \(again\)`, "to save the text, use other words"},
		{`restore the memory, run (emberd rekindle [0-9a-f]+)`, "restore the memory, the user can run: $1"},
		{`restore it with (emberd rekindle [0-9a-f]+)`, "the user can restore it with: $1"},
	}
}

// Advice returns a function that applies replacements to a message, in their order, and then
// those that hold for every profile.
func Advice(all ...Replacement) func(message string) string {
	all = append(all, Replacement{
		`(, or|;) to (save|write) (it|the text) anyway, set allow_secret \(--allow-secret\)`, "",
	}, Replacement{`to create a (new )?token, run: emberd agent`, "ask the user to run: emberd agent"},
		Replacement{`--[a-z-]+ \(([a-z_]+)\)`, "$1: true"})
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
