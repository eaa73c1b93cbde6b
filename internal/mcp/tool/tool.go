// Package tool runs operations as tools of the Model Context Protocol.
//
// A [Tool] is a Go function over its arguments and its result; [Define] draws both schemas
// from these types. The package guarantees of every tool, whatever its function does:
//
//   - Arguments that do not fit the schema are an error before the function runs.
//   - An answer has at most [answer.Max] bytes, and contains no hidden characters. Its [Form]
//     depends on the client: a model receives stored text inside a fence, whether its client
//     gives it the text or the structured content.
//   - An error is a result with the error flag and the JSON of CortexGraph:
//     {"success": false, "message": …}, or its message alone ([Tool.PlainErrors]). The message
//     names tools where the engine's names commands. Internal errors are written to the log.
//
// A Tool can be called by any number of goroutines. It owns none.
package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"emberd/internal/mcp/answer"
	"emberd/internal/text/invisible"
	"emberd/internal/wire"
	"emberd/memory"
	"emberd/op"
)

// Options are the settings of a server that its tools need.
type Options struct {
	Invoker op.Invoker
	Profile Profile // "" is Agent
	Form    Form    // of answers; "" is Auto
	Version string  // of emberd; "" is devel
	Project string  // of new memories and of searches, "" for none
	// ProjectOf returns the project that a folder belongs to, "" for none. If Project is "",
	// the folder that the client works in selects the project.
	ProjectOf func(dir string) string
	Logger    *slog.Logger // nil discards
}

// A Tool is one tool. The fields do not change after Describe.
type Tool struct {
	Def      *sdk.Tool
	Profiles []Profile // that list it, the one that it is made for first
	Input    reflect.Type
	Output   reflect.Type
	Outlined bool                // the schema of the result contains the names of the members only
	Brief    bool                // the schema of the result says nothing about the items of lists
	Fill     *wire.NilNormalizer // of results
	// SpellsError repeats the message of an error as the member error.
	SpellsError bool
	// NamesRelation has the ID of a relation that exists in a conflict as the member existing_relation_id.
	NamesRelation bool
	// OpenInput tools ignore members of the arguments that they do not know.
	OpenInput bool
	// PlainErrors has errors as their message alone and not as JSON.
	PlainErrors bool
	// Verbatim tools read stored text with its hidden characters, because their callers edit
	// a text by the lines that they have read.
	Verbatim bool
	// Advise replaces the commands in the message of an error; nil leaves it as it is.
	Advise func(message string) string
	Run    func(ctx context.Context, c *Call, args json.RawMessage) (any, error)

	goOn string // how to get what is cut off an answer
}

// Call is one call of a tool, or one read of a resource or prompt.
type Call struct {
	op.Invoker
	Options *Options
	Session *sdk.ServerSession // nil without one
	Form    Form               // of the answer of a tool, Text or Structured; "" otherwise
}

// MaxMessage bounds the message of an error, in bytes.
const MaxMessage = 4 << 10

// texter is a result with a text of its own for a model. The text of other results is their
// JSON.
type texter interface{ Text() string }

// afterworder is a result whose text ends with sentences of emberd, which no fence contains.
type afterworder interface{ Afterword() string }

