package clients

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"emberd/internal/jsonedit"
	"emberd/internal/text"
	"emberd/memory"
)

// hookForm says where and how a client keeps what it runs at the events of a session.
//
//   - claude-code: https://code.claude.com/docs/en/hooks
//   - codex: https://developers.openai.com/codex/hooks
//   - copilot: https://docs.github.com/en/copilot/reference/hooks-reference
//   - cursor: https://cursor.com/docs/agent/hooks
//   - gemini-cli: https://geminicli.com/docs/hooks/reference
//   - opencode: https://opencode.ai/docs/plugins
type hookForm struct {
	file   func(m Machine) string
	events []hookEvent
	entry  func(s Server, e hookEvent) any // an element of the event's list
	flat   bool                            // the list has commands, and not groups of them
	first  []byte                          // of a new file, nil for nothing
	whole  func(s Server) []byte           // the content of a file that is all emberd's; nil for one that others write
	after  string                          // what the user has to do for hooks to run, "" for nothing
	// untrusted asks the client, started in a folder, at which events it skips hooks of emberd.
	untrusted func(ctx context.Context, folder string) ([]string, error)
}

// hookEvent is an event, and the seconds that its hook may take.
type hookEvent struct {
	name    string
	seconds int
}

// Hooks reports whether emberd knows how the client runs hooks.
func (c *Client) Hooks() bool { return c.hooks != nil }

// HookFile returns the file that says which hooks the client runs, in all projects.
func (c *Client) HookFile(m Machine) string { return c.hooks.file(m) }

// AfterHooks returns what the user has to do for hooks to run, "" for nothing.
func (c *Client) AfterHooks() string { return c.hooks.after }

// UntrustedHooks asks the client at which events it skips hooks of emberd, since the user did not trust them
// ([Client.AfterHooks]). It starts the client's program, if the client knows such hooks at all. The error is that it
// could not be asked.
func (c *Client) UntrustedHooks(ctx context.Context, folder string) ([]string, error) {
	if c.hooks.untrusted == nil {
		return nil, nil
	}
	return c.hooks.untrusted(ctx, folder)
}

// HasHooks reports whether the client runs hooks of emberd, by a file that may be missing.
func (c *Client) HasHooks(file string) bool {
	ch, err := read(file)
	return err == nil && c.hasHooks(ch.before)
}

// hasHooks reports whether a file has hooks of emberd, or is its own.
func (c *Client) hasHooks(text []byte) bool {
	if c.hooks.whole != nil {
		return bytes.Contains(text, []byte(name)) && bytes.Contains(text, []byte("hook"))
	}
	without, err := c.removeHooks(text, nil)
	return err == nil && !bytes.Equal(text, without)
}

// AddHooks plans to make the client run s at the events of its sessions, in the place of other hooks of emberd. A file
// of this name that is not emberd's is replaced only with force.
func (c *Client) AddHooks(file string, s Server, force bool) (*Change, error) {
	return c.plan(file, func(text []byte) ([]byte, error) {
		if c.hooks.whole == nil {
			return c.addHooks(text, s)
		}
		if len(text) > 0 && !c.hasHooks(text) && !force {
			return nil, memory.Errorf(memory.Conflict, "this file is not from emberd; to replace it, use --force")
		}
		return c.hooks.whole(s), nil
	})
}

// RemoveHooks plans to take the hooks of emberd out, with the file if it has nothing else and was made for them.
func (c *Client) RemoveHooks(file string, force bool) (*Change, error) {
	ch, err := c.plan(file, func(text []byte) ([]byte, error) {
		if c.hooks.whole == nil {
			return c.removeHooks(text, nil)
		}
		if len(text) > 0 && !c.hasHooks(text) && !force {
			return nil, memory.Errorf(memory.Conflict, "this file is not from emberd; to remove it, use --force")
		}
		return nil, nil
	})
	if err != nil {
		return nil, err
	}
	ch.undo = true
	ch.gone = ch.Changes() && (c.hooks.whole != nil || c.isBare(ch.after) && len(ch.backups()) == 0)
	return ch, nil
}

// isBare reports whether a text has nothing but what a new file has.
func (c *Client) isBare(text []byte) bool {
	var left map[string]any
	if json.Unmarshal(text, &left) != nil {
		return false
	}
	if c.hooks.first != nil {
		delete(left, "version")
	}
	return len(left) == 0
}

