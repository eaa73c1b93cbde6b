package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"emberd/api"
	"emberd/internal/cli"
	"emberd/internal/testutil/clitest"
	"emberd/memory"
	"emberd/op"
)

// byAlias is how an operation is asked for a memory that is named by the alias A, in each
// of the ways in. An empty way has no such operation. What it is asked of is a new memory
// for each way, with another one, B.
type byAlias struct {
	spec   *op.Spec
	http   func(a, b string) any
	mcp    string // arguments
	cli    []string
	before func(t *testing.T, c *api.Client, m *op.Memory) // nil: it is as it was saved
	silent bool                                            // the answer does not name the memory
}

func forgetFirst(t *testing.T, c *api.Client, m *op.Memory) {
	answered(t, c, op.Forget, &op.ForgetRequest{ID: string(m.ID)})
}

func promoteFirst(t *testing.T, c *api.Client, m *op.Memory) {
	answered(t, c, op.Promote, &op.PromoteRequest{ID: string(m.ID), Force: true})
}

func archiveFirst(t *testing.T, c *api.Client, m *op.Memory) {
	answered(t, c, op.Archive, &op.ArchiveRequest{ID: string(m.ID)})
}

// answered carries out an operation that has to succeed.
func answered[Req, Res any](t *testing.T, c *api.Client, o op.Op[Req, Res], req *Req) *Res {
	t.Helper()
	res, err := o.Call(t.Context(), c, req)
	if err != nil {
		t.Fatalf("%s: %v", o.Name, err)
	}
	return res
}

