package clients

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"emberd/internal/jsonedit"
	"emberd/internal/text"
	"emberd/internal/tomledit"
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
	text, err := c.setEntry(nil, s)
	return string(text), err
}

func (c *Client) path(more ...string) []string { return slices.Concat(c.keys, []string{name}, more) }

// entry is what says how a server is started, in the order of its members. Most clients have a command and its
// arguments, some one list of both.
func (c *Client) entry(s Server) []tomledit.Member {
	var out []tomledit.Member
	if c.form.Type != "" {
		out = append(out, tomledit.Member{Key: "type", Value: c.form.Type})
	}
	if c.form.List {
		return append(out, tomledit.Member{Key: "command", Value: append([]string{s.Command}, s.Args...)})
	}
	return append(out, tomledit.Member{Key: "command", Value: s.Command}, tomledit.Member{Key: "args", Value: s.Args})
}

// setEntry returns text with a new entry, whatever was there.
func (c *Client) setEntry(text []byte, s Server) ([]byte, error) {
	if c.toml {
		text, err := tomledit.Remove(text, c.path()...)
		if err != nil {
			return nil, err
		}
		return tomledit.Set(text, c.entry(s), c.path()...)
	}
	return jsonedit.Set(text, c.dialect, jsonEntry{c.entry(s), c.form.Tools}, c.path()...)
}

// jsonEntry is an entry as an object.
type jsonEntry struct {
	members []tomledit.Member
	tools   []string
}

// MarshalJSON writes the members in order.
func (e jsonEntry) MarshalJSON() ([]byte, error) {
	members := e.members
	if e.tools != nil {
		members = append(slices.Clip(members), tomledit.Member{Key: "tools", Value: e.tools})
	}
	var fields []string
	for _, m := range members {
		value, err := json.Marshal(m.Value)
		if err != nil {
			return nil, err
		}
		fields = append(fields, fmt.Sprintf("%q:%s", m.Key, value))
	}
	return []byte("{" + strings.Join(fields, ",") + "}"), nil
}

// get returns what is at the entry or below it, in JSON.
func (c *Client) get(text []byte, more ...string) ([]byte, bool, error) {
	if !c.toml {
		return jsonedit.Get(text, c.dialect, c.path(more...)...)
	}
	v, ok, err := tomledit.Get(text, c.path(more...)...)
	if err != nil || !ok {
		return nil, false, err
	}
	raw, err := json.Marshal(v)
	return raw, err == nil, err
}

// add returns text with emberd in the list. An entry of emberd keeps its other members;
// another entry is replaced only with force.
func (c *Client) add(text []byte, s Server, force bool) ([]byte, error) {
	old, there, err := c.get(text)
	if err != nil {
		return nil, err
	}
	ours := there && c.ours(text)
	switch {
	case there && !ours && !force:
		return nil, memory.Errorf(memory.Conflict,
			"entry emberd already exists and starts another program (%s); to replace the entry, use --force", clip(old))
	case !ours:
		return c.setEntry(text, s)
	}
	return c.update(text, s)
}

// update returns text with emberd's entry updated.
func (c *Client) update(text []byte, s Server) ([]byte, error) {
	for _, m := range c.entry(s) {
		if c.same(text, m.Key, m.Value) {
			continue
		}
		var err error
		if c.toml {
			text, err = tomledit.Set(text, []tomledit.Member{m}, c.path()...)
		} else {
			text, err = jsonedit.Set(text, c.dialect, m.Value, c.path(m.Key)...)
		}
		if err != nil {
			return nil, err
		}
	}
	return text, nil
}

// same reports whether a member of the entry has this value already.
func (c *Client) same(text []byte, key string, value any) bool {
	raw, ok, err := c.get(text, key)
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
	command, args, ok := c.started(text)
	return ok && filepath.Base(command) == name && slices.Contains(args, "mcp")
}

// started returns what the entry starts, and whether there is such an entry.
func (c *Client) started(text []byte) (command string, args []string, ok bool) {
	if !c.form.List {
		ok = c.member(text, "command", &command) && c.member(text, "args", &args)
		return command, args, ok
	}
	if !c.member(text, "command", &args) || len(args) == 0 {
		return "", nil, false
	}
	return args[0], args[1:], true
}

// member reads a member of the entry, and tells whether it is there and of that type.
func (c *Client) member(text []byte, key string, into any) bool {
	raw, ok, err := c.get(text, key)
	return err == nil && ok && json.Unmarshal(raw, into) == nil
}

// remove returns text without emberd on the list.
func (c *Client) remove(text []byte, force bool) ([]byte, error) {
	old, there, err := c.get(text)
	switch {
	case err != nil:
		return nil, err
	case there && !force && !c.ours(text):
		return nil, memory.Errorf(memory.Conflict,
			"the entry emberd starts another program (%s); to remove the entry, use --force", clip(old))
	}
	if c.toml {
		return tomledit.Remove(text, c.path()...)
	}
	return jsonedit.Remove(text, c.dialect, c.path()...)
}

// clip returns the beginning of an entry, on one line.
func clip(raw []byte) string { return text.Truncate(text.OneLine(string(raw)), 80) }
