// Package op is the one typed table of everything emberd can be asked to do:
// requests, results, HTTP route and effect of every operation. Routes, the
// typed client, the OpenAPI document and later the MCP tools are derived from
// it, so that there is one front door.
//
// A request field names where it travels with a struct tag: path:"id" in the
// path, query:"q" in the query string, header:"If-Match" in a header; a field
// with none of them is part of the JSON body under its json name.
package op

import (
	"context"
	"fmt"
	"reflect"

	"emberd/internal/access"
	"emberd/memory"
)

// Effect reports what an operation may change.
type Effect string

// The effects.
const (
	Read        Effect = "read"        // changes nothing but access counts; a search brings back what it means
	Write       Effect = "write"       // adds or changes memories
	Destructive Effect = "destructive" // removes something; can be undone unless it says otherwise
)

// Spec describes one operation without its types.
type Spec struct {
	Name    string // dotted, stable
	Method  string
	Path    string // pattern of net/http's ServeMux
	Effect  Effect
	Summary string // one sentence for people
	Request reflect.Type
	Result  reflect.Type
}

// NewRequest returns a pointer to a zero request.
func (s *Spec) NewRequest() any { return reflect.New(s.Request).Interface() }

// NewResult returns a pointer to a zero result.
func (s *Spec) NewResult() any { return reflect.New(s.Result).Interface() }

// Op is an operation with its types.
type Op[Req, Res any] struct{ *Spec }

// Invoker applies operations. The engine is one, and so is the client of
// its socket: req is a *Req and the answer a *Res of the operation.
type Invoker interface {
	Invoke(ctx context.Context, s *Spec, req any) (any, error)
}

// Call applies the operation through inv.
func (o Op[Req, Res]) Call(ctx context.Context, inv Invoker, req *Req) (*Res, error) {
	res, err := inv.Invoke(ctx, o.Spec, req)
	if err != nil {
		return nil, err
	}
	typed, ok := res.(*Res)
	if !ok {
		return nil, fmt.Errorf("operation %s answered %T", o.Name, res)
	}
	return typed, nil
}

// Handler is an operation's implementation with the types erased.
type Handler func(ctx context.Context, req any) (any, error)

// Handle pairs the operation with its implementation, for a table of handlers.
func (o Op[Req, Res]) Handle(fn func(context.Context, *Req) (*Res, error)) (*Spec, Handler) {
	return o.Spec, func(ctx context.Context, req any) (any, error) {
		typed, ok := req.(*Req)
		if !ok {
			return nil, fmt.Errorf("operation %s received a request of the wrong type %T", o.Name, req)
		}
		return fn(ctx, typed)
	}
}

func define[Req, Res any](name, method, path string, effect Effect, summary string) Op[Req, Res] {
	return Op[Req, Res]{&Spec{
		Name: name, Method: method, Path: path, Effect: effect, Summary: summary,
		Request: reflect.TypeFor[Req](), Result: reflect.TypeFor[Res](),
	}}
}

type callerKey struct{}

// WithCaller returns a context with the caller of an operation.
func WithCaller(ctx context.Context, c memory.Actor) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// CallerFrom returns the caller of an operation, the zero Actor when it is unknown.
func CallerFrom(ctx context.Context) memory.Actor {
	c, _ := ctx.Value(callerKey{}).(memory.Actor)
	return c
}

type grantKey struct{}

// WithGrant returns a context with what the caller can see and change.
func WithGrant(ctx context.Context, g *access.Grant) context.Context {
	return context.WithValue(ctx, grantKey{}, g)
}

// GrantFrom returns what the caller may see and change, nil for everything.
func GrantFrom(ctx context.Context) *access.Grant {
	g, _ := ctx.Value(grantKey{}).(*access.Grant)
	return g
}