func aliasCalls() []byAlias {
	one := func(spec *op.Spec, http func(a, b string) any, cli ...string) byAlias {
		return byAlias{spec: spec, http: http, mcp: `{"id":"A"}`, cli: cli}
	}
	calls := []byAlias{
		one(op.Show.Spec, func(a, _ string) any { return &op.ShowRequest{ID: a} }, "show", "A"),
		one(op.History.Spec, func(a, _ string) any { return &op.HistoryRequest{ID: a} }, "history", "A", "--json"),
		one(op.Why.Spec, func(a, _ string) any { return &op.WhyRequest{ID: a} }, "why", "A"),
		one(op.Timeline.Spec, func(a, _ string) any { return &op.TimelineRequest{ID: a} }, "timeline", "A", "--json"),
		one(op.Touch.Spec, func(a, _ string) any { return &op.TouchRequest{ID: a} }, "touch", "A"),
		one(op.Forget.Spec, func(a, _ string) any { return &op.ForgetRequest{ID: a} }, "forget", "A"),
		one(op.Archive.Spec, func(a, _ string) any { return &op.ArchiveRequest{ID: a} }, "archive", "A"),
		{spec: op.Purge.Spec, http: func(a, _ string) any { return &op.PurgeRequest{ID: a} }, cli: []string{"purge", "A", "--yes"}},
		{spec: op.Edit.Spec, http: func(a, _ string) any { return &op.EditRequest{ID: a, Category: new("x")} }, mcp: `{"id":"A","category":"x"}`,
			cli: []string{"edit", "A", "--category", "x"}},
		{spec: op.Promote.Spec, http: func(a, _ string) any { return &op.PromoteRequest{ID: a, Force: true} }, mcp: `{"id":"A","force":true}`,
			cli: []string{"promote", "A", "--force"}},
		{spec: op.ForgetBatch.Spec, http: func(a, b string) any { return &op.ForgetBatchRequest{IDs: []string{a, b}} }, mcp: `{"ids":["A","B"]}`,
			cli: []string{"forget", "A", "B"}},
		{spec: op.OpenMany.Spec, http: func(a, b string) any { return &op.OpenManyRequest{IDs: []string{a, b}} }, mcp: `{"ids":["A","B"]}`},
		{spec: op.Observe.Spec, http: func(a, b string) any { return &op.ObserveRequest{IDs: []string{a, b}} }, mcp: `{"ids":["A","B"]}`,
			cli: []string{"observe", "A", "B"}},
		{spec: op.Relate.Spec, http: func(a, b string) any { return &op.RelateRequest{From: a, To: b, Type: memory.Causes} }, mcp: `{"from":"A","to":"B","type":"causes"}`,
			cli: []string{"relate", "A", "causes", "B"}},
		{spec: op.RelateBatch.Spec, silent: true, http: func(a, b string) any {
			return &op.RelateBatchRequest{Items: []op.RelateRequest{{From: a, To: b, Type: memory.Causes}}}
		}, mcp: `{"items":[{"from":"A","to":"B","type":"causes"}]}`},
		{spec: op.Reinforce.Spec, http: func(a, _ string) any { return &op.ReinforceRequest{ID: a, Evidence: "seen again"} }, mcp: `{"id":"A","new_evidence":"seen again"}`,
			cli: []string{"reinforce", "--id", "A", "--evidence", "seen again"}},
		{spec: op.Save.Spec, silent: true, http: func(a, b string) any {
			return &op.SaveRequest{Content: "instead of " + a, Supersedes: []string{a, b}}
		}, mcp: `{"content":"instead of A","supersedes":["A","B"]}`, cli: []string{"save", "instead of A, here", "--supersedes", `"A"`}},
		{spec: op.SaveBatch.Spec, silent: true, mcp: `{"items":[{"content":"a batch instead of A"}]}`, http: func(a, _ string) any {
			return &op.SaveBatchRequest{Items: []op.SaveRequest{{Content: "a batch instead of " + a}}}
		}},
		{spec: op.Audit.Spec, silent: true, http: func(a, _ string) any { return &op.AuditRequest{Memory: a} }, mcp: `{"memory":"A"}`, cli: []string{"audit", "--memory", "A"}},
		{spec: op.Knowledge.Spec, http: func(a, _ string) any { return &op.KnowledgeRequest{Of: a} }, mcp: `{"of":"A"}`, cli: []string{"graph", "A", "--json"}},
		{spec: op.WhyNot.Spec, http: func(a, _ string) any { return &op.WhyNotRequest{Query: "nothing of it", Of: a} }, mcp: `{"q":"nothing of it","of":"A"}`,
			cli: []string{"why-not", "nothing of it", "A", "--json"}},
		{spec: op.ReviewCreate.Spec, http: func(a, _ string) any { return &op.ReviewCreateRequest{MemoryIDs: []string{a}} }, mcp: `{"memory_ids":["A"]}`,
			cli: []string{"review", "create", "A", "--json"}},
		{spec: op.HealthMerge.Spec, http: func(a, b string) any { return &op.HealthMergeRequest{ID1: a, ID2: b, Keep: op.KeepFirst} },
			cli: []string{"health", "merge", "A", "B", "--keep", "id1"}},
		{spec: op.TrashRestore.Spec, before: forgetFirst, http: func(a, _ string) any { return &op.TrashRestoreRequest{IDs: []string{a}} }, mcp: `{"ids":["A"]}`,
			cli: []string{"trash", "restore", "A"}},
		{spec: op.Confirm.Spec, http: func(a, _ string) any { return &op.ConfirmRequest{ID: a} }, cli: []string{"confirm", "A"}},
		{spec: op.Rekindle.Spec, before: archiveFirst, http: func(a, _ string) any { return &op.RekindleRequest{Query: a} }, mcp: `{"q":"A"}`, cli: []string{"rekindle", "A"}},
		{spec: op.Open.Spec, before: promoteFirst, silent: true, http: func(a, _ string) any { return &op.OpenRequest{Ref: a} }, mcp: `{"ref":"A"}`,
			cli: []string{"open", "A", "--print"}},
		{spec: op.NoteRead.Spec, before: promoteFirst, http: func(a, _ string) any { return &op.NoteReadRequest{Path: a} }, mcp: `{"path":"A"}`},
		{spec: op.NoteContext.Spec, before: promoteFirst, http: func(a, _ string) any { return &op.NoteContextRequest{Path: a} }, mcp: `{"path":"A"}`},
		{spec: op.Complete.Spec, http: func(a, _ string) any { return &op.CompleteRequest{What: op.CompleteIDs, Prefix: a} }, mcp: `{"what":"ids","prefix":"A"}`},
	}
	return calls
}

