package notes

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"

	"emberd/op"
	"emberd/vault"
	"emberd/watcher"
)

// VaultWarnings returns the problems of following a vault, and how to fix them.
func VaultWarnings(v *op.VaultStatus) []string {
	var out []string
	for _, w := range VaultWaits(v) {
		if w.Warning != "" {
			out = append(out, w.Warning)
		}
	}
	for _, l := range v.Lists {
		if l.State == op.ListWritten && l.Reason != "" {
			out = append(out, vaultWarning(v, fmt.Sprintf("the list %q: %s", l.Path, l.Reason), l.Next))
		}
	}
	if v.Problem != "" {
		out = append(out, vaultWarning(v, v.Problem,
			"emberd retries automatically; if the problem persists, see the daemon log"))
	}
	if v.Mode == string(watcher.Polling) && v.Reason != "" {
		out = append(out, vaultWarning(v, v.Reason,
			"emberd checks for edits every 30 seconds instead of watching the vault"))
	}
	return out
}

// vaultWarning is a warning about a vault, with what to do.
func vaultWarning(v *op.VaultStatus, text, next string) string {
	return fmt.Sprintf("vault %s: %s; %s", v.Name, text, next)
}

// IndexWarning names a damaged index that the start of this run moved away, as long as it is there,
// or is "".
func (n *VaultNotes) IndexWarning() string {
	index, _ := n.Current()
	is := index.Status()
	if _, err := os.Lstat(is.Aside); !is.Damaged || is.Aside == "" || err != nil {
		return ""
	}
	return fmt.Sprintf("vault %s: the note index was damaged (%s), so emberd rebuilds "+
		"it from the notes; you can delete the damaged index in %s", n.Root.Load().Name(), is.Reason, is.Aside)
}

// notRead counts by reason the notes that the watcher skips and those that could not be read.
// Together they are the list of a vault check. Mu must be held.
func (n *VaultNotes) notRead(passed map[string]string) (byReason []op.NotRead, total int) {
	counts := map[string]int{}
	for name, why := range passed {
		if _, ok := n.Skipped[name]; !ok {
			counts[AsReason(why)]++
		}
	}
	for _, skipped := range n.Skipped {
		counts[skipped.Why]++
	}
	for why, count := range counts {
		byReason = append(byReason, op.NotRead{Reason: why, Count: count})
		total += count
	}
	slices.SortFunc(byReason, func(a, b op.NotRead) int {
		return cmp.Or(b.Count-a.Count, strings.Compare(a.Reason, b.Reason))
	})
	return byReason, total
}

// AsReason converts a reason of the watcher to that of a vault check.
func AsReason(why string) string {
	switch why {
	case watcher.Symlink:
		return string(vault.Symlink)
	case watcher.NotRegular:
		return string(vault.NotRegular)
	case watcher.BadName:
		return string(vault.BadName)
	case watcher.NotLocal:
		return string(vault.NotLocal)
	case syscall.EACCES.Error():
		return string(vault.NotPermitted)
	}
	return why
}

// SandboxExcluded returns a warning if the folder of a vault was replaced after the sandbox
// started. The sandbox allows folders, not their names.
func (e *Notes) SandboxExcluded(v *op.VaultStatus) []string {
	if v.Frozen == "" || v.Released || e.Opt.Sandbox == nil || !e.Opt.Sandbox.Status.On {
		return nil
	}
	if f, err := os.OpenFile(v.Path, os.O_RDONLY|syscall.O_DIRECTORY, 0); !errors.Is(err, fs.ErrPermission) {
		if err == nil {
			_ = f.Close() // only opened
		}
		return nil
	}
	return []string{fmt.Sprintf("vault %s: another folder replaced the vault after the daemon started, but the "+
		"sandbox allows only the earlier folder; restart the daemon; if this happens often, set sandbox to off",
		v.Name)}
}

// PendingDeletionsText returns the warning about deletions that wait for confirmation, or "".
func PendingDeletionsText(n int) string {
	if n == 0 {
		return ""
	}
	if n == 1 {
		return "the note of a memory disappeared; emberd keeps the memory until the note is " +
			"back or you confirm the deletion"
	}
	return fmt.Sprintf("%d notes of memories disappeared at once; emberd keeps the "+
		"memories until the notes are back or you confirm the deletions", n)
}
