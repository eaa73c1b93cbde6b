package maintain

import (
	"context"
	"path/filepath"

	"emberd/engine/core"
	"emberd/internal/doctor"
	"emberd/internal/durable"
	"emberd/internal/ledger/chain"
	"emberd/stm"
)

// state looks for files of the state folder that are damaged or were. A daemon that answers warns of them itself.
func (e *diagnostics) state(context.Context) error {
	if e.status != nil || e.held {
		return nil
	}
	disk := durable.OS{}
	texts := stm.Damaged(disk, e.c.State)
	for _, name := range append(stm.DamagedNow(disk, e.c.Data, e.c.State), core.DamagedNow(disk, e.c.State)...) {
		texts = append(texts, name+" is damaged; when the daemon starts again, emberd copies the file to "+
			filepath.Join(e.c.State, "damaged")+" and rebuilds the file; then run: emberd status")
	}
	audit := chain.New(disk, filepath.Join(e.c.State, core.ChainDir), e.s.Now)
	report, err := audit.Check()
	if err != nil {
		texts = append(texts, err.Error())
	} else if news := report.News(); len(news) > 0 {
		texts = append(texts, "the audit log is damaged ("+news[0]+")")
	}
	for _, text := range texts {
		e.add(doctor.Finding{Area: "state", Code: "state-damaged", Severity: doctor.Warning, Text: text,
			Next: e.start()})
	}
	return nil
}
