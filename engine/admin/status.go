package admin

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"

	"emberd/engine/core"
	"emberd/engine/lifecycle"
	"emberd/engine/notes"
	"emberd/op"
	"emberd/stm"
)

// Status returns the state of the daemon. Health is the worst state of its parts.
func (e *Admin) Status(context.Context, *op.StatusRequest) (*op.StatusResult, error) {
	if e.Grant != nil {
		return e.SeenStatus(), nil
	}
	st := e.Stm.Status()
	timers, warnings := e.Chores.Report()
	res := &op.StatusResult{
		Version:  e.versionResult(),
		Started:  core.StampTime(e.Started),
		Device:   st.Device,
		Data:     e.Opt.Data,
		State:    e.Opt.State,
		Socket:   e.Opt.Socket,
		Tokens:   e.tokenStatus(),
		Memories: st.Live,
		Trash:    st.Trash,
		Log:      logStatus(st),
		Devices:  devices(st.Devices),
		Warnings: append(st.Warnings, warnings...),
		Timers:   timers,
	}
	if err := e.Tokens.Damage(); err != nil {
		res.Warnings = append(res.Warnings, err.Error())
	}
	res.Warnings = append(res.Warnings, stm.Damaged(e.Opt.FS, e.Opt.State)...)
	if text := e.Ledger.Damage.Warning(); text != "" {
		res.Warnings = append(res.Warnings, text)
	}
	res.Log.Compaction = e.Storage.Compacted.Load()
	res.Backup = e.Storage.BackupStatus()
	if st.Indexed < st.Of && !e.Indexed.Load() {
		res.Loading = &op.Loading{Indexed: st.Indexed, Total: st.Of}
	}
	if e.Opt.Sandbox != nil {
		res.Sandbox = new(e.Opt.Sandbox.Status)
		for _, file := range res.Sandbox.Exposed {
			res.Warnings = append(res.Warnings, fmt.Sprintf("the daemon can write to the folder of the configuration "+
				"file %s, so the sandbox cannot protect the file; choose a vault that does not contain the file", file))
		}
	}
	if e.Notes.Vault != nil {
		v := e.Notes.Vault.Status()
		e.Promote.PendingStatus(&v)
		v.Lists = e.Lists.ListStatus()
		res.Vaults = append(res.Vaults, v)
		res.Warnings = append(res.Warnings, notes.VaultWarnings(&v)...)
		if text := e.Notes.Vault.IndexWarning(); text != "" {
			res.Warnings = append(res.Warnings, text)
		}
		res.Warnings = append(res.Warnings, e.Notes.Vault.Broken.Warnings()...)
		res.Warnings = append(res.Warnings, e.Notes.SandboxExcluded(&v)...)
	}
	if res.Meaning = e.Semantic.Meaning.Status(); res.Meaning != nil {
		res.Warnings = append(res.Warnings, e.Semantic.Meaning.Warnings()...)
	}
	if res.Author = e.Lifecycle.Author.Status(); res.Author != nil {
		res.Author.Cleanup, res.Author.Sessions = e.Opt.Cleanup.Ask != nil, e.Opt.Hooks.Ask != nil
	}
	res.Warnings = append(res.Warnings, lifecycle.AuthorWarnings(res.Author)...)
	foreign, purged := e.foreignWaits(), e.Purge.Waits()
	for _, w := range slices.Concat(foreign, purged) {
		res.Warnings = append(res.Warnings, w.Warning)
	}
	res.Health = Health(res)
	res.Waits = slices.Concat(logWaits(&st), e.vaultWaits(res), e.embeddingWaits(), purged, foreign, e.reviewWaits())
	return res, nil
}

// SeenStatus returns the status for a caller with a grant: whether emberd works, and how many
// memories and notes the caller can read. It does not contain the path of the vault.
func (e *Admin) SeenStatus() *op.StatusResult {
	log := e.Stm.Status()
	res := &op.StatusResult{Version: e.versionResult(), Started: core.StampTime(e.Started), Memories: log.Live}
	res.Log.ReadOnly, res.Log.LowSpace = log.ReadOnly, log.LowSpace
	if e.Notes.Vault != nil {
		v := op.VaultStatus{Name: e.Notes.Vault.Root.Load().Name()}
		index, _ := e.Notes.Vault.Current()
		for range index.Known() {
			v.Notes++
		}
		res.Vaults = append(res.Vaults, v)
	}
	res.Health = Health(res)
	return res
}

// Health returns the worst state in a status, in one word.
func Health(s *op.StatusResult) string {
	switch {
	case s.Log.ReadOnly != "":
		return "read-only"
	case s.Loading != nil:
		return "loading"
	case len(s.Warnings) > 0:
		return "degraded"
	}
	return "ok"
}

func cameBack(got stm.Healed) *op.CameBack {
	if got.Lines == 0 {
		return nil
	}
	return &op.CameBack{Memories: got.Memories, From: got.From, Oldest: got.Oldest.UTC(), Newest: got.Newest.UTC()}
}

func logStatus(st stm.Status) op.LogStatus {
	return op.LogStatus{
		Segments:   st.Segments,
		Bytes:      st.Bytes,
		Active:     st.Active,
		Durability: string(st.Durability),
		ReadOnly:   st.ReadOnly,
		LowSpace:   st.LowSpace,
		Recovery:   op.RecoveryCount(st.Recovery),
		CameBack:   cameBack(st.Recovered),
		LoadMillis: st.LoadTime.Milliseconds(),
		Snapshot:   st.Snapshot,
		Dead:       st.Dead,
	}
}

func (e *Admin) versionResult() op.VersionResult {
	return op.VersionResult{Version: e.Opt.Version, Protocol: op.Protocol, Go: runtime.Version(), PID: os.Getpid()}
}

// Version identifies this daemon in the handshake with a client.
func (e *Admin) Version(context.Context, *op.VersionRequest) (*op.VersionResult, error) {
	v := e.versionResult()
	return &v, nil
}
