package service

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"emberd/memory"
)

// A daemon that panics aborts, and is started again after 3 seconds, and after longer and longer
// up to 5 minutes where systemd is of version 254 or later; an earlier one ignores those two lines
// and logs that. Exit codes 2 and 4, a wrong setting and another daemon on the same folders, would
// only repeat, so those daemons stay down.
//
// unit and socketUnit are the two files, by systemd.unit(5), systemd.service(5),
// systemd.socket(5) and systemd.exec(5). The columns in %s are quoted values.
const (
	unit = `# %[1]s.
# The next installation overwrites this file. To change settings, run: systemctl --user edit emberd.service
[Unit]
Description=emberd, a memory that fades
Requires=emberd.socket
After=emberd.socket

[Service]
Type=notify
ExecStart=:%[2]s
ExecReload=kill -HUP $MAINPID
%[3]sTimeoutStartSec=5min
TimeoutStopSec=15s
KillMode=mixed
WatchdogSec=90s
WatchdogSignal=SIGKILL
Restart=on-failure
RestartSec=3s
RestartSteps=8
RestartMaxDelaySec=5min
RestartPreventExitStatus=2 4
OOMPolicy=continue

UMask=0077
LimitCORE=0
NoNewPrivileges=yes
ProtectSystem=strict
%[4]sRestrictAddressFamilies=%[5]s
%[6]sLockPersonality=yes
RestrictNamespaces=yes
RestrictRealtime=yes
SystemCallArchitectures=native

[Install]
WantedBy=default.target
`
	socketUnit = `# %[1]s.
[Unit]
Description=Socket of emberd

[Socket]
ListenStream=%[2]s
SocketMode=0600
DirectoryMode=0700
RemoveOnStop=yes

[Install]
WantedBy=sockets.target
`
)

// Systemd renders the unit and its socket. What a unit cannot say, a path with a line break
// for example, is an error that names it.
func Systemd(s *Spec) ([]File, error) {
	command, err := words(append([]string{s.Program}, s.Args...))
	if err != nil {
		return nil, err
	}
	env, err := each("Environment=", s.Env)
	if err != nil {
		return nil, err
	}
	// The hyphen lets a folder be missing, as that of a disk which is not plugged in.
	writable, err := each("ReadWritePaths=", prefixed("-", outermost(s.Writable)))
	if err != nil {
		return nil, err
	}
	socket, err := bare(s.Socket)
	if err != nil {
		return nil, err
	}
	families, wx := "AF_UNIX", ""
	if s.Network {
		families += " AF_INET AF_INET6"
	}
	if !s.Native {
		wx = "MemoryDenyWriteExecute=yes\n"
	}
	return []File{
		{UnitName, fmt.Appendf(nil, unit, markOf(s), command, env, writable, families, wx)},
		{SocketName, fmt.Appendf(nil, socketUnit, markOf(s), socket)},
	}, nil
}

// packaged is what units that come with a package say in the place of the mark.
const packaged = "Installed by the emberd package for all users. The command emberd service install\n" +
	"# replaces this unit with a unit for your settings"

// Packaged renders the units that a package installs for every user, with the path of the
// program. They are made before anybody has settings, so they allow what settings within the
// home of a user may need: to write there, to use the network and to run a model by native
// code. What the settings then do not need the daemon takes from itself, and whoever has a
// vault elsewhere installs a service of their own, whose files come before these.
func Packaged(program string) ([]File, error) {
	command, err := words([]string{program, "serve"})
	if err != nil {
		return nil, err
	}
	return []File{
		{UnitName, fmt.Appendf(nil, unit, packaged, command, "", "ReadWritePaths=-%h\n", "AF_UNIX AF_INET AF_INET6",
			"")},
		{SocketName, fmt.Appendf(nil, socketUnit, packaged, "%t/emberd/emberd.sock")},
	}, nil
}

func prefixed(prefix string, list []string) (out []string) {
	for _, s := range list {
		out = append(out, prefix+s)
	}
	return out
}

// each is one line of the same key for each value.
func each(key string, values []string) (string, error) {
	var b strings.Builder
	for _, v := range values {
		text, err := word(v)
		if err != nil {
			return "", err
		}
		b.WriteString(key + text + "\n")
	}
	return b.String(), nil
}

// outermost leaves folders out that lie in another one: each that is named becomes a mount
// of its own, and no file can be renamed from one into another.
func outermost(dirs []string) []string {
	var out []string
	for _, dir := range dirs {
		within := func(other string) bool {
			rest, err := filepath.Rel(other, dir)
			return err == nil && rest != "." && rest != ".." && !strings.HasPrefix(rest, "../")
		}
		if !slices.ContainsFunc(dirs, within) && !slices.Contains(out, dir) {
			out = append(out, dir)
		}
	}
	return out
}

// words is a command line.
func words(list []string) (string, error) {
	var out []string
	for _, s := range list {
		w, err := word(s)
		if err != nil {
			return "", err
		}
		out = append(out, w)
	}
	return strings.Join(out, " "), nil
}

// word is s as one word of a value that systemd splits into words, by "Quoting" in
// systemd.syntax(7): in double quotes with backslashes, unless it is plain, and with every
// percent sign doubled, which would begin a specifier. A dollar sign stands for itself,
// since the colon before a command switches variables off.
func word(s string) (string, error) {
	if err := writable(s); err != nil {
		return "", err
	}
	s = strings.ReplaceAll(s, "%", "%%")
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !isPlain(r) }) {
		return s, nil
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`, nil
}

func isPlain(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+=:,@%", r)
}

// bare is s as a whole value, which systemd takes as it is but for white space around it,
// specifiers and a backslash at the end, by which the next line would belong to it.
func bare(s string) (string, error) {
	if err := writable(s); err != nil {
		return "", err
	}
	if strings.TrimSpace(s) != s || strings.HasSuffix(s, `\`) {
		return "", memory.Errorf(memory.Invalid, "invalid path %q: a systemd unit cannot contain a path that "+
			"ends in white space or a backslash; choose another path", s)
	}
	return strings.ReplaceAll(s, "%", "%%"), nil
}

// writable refuses what no line of a unit or string of a property list can hold.
func writable(s string) error {
	bad := func(r rune) bool {
		return unicode.IsControl(r) || r == utf8.RuneError || r == '\u2028' || r == '\u2029'
	}
	if !utf8.ValidString(s) || strings.ContainsFunc(s, bad) {
		return memory.Errorf(memory.Invalid, "invalid name %q: a service file cannot contain line breaks, "+
			"control characters or invalid UTF-8; choose another name", s)
	}
	return nil
}
