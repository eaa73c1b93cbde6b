package clients

import (
	"cmp"
	"encoding/json"

	"emberd/internal/jsonedit"
	"emberd/internal/text"
)

// FoundHook is a hook of emberd in a client's file.
type FoundHook struct {
	Event   string // as the client calls it, "" for a file that is all emberd's
	Program string // that the client starts
}

// FoundHooks returns the hooks of emberd in a file, in its order; none in one that is missing or malformed.
func (c *Client) FoundHooks(file string) (all []FoundHook) {
	ch, err := read(file)
	if err != nil || !c.hasHooks(ch.before) {
		return nil
	}
	if m := pluginCommand().FindSubmatch(ch.before); m != nil {
		return []FoundHook{{Program: string(m[1])}}
	}
	events, err := jsonedit.Keys(ch.before, c.dialect, "hooks")
	if err != nil {
		return nil
	}
	for _, event := range events {
		elements, err := jsonedit.Elements(ch.before, c.dialect, "hooks", event)
		if err != nil {
			continue
		}
		for _, element := range elements {
			all = append(all, hooksIn(event, element)...)
		}
	}
	return all
}

// pluginCommand is the command in the plugin for OpenCode.
var pluginCommand = text.Pattern(`const command = \["([^"]+)", ?"hook",`)

// hooksIn returns the hooks of emberd in an element of an event's list.
func hooksIn(event string, element []byte) (all []FoundHook) {
	type command struct {
		hookCommand
		Exec string `json:"exec"`
	}
	var e struct {
		command
		Hooks []command `json:"hooks"`
	}
	if json.Unmarshal(element, &e) != nil {
		return nil
	}
	for _, h := range append(e.Hooks, e.command) {
		if h.Command = cmp.Or(h.Command, h.Exec); h.isOurs() {
			all = append(all, FoundHook{event, h.program()})
		}
	}
	return all
}

// program is what a hook of emberd starts.
func (h hookCommand) program() string {
	if len(h.Args) > 0 {
		return h.Command
	}
	m := hookProgram().FindStringSubmatch(h.Command)
	return cmp.Or(m[1], m[2], m[3])
}

// hookProgram is the program in a line of shell that [hookLine] takes for a hook of emberd.
var hookProgram = text.Pattern(`(?:'([^']*)'|"([^"]*)"|([^\s'"]*)) hook(?: |$)`)
