package mcp

import "testing"

// TestErrorsNameTools gives sentences of the engine, each to those whom it may reach.
func TestErrorsNameTools(t *testing.T) {
	const (
		nobody    = "there is no memory 12ab34cd; emberd list shows those there are"
		noID      = "no id is given; copy one from emberd list or emberd search"
		forgotten = "this text was forgotten on 2026-03-01; bring it back with emberd rekindle 12ab34cd, or save it anew with --again (again)"
		gone      = "this text was forgotten on 2026-03-01 and is not in the trash any more; save it anew with --again (again)"
		secret    = "content holds what looks like a credential; remove it, or set allow_secret (--allow-secret) to save it all the same"
		unmet     = "its uses are 0, not 5; promote it with --force (force) all the same"
		noVault   = "there is no vault; name one with vaults: in the config or emberd serve --vault"
	)
	for _, c := range []struct {
		profile    Profile
		says, want string
	}{
		{Agent, nobody, "there is no memory 12ab34cd; call memory_query to find memories by words, or memory_list for the newest"},
		{Agent, noID, "no id is given; copy one from memory_query or memory_list"},
		{Agent, forgotten, "this text was forgotten on 2026-03-01; bring it back with memory_undo and the tx of its deletion, or save it anew with again: true"},
		{Agent, secret, "content holds what looks like a credential; take it out"},
		{CortexGraph, nobody, "memory 12ab34cd not found; search_memory finds memories by their words, and read_graph shows the newest"},
		{CortexGraph, noID, "no id is given; copy one from search_memory or read_graph"},
		{CortexGraph, forgotten, "this text was forgotten on 2026-03-01; the user can bring it back with: emberd rekindle 12ab34cd"},
		{CortexGraph, gone, "this text was forgotten on 2026-03-01 and is not in the trash any more; say it in other words to save it"},
		{CortexGraph, unmet, "its uses are 0, not 5; promote it with force: true all the same"},
		{CortexGraph, noVault, noVault}, // nothing but a person can do that
		{Reference, secret, "content holds what looks like a credential; take it out"},
		{Reference, noID, "no id is given; copy one from search_nodes or read_graph"},
		{All, nobody, "there is no memory 12ab34cd; list shows those there are"},
		{All, noID, "no id is given; copy one from list or search"},
		{All, forgotten, "this text was forgotten on 2026-03-01; bring it back with trash_restore 12ab34cd, or save it anew with again: true"},
		{All, secret, "content holds what looks like a credential; remove it, or set allow_secret to save it all the same"},
		{All, noVault, noVault},
		{All, "run it there, or make this device the keeper with emberd config primary-device here", "run it there, or make this device the keeper with keeper_here"},
		{All, "no memory waits; emberd doctor offline-device list shows those that do", "no memory waits; stale_list shows those that do"},
		{All, "there is no note; emberd search --notes finds them", `there is no note; search with scope "notes" finds them`},
		{All, "send what emberd export wrote", "send what emberd export wrote"}, // which is no tool
		{All, "cursor is not one that emberd gave", "cursor is not one that emberd gave"},
	} {
		if got := adviceOf(t, c.profile)(c.says); got != c.want {
			t.Errorf("%s says\n%s\nwant\n%s", c.profile, got, c.want)
		}
	}
}

// adviceOf returns how the tools that are made for a profile rewrite messages.
func adviceOf(t *testing.T, p Profile) func(string) string {
	t.Helper()
	for _, one := range allTools() {
		if one.Profiles[0] == p {
			return one.Advise
		}
	}
	t.Fatalf("no tool is made for %s", p)
	return nil
}
