package page

import (
	"context"
	"fmt"
	"html/template"
	"io"
	"iter"
	"net/http"
	"reflect"
	"time"

	"emberd/internal/secret"
	"emberd/op"
)

// maxExported is how many memories a file has at most, the newest ones.
const maxExported = 10_000

// exported is what the file shows.
type exported struct {
	At       time.Time
	Version  string
	Style    template.CSS // of this package
	Sections []section
	Memories []op.Memory
	Total    int
}

// section is a view as it is on the page, without its buttons.
type section struct {
	Name, Title string
	Body        template.HTML // of a template of this package
}

// Export writes the page as one file: no script, nothing that is loaded, no buttons. A text that
// looks like a credential is replaced by a note that it was left out.
func (p *Page) Export(ctx context.Context, w io.Writer) error {
	safe := &redacted{p.backend}
	quiet := &Page{backend: safe, version: p.version, log: p.log, now: p.now, zone: p.zone, templates: p.templates}
	e := exported{At: p.now(), Version: p.version, Style: template.CSS(embedded("static/style.css"))}
	for _, name := range []string{"today", "decisions", "fading", "callers", "health"} {
		if err := e.add(ctx, quiet, name); err != nil {
			return err
		}
	}
	if err := e.list(ctx, safe); err != nil {
		return err
	}
	text, err := p.execute("export", e)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(w, text); err != nil {
		return fmt.Errorf("cannot write the page: %w", err)
	}
	return nil
}

// add appends a view.
func (e *exported) add(ctx context.Context, p *Page, name string) error {
	for _, v := range views {
		if v.name != name {
			continue
		}
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, v.path, nil)
		if err != nil {
			return err
		}
		data, err := v.make(ctx, p, r)
		if err != nil {
			return err
		}
		body, err := p.execute(name, data)
		if err != nil {
			return err
		}
		e.Sections = append(e.Sections, section{name, v.title, template.HTML(body)})
	}
	return nil
}

// list fills in the memories, newest first.
func (e *exported) list(ctx context.Context, b op.Invoker) error {
	for cursor := ""; len(e.Memories) < maxExported; {
		res, err := op.List.Call(ctx, b, &op.ListRequest{Limit: 100, Cursor: cursor})
		if err != nil {
			return err
		}
		e.Memories, e.Total = append(e.Memories, res.Memories...), res.Total
		if cursor = res.NextCursor; cursor == "" {
			break
		}
	}
	return nil
}

// redacted is a backend whose answers contain nothing that looks like a credential.
type redacted struct{ Backend }

// leftOut takes the place of a text.
const leftOut = "[redacted: the text looks like a credential]"

// Invoke implements [op.Invoker].
func (r *redacted) Invoke(ctx context.Context, s *op.Spec, req any) (any, error) {
	res, err := r.Backend.Invoke(ctx, s, req)
	if err != nil {
		return nil, err
	}
	redact(reflect.ValueOf(res))
	return res, nil
}

// Events implements [Backend]: a file has none.
func (r *redacted) Events(context.Context, string) iter.Seq2[op.Event, error] {
	return func(func(op.Event, error) bool) {}
}

// redact replaces every text in v that looks like a credential, those of maps and of raw JSON among them.
func redact(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		redact(v.Elem())
	case reflect.Struct:
		for _, field := range v.Fields() {
			if field.CanSet() { // others are of other packages, such as those of a time
				redact(field)
			}
		}
	case reflect.Slice:
		redactList(v)
	case reflect.Map:
		redactMap(v)
	case reflect.String:
		if looksSecret(v.String()) {
			v.SetString(leftOut)
		}
	}
}

func looksSecret(text string) bool { return len(secret.Scan(text)) > 0 }

func redactList(v reflect.Value) {
	if v.Type().Elem().Kind() == reflect.Uint8 { // JSON
		if looksSecret(plain(v.Bytes())) || looksSecret(string(v.Bytes())) {
			v.SetBytes([]byte(`"` + leftOut + `"`))
		}
		return
	}
	for i := range v.Len() {
		redact(v.Index(i))
	}
}

// redactMap replaces values, and drops what has a key that looks like a credential.
func redactMap(v reflect.Value) {
	for _, key := range v.MapKeys() {
		value := reflect.New(v.Type().Elem()).Elem()
		value.Set(v.MapIndex(key))
		redact(value)
		if key.Kind() == reflect.String && looksSecret(key.String()) {
			value = reflect.Value{} // which removes the key
		}
		v.SetMapIndex(key, value)
	}
}