// notByAlias are the operations that take no memory. Those that take the id of something
// else (a relation, a review item, a line of the log, a journal entry) are among them, and
// those that write notes, for notes of memories are edited as memories, and stale.decide, which takes a device that was silent for long.
func notByAlias() []*op.Spec {
	return []*op.Spec{op.Search.Spec, op.List.Spec, op.Unrelate.Spec, op.Graph.Spec, op.PromoteAuto.Spec, op.AnalyzeMessage.Spec, op.AnalyzeRecall.Spec, op.GC.Spec,
		op.Clusters.Spec, op.Consolidate.Spec, op.AgentsRun.Spec, op.ReviewList.Spec, op.ReviewShow.Spec, op.ReviewClaim.Spec, op.ReviewClose.Spec, op.Health.Spec,
		op.HealthStale.Spec, op.HealthLowAccess.Spec, op.HealthDuplicates.Spec, op.Migrate.Spec, op.Cleanup.Spec, op.CleanupReport.Spec, op.CleanupRollback.Spec,
		op.CleanupHistory.Spec, op.LifecycleRun.Spec, op.LifecycleStatus.Spec, op.Journal.Spec,
		op.Hook.Spec, op.SessionList.Spec, op.SessionForget.Spec, op.AuditForgive.Spec, op.Undo.Spec, op.TrashList.Spec, op.Export.Spec,
		op.Import.Spec, op.QuarantineList.Spec, op.QuarantineShow.Spec, op.QuarantineAccept.Spec, op.QuarantineDrop.Spec, op.StaleList.Spec, op.StaleDecide.Spec,
		op.BackupCreate.Spec, op.VaultCheck.Spec, op.VaultConfirm.Spec, op.VaultLinks.Spec, op.VaultRelease.Spec, op.VaultOpen.Spec, op.Links.Spec, op.NoteWrite.Spec, op.NoteAppend.Spec, op.NoteEdit.Spec, op.NoteMove.Spec, op.RecentActivity.Spec, op.Keeper.Spec, op.KeeperHere.Spec, op.Status.Spec, op.Stats.Spec, op.Add.Spec,
		op.Query.Spec, op.Verify.Spec, op.EntityList.Spec, op.EngineStatus.Spec, op.EnginePause.Spec, op.EngineResume.Spec, op.Embed.Spec, op.Compact.Spec,
		op.TokenCreate.Spec, op.TokenList.Spec, op.TokenRevoke.Spec, op.Version.Spec}
}

// named saves a memory for one call and returns it with its alias, which has all that a
// path, a list and a shell could stumble over.
func named(t *testing.T, c *api.Client, n *int) (*op.Memory, string) {
	*n++
	alias := fmt.Sprintf("Kiste %d/ä, 100%% #%d?", *n, *n)
	res := answered(t, c, op.Save, &op.SaveRequest{Content: fmt.Sprintf("box number %d holds %s", *n, strings.Repeat("odd screws of all sizes ", 1+*n%3)),
		Aliases: []string{alias}, Provenance: op.Provenance{Origin: memory.FromUser}, Again: true})
	return &res.Memory, alias
}

func asSaved(t *testing.T, c *api.Client, alias string) memory.ID {
	return answered(t, c, op.Save, &op.SaveRequest{Content: "known as " + alias, Aliases: []string{alias}}).Memory.ID
}

