package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"golang.org/x/sys/unix"
)

// terminal is a pseudo-terminal with a command on it, and what a person would see there.
type terminal struct {
	t      *testing.T
	master *os.File
	slave  *os.File
	before unix.Termios
	cmd    *exec.Cmd
	exited chan error
	stdout bytes.Buffer // when it leads into a pipe; read it after the end

	mu    sync.Mutex
	glass glass // guarded by mu
}

// onTerminal runs emberd on a terminal of 80 by 24, with stdout there or in a pipe.
func onTerminal(t *testing.T, piped bool, env []string, args ...string) *terminal {
	t.Helper()
	h := &terminal{t: t, exited: make(chan error, 1)}
	h.open()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	h.cmd = exec.Command(exe, args...)
	h.cmd.Args[0] = "emberd"
	h.cmd.Env = append(slices.Clone(env), "TERM=xterm-256color", "LC_ALL=C")
	h.cmd.Stdin, h.cmd.Stdout, h.cmd.Stderr = h.slave, h.slave, h.slave
	if piped {
		h.cmd.Stdout = &h.stdout
	}
	h.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	h.resize(80, 24)
	if err := h.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var read sync.WaitGroup
	read.Go(h.read)
	go func() { h.exited <- h.cmd.Wait() }()
	t.Cleanup(func() {
		_ = h.cmd.Process.Kill() // it has ended, unless the test failed
		h.slave.Close()
		h.master.Close()
		read.Wait()
	})
	return h
}

// open makes the pair of devices (pts(4) of Linux).
func (h *terminal) open() {
	h.t.Helper()
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		h.t.Fatal(err)
	}
	h.master = os.NewFile(uintptr(fd), "ptmx") // which can be closed while it is read
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		h.t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		h.t.Fatal(err)
	}
	if h.slave, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		h.t.Fatal(err)
	}
	h.before = h.termios()
}

func (h *terminal) termios() unix.Termios {
	h.t.Helper()
	is, err := unix.IoctlGetTermios(int(h.slave.Fd()), unix.TCGETS)
	if err != nil {
		h.t.Fatal(err)
	}
	return *is
}

func (h *terminal) resize(width, height int) {
	h.t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.glass.resize(width, height)
	if err := unix.IoctlSetWinsize(int(h.slave.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: uint16(height), Col: uint16(width)}); err != nil {
		h.t.Fatal(err)
	}
}

// read shows what arrives until the terminal is closed.
func (h *terminal) read() {
	buf := make([]byte, 4096)
	for {
		n, err := h.master.Read(buf)
		h.mu.Lock()
		h.glass.write(buf[:n])
		h.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (h *terminal) press(keys string) {
	h.t.Helper()
	if _, err := h.master.WriteString(keys); err != nil {
		h.t.Fatal(err)
	}
}

// see waits until the screen is as is says, which may look at the glass, too.
func (h *terminal) see(what string, is func(screen string) bool) string {
	h.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		h.mu.Lock()
		text := h.glass.text()
		yes := is(text)
		h.mu.Unlock()
		if yes {
			return text
		}
		if time.Now().After(deadline) {
			h.t.Fatalf("%s is not on the screen:\n%s", what, text)
		}
	}
}

func (h *terminal) sees(want string) string {
	h.t.Helper()
	return h.see(strconv.Quote(want), func(screen string) bool { return strings.Contains(screen, want) })
}

// ends waits for the end, and looks that the terminal is as it was.
func (h *terminal) ends() (code int) {
	h.t.Helper()
	select {
	case <-h.exited:
	case <-time.After(time.Minute):
		h.t.Fatal("the command does not end")
	}
	if is := h.termios(); is != h.before {
		h.t.Errorf("the terminal's modes are %+v, were %+v", is, h.before)
	}
	h.see("the terminal's own screen", func(string) bool { return !h.glass.other && !h.glass.hidden })
	return h.cmd.ProcessState.ExitCode()
}

// glass is what a terminal shows of what was written to it: as much of ECMA-48 and xterm as
// the descriptions of terminals have a full-screen program use.
type glass struct {
	width, height int
	cells         [][]string // "" is the second half of a wide character
	row, col      int
	other         bool   // the alternate screen
	hidden        bool   // the cursor
	rest          []byte // the beginning of something
	unknown       []string
}

func (g *glass) resize(width, height int) {
	g.width, g.height = width, height
	g.clear()
}

func (g *glass) clear() {
	g.cells = make([][]string, g.height)
	for y := range g.cells {
		g.cells[y] = slices.Repeat([]string{" "}, g.width)
	}
}

func (g *glass) text() string {
	var out []string
	for _, line := range g.cells {
		out = append(out, strings.TrimRight(strings.Join(line, ""), " "))
	}
	return strings.Join(append(out, g.unknown...), "\n")
}

func (g *glass) write(p []byte) {
	g.rest = append(g.rest, p...)
	for len(g.rest) > 0 {
		n := g.step(g.rest)
		if n == 0 {
			return
		}
		g.rest = g.rest[n:]
	}
}

// step takes one character or sequence and tells its length, 0 when it is not all there.
func (g *glass) step(p []byte) int {
	switch {
	case p[0] == 0x1b && len(p) == 1:
		return 0
	case p[0] == 0x1b && p[1] == '[':
		end := bytes.IndexFunc(p[2:], func(r rune) bool { return r >= 0x40 && r <= 0x7e })
		if end < 0 {
			return 0
		}
		g.control(string(p[2:2+end]), p[2+end])
		return end + 3
	case p[0] == 0x1b && (p[1] == '(' || p[1] == ')'):
		return min(3, len(p)/3*3)
	case p[0] == 0x1b:
		return 2
	case p[0] < 0x20:
		g.steer(p[0])
		return 1
	case !utf8.FullRune(p):
		return 0
	}
	r, n := utf8.DecodeRune(p)
	g.put(string(r))
	return n
}

func (g *glass) steer(c byte) {
	switch c {
	case '\r':
		g.col = 0
	case '\n':
		g.row = min(g.row+1, g.height-1)
	case '\b':
		g.col = max(0, g.col-1)
	}
}

func (g *glass) put(char string) {
	width := uniseg.StringWidth(char)
	if g.row >= g.height || g.col+width > g.width {
		return
	}
	if width == 0 { // it joins the one before
		if g.col > 0 {
			g.cells[g.row][g.col-1] += char
		}
		return
	}
	g.cells[g.row][g.col] = char
	for i := 1; i < width; i++ {
		g.cells[g.row][g.col+i] = ""
	}
	g.col += width
}

func (g *glass) control(params string, final byte) {
	switch final {
	case 'H':
		row, col := 1, 1
		fmt.Sscanf(params, "%d;%d", &row, &col)
		g.row, g.col = row-1, col-1
	case 'J':
		g.clear()
	case 'h', 'l':
		switch params {
		case "?1049":
			g.other = final == 'h'
		case "?25":
			g.hidden = final == 'l'
		}
	case 'm', 't', 'q', 'u', 'r', 'n', 'c', 'p': // colours, titles, reports
	default:
		g.unknown = append(g.unknown, fmt.Sprintf("unknown: ESC [ %s %c", params, final))
	}
}