// HookSnippet returns a file of the client's that has the hooks and nothing else.
func (c *Client) HookSnippet(s Server) (string, error) {
	if c.hooks.whole != nil {
		return string(c.hooks.whole(s)), nil
	}
	text, err := c.addHooks(nil, s)
	return string(text), err
}

// addHooks returns text with one entry at each event, and none of emberd's that differs.
func (c *Client) addHooks(text []byte, s Server) ([]byte, error) {
	wanted := map[string]any{}
	for _, e := range c.hooks.events {
		wanted[e.name] = c.hooks.entry(s, e)
	}
	if len(bytes.TrimSpace(text)) == 0 {
		text = c.hooks.first
	}
	text, err := c.removeHooks(text, wanted)
	for _, e := range c.hooks.events {
		if err != nil {
			return nil, err
		}
		has, elementsErr := jsonedit.Elements(text, c.dialect, "hooks", e.name)
		if elementsErr != nil {
			return nil, elementsErr
		}
		if !slices.ContainsFunc(has, func(element []byte) bool { return equal(element, wanted[e.name]) }) {
			text, err = jsonedit.Append(text, c.dialect, wanted[e.name], "hooks", e.name)
		}
	}
	return text, err
}

// removeHooks returns text without the entries of emberd, but for those that are as wanted, and without the
// lists that become empty by that.
func (c *Client) removeHooks(text []byte, wanted map[string]any) ([]byte, error) {
	events, err := jsonedit.Keys(text, c.dialect, "hooks")
	if err != nil {
		return nil, err
	}
	changed := false
	for _, event := range events {
		var dropped bool
		if text, dropped, err = c.removeEvent(text, event, wanted[event]); err != nil {
			return nil, err
		}
		changed = changed || dropped
	}
	left, err := jsonedit.Keys(text, c.dialect, "hooks")
	if err == nil && changed && len(left) == 0 {
		return jsonedit.Remove(text, c.dialect, "hooks")
	}
	return text, err
}

// removeEvent removes the entries of one event, and reports whether there were some.
func (c *Client) removeEvent(text []byte, event string, wanted any) ([]byte, bool, error) {
	elements, err := jsonedit.Elements(text, c.dialect, "hooks", event)
	if err != nil {
		return text, false, nil // what is no list has no hooks of emberd
	}
	match := func(element []byte) bool { return c.isHook(element) && (wanted == nil || !equal(element, wanted)) }
	n := 0
	for _, element := range elements {
		if match(element) {
			n++
		}
	}
	switch n {
	case 0:
		return text, false, nil
	case len(elements):
		text, err = jsonedit.Remove(text, c.dialect, "hooks", event)
	default:
		text, err = jsonedit.Drop(text, c.dialect, match, "hooks", event)
	}
	return text, true, err
}

// isHook reports whether an element of an event's list runs emberd hook and nothing else.
func (c *Client) isHook(element []byte) bool {
	var e struct {
		hookCommand
		Hooks []hookCommand `json:"hooks"`
	}
	if json.Unmarshal(element, &e) != nil {
		return false
	}
	if c.hooks.flat {
		return e.isOurs()
	}
	return len(e.Hooks) > 0 && !slices.ContainsFunc(e.Hooks, func(h hookCommand) bool { return !h.isOurs() })
}

// hookCommand is what a hook starts, with its arguments or as a line of shell.
type hookCommand struct {
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

func (h hookCommand) isOurs() bool {
	if len(h.Args) > 0 {
		return filepath.Base(h.Command) == name && h.Args[0] == "hook"
	}
	return hookLine().MatchString(h.Command)
}

var hookLine = text.Pattern(`(^|[/'"])emberd['"]? hook( |$)`)

// equal reports whether JSON says the same as a value.
func equal(raw []byte, value any) bool {
	var a, b any
	other, err := json.Marshal(value)
	if err != nil || json.Unmarshal(raw, &a) != nil || json.Unmarshal(other, &b) != nil {
		return false
	}
	x, _ := json.Marshal(a) // they were JSON
	y, _ := json.Marshal(b)
	return bytes.Equal(x, y)
}

var plainWord = text.Pattern(`^[A-Za-z0-9_./:=@%+,-]+$`)

// line is a server as a line of shell.
func line(s Server) string {
	words := []string{s.Command}
	words = append(words, s.Args...)
	for i, w := range words {
		if !plainWord().MatchString(w) {
			words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}
