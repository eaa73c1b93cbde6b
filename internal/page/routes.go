package page

import (
	"context"
	"encoding/json"
	"net"
	"net/http"

	"emberd/memory"
)

// maxBody bounds the body of a request, in bytes. The text of a memory has at most 200 KiB.
const maxBody = 1 << 20

// view makes what one template shows. It changes nothing.
type view func(ctx context.Context, p *Page, r *http.Request) (any, error)

// routes are the views by path, the writes, and what is served without a session: the first page,
// the exchange of a code, and files that are the same for everyone.
func (p *Page) routes() {
	p.mux.HandleFunc("GET /static/{file}", p.static)
	p.mux.HandleFunc("POST /session", p.begin)
	p.mux.HandleFunc("GET /{$}", p.front)
	for _, v := range views {
		p.mux.HandleFunc("GET "+v.path, p.within(p.show(v)))
	}
	p.mux.HandleFunc("GET /events", p.within(p.events))
	p.mux.HandleFunc("POST /end", p.within(p.end))
	for name, act := range actions {
		p.mux.HandleFunc("POST /do/"+name, p.within(p.act(act)))
	}
}

type sessionKey struct{}

// within passes requests on that have a session.
func (p *Page) within(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s := p.sessionOf(r)
		if s == nil {
			p.locked(w, r, http.StatusUnauthorized)
			return
		}
		next(w, r.WithContext(context.WithValue(r.Context(), sessionKey{}, s)))
	}
}

// locked says how to open the page. It is a whole page even for a request that wants a part of one.
func (p *Page) locked(w http.ResponseWriter, r *http.Request, status int) {
	w.Header().Set("HX-Retarget", "body")
	w.Header().Set("HX-Reselect", "body > *")
	p.render(w, r, status, "locked", nil, 0)
}

// front is the first page: the script on it exchanges the code for a session.
func (p *Page) front(w http.ResponseWriter, r *http.Request) {
	if p.sessionOf(r) == nil {
		p.locked(w, r, http.StatusOK)
		return
	}
	http.Redirect(w, r, "/today", http.StatusSeeOther)
}

// begin exchanges a code for a session.
func (p *Page) begin(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Code string `json:"code"`
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		http.Error(w, "the request is not valid JSON", http.StatusBadRequest)
		return
	}
	if local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); !ok ||
		!p.owners.isOurs(r.RemoteAddr, local.String()) { // the command line of a browser shows everyone the address
		http.Error(w, "emberd rejected the request, because another user of this machine sent it", http.StatusForbidden)
		return
	}
	key, ok := p.sessions.begin(asked.Code)
	if !ok {
		http.Error(w, "the address was used before, or is older than 60 seconds; to print "+
			"a new address, press Enter in the terminal that runs emberd page", http.StatusForbidden)
		return
	}
	http.SetCookie(w, p.cookie(key))
	w.WriteHeader(http.StatusNoContent)
}

// end closes the session of the browser.
func (p *Page) end(w http.ResponseWriter, r *http.Request) {
	p.sessions.end(sessionFrom(r.Context()))
	w.Header().Set("HX-Redirect", "/")
	w.WriteHeader(http.StatusNoContent)
}

func sessionFrom(ctx context.Context) *session {
	s, _ := ctx.Value(sessionKey{}).(*session)
	return s
}

// statusOf is the HTTP status of an error of an operation.
func statusOf(err error) int {
	switch memory.CodeOf(err) {
	case memory.NotFound:
		return http.StatusNotFound
	case memory.Invalid, memory.TooLarge:
		return http.StatusBadRequest
	case memory.Conflict:
		return http.StatusConflict
	case memory.Forbidden:
		return http.StatusForbidden
	}
	return http.StatusBadGateway
}
