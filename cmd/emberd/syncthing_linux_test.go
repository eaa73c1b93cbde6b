package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// syncthing is one Syncthing that knows a single other device, on the loopback: it discovers
// nothing, relays nothing, upgrades nothing and reports nothing.
type syncthing struct {
	program, home   string
	id, listen, gui string
	folders         map[string]string // folder by its ID
	cmd             *exec.Cmd
	peer            *syncthing
}

// syncthingKey is the key of the REST API. Each Syncthing listens on the loopback for a test.
const syncthingKey = "emberd-test"

// newSyncthing makes keys and an identity in home.
func newSyncthing(t *testing.T, program, home string, folders map[string]string) *syncthing {
	t.Helper()
	s := &syncthing{program: program, home: home, folders: folders, listen: freeAddress(t), gui: freeAddress(t)}
	ignored := map[string]string{"data": "(?d).durable-*.tmp\n(?d).c.*.tmp\n", "vault": "(?d).~emberd-*\n"}
	for folder, dir := range folders {
		if err := os.MkdirAll(filepath.Join(dir, ".stfolder"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, ".stignore"), []byte(ignored[folder]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := s.command("generate", "--no-default-folder").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := s.command("--device-id").Output()
	if err != nil {
		t.Fatal(err)
	}
	s.id = strings.TrimSpace(string(out))
	return s
}

// freeAddress is an address of the loopback on which nothing listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func (s *syncthing) command(args ...string) *exec.Cmd {
	cmd := exec.Command(s.program, append(args, "--home", s.home)...)
	cmd.Env = append(os.Environ(), "HOME="+s.home, "STNOUPGRADE=1")
	return cmd
}

// pair lets two Syncthings share their folders.
func (s *syncthing) pair(t *testing.T, other *syncthing) {
	t.Helper()
	s.peer = other
	var b strings.Builder
	b.WriteString(`<configuration version="36">`)
	for id, dir := range s.folders {
		fmt.Fprintf(&b, `<folder id="%s" path="%s" type="sendreceive" rescanIntervalS="20" fsWatcherEnabled="true"`+
			` fsWatcherDelayS="1"><device id="%s"></device><device id="%s"></device>`+
			`<maxConflicts>-1</maxConflicts></folder>`, id, dir, s.id, other.id)
	}
	for _, d := range []*syncthing{s, other} {
		fmt.Fprintf(&b, `<device id="%s"><address>tcp://%s</address></device>`, d.id, d.listen)
	}
	fmt.Fprintf(&b, `<gui enabled="true" tls="false"><address>%s</address><apikey>%s</apikey></gui>`, s.gui,
		syncthingKey)
	fmt.Fprintf(&b, `<options><listenAddress>tcp://%s</listenAddress>`, s.listen)
	for _, name := range []string{"globalAnnounceEnabled", "localAnnounceEnabled", "relaysEnabled", "natEnabled",
		"startBrowser", "crashReportingEnabled"} {
		fmt.Fprintf(&b, `<%s>false</%s>`, name, name)
	}
	b.WriteString(`<reconnectionIntervalS>1</reconnectionIntervalS><urAccepted>-1</urAccepted>` +
		`<autoUpgradeIntervalH>0</autoUpgradeIntervalH></options></configuration>`)
	if err := os.WriteFile(filepath.Join(s.home, "config.xml"), []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// start runs Syncthing until its API answers.
func (s *syncthing) start(t *testing.T) {
	t.Helper()
	s.cmd = s.command("serve", "--no-browser", "--no-restart", "--logfile", filepath.Join(s.home, "log"))
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.cmd.Process.Kill() }) // it has ended, if all went well
	for end := time.Now().Add(time.Minute); s.ask(t.Context(), "GET", "system/ping", nil, nil) != nil; {
		if time.Now().After(end) {
			log, _ := os.ReadFile(filepath.Join(s.home, "log"))
			t.Fatalf("Syncthing does not answer\n%s", log)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func (s *syncthing) stop(t *testing.T) {
	t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	_ = s.cmd.Wait() // the error is the signal
}

// ask calls the REST API, https://docs.syncthing.net/dev/rest.html, and decodes the answer.
func (s *syncthing) ask(ctx context.Context, method, path string, args url.Values, out any) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, "http://"+s.gui+"/rest/"+path+"?"+args.Encode(), nil)
	if err != nil {
		return err
	}
	req.Header.Set("X-API-Key", syncthingKey)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s: %s %s %w", method, path, resp.Status, body, err)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(body, out)
}

// pause cuts the connection to the other device, and resume restores it.
func (s *syncthing) pause(ctx context.Context) error {
	return s.ask(ctx, "POST", "system/pause", url.Values{"device": {s.peer.id}}, nil)
}

func (s *syncthing) resume(ctx context.Context) error {
	return s.ask(ctx, "POST", "system/resume", url.Values{"device": {s.peer.id}}, nil)
}

// behind is what a folder still has to do, "" for nothing.
func (s *syncthing) behind(ctx context.Context) string {
	for folder := range s.folders {
		var here struct {
			State          string
			NeedTotalItems int
		}
		if err := s.ask(ctx, "GET", "db/status", url.Values{"folder": {folder}}, &here); err != nil {
			return err.Error()
		}
		if here.State != "idle" || here.NeedTotalItems > 0 {
			return fmt.Sprintf("folder %s is %s and needs %d", folder, here.State, here.NeedTotalItems)
		}
		var there struct{ Completion float64 }
		err := s.ask(ctx, "GET", "db/completion", url.Values{"folder": {folder}, "device": {s.peer.id}}, &there)
		if err != nil {
			return err.Error()
		}
		if there.Completion < 100 {
			return fmt.Sprintf("folder %s has %.0f %% of the other device's", folder, there.Completion)
		}
	}
	return ""
}