// Every operation that takes the id of a memory takes an alias in its place, whichever way
// it is asked.
func TestEveryOperationTakesAnAlias(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	home, vault := filepath.Join(clitest.ShortDir(t), "h"), t.TempDir()
	d, err := startDaemon(t.Context(), exe, home, home+".log", cli.ForeignFree(os.Environ()), "--vault", vault)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.cmd.Process.Kill() }) // the error is that it has ended
	client := api.NewClient(filepath.Join(home, "emberd.sock"), nil)
	t.Cleanup(client.Close)
	agent := startAgent(t, home, "--tools", "all")
	n, seen := 0, make(map[*op.Spec]bool)
	ready := func(c byAlias) (m *op.Memory, a, b string) {
		m, a = named(t, client, &n)
		_, b = named(t, client, &n)
		if c.before != nil {
			c.before(t, client, m)
		}
		return m, a, b
	}
	for _, c := range aliasCalls() {
		seen[c.spec] = true
		m, a, b := ready(c)
		res, err := client.Invoke(t.Context(), c.spec, c.http(a, b))
		if text := asJSON(t, res); err != nil || !c.silent && !strings.Contains(text, string(m.ID)) {
			t.Errorf("%s over HTTP: %v, %s", c.spec.Name, err, text)
		}
		if c.mcp != "" {
			m, a, b = ready(c)
			args := strings.NewReplacer("A", inJSON(t, a), "B", inJSON(t, b)).Replace(c.mcp)
			text, failed, err := agent.call(strings.ReplaceAll(c.spec.Name, ".", "_"), args)
			if failed || err != nil || !c.silent && !strings.Contains(text, string(m.ID)) {
				t.Errorf("%s %s over MCP: %v, %s", c.spec.Name, args, err, text)
			}
		}
		if c.cli != nil {
			m, a, b = ready(c)
			byHand(t, exe, home, c, m, a, b)
		}
	}
	for _, spec := range op.Table() {
		if seen[spec] == slices.Contains(notByAlias(), spec) {
			t.Errorf("%s is to be in one of the lists", spec.Name)
		}
	}
	// Names that a path is made of, or could be.
	for _, alias := range []string{"open", "a/../b", "https://example.org/x?y=%2f&z#w", "e\u0301\u202e", "-x", "42"} {
		m := asSaved(t, client, alias)
		if got := answered(t, client, op.Show, &op.ShowRequest{ID: alias}).Memory.ID; got != m {
			t.Errorf("%q opens %s, want %s", alias, got, m)
		}
	}
	t.Run("tools of their own", func(t *testing.T) { profileTools(t, client, agent, &n) })
}

// inJSON is a text as it stands within quotes.
func inJSON(t *testing.T, s string) string {
	raw, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Trim(string(raw), `"`)
}

func byHand(t *testing.T, exe, home string, c byAlias, m *op.Memory, a, b string) {
	args := slices.Clone(c.cli)
	for i, arg := range args {
		args[i] = strings.NewReplacer("A", a, "B", b).Replace(arg)
	}
	cmd := exec.CommandContext(t.Context(), exe, append(args, "--home", home)...)
	cmd.Args[0], cmd.Env = "emberd", cli.ForeignFree(os.Environ())
	out, err := cmd.CombinedOutput()
	if text := string(out); err != nil || !c.silent && !strings.Contains(text, m.ID.Short()) {
		t.Errorf("emberd %q: %v, %s", args, err, text)
	}
}

// profileTools are the tools that are no operations.
func profileTools(t *testing.T, client *api.Client, agent *agent, n *int) {
	calls := map[string]string{
		"memory_open": `{"refs":["A"]}`, "memory_edit": `{"id":"A","project":"x"}`, "memory_relate": `{"from":"A","to":"B","type":"causes"}`,
		"memory_used": `{"ids":["A"]}`, "memory_reinforce": `{"id":"A","new_evidence":"again"}`, "memory_forget": `{"ids":["A","B"]}`,
		"touch_memory": `{"memory_id":"A"}`, "observe_memory_usage": `{"memory_ids":["A"]}`, "open_memories": `{"memory_ids":["A"]}`,
		"create_relation": `{"from_memory_id":"A","to_memory_id":"B","relation_type":"causes"}`, "promote_memory": `{"memory_id":"A","force":true}`,
		"memory_consolidate": `{"id1":"A","id2":"B","keep":"id1"}`,
	}
	for _, tool := range slices.Sorted(maps.Keys(calls)) {
		m, a := named(t, client, n)
		_, b := named(t, client, n)
		args := strings.NewReplacer(`"A"`, `"`+inJSON(t, a)+`"`, `"B"`, `"`+inJSON(t, b)+`"`).Replace(calls[tool])
		text, failed, err := agent.call(tool, args)
		if failed || err != nil || !strings.Contains(text, m.ID.Short()) && tool != "memory_used" {
			t.Errorf("%s %s: %v, %s", tool, args, err, text)
		}
	}
}
