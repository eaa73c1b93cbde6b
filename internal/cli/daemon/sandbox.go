package daemon

import (
	"fmt"
	"log/slog"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"emberd/embedding"
	"emberd/engine/core"
	"emberd/internal/beads"
	"emberd/internal/cli"
	"emberd/internal/config"
	"emberd/internal/power"
	"emberd/internal/sandbox"
	"emberd/internal/service"
	"emberd/memory"
	"emberd/op"
)

// Confine takes from the daemon what its settings do not need, once its folders are there
// and open and it listens, and fills in what is told of that.
func Confine(c *config.Config, told *core.Sandbox, log *slog.Logger) error {
	if c.Sandbox == "off" {
		told.Status.Why = "the setting sandbox is off"
		return nil
	}
	rules, err := sandboxRules(c)
	if err != nil {
		return err
	}
	if err := sandbox.Undumpable(); err != nil {
		return err
	}
	state, err := sandbox.Restrict(rules)
	switch {
	case err != nil && c.Sandbox == "on":
		return memory.Errorf(memory.Unavailable,
			"cannot start the sandbox, which the setting sandbox=on requires: %w; set sandbox to off", err)
	case err != nil:
		log.Warn("running without the sandbox", "error", err)
		state.Why = err.Error()
	case state.ABI == 0 && c.Sandbox == "on":
		return memory.Errorf(memory.Unavailable,
			"cannot start the sandbox, which the setting sandbox=on requires: %s; set sandbox to auto", state.Why)
	}
	if state.ABI == 0 {
		told.Status.Why = state.Why
		return nil
	}
	told.Status = op.SandboxStatus{On: true, ABI: state.ABI, Write: rules.Write, Run: rules.Run, Connect: rules.Connect,
		Exposed: exposed(rules.Write, c)}
	for _, name := range told.Status.Exposed {
		log.Warn("config file not protected by the sandbox, because its folder is writable", "file", name)
	}
	told.Reaches = rules.Reaches
	return nil
}

// holds reports whether a file lies in a folder or below it, links resolved.
func holds(dir, file string) bool {
	real := func(path string) string {
		if resolved, err := filepath.EvalSymlinks(path); err == nil {
			return resolved
		}
		return path
	}
	rel, err := filepath.Rel(real(dir), filepath.Join(real(filepath.Dir(file)), filepath.Base(file)))
	return err == nil && filepath.IsLocal(rel)
}

// exposed are the files that configure the daemon, its config file and its units, that lie in a
// folder which it must be able to write to: a vault that is the whole home folder, for example.
func exposed(writable []string, c *config.Config) (files []string) {
	own := []string{c.File}
	if dir, err := os.UserConfigDir(); err == nil {
		own = append(own, filepath.Join(dir, "systemd", "user", service.UnitName))
	}
	for _, file := range own {
		if slices.ContainsFunc(writable, func(dir string) bool { return holds(dir, file) }) {
			files = append(files, file)
		}
	}
	return files
}

// sandboxRules are what a daemon with these settings needs.
func sandboxRules(c *config.Config) (*sandbox.Policy, error) {
	r := &sandbox.Policy{
		Write: append([]string{c.Data, c.State}, c.Vaults...),
		Read: []string{settingsPlace(c), c.Embedding.Folder, "/etc/machine-id",
			"/etc/localtime", "/usr/share/zoneinfo", "/usr/lib/zoneinfo", "/usr/share/lib/zoneinfo", "/etc/zoneinfo",
			"/proc/sys/net/core/somaxconn"}, // how many connections may wait to be accepted
		Devices: []string{os.DevNull},
	}
	// To remove the socket in the end; from the folder of its configuration the daemon never does.
	if dir := filepath.Dir(c.Socket); !holds(dir, c.File) {
		r.Write = append(r.Write, dir)
	}
	for _, vault := range c.Vaults {
		r.Read = AppendSet(r.Read, gitFile(vault))
	}
	r.Read = AppendSet(r.Read, c.Cleanup.Queries, c.Embedding.Model, os.Getenv("ZONEINFO"),
		strings.TrimPrefix(os.Getenv("TZ"), ":"))
	r.Read = slices.DeleteFunc(r.Read, func(path string) bool { return !filepath.IsAbs(path) })
	if makesVectors(&c.Embedding) {
		r.Read = append(r.Read, power.This().Files()...)
	}
	allowServers(r, c)
	if err := allowEngine(r, c); err != nil {
		return nil, err
	}
	if c.Review.Beads {
		return r, allowTracker(r, c.Review.BeadsDir)
	}
	return r, nil
}

func AppendSet(to []string, names ...string) []string {
	return append(to, slices.DeleteFunc(names, func(name string) bool { return name == "" })...)
}

// gitFile is the file .git in a folder or above, which names the repository of a worktree:
// whether git is at work is looked up there.
func gitFile(dir string) string {
	for {
		name := filepath.Join(dir, ".git")
		if info, err := os.Lstat(name); err == nil {
			if info.Mode().IsRegular() {
				return name
			}
			return ""
		}
		if filepath.Dir(dir) == dir {
			return ""
		}
		dir = filepath.Dir(dir)
	}
}

