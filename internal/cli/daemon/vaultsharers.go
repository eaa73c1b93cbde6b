package daemon

import (
	"context"
	"fmt"
	"time"

	"emberd/api"
	"emberd/internal/cli"
	"emberd/internal/doctor"
	"emberd/op"
)

// VaultSharer is another daemon of this user that writes to a vault of this one.
type VaultSharer struct {
	PID                 int
	Socket, Data, Vault string
}

// Text says which daemons share which vault; own is the data folder of this one. It does not say which process to
// end: either can be the one that the user needs.
func (v *VaultSharer) Text(own string) string {
	return fmt.Sprintf("the daemon with data folder %s and the daemon with data folder %s (process %d) write to the "+
		"same vault %s; stop the daemon that you do not need, or set another vault for it", own, v.Data, v.PID,
		v.Vault)
}

// VaultSharers asks the daemons at sockets whether they write to one of the vaults. It passes over those that do not
// answer, and the daemon of the state folder itself.
func VaultSharers(ctx context.Context, sockets []string, state string, vaults []string) (all []VaultSharer) {
	for _, path := range sockets {
		client := api.NewClient(path, &api.ClientOptions{Name: "cli", Version: cli.BuildVersion(),
			Timeout: 2 * time.Second})
		st, err := op.Status.Call(ctx, client, &op.StatusRequest{})
		client.Close()
		if err != nil || cli.Linkless(st.State) == cli.Linkless(state) {
			continue
		}
		for _, v := range st.Vaults {
			if v.Path != "" && cli.SameVaults(vaults, v.Path) {
				all = append(all, VaultSharer{st.Version.PID, path, st.Data, v.Path})
			}
		}
	}
	return all
}

// warnOfSharers logs which other daemons write to the vault. The sandbox does not allow to list sockets, so that
// they are listed before it; the daemons are asked while this one starts.
func (sup *supervisor) warnOfSharers(ctx context.Context) {
	c := sup.started
	if len(c.Vaults) == 0 {
		return
	}
	sockets := doctor.Sockets(c.Socket)
	sup.all.Go(func() {
		for _, v := range VaultSharers(ctx, sockets, c.State, c.Vaults) {
			sup.log.Warn(v.Text(c.Data))
		}
	})
}
