package clients

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"emberd/internal/jsonedit"
	"emberd/internal/text"
	"emberd/memory"
)

// Server is how emberd is to be started.
type Server struct {
	Command string   `json:"command"` // absolute
	Args    []string `json:"args"`
}

// Snippet returns a file of the client's that has emberd and nothing else, for people to
// look at or to copy from.
func (c *Client) Snippet(s Server) (string, error) {
	if c.toml {
		return c.table(s), nil
	}
	text, err := jsonedit.Set(nil, c.dialect, c.entry(s), c.path()...)
	return string(text), err
}

// table returns a table of TOML. Its strings may be written as those of JSON.
func (c *Client) table(s Server) string {
	var words []string
	for _, a := range append([]string{s.Command}, s.Args...) {
		words = append(words, jsonText(a))
	}
	return fmt.Sprintf("[%s.%s]\ncommand = %s\nargs = [%s]\n", c.keys[0], name, words[0], strings.Join(words[1:], ", "))
}

func jsonText(s string) string {
	text, _ := json.Marshal(s) // a string always marshals
	return string(text)
}

func (c *Client) path(more ...string) []string { return slices.Concat(c.keys, []string{name}, more) }

func (c *Client) entry(s Server) entry {
	e := c.form
	e.Command, e.Args = s.Command, s.Args
	return e
}

// add returns text with emberd in the list. An entry of emberd keeps its other members;
// another entry is replaced only with force.
func (c *Client) add(text []byte, s Server, force bool) ([]byte, error) {
	old, there, err := jsonedit.Get(text, c.dialect, c.path()...)
	if err != nil {
		return nil, err
	}
	ours := there && c.ours(text)
	switch {
	case there && !ours && !force:
		return nil, memory.Errorf(memory.Conflict,
			"there is an entry emberd that starts something else (%s); --force replaces it", clip(old))
	case !ours:
		return jsonedit.Set(text, c.dialect, c.entry(s), c.path()...)
	}
	return c.update(text, s)
}

// update returns text with emberd's entry updated.
func (c *Client) update(text []byte, s Server) ([]byte, error) {
	now := map[string]any{"command": s.Command, "args": s.Args}
	if c.form.Type != "" {
		now["type"] = c.form.Type
	}
	for _, key := range []string{"type", "command", "args"} {
		value, ok := now[key]
		if !ok || c.same(text, key, value) {
			continue
		}
		var err error
		if text, err = jsonedit.Set(text, c.dialect, value, c.path(key)...); err != nil {
			return nil, err
		}
	}
	return text, nil
}

// same reports whether a member of the entry has this value already.
func (c *Client) same(text []byte, key string, value any) bool {
	raw, ok, err := jsonedit.Get(text, c.dialect, c.path(key)...)
	if err != nil || !ok {
		return false
	}
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return false
	}
	was, _ := json.Marshal(v)
	is, _ := json.Marshal(value) // strings and lists of them
	return string(was) == string(is)
}

// ours reports whether the entry starts emberd mcp, from any path.
func (c *Client) ours(text []byte) bool {
	var command string
	var args []string
	return c.member(text, "command", &command) && c.member(text, "args", &args) && filepath.Base(command) == name &&
		slices.Contains(args, "mcp")
}

// member reads a member of the entry, and tells whether it is there and of that type.
func (c *Client) member(text []byte, key string, into any) bool {
	raw, ok, err := jsonedit.Get(text, c.dialect, c.path(key)...)
	return err == nil && ok && json.Unmarshal(raw, into) == nil
}

// remove returns text without emberd on the list.
func (c *Client) remove(text []byte, force bool) ([]byte, error) {
	old, there, err := jsonedit.Get(text, c.dialect, c.path()...)
	switch {
	case err != nil:
		return nil, err
	case there && !force && !c.ours(text):
		return nil, memory.Errorf(memory.Conflict, "the entry emberd starts something else (%s); --force removes it",
			clip(old))
	}
	return jsonedit.Remove(text, c.dialect, c.path()...)
}

// clip returns the beginning of an entry, on one line.
func clip(raw []byte) string { return text.Truncate(text.OneLine(string(raw)), 80) }
