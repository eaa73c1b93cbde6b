package op

import (
	"context"
	"iter"
	"reflect"
	"strings"
	"testing"

	"emberd/memory"
)

func TestTableIsComplete(t *testing.T) {
	names, routes := map[string]bool{}, map[string]bool{}
	for _, s := range Table() {
		route := s.Method + " " + s.Path
		if names[s.Name] || routes[route] {
			t.Errorf("%s, %s is in the table twice", s.Name, route)
		}
		names[s.Name], routes[route] = true, true
		if !strings.HasPrefix(s.Path, "/v1/") || !strings.HasSuffix(s.Summary, ".") {
			t.Errorf("%s: path %q or summary %q is not as the others", s.Name, s.Path, s.Summary)
		}
		// What removes something by a rule and not by name has a body, and is a POST. So is
		// a question that may be longer than an address.
		if s.Method == "GET" && s.Effect != Read || s.Effect == Read && s.Method != "GET" && s.Method != "POST" || s.Method == "DELETE" && s.Effect != Destructive ||
			s.Effect == Destructive && s.Method != "DELETE" && s.Method != "POST" {
			t.Errorf("%s: method %s does not fit effect %s", s.Name, s.Method, s.Effect)
		}
	}
}

// TestFieldsSayWhereTheyTravel: a GET or DELETE has no body, so every field of
// its request is in path, query or header, and every {name} in a path has a field.
func TestFieldsSayWhereTheyTravel(t *testing.T) {
	for _, s := range Table() {
		path := s.Path
		for f := range fields(s) {
			if name := f.Tag.Get("path"); name != "" {
				path = strings.Replace(path, "{"+name+"}", "", 1)
			}
			where := f.Tag.Get("path") + f.Tag.Get("query") + f.Tag.Get("header")
			if where == "" && (s.Method == "GET" || s.Method == "DELETE") {
				t.Errorf("%s: field %s has nowhere to travel", s.Name, f.Name)
			}
		}
		if strings.Contains(path, "{") {
			t.Errorf("%s: no field for a part of %s", s.Name, s.Path)
		}
	}
}

func fields(s *Spec) iter.Seq[reflect.StructField] {
	return func(yield func(reflect.StructField) bool) {
		for _, f := range reflect.VisibleFields(s.Request) {
			if !f.Anonymous && !yield(f) {
				return
			}
		}
	}
}

// echo answers every operation with a fixed result.
type echo struct{ answer any }

func (e echo) Invoke(context.Context, *Spec, any) (any, error) { return e.answer, nil }

func TestCallAndHandleKeepTypes(t *testing.T) {
	ctx := WithCaller(t.Context(), memory.Actor{Via: "cli", UID: 7})
	want := &VersionResult{Version: "x"}
	if got, err := Version.Call(ctx, echo{want}, &VersionRequest{}); err != nil || got != want {
		t.Errorf("Call = %v, %v", got, err)
	}
	if _, err := Version.Call(ctx, echo{"text"}, &VersionRequest{}); err == nil {
		t.Error("an answer of another type was taken")
	}
	spec, handle := Version.Handle(func(ctx context.Context, _ *VersionRequest) (*VersionResult, error) {
		return &VersionResult{PID: CallerFrom(ctx).UID}, nil
	})
	got, err := handle(ctx, spec.NewRequest())
	if res, ok := got.(*VersionResult); err != nil || !ok || res.PID != 7 {
		t.Errorf("handler answered %v, %v", got, err)
	}
	if _, err := handle(ctx, spec.NewResult()); err == nil {
		t.Error("a request of another type was taken")
	}
}
