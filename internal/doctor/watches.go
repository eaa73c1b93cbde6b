package doctor

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Watches compares how many folders of vaults are to be watched with how many inotify(7) lets
// this user watch, from below proc ("/proc"). Where the system has no such limit there is
// nothing to find. watched tells that the daemon has its watches already.
func Watches(proc string, folders int, watched bool) []Finding {
	most, ok := lowest(proc, "sys/fs/inotify/max_user_watches", "sys/user/max_inotify_watches")
	if !ok || folders == 0 || watched {
		return nil
	}
	instances, ok := lowest(proc, "sys/fs/inotify/max_user_instances", "sys/user/max_inotify_instances")
	used, usedInstances := inUse(proc)
	switch {
	case used+folders > most:
		return []Finding{{Area: "watches", Code: "watches-few", Severity: Warning,
			Next: raise("max_user_watches", max(524288, 2*(used+folders))),
			Text: fmt.Sprintf("the vault has %d folders, but your user can have only %d inotify watches (%d "+
				"in use); without enough watches, emberd finds edits only every 30 seconds", folders, most, used)}}
	case ok && usedInstances >= instances:
		return []Finding{{Area: "watches", Code: "watches-instances", Severity: Warning,
			Next: raise("max_user_instances", max(1024, 2*usedInstances)),
			Text: fmt.Sprintf("other programs use all %d inotify instances of your user; "+
				"without an instance, emberd finds edits only every 30 seconds", instances)}}
	}
	return []Finding{{Area: "watches", Severity: OK,
		Text: fmt.Sprintf("%d folders; your user can watch up to %d folders", folders, most)}}
}

// raise returns the command that raises a limit now and for good.
func raise(name string, to int) string {
	return fmt.Sprintf(
		"echo fs.inotify.%s=%d | sudo tee /etc/sysctl.d/60-emberd.conf && sudo sysctl -p /etc/sysctl.d/60-emberd.conf",
		name, to)
}

// lowest returns the smallest of the limits that files say; the second one is that of the user
// namespace (namespaces(7)).
func lowest(proc string, names ...string) (least int, ok bool) {
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(proc, name))
		if err != nil {
			continue
		}
		if n, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && (!ok || n < least) {
			least, ok = n, true
		}
	}
	return least, ok
}

// inUse counts the watches and instances of the processes that can be looked into, which are
// those of this user (proc_pid_fdinfo(5)).
func inUse(proc string) (watches, instances int) {
	files, err := filepath.Glob(filepath.Join(proc, "[0-9]*", "fd", "[0-9]*"))
	if err != nil {
		return 0, 0
	}
	for _, file := range files {
		if to, err := os.Readlink(file); err != nil || to != "anon_inode:inotify" {
			continue
		}
		instances++
		info, err := os.ReadFile(filepath.Join(filepath.Dir(filepath.Dir(file)), "fdinfo", filepath.Base(file)))
		if err != nil {
			continue
		}
		for lines := bufio.NewScanner(bytes.NewReader(info)); lines.Scan(); {
			if bytes.HasPrefix(lines.Bytes(), []byte("inotify ")) {
				watches++
			}
		}
	}
	return watches, instances
}
