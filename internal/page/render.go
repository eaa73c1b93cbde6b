package page

import (
	"bytes"
	"fmt"
	"html/template"
	"net/http"
	"strings"
	"time"

	"emberd/internal/text/invisible"
	"emberd/memory"
	"emberd/op"
)

// screen is a view with its place in the menu.
type screen struct {
	path, name, title string
	key               string // that follows g on the keyboard; none for a view that is not in the menu
	make              view
}

// views are the menu, in order of use, and the views that links lead to.
var views = []screen{
	{"/today", "today", "Today", "t", viewToday},
	{"/search", "search", "Search", "s", viewSearch},
	{"/decisions", "decisions", "Decisions", "d", viewDecisions},
	{"/graph", "graph", "Graph", "g", viewGraph},
	{"/fading", "fading", "Fading", "f", viewFading},
	{"/callers", "callers", "Callers", "c", viewCallers},
	{"/health", "health", "Health", "h", viewHealth},
	{"/memory/{id}", "memory", "Memory", "", viewMemory},
	{"/duplicates", "duplicates", "Duplicates", "", viewDuplicates},
	{"/whynot", "whynot", "Why not", "", viewWhyNot},
	{"/open", "open", "Open a note", "", viewOpen},
}

// layout is what the frame of every view shows.
type layout struct {
	Title, Name, Version string
	Body                 template.HTML // of a template of this package
	Menu                 []screen
	Waiting              int  // decisions
	Locked               bool // no session yet
	// Scripts are loaded with every view, Drawing with the first one that has a chart or a graph.
	Scripts, Drawing []string
}

var (
	scripts = []string{"htmx.min.js", "idiomorph-ext.min.js"}
	drawing = []string{"uPlot.min.css", "uPlot.iife.min.js", "d3-dispatch.min.js", "d3-quadtree.min.js",
		"d3-timer.min.js", "d3-force.min.js", "draw.js"}
)

// Path, Text and Key are for the menu of the layout.
func (v screen) Path() string { return v.path }
func (v screen) Text() string { return v.title }
func (v screen) Key() string  { return v.key }
func (v screen) Name() string { return v.name }

// show answers with a view, or with the error that the daemon gave.
func (p *Page) show(v screen) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		data, err := v.make(r.Context(), p, r)
		if err != nil {
			p.render(w, r, statusOf(err), "problem", err.Error(), p.waiting(r))
			return
		}
		total, counted := data.(interface{ waiting() int }) // counting looks at every memory
		if counted {
			p.render(w, r, http.StatusOK, v.name, data, total.waiting())
			return
		}
		p.render(w, r, http.StatusOK, v.name, data, p.waiting(r))
	}
}

// render answers with a template inside the layout, of which waiting is the number at Decisions.
func (p *Page) render(w http.ResponseWriter, r *http.Request, status int, name string, data any, waiting int) {
	frame := layout{Title: titleOf(name), Name: name, Version: p.version, Locked: name == "locked", Scripts: scripts}
	if !frame.Locked {
		frame.Drawing = drawing
	}
	if !frame.Locked && !ofPart(r) {
		frame.Menu, frame.Waiting = menu(), waiting
	}
	body, err := p.execute(name, data)
	if err == nil {
		frame.Body = template.HTML(body)
		body, err = p.execute("layout", frame)
	}
	p.write(w, status, body, err)
}

// ofPart reports whether the script asks for a part of a view, as it does for each letter of a query. What is
// around the part is then not looked up.
func ofPart(r *http.Request) bool {
	target := r.Header.Get("HX-Target")
	return target == "results" || target == "pairs" || target == "whynot"
}

// fragment answers with a template alone.
func (p *Page) fragment(w http.ResponseWriter, status int, name string, data any) {
	body, err := p.execute(name, data)
	p.write(w, status, body, err)
}

func (p *Page) write(w http.ResponseWriter, status int, body string, err error) {
	if err != nil {
		p.log.Error("template failed", "err", err)
		http.Error(w, "emberd cannot show this view; the log contains the error", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(body))
}

// execute fills in a template. Characters that cannot be seen are shown in all of it.
func (p *Page) execute(name string, data any) (string, error) {
	all, err := p.templates()
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	if err := all.ExecuteTemplate(&b, name, data); err != nil {
		return "", err
	}
	return invisible.Show(b.String()), nil
}

func menu() (all []screen) {
	for _, v := range views {
		if v.key != "" {
			all = append(all, v)
		}
	}
	return all
}

func titleOf(name string) string {
	for _, v := range views {
		if v.name == name {
			return v.title
		}
	}
	return "Memory page"
}

// waiting counts the decisions that wait, 0 if the daemon does not answer or the menu is not asked for.
func (p *Page) waiting(r *http.Request) int {
	if ofPart(r) {
		return 0
	}
	res, err := op.ReviewList.Call(r.Context(), p.backend, &op.ReviewListRequest{Limit: 1})
	if err != nil {
		return 0
	}
	return res.Total
}

// parse reads the templates; the first view calls it.
func (p *Page) parse() (*template.Template, error) {
	return template.New("").Funcs(template.FuncMap{
		"asset":   asset,
		"ago":     func(t time.Time) string { return ago(p.now(), t) },
		"in":      func(t time.Time) string { return until(p.now(), t) },
		"when":    func(t time.Time) string { return t.In(p.zone).Format("2 Jan 2006, 15:04") },
		"clock":   func(t time.Time) string { return t.In(p.zone).Format("15:04") },
		"iso":     func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"number":  grouped,
		"count":   count,
		"count64": func(n int64, one, many string) string { return count(int(n), one, many) },
		"button":  newButton,
		"score":   func(f float64) string { return fmt.Sprintf("%.2f", f) },
		"bar":     func(f float64) int { return int(100 * min(max(f, 0), 1)) },
		"pct":     func(f float64) string { return fmt.Sprintf("%.0f %%", 100*f) },
		"short":   func(id memory.ID) string { return id.Short() },
		"gist":    gist,
		"join":    func(list []string) string { return strings.Join(list, ", ") },
		"size":    size,
		"stage":   stageText,
		"inc":     func(i int) int { return i + 1 },
		"letter":  letter,
		"days":    func(seconds int64) string { return days(time.Duration(seconds) * time.Second) },
	}).ParseFS(files, "templates/*.html")
}

// button is an action on a memory.
type button struct {
	Action, Text string
	ID           memory.ID
	On, Rev      string
}

// newButton makes a button. A memory that changed since the view was shown is not forgotten.
func newButton(action, text string, m *op.Memory) button {
	b := button{Action: action, Text: text, ID: m.ID}
	switch action {
	case "core":
		b.On = "yes"
	case "uncore":
		b.Action, b.On = "core", "no"
	case "forget":
		b.Rev = m.Rev
	}
	return b
}