// Define returns a tool that runs a function over its arguments, a struct that [wire.Decode]
// fills, and its result, also a struct.
func Define[In, Out any](name string, effect op.Effect, about string,
	run func(context.Context, *Call, *In) (*Out, error), profiles ...Profile) *Tool {
	return &Tool{
		Def:      Definition(name, effect, about),
		Profiles: profiles,
		Input:    reflect.TypeFor[In](),
		Output:   reflect.TypeFor[Out](),
		Fill:     wire.FillerOf(reflect.TypeFor[*Out]()),
		Run: func(ctx context.Context, c *Call, args json.RawMessage) (any, error) {
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

// Definition returns a tool as tools/list shows it, without the schemas. Its title is the first
// sentence of the description.
func Definition(name string, effect op.Effect, about string) *sdk.Tool {
	title, _, _ := strings.Cut(strings.TrimSuffix(about, "."), ". ")
	return &sdk.Tool{Name: name, Title: title, Description: about, Annotations: &sdk.ToolAnnotations{
		ReadOnlyHint: effect == op.Read, DestructiveHint: new(effect == op.Destructive), OpenWorldHint: new(false)}}
}

// In reports whether a profile lists the tool.
func (t *Tool) In(p Profile) bool { return slices.Contains(t.Profiles, p) }

// Describe draws the schemas, the input closed unless it is OpenInput, and the output open. It must return before
// Handler is called.
func (t *Tool) Describe() error {
	input, err := wire.Infer(t.Input, wire.Scalars(), !t.OpenInput)
	if err != nil {
		return fmt.Errorf("invalid input schema of %s: %w", t.Def.Name, err)
	}
	output, err := wire.Infer(t.Output, wire.Scalars(), false)
	if err != nil {
		return fmt.Errorf("invalid output schema of %s: %w", t.Def.Name, err)
	}
	if t.Outlined {
		output = wire.Outline(output)
	}
	if t.Brief {
		for _, member := range output.Properties {
			member.Items = nil
		}
	}
	t.Def.InputSchema, t.Def.OutputSchema, t.goOn = input, output, howToGoOn(t.Input)
	return nil
}

// Handler returns the function that answers calls of the tool.
func (t *Tool) Handler(opt *Options) sdk.ToolHandler {
	return func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		var said notices
		ctx = op.WithNotice(withProgress(ctx, req), said.add)
		c := &Call{Invoker: t.reads(opt.Invoker), Options: opt, Session: req.Session,
			Form: opt.FormFor(req.ClientInfo())}
		args := req.Params.Arguments
		if string(args) == "null" { // some clients have it for none
			args = nil
		}
		out, err := t.Run(ctx, c, args)
		if err == nil {
			return t.result(out, c, &said)
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if e := AsError(err); e != nil && isTroubling(e.Code) {
			Log(ctx, req.Session, "error", t.Def.Name+": "+e.Message)
		}
		res, err := t.failed(opt, err)
		return said.addTo(res), err
	}
}

// reads returns the invoker that the tool reads the store through.
func (t *Tool) reads(inv op.Invoker) op.Invoker {
	if t.Verbatim {
		return inv
	}
	return answer.Visible{Invoker: inv}
}

// fences reports whether stored text is inside a fence: in every text for a model, and in
// both parts of a structured answer, except from the drop-ins to clients that decode it.
func (t *Tool) fences(c *Call) bool {
	return c.Form == Text || c.Options.forModels() || t.In(Agent) || t.In(Notes)
}

// result returns the answer of a tool in the form of a call.
func (t *Tool) result(out any, c *Call, said *notices) (*sdk.CallToolResult, error) {
	t.Fill.Apply(reflect.ValueOf(out))
	raw, err := wire.Marshal(out)
	if err != nil {
		return nil, fmt.Errorf("cannot encode the result of tool %s: %w", t.Def.Name, err)
	}
	fence := t.fences(c)
	lines := said.lines()
	limit := answer.Max
	if fence {
		limit -= answer.FenceRoom + answer.JSONRoom(lines)
	}
	raw = answer.Bound(answer.ShowJSON(raw), limit, t.goOn)
	res := &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: t.text(out, raw, fence)}}}
	if c.Form == Structured {
		res.StructuredContent = raw
		if fence {
			res.StructuredContent = answer.FenceJSON(raw, lines)
		}
	}
	return said.addTo(res), nil
}

// text returns the text of an answer, which is the JSON of a result without one of its own.
func (t *Tool) text(out any, raw json.RawMessage, fence bool) string {
	text, after := string(raw), ""
	if own, ok := out.(texter); ok {
		text = own.Text()
	}
	if own, ok := out.(afterworder); ok {
		after = own.Afterword()
	}
	return answer.Readable(text, after, fence, answer.Max, t.goOn)
}

// howToGoOn returns how to get what is cut off an answer to such an input.
func howToGoOn(input reflect.Type) string {
	known := wire.Members(input)
	for _, by := range []string{"page_size", "limit", "top_k"} {
		if _, ok := known[by]; ok {
			return "use a smaller " + by
		}
	}
	for _, by := range []string{"memory_ids", "ids", "names", "items"} {
		if _, ok := known[by]; ok {
			return "pass fewer " + by + " per call"
		}
	}
	return "request less data per call"
}

// failed returns the result of a tool that failed. It has no structured content, which would
// have to match the schema of an answer. Stored names that the error is about are a text of their own, in a fence.
func (t *Tool) failed(opt *Options, err error) (*sdk.CallToolResult, error) {
	e := AsError(err)
	if e == nil || e.Code == memory.Internal {
		opt.Logger.Error("tool failed", "tool", t.Def.Name, "err", err)
		e = memory.Errorf(memory.Internal, "%s failed: %w", t.Def.Name, err)
	}
	message := e.Message
	if t.Advise != nil {
		message = t.Advise(message)
	}
	if t.PlainErrors {
		return aboutStored(errorResult(Message(message)), e), nil
	}
	f := failure{Message: Message(message)}
	if t.SpellsError {
		f.Error = f.Message
	}
	if t.NamesRelation && e.Code == memory.Conflict {
		f.Relation = e.Current
	}
	res, err := f.result()
	if err != nil {
		return nil, err
	}
	return aboutStored(res, e), nil
}

// Message returns the message of an error as a client receives it: bounded, with its hidden
// characters shown.
func Message(message string) string {
	return answer.Cut(invisible.Show(message), MaxMessage, "the rest of the text is not available")
}

// Refusal returns the result of a call that failed for a reason.
func Refusal(reason string) (*sdk.CallToolResult, error) {
	return failure{Message: Message(reason)}.result()
}

// AsError returns err as the engine made it, nil for an error from elsewhere.
func AsError(err error) *memory.Error {
	e, _ := errors.AsType[*memory.Error](err)
	return e
}

// failure is the JSON of an error: the members of CortexGraph, and error as other systems
// have it.
type failure struct {
	Success  bool   `json:"success"`
	Message  string `json:"message"`
	Error    string `json:"error,omitempty"`
	Relation string `json:"existing_relation_id,omitempty"`
}

func (f failure) result() (*sdk.CallToolResult, error) {
	raw, err := wire.Marshal(f)
	if err != nil {
		return nil, err
	}
	return errorResult(string(raw)), nil
}

func errorResult(text string) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}, IsError: true}
}
