package maintain

import (
	"testing"

	"emberd/internal/config"
)

// A folder that others have a use for is never taken for emberd's own, which --fix closes.
func TestOwnSocketFolder(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		socket, data, state string
		own                 bool
	}{
		{"/home/ada/.local/state/emberd/run/emberd.sock", "/home/ada/.local/share/emberd",
			"/home/ada/.local/state/emberd", true},
		{"/run/user/7/emberd/emberd.sock", "/d", "/s", true},
		{"/h/emberd.sock", "/h/data", "/h/state", true},
		{shortSocket(), "/d", "/s", true},
		{"/run/emberd.sock", "/d", "/s", false},
		{"/tmp/emberd.sock", "/d", "/s", false},
		{"/var/lib/emberd.sock", "/var/lib/data", "/var/lib/emberd", false},
	} {
		if got := ownSocketFolder(&config.Config{Socket: c.socket, Data: c.data, State: c.state}); got != c.own {
			t.Errorf("%s: %v, want %v", c.socket, got, c.own)
		}
	}
}
