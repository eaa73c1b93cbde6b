package cli

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// runtimeDir is the variable with the folder for sockets, by the XDG Base Directory Specification.
const runtimeDir = "XDG_RUNTIME_DIR"

// environ returns the environment of this process. cron, sudo and the libraries of MCP clients leave out
// XDG_RUNTIME_DIR, so that a command would look for the daemon in another place than the one it listens on. Then the
// folder is the one that systemd makes at a login, pam_systemd(8), if this user has it.
func environ() []string {
	env := slices.DeleteFunc(os.Environ(), isCobras)
	if runtime.GOOS != "linux" {
		return env
	}
	return withRuntimeDir(env, filepath.Join("/run/user", strconv.Itoa(os.Getuid())))
}

// withRuntimeDir adds the variable if it is unset and only this user can write to dir.
func withRuntimeDir(env []string, dir string) []string {
	isSet := slices.ContainsFunc(env, func(v string) bool { return strings.HasPrefix(v, runtimeDir+"=") })
	if isSet || !isOwn(dir) {
		return env
	}
	return append(env, runtimeDir+"="+dir)
}

// isOwn reports whether dir is a folder that only this user can open.
func isOwn(dir string) bool {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() || info.Mode().Perm()&0o077 != 0 {
		return false
	}
	sys, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(sys.Uid) == os.Getuid()
}
