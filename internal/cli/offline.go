package cli

import (
	"context"
	"os"
	"path/filepath"

	"emberd/internal/access"
	"emberd/memory"
	"emberd/op"
)

// An offline store answers operations on the folders themselves, under the lock that
// keeps a daemon out until Close.
type Offline interface {
	op.Invoker
	Authorize(token string) (*access.Grant, error)
	Close() error
}

// Reach runs one operation through the daemon or, if no daemon runs, on an offline store.
func Reach[Req, Res any](ctx context.Context, s *App, o op.Op[Req, Res], req *Req) (*Res, error) {
	inv, err := s.invoker(ctx)
	if err != nil {
		return nil, err
	}
	if ctx, err = s.limited(ctx, memory.Actor{Via: "cli", UID: os.Getuid(), PID: os.Getpid()}); err != nil {
		return nil, err
	}
	return o.Call(ctx, inv, req)
}

// invoker returns the client of the daemon, or an offline store, which run closes.
func (s *App) invoker(ctx context.Context) (op.Invoker, error) {
	if s.local != nil {
		return s.local, nil
	}
	client, err := s.Connect()
	if err != nil {
		return nil, err
	}
	_, err = op.Version.Call(ctx, client, &op.VersionRequest{})
	if memory.CodeOf(err) != memory.Unavailable {
		return client, nil
	}
	c, loadErr := s.Load()
	if loadErr != nil {
		return nil, loadErr
	}
	if _, statErr := os.Stat(filepath.Join(c.Data, "stm")); statErr != nil {
		return nil, err // there is no log to open either
	}
	if s.local, err = s.OpenOffline(c); err != nil {
		return nil, err
	}
	s.Note("the daemon is not running; reading the data folder %s directly", c.Data)
	return s.local, nil
}
