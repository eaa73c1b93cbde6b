package mcp

import "testing"

// TestErrorsNameTools gives sentences of the engine, each to those whom it may reach.
func TestErrorsNameTools(t *testing.T) {
	const (
		nobody    = "memory 12ab34cd not found; run: emberd list"
		noID      = "missing memory ID; run: emberd list, or emberd search"
		forgotten = "the memory with this text was deleted on 2026-03-01; to restore the memory, run emberd rekindle 12ab34cd; to save the text again, use --again (again)"
		gone      = "the memory with this text was deleted on 2026-03-01 and is no longer in the trash; to save the text again, use --again (again)"
		secret    = "content contains text that looks like a credential; remove the credential, or to save the text anyway, set allow_secret (--allow-secret)"
		unmet     = "its uses are 0, not 5; to promote it anyway, use --force (force)"
		noVault   = "no vault configured; set vaults: in the config file, or run: emberd serve --vault DIR"
	)
	for _, c := range []struct {
		profile    Profile
		says, want string
	}{
		{Agent, nobody, "memory 12ab34cd not found; call memory_query to find memories by words, or memory_list for the newest"},
		{Agent, noID, "missing memory ID; call memory_query to find memories by words, or memory_list for the newest"},
		{Agent, forgotten, "the memory with this text was deleted on 2026-03-01; to restore the memory, call memory_undo with the tx of the deletion; to save the text again, use again: true"},
		{Agent, secret, "content contains text that looks like a credential; remove the credential"},
		{CortexGraph, nobody, "memory 12ab34cd not found; call search_memory to find memories by words, or read_graph for the newest"},
		{CortexGraph, noID, "missing memory ID; call search_memory to find memories by words, or read_graph for the newest"},
		{CortexGraph, forgotten, "the memory with this text was deleted on 2026-03-01; to restore the memory, the user can run: emberd rekindle 12ab34cd"},
		{CortexGraph, gone, "the memory with this text was deleted on 2026-03-01 and is no longer in the trash; to save the text, use other words"},
		{CortexGraph, unmet, "its uses are 0, not 5; to promote it anyway, use force: true"},
		{CortexGraph, noVault, noVault}, // nothing but a person can do that
		{Reference, secret, "content contains text that looks like a credential; remove the credential"},
		{Reference, noID, "missing memory ID; call search_nodes to find entities, or read_graph for the newest"},
		{All, nobody, "memory 12ab34cd not found; call list"},
		{All, noID, "missing memory ID; call list, or search"},
		{All, forgotten, "the memory with this text was deleted on 2026-03-01; to restore the memory, call trash_restore 12ab34cd; to save the text again, use again: true"},
		{All, secret, "content contains text that looks like a credential; remove the credential, or to save the text anyway, set allow_secret"},
		{All, noVault, noVault},
		{All, "run it there, or run here first: emberd config primary-device here", "run it there, or run here first: keeper_here"},
		{All, "memory x has no pending decision; run: emberd doctor offline-device list", "memory x has no pending decision; call stale_list"},
		{All, "note \"Plan\" not found; run: emberd search --notes", `note "Plan" not found; call search with scope "notes"`},
		{All, "send what emberd export wrote", "send what emberd export wrote"}, // which is no tool
		{All, "invalid cursor; use next_cursor of the previous page, or omit it for the first page", "invalid cursor; use next_cursor of the previous page, or omit it for the first page"},
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
