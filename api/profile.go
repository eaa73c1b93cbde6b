package api

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	nethttp "net/http/pprof"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"time"

	"emberd/memory"
	"emberd/op"
)

// profile serves what the runtime knows about this process, at the paths of net/http/pprof.
// Profiles name functions and count bytes, but stacks and what was allocated tell a lot about
// memories, so they require full permissions.
func (h *handler) profile() {
	h.handle(http.MethodGet, "/debug/pprof", h.requireFullAccess(h.bare(listProfiles)))
	h.handle(http.MethodGet, "/debug/pprof/{profile}",
		h.requireFullAccess(func(w http.ResponseWriter, r *http.Request) {
			serve, ok := profileOf(r.PathValue("profile"))
			if !ok {
				h.fail(w, r,
					refuse(http.StatusNotFound, memory.Errorf(memory.Invalid,
						"profile %q not found; available profiles: %s", memory.Clip(r.PathValue("profile")),
						strings.Join(profileNames(), ", "))))
				return
			}
			// A profile takes the time it is asked for: a reader that is gone ends it.
			rc := http.NewResponseController(w)
			_, _ = rc.SetReadDeadline(time.Time{}), rc.SetWriteDeadline(time.Time{})
			untilStop(serve, w, r)
		}))
}

// untilStop serves a request whose context ends when the server is to stop, so that a
// profile of the next minutes does not hold that up: it tells of the time until then.
func untilStop(serve http.Handler, w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithCancel(r.Context())
	var watch sync.WaitGroup
	watch.Go(func() {
		select {
		case <-stopping(ctx):
			cancel()
		case <-ctx.Done():
		}
	})
	defer watch.Wait()
	defer cancel()
	serve.ServeHTTP(w, r.WithContext(ctx))
}

// requireFullAccess refuses a token that may not do everything.
func (h *handler) requireFullAccess(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if g := op.GrantFrom(r.Context()); !g.Whole() {
			h.fail(w, r, memory.Errorf(memory.Forbidden, "token %s does not have full access, and a profile can "+
				"contain any data; send the request without a token", g.Token))
			return
		}
		next(w, r)
	}
}

// whileProfiled returns the profiles of a time span.
func whileProfiled() map[string]http.HandlerFunc {
	return map[string]http.HandlerFunc{"profile": nethttp.Profile, "trace": nethttp.Trace}
}

func profileOf(name string) (http.Handler, bool) {
	if serve, ok := whileProfiled()[name]; ok {
		return serve, true
	}
	return nethttp.Handler(name), pprof.Lookup(name) != nil
}

func profileNames() []string {
	names := slices.Collect(maps.Keys(whileProfiled()))
	for _, p := range pprof.Profiles() {
		names = append(names, p.Name())
	}
	slices.Sort(names)
	return names
}

// listProfiles names what there is, a line each.
func listProfiles(w http.ResponseWriter, _ *http.Request) {
	var list strings.Builder
	for _, name := range profileNames() {
		if p := pprof.Lookup(name); p != nil {
			fmt.Fprintf(&list, "/debug/pprof/%s\t%d\n", name, p.Count())
		} else {
			fmt.Fprintf(&list, "/debug/pprof/%s?seconds=10\n", name)
		}
	}
	answer(w, http.StatusOK, "text/plain; charset=utf-8", []byte(list.String()))
}
