package clients

import (
	"encoding/json"
	"strings"

	"emberd/internal/jsonedit"
)

// HasPlugin reports whether the client loads the plugin of emberd in all projects. The plugin starts a server of its
// own, and hooks that do nothing beside those of [Client.AddHooks]. Only Claude Code has one:
// https://code.claude.com/docs/en/settings.
func (c *Client) HasPlugin(m Machine) bool {
	if c.Name != "claude-code" {
		return false
	}
	ch, err := read(c.HookFile(m))
	if err != nil {
		return false
	}
	raw, there, err := jsonedit.Get(ch.before, c.dialect, "enabledPlugins")
	var plugins map[string]json.RawMessage // by "name@marketplace"
	if err != nil || !there || json.Unmarshal(raw, &plugins) != nil {
		return false
	}
	for plugin, value := range plugins {
		if strings.HasPrefix(plugin, name+"@") && string(value) != "false" && string(value) != "null" {
			return true
		}
	}
	return false
}
