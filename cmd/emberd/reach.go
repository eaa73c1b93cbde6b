package main

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"

	"emberd/engine"
	"emberd/memory"
	"emberd/op"
)

// reach carries out one operation through the daemon or, when none runs, on the
// folders themselves, under the lock that keeps a daemon out meanwhile.
func reach[Req, Res any](ctx context.Context, s *state, o op.Op[Req, Res], req *Req) (*Res, error) {
	inv, err := s.invoker(ctx)
	if err != nil {
		return nil, err
	}
	if ctx, err = s.limited(ctx, memory.Actor{Via: "cli", UID: os.Getuid(), PID: os.Getpid()}); err != nil {
		return nil, err
	}
	return o.Call(ctx, inv, req)
}

// invoker is the client of the daemon, or an engine of our own, which run closes.
func (s *state) invoker(ctx context.Context) (op.Invoker, error) {
	if s.local != nil {
		return s.local, nil
	}
	client, err := s.connect()
	if err != nil {
		return nil, err
	}
	_, err = op.Version.Call(ctx, client, &op.VersionRequest{})
	if memory.CodeOf(err) != memory.Unavailable {
		return client, nil
	}
	c, loadErr := s.load()
	if loadErr != nil {
		return nil, loadErr
	}
	if _, statErr := os.Stat(filepath.Join(c.Data, "stm")); statErr != nil {
		return nil, err // there is no log to open either
	}
	opt := engineOptions(c, slog.New(slog.DiscardHandler))
	opt.Vaults = nil
	s.local, err = engine.Open(opt)
	if err != nil {
		return nil, startError(err)
	}
	s.note("no daemon runs; this is read from %s", c.Data)
	return s.local, nil
}