// allowServers lets the daemon reach the servers that settings name.
func allowServers(r *sandbox.Policy, c *config.Config) {
	for _, text := range []string{c.LLM.URL, c.Embedding.URL} {
		at, err := url.Parse(text)
		if text == "" || err != nil { // who uses it has said so
			continue
		}
		if strings.HasSuffix(at.Scheme, "unix") {
			r.Sockets = append(r.Sockets, at.Path)
			continue
		}
		r.Connect = append(r.Connect, portOf(at))
		if _, err := netip.ParseAddr(at.Hostname()); err != nil {
			r.Names = true
			r.Read = append(r.Read, nameFiles()...)
		}
		if at.Scheme == "https" {
			r.Read = append(r.Read, rootFiles()...)
		}
	}
}

func portOf(at *url.URL) uint16 {
	if n, err := strconv.ParseUint(at.Port(), 10, 16); err == nil {
		return uint16(n)
	}
	if at.Scheme == "https" {
		return 443
	}
	return 80
}

// nameFiles are what names of hosts are looked up by (resolver(5) and package net). What
// tells the servers may be a link into a folder in which it is replaced now and then.
func nameFiles() []string {
	const resolv = "/etc/resolv.conf"
	files := []string{"/etc/hosts", "/etc/nsswitch.conf", resolv}
	if real, err := filepath.EvalSymlinks(resolv); err == nil && filepath.Dir(real) != "/etc" {
		files = append(files, filepath.Dir(real))
	}
	return files
}

// rootFiles are where package crypto/x509 looks for the certificates that are trusted.
func rootFiles() []string {
	files := []string{"/etc/ssl", "/etc/pki", "/etc/ca-certificates", "/usr/share/ca-certificates",
		"/usr/local/share/ca-certificates",
		"/usr/local/share/certs", "/system/etc/security/cacerts", os.Getenv("SSL_CERT_FILE")}
	files = append(files, filepath.SplitList(os.Getenv("SSL_CERT_DIR"))...)
	for _, bundle := range []string{"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
		"/etc/ssl/cert.pem"} {
		if real, err := filepath.EvalSymlinks(bundle); err == nil {
			files = append(files, real)
		}
	}
	return slices.DeleteFunc(files, func(name string) bool { return !filepath.IsAbs(name) })
}

// allowEngine lets the helper run, if it could, and read what its libraries look at: the
// system's own libraries, what the processors and graphics cards are, and those.
func allowEngine(r *sandbox.Policy, c *config.Config) error {
	if !startsNative(c) {
		return nil
	}
	helper, err := embedding.FindHelper()
	if err != nil {
		return nil // status says that it is missing
	}
	r.Run = append(r.Run, helper)
	r.Run = AppendSet(r.Run, sandbox.Loader(helper))
	read, devices := sandbox.NativeSystem()
	r.Read, r.Devices = append(r.Read, read...), append(r.Devices, devices...)
	if dir, err := EngineDir(c); err == nil {
		return allowLinks(r, dir)
	}
	return nil // status says what is wrong with it
}

// allowLinks lets the libraries of a folder be read, and those that links in it lead to.
func allowLinks(r *sandbox.Policy, dir string) error {
	r.Read = append(r.Read, dir)
	names, err := filepath.Glob(filepath.Join(cli.Globbed(dir), "*"))
	if err != nil {
		return fmt.Errorf("cannot list the files of the runtime: %w", err)
	}
	for _, name := range names {
		if real, err := filepath.EvalSymlinks(name); err == nil {
			r.Read = append(r.Read, real)
		}
	}
	return nil
}

// allowTracker lets bd run, in its folder and with its tracker and repository, and the
// programs of the system that it calls, such as git.
func allowTracker(r *sandbox.Policy, dir string) error {
	dir, err := filepath.Abs(dir) // "" is where the daemon was started
	if err != nil {
		return fmt.Errorf("cannot find the working directory of the program bd: %w", err)
	}
	r.Write = append(r.Write, dir)
	for up := dir; filepath.Dir(up) != up; up = filepath.Dir(up) {
		r.Write = append(r.Write, existing(filepath.Join(up, ".beads"), filepath.Join(up, ".git"))...)
	}
	r.Run = append(r.Run, "/bin", "/sbin", "/usr", "/lib", "/lib32", "/lib64", "/opt", "/nix/store")
	if program, err := exec.LookPath(beads.Program); err == nil {
		r.Run = append(r.Run, program)
	}
	r.Read = append(r.Read, "/etc", "/proc", "/dev/urandom")
	if home, err := os.UserHomeDir(); err == nil {
		r.Read = append(r.Read, existing(filepath.Join(home, ".gitconfig"), filepath.Join(home, ".config", "git"),
			filepath.Join(home, ".config", "bd"))...)
	}
	return nil
}

// existing are the folders and files that are there.
func existing(names ...string) []string {
	return slices.DeleteFunc(names, func(name string) bool {
		_, err := os.Stat(name)
		return err != nil
	})
}

// settingsPlace is what has to be readable for settings to be read again. A file that is
// changed is another one of the same name, so that its folder is named, if that is emberd's
// own; of a file elsewhere only what was there at the start can be read.
func settingsPlace(c *config.Config) string {
	dir := filepath.Dir(c.File)
	if filepath.Base(dir) == "emberd" || filepath.Dir(c.Data) == dir {
		return dir
	}
	return c.File
}
