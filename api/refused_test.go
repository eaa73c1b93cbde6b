package api

import (
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"emberd/op"
)

// A client that does not wait for a daemon sends a request again that a stopping daemon refused unread, and gives up
// when it is refused again and again.
func TestARefusedRequestIsSentAgain(t *testing.T) {
	t.Parallel()
	for refusals, answered := range map[int64]bool{0: true, 1: true, mostRefused - 1: true, mostRefused: false} {
		var asked atomic.Int64
		socket := socketIn(t)
		if err := os.MkdirAll(filepath.Dir(socket), 0o700); err != nil {
			t.Fatal(err)
		}
		l, err := net.Listen("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if asked.Add(1) <= refusals {
				_, body := notTaken()
				answer(w, http.StatusRequestTimeout, typeProblem, body)
				return
			}
			answer(w, http.StatusOK, typeJSON, []byte("{}"))
		})}
		go func() { _ = srv.Serve(l) }() // it ends with Close, below
		c := NewClient(socket, nil)
		_, err = op.Version.Call(t.Context(), c, &op.VersionRequest{})
		if want := min(refusals+1, mostRefused); (err == nil) != answered || asked.Load() != want {
			t.Errorf("refused %d times: sent %d times, want %d; %v", refusals, asked.Load(), want, err)
		}
		c.Close()
		if err := srv.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
