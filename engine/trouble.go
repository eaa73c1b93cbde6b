package engine

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

// vaultWarnings are what is wrong with following a vault, with what to do about it.
func vaultWarnings(v *op.VaultStatus) []string {
	var out []string
	warn := func(text, next string) {
		if text != "" {
			out = append(out, fmt.Sprintf("vault %s: %s; %s", v.Name, text, next))
		}
	}
	if v.Missing {
		warn(v.Frozen, "put it back, or name another folder in vaults: and restart emberd; its notes stay searchable")
	} else {
		warn(v.Frozen, "if that was meant: emberd vault confirm")
	}
	warn(v.Held, "if that was meant: emberd vault confirm")
	for _, l := range v.Lists {
		switch {
		case l.State == op.ListRefused:
			warn(fmt.Sprintf("the list %q is not written: %s", l.Path, l.Reason), l.Next)
		case l.State == op.ListWritten && l.Reason != "":
			warn(fmt.Sprintf("the list %q: %s", l.Path, l.Reason), l.Next)
		}
	}
	warn(v.Problem, "emberd tries again by itself; if this stays, see its log")
	if v.Mode == string(watcher.Polling) {
		warn(v.Reason, "meanwhile edits are looked for every half minute")
	}
	return out
}

// notRead counts by reason what the watcher passes over and what could not be read,
// which together are what a vault check lists. It is called with mu held.
func (n *notes) notRead(passed map[string]string) (byReason []op.NotRead, total int) {
	counts := map[string]int{}
	for name, why := range passed {
		if _, ok := n.skipped[name]; !ok {
			counts[asReason(why)]++
		}
	}
	for _, skipped := range n.skipped {
		counts[skipped.why]++
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

// asReason puts the watcher's reasons as a vault check does.
func asReason(why string) string {
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

// shutOut tells of a vault whose folder was put in place after the sandbox was made: the
// sandbox knows folders and not their names.
func (e *Engine) shutOut(v *op.VaultStatus) []string {
	if v.Frozen == "" || e.opt.Sandbox == nil || !e.opt.Sandbox.Status.On {
		return nil
	}
	if f, err := os.Open(v.Path); !errors.Is(err, fs.ErrPermission) {
		if err == nil {
			_ = f.Close() // nothing was read
		}
		return nil
	}
	return []string{fmt.Sprintf("vault %s: the sandbox lets the daemon into the folder that was there when it started, and another is there now; restart emberd, or set sandbox to off if this happens often", v.Name)}
}
