package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"emberd/internal/plainly"
	"emberd/internal/wire"
	"emberd/memory"
	"emberd/op"
)

// tool is one tool.
type tool struct {
	def      *mcp.Tool
	profiles []Profile // that show it, the one that it is made for first
	input    reflect.Type
	output   reflect.Type
	outlined bool         // of the result, its schema tells the members only
	briefly  bool         // and of lists not what is in them
	fill     *wire.Filler // of results
	goOn     string       // how to get what is cut off an answer
	// spellsError repeats the message of an error under error.
	spellsError bool
	run         func(ctx context.Context, c *call, args json.RawMessage) (any, error)
}

// call is what a tool has at hand while it runs.
type call struct {
	op.Invoker
	opt     *Options
	req     *mcp.CallToolRequest // nil in resources and prompts
	session *mcp.ServerSession
}

// maxMessage bounds what is said of an error.
const maxMessage = 4 << 10

// texter is a result that says itself what a model reads. The text of any other is
// its JSON.
type texter interface{ Text() string }

// define makes a tool of a function over its arguments, a struct that [wire.Decode]
// makes, and its result, a struct too.
func define[In, Out any](name string, effect op.Effect, about string, run func(context.Context, *call, *In) (*Out, error), in ...Profile) *tool {
	return &tool{
		def:      definition(name, effect, about),
		profiles: in,
		input:    reflect.TypeFor[In](),
		output:   reflect.TypeFor[Out](),
		fill:     wire.FillerOf(reflect.TypeFor[*Out]()),
		run: func(ctx context.Context, c *call, args json.RawMessage) (any, error) {
			in, err := wire.Decode[In]("the input of "+name, args)
			if err != nil {
				return nil, err
			}
			out, err := run(ctx, c, in)
			if err != nil {
				return nil, err
			}
			return out, nil
		},
	}
}

// definition is a tool as a client is shown it, but for the schemas.
func definition(name string, effect op.Effect, about string) *mcp.Tool {
	return &mcp.Tool{Name: name, Description: about, Annotations: &mcp.ToolAnnotations{
		ReadOnlyHint: effect == op.Read, DestructiveHint: new(effect == op.Destructive), OpenWorldHint: new(false)}}
}

func (t *tool) in(p Profile) bool { return slices.Contains(t.profiles, p) }

// describe draws the schemas, and says once for all answers how to go on after one that
// is cut. Input is closed, output open.
func (t *tool) describe() error {
	input, err := wire.Infer(t.input, wire.Scalars(), true)
	if err != nil {
		return fmt.Errorf("schema of the input of %s: %w", t.def.Name, err)
	}
	output, err := wire.Infer(t.output, wire.Scalars(), false)
	if err != nil {
		return fmt.Errorf("schema of the output of %s: %w", t.def.Name, err)
	}
	if t.outlined {
		output = wire.Outline(output)
	}
	if t.briefly {
		for _, member := range output.Properties {
			member.Items = nil
		}
	}
	t.def.InputSchema, t.def.OutputSchema, t.goOn = input, output, howToGoOn(t.input)
	return nil
}

// handler answers calls of the tool.
func (t *tool) handler(opt *Options) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		var said notices
		ctx = op.WithNotice(withProgress(ctx, req), said.add)
		out, err := t.run(ctx, &call{Invoker: t.reads(opt.Invoker), opt: opt, req: req, session: req.Session}, req.Params.Arguments)
		if err == nil {
			res, err := t.answer(out, opt.Profile)
			return said.addTo(res), err
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if e := asError(err); e != nil && troubling(e.Code) {
			say(ctx, req.Session, "error", t.def.Name+": "+e.Message)
		}
		res, err := t.failure(opt, err)
		return said.addTo(res), err
	}
}

// reads is what a tool sees of the store. Those of the reference server edit a text by the
// lines of it that they have read, so that they need it as it is.
func (t *tool) reads(inv op.Invoker) op.Invoker {
	if t.profiles[0] == Reference {
		return inv
	}
	return showing{inv}
}

// fences reports whether the text of answers is fenced for a client of a profile. CortexGraph
// and the reference server are there for programs that read it as JSON.
func (t *tool) fences(p Profile) bool { return p == Agent || p == All || t.in(Agent) }

// answer is the result of a tool that ran, for a client of a profile.
func (t *tool) answer(out any, p Profile) (*mcp.CallToolResult, error) {
	t.fill.Apply(reflect.ValueOf(out))
	raw, err := wire.Marshal(out)
	if err != nil {
		return nil, fmt.Errorf("encode the answer of %s: %w", t.def.Name, err)
	}
	fence := t.fences(p)
	most := maxAnswer
	if fence {
		most -= fenceRoom
	}
	raw = bounded(showJSON(raw), most, t.goOn)
	text, after := string(raw), ""
	if own, ok := out.(texter); ok {
		text = own.Text()
	}
	if own, ok := out.(afterworder); ok {
		after = own.afterword()
	}
	text = readable(text, after, fence, maxAnswer, t.goOn)
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}, StructuredContent: raw}, nil
}

// howToGoOn says how to get what is cut off an answer to such an input.
func howToGoOn(input reflect.Type) string {
	known := wire.Members(input)
	for _, by := range []string{"page_size", "limit", "top_k"} {
		if _, ok := known[by]; ok {
			return "ask for less at a time with a smaller " + by
		}
	}
	for _, by := range []string{"memory_ids", "ids", "names", "items"} {
		if _, ok := known[by]; ok {
			return "ask for fewer " + by + " at a time"
		}
	}
	return "ask for one thing at a time"
}

// failure is the result of a tool that did not. It has no structured content, which
// would have to fit the schema of an answer.
func (t *tool) failure(opt *Options, err error) (*mcp.CallToolResult, error) {
	e := asError(err)
	if e == nil || e.Code == memory.Internal {
		opt.Logger.Error("tool failed", "tool", t.def.Name, "err", err)
		e = memory.Errorf(memory.Internal, "%s failed: %w", t.def.Name, err)
	}
	f := failure{Message: cutText(plainly.Show(advised(e, t.profiles[0])), maxMessage, "that is all")}
	if t.spellsError {
		f.Error = f.Message
	}
	return f.result()
}

// refusal is the result that says why there is none.
func refusal(said string) (*mcp.CallToolResult, error) {
	return failure{Message: cutText(plainly.Show(said), maxMessage, "that is all")}.result()
}

func (f failure) result() (*mcp.CallToolResult, error) {
	raw, err := wire.Marshal(f)
	if err != nil {
		return nil, err
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(raw)}}, IsError: true}, nil
}

// asError is err as it left the engine, nil if it comes from elsewhere.
func asError(err error) *memory.Error {
	e, _ := errors.AsType[*memory.Error](err)
	return e
}

// failure is what CortexGraph says of an error, and under error what other systems do.
type failure struct {
	Success bool   `json:"success"`
	Message string `json:"message"`
	Error   string `json:"error,omitempty"`
}
