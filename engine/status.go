package engine

import (
	"context"
	"os"
	"runtime"

	"emberd/op"
	"emberd/stm"
)

// status tells how the daemon is. Health names the worst that is true.
func (e *Engine) status(context.Context, *op.StatusRequest) (*op.StatusResult, error) {
	if e.grant != nil {
		return e.seenStatus(), nil
	}
	st := e.stm.Status()
	timers, warnings := e.chores.report()
	res := &op.StatusResult{
		Version:  e.versionResult(),
		Started:  stampTime(e.started),
		Device:   st.Device,
		Data:     e.opt.Data,
		State:    e.opt.State,
		Socket:   e.opt.Socket,
		MCP:      e.opt.MCP,
		Tokens:   e.tokenStatus(),
		Memories: st.Live,
		Trash:    st.Trash,
		Log:      logStatus(st),
		Devices:  devices(st.Devices),
		Warnings: append(st.Warnings, warnings...),
		Timers:   timers,
	}
	res.Log.Compaction = e.compacted.Load()
	if st.Indexed < st.Of && !e.indexed.Load() {
		res.Loading = &op.Loading{Indexed: st.Indexed, Total: st.Of}
	}
	if e.opt.Sandbox != nil {
		res.Sandbox = new(e.opt.Sandbox.Status)
	}
	if e.notes != nil {
		v := e.notes.status()
		e.pendingStatus(&v)
		v.Lists = e.listStatus()
		res.Vaults = append(res.Vaults, v)
		res.Warnings = append(res.Warnings, vaultWarnings(&v)...)
		res.Warnings = append(res.Warnings, e.shutOut(&v)...)
	}
	if res.Meaning = e.meaning.told(); res.Meaning != nil {
		res.Warnings = append(res.Warnings, e.meaning.warnings()...)
	}
	if res.Author = e.author.status(); res.Author != nil {
		res.Author.Cleanup = e.opt.Cleanup.Ask != nil
	}
	res.Warnings = append(res.Warnings, authorWarnings(res.Author)...)
	res.Warnings = append(res.Warnings, e.foreignWarnings()...)
	res.Warnings = append(res.Warnings, e.heldWarnings()...)
	res.Health = health(res)
	return res, nil
}

// seenStatus is what concerns somebody with a grant: whether emberd works, and how much
// of it is theirs. Where the vault lies is not.
func (e *Engine) seenStatus() *op.StatusResult {
	log := e.stm.Status()
	res := &op.StatusResult{Version: e.versionResult(), Started: stampTime(e.started), Memories: log.Live}
	res.Log.ReadOnly, res.Log.LowSpace = log.ReadOnly, log.LowSpace
	if e.notes != nil {
		v := op.VaultStatus{Name: e.notes.vault.Load().Name()}
		index, _ := e.notes.current()
		for range index.Known() {
			v.Notes++
		}
		res.Vaults = append(res.Vaults, v)
	}
	res.Health = health(res)
	return res
}

func health(s *op.StatusResult) string {
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

func logStatus(st stm.Status) op.LogStatus {
	return op.LogStatus{
		Segments:   st.Segments,
		Bytes:      st.Bytes,
		Active:     st.Active,
		Durability: string(st.Durability),
		ReadOnly:   st.ReadOnly,
		LowSpace:   st.LowSpace,
		Recovery:   op.RecoveryCount(st.Recovery),
		LoadMillis: st.LoadTime.Milliseconds(),
		Snapshot:   st.Snapshot,
		Dead:       st.Dead,
	}
}

func (e *Engine) versionResult() op.VersionResult {
	return op.VersionResult{Version: e.opt.Version, Protocol: op.Protocol, Go: runtime.Version(), PID: os.Getpid()}
}

// version identifies this daemon, for the handshake with a client.
func (e *Engine) version(context.Context, *op.VersionRequest) (*op.VersionResult, error) {
	v := e.versionResult()
	return &v, nil
}
