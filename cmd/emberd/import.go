package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"emberd/internal/foreign"
	"emberd/memory"
	"emberd/op"
)

func (s *state) importCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "import",
		Short: "Bring memories in from a file",
		Example: `  emberd import jsonl notes.jsonl
  emberd import csv people.csv --map note=content,when=created_at
  emberd import export all.jsonl
  emberd import cortexgraph ~/.config/cortexgraph/jsonl
  emberd import basic-memory ~/basic-memory --dry-run`,
		Annotations: exits(endings{exitNothing: "", exitNoDaemon: ""}),
	}
	asGroup(cmd)
	cmd.AddCommand(s.importJSONLCommand(), s.importCSVCommand(), s.importExportCommand(), s.importCortexGraphCommand(), s.importReferenceCommand())
	cmd.AddCommand(s.foreignCommands()...)
	return cmd
}

type importOptions struct {
	rules    []string
	template string
	tags     []string
	drop     bool
	allow    bool
	again    bool
	dryRun   bool
	strict   bool
	read     func(io.Reader) iter.Seq2[sourceLine, error] // lines of JSON unless it is set
}

func (s *state) importJSONLCommand() *cobra.Command {
	var o importOptions
	cmd := &cobra.Command{
		Use:   "jsonl FILE|-",
		Short: "Import a file of JSON objects, one a line",
		Long: `Import a file of JSON objects, one a line, or stdin for "-". What cannot be
imported is listed by line, and the rest is imported. The whole run is one
journal entry, so one undo takes it all back.

--map says which key of the file fills which field, as KEY=FIELD; a.b looks into
nested objects, meta.NAME keeps a value under a name, and FIELD:=VALUE gives all
the same value. Keys with the name of a field fill it unasked, all others go
into meta. --content-template writes the text from several keys.

Times are RFC 3339 (UTC when they name no zone) or seconds or milliseconds since
1970. A line keeps its id between runs: the source's own if that is a UUID, else
one made of the collection, the text, and the source's id or the time. So a
second run adds nothing that is there.`,
		Example: `  emberd import jsonl notes.jsonl
  emberd import jsonl chat.jsonl --map timestamp=created_at,collection:=chat \
      --content-template '{speaker}: {text} {caption?}' --tag imported
  zcat old.jsonl.gz | emberd import jsonl - --map text=content --dry-run`,
		Annotations: exits(endings{exitNothing: "some lines could not be imported", exitNoDaemon: "", exitDisk: "", exitAgain: ""}),
		Args:        takes(1, 1, "one file, or - for stdin"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.importJSONL(cmd.Context(), &o, args[0])
		},
	}
	mappingFlags(cmd, &o)
	return cmd
}

// mappingFlags are those of the imports that a field map leads.
func mappingFlags(cmd *cobra.Command, o *importOptions) {
	f := cmd.Flags()
	f.StringSliceVarP(&o.rules, "map", "m", nil, "`KEY=FIELD` or FIELD:=VALUE; repeatable, or a comma list")
	f.StringVar(&o.template, "content-template", "", "write the text like this `TEXT`, with {KEY} for values")
	f.StringSliceVarP(&o.tags, "tag", "t", nil, "add this `TAG` to all; repeatable")
	f.BoolVar(&o.drop, "drop-unknown", false, "leave out keys that nothing is said about")
	f.BoolVar(&o.allow, "allow-secret", false, "import also what looks like a credential")
	f.BoolVar(&o.again, "again", false, "import also what was imported before and forgotten")
	f.BoolVar(&o.dryRun, "dry-run", false, "read and check, import nothing; show the first as it would be")
	f.BoolVar(&o.strict, "strict", false, "stop at the first line that cannot be imported")
}

// importReport is what an import did; with --json it is the result.
type importReport struct {
	Tx      string `json:"tx,omitempty"` // one journal entry for the whole run
	DryRun  bool   `json:"dry_run,omitempty"`
	Lines   int    `json:"lines"`
	Added   int    `json:"added"` // or would be, in a dry run
	Present int    `json:"present"`

	// Changed are there with another text, Forgotten were imported before and
	// forgotten since. Both are left as they are.
	Changed   int `json:"changed"`
	Forgotten int `json:"forgotten"`
	// Named are those of the ones that are there which got aliases that they lacked.
	Named int `json:"named"`
	// Unasked says of a dry run that no daemon was there to tell what is there already and
	// what would be refused.
	Unasked bool `json:"unasked,omitempty"`

	Failed   int         `json:"failed"`
	Errors   []lineError `json:"errors"`
	Unlisted int         `json:"unlisted,omitempty"` // errors beyond the first foreign.MostSkips
	// In a dry run one of these is the first that would be imported.
	First       *op.SaveRequest `json:"first,omitempty"`
	FirstRecord *op.Record      `json:"first_record,omitempty"`

	of [2]string // what Lines counts, one and several, if they are not lines
}

// tell lists an error, unless there are too many.
func (r *importReport) tell(e lineError) {
	if len(r.Errors) == foreign.MostSkips {
		r.Unlisted++
		return
	}
	r.Errors = append(r.Errors, e)
}

// fate counts what an import did with a record, and returns why it failed.
func (r *importReport) fate(a op.ImportAnswer) *op.Problem {
	if a.Named {
		r.Named++
	}
	switch a.Fate {
	case op.ImportAdded:
		r.Added++
	case op.ImportPresent:
		r.Present++
	case op.ImportChanged:
		r.Changed++
	case op.ImportForgotten:
		r.Forgotten++
	default:
		return cmp.Or(a.Error, &op.Problem{Code: memory.Internal, Detail: "the daemon does not say why it failed"})
	}
	return nil
}

// lineError is one line that could not be imported.
type lineError struct {
	File string `json:"file,omitempty"` // when there are several
	Line int    `json:"line"`
	Path string `json:"path,omitempty"` // within JSON
	op.Problem
}

func (s *state) importJSONL(ctx context.Context, o *importOptions, name string) error {
	m, err := newMapping(o.rules, o.template)
	if err != nil {
		return err
	}
	m.tags, m.dropUnknown, m.allowSecret, m.again = o.tags, o.drop, o.allow, o.again
	in, total, err := s.openImport(ctx, name)
	if err != nil {
		return err
	}
	defer in.Close()
	run := &importRun{s: s, ref: refOf(name), opt: o, mapping: m, progress: s.newProgress(total), report: importReport{DryRun: o.dryRun, Errors: []lineError{}}}
	err = run.all(ctx, in)
	run.progress.done()
	slices.SortStableFunc(run.report.Errors, func(a, b lineError) int { return cmp.Compare(a.Line, b.Line) })
	if err != nil && run.report.Tx == "" {
		return err
	}
	if printErr := s.printImport(&run.report); printErr != nil {
		return printErr
	}
	if err == nil && run.report.Failed > 0 {
		err = &exit{code: exitNothing}
	}
	return err
}

// openImport opens the file, or stdin, and tells its size, -1 when unknown.
func (s *state) openImport(ctx context.Context, name string) (io.ReadCloser, int64, error) {
	if name == "-" {
		return io.NopCloser(s.input(ctx)), -1, nil
	}
	if name == "" { // as an unset variable in quotes is
		return nil, 0, memory.Errorf(memory.Invalid, "the name of the file is empty; name a file that can be read, or - for stdin")
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, 0, memory.Errorf(memory.Invalid, "%w; name a file that can be read, or - for stdin", err)
	}
	info, err := f.Stat()
	if err != nil || info.IsDir() {
		return nil, 0, errors.Join(memory.Errorf(memory.Invalid, "%s is not a file; name one, or - for stdin", name), f.Close())
	}
	if !info.Mode().IsRegular() {
		return f, -1, nil
	}
	return f, info.Size(), nil
}

// refOf is how the provenance of what is imported names a file, "" for stdin. Where the
// file lay on this machine is nobody's business.
func refOf(name string) string {
	if name == "-" {
		return ""
	}
	return filepath.Base(name)
}

// batchBytes keeps a batch well below the largest request that the socket takes.
const batchBytes = 1 << 20

// importRun is an import under way: a batch fills up and is sent when it is
// full, and every line that fails is noted.
type importRun struct {
	s        *state
	ref      string // of the file, for the provenance of what is in it
	opt      *importOptions
	mapping  *mapping
	progress *progress
	report   importReport

	items   []op.SaveRequest
	at      []int // the line of each item
	size    int
	unasked bool // nobody answers a dry run
}

// errStrict ends a strict run at the first line that failed.
var errStrict = errors.New("stopped at the first line that could not be imported")

func (r *importRun) all(ctx context.Context, in io.Reader) error {
	lines := jsonLines
	if r.opt.read != nil {
		lines = r.opt.read
	}
	for line, err := range lines(in) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return errors.Join(err, r.send(context.WithoutCancel(ctx)))
		}
		if err := r.take(ctx, line); err != nil {
			return r.end(ctx, err)
		}
	}
	return r.end(ctx, r.send(ctx))
}

// end sends what came before a strict stop, which has been told by then.
func (r *importRun) end(ctx context.Context, err error) error {
	if errors.Is(err, errStrict) {
		err = r.send(ctx)
	}
	if errors.Is(err, errStrict) {
		return nil // a line before it failed too, and has been noted
	}
	return err
}

// take puts one line into the batch and sends that when it is full.
func (r *importRun) take(ctx context.Context, line sourceLine) error {
	r.report.Lines++
	if r.report.Lines == 1 && markOf(line.object) == kindExport {
		return memory.Errorf(memory.Invalid, "this is what emberd export writes; it comes in with: emberd import export")
	}
	req, err := &op.SaveRequest{}, line.err
	if err == nil {
		if req, err = r.mapping.apply(line.object); err == nil && r.ref != "" {
			req.File, req.Line = r.ref, line.number
		}
	}
	r.progress.add(line.bytes, r.report.Lines)
	if err != nil {
		return r.fail(line.number, *problem(err))
	}
	if r.opt.dryRun && r.unasked {
		return r.pretend(line.number, req)
	}
	text, err := json.Marshal(req)
	if err != nil {
		return r.fail(line.number, *problem(err))
	}
	if len(r.items) == op.MaxBatch || r.size+len(text) > batchBytes {
		if err := r.send(ctx); err != nil {
			return err
		}
	}
	r.items, r.at, r.size = append(r.items, *req), append(r.at, line.number), r.size+len(text)
	return nil
}

func (r *importRun) fail(line int, p op.Problem) error {
	r.report.Failed++
	r.report.tell(lineError{Line: line, Problem: p})
	if r.opt.strict {
		return errStrict
	}
	return nil
}

// pretend checks what can be checked without a daemon.
func (r *importRun) pretend(line int, req *op.SaveRequest) error {
	_, tagErr := memory.NormalizeTags(req.Tags)
	_, entityErr := memory.NormalizeEntities(req.Entities)
	_, aliasErr := memory.NormalizeAliases(req.Aliases)
	if err := cmp.Or(tagErr, entityErr, aliasErr); err != nil {
		return r.fail(line, *problem(err))
	}
	r.added(req)
	return nil
}

// send saves the batch and notes the fate of every item.
func (r *importRun) send(ctx context.Context) error {
	if len(r.items) == 0 {
		return nil
	}
	items, at := r.items, r.at
	r.items, r.at, r.size = nil, nil, 0
	res, err := call(ctx, r.s, op.SaveBatch, &op.SaveBatchRequest{Tx: r.report.Tx, DryRun: r.opt.dryRun, Items: items})
	if r.opt.dryRun && memory.CodeOf(err) == memory.Unavailable {
		return r.alone(items, at)
	}
	if memory.CodeOf(err) == memory.Unknown {
		err = fmt.Errorf("%w; running the import again adds nothing twice", err)
	}
	if err != nil {
		return fmt.Errorf("lines %d to %d: %w", at[0], at[len(at)-1], err)
	}
	if len(res.Results) != len(items) {
		return fmt.Errorf("lines %d to %d: the daemon answered %d of %d", at[0], at[len(at)-1], len(res.Results), len(items))
	}
	r.report.Tx = cmp.Or(r.report.Tx, res.Tx)
	var stop error
	for i, answer := range res.Results {
		switch {
		case answer.Error != nil && answer.Error.Code == memory.Forgotten:
			r.report.Forgotten++
		case answer.Error != nil && answer.Error.Code == memory.Conflict:
			r.report.Changed++
		case answer.Error != nil:
			stop = cmp.Or(stop, r.fail(at[i], *answer.Error))
		case answer.Replayed:
			r.report.Present++
		default:
			r.added(&items[i])
		}
		if answer.Named {
			r.report.Named++
		}
	}
	return stop
}

// added counts what came in, or would, of which a dry run shows the first.
func (r *importRun) added(req *op.SaveRequest) {
	r.report.Added++
	if r.opt.dryRun && r.report.First == nil {
		r.report.First = req
	}
}

// alone goes on with a dry run that nobody answers.
func (r *importRun) alone(items []op.SaveRequest, at []int) error {
	r.unasked, r.report.Unasked = true, true
	var stop error
	for i := range items {
		stop = cmp.Or(stop, r.pretend(at[i], &items[i]))
	}
	return stop
}

func (s *state) printImport(r *importReport) error {
	if s.json {
		return s.printJSON(r)
	}
	s.listErrors(r.Errors, r.Unlisted)
	if r.First != nil || r.FirstRecord != nil {
		s.printf("the first would be saved like this:\n")
		var first any = r.First
		if r.First == nil {
			first = r.FirstRecord
		}
		if err := s.printJSON(first); err != nil {
			return err
		}
	}
	verb := "imported"
	if r.DryRun {
		verb = "would import"
	}
	s.printf("%s %s of %s", verb, grouped(r.Added), count(r.Lines, cmp.Or(r.of[0], "line"), cmp.Or(r.of[1], "lines")))
	for _, part := range []struct {
		n    int
		what string
	}{{r.Present, "there already"}, {r.Changed, "there with another text"}, {r.Forgotten, "forgotten before"}, {r.Failed, "failed"}} {
		if part.n > 0 {
			s.printf(", %s %s", grouped(part.n), part.what)
		}
	}
	s.printf("\n")
	if r.Forgotten > 0 {
		s.note("what was forgotten stays so; emberd trash restore, or undo of the undo, brings it back, and --again imports it anew")
	}
	if r.Named > 0 && r.DryRun {
		s.printf("%s there already would get names that it lacks\n", count(r.Named, "memory", "memories"))
	} else if r.Named > 0 {
		s.printf("%s there already got names that it lacked\n", count(r.Named, "memory", "memories"))
	}
	if r.Unasked {
		s.note("no daemon is running, so this does not tell what is there already, nor what would be refused as a credential")
	}
	if r.Added+r.Named > 0 {
		s.undoHint(r.Tx)
	}
	return nil
}

// placeOf names the line that an error is about, or what of the file it is.
func placeOf(e *lineError) string {
	var parts []string
	if e.File != "" {
		parts = append(parts, clean(e.File))
	}
	if e.Line > 0 {
		parts = append(parts, "line "+strconv.Itoa(e.Line))
	}
	if e.Path != "" {
		parts = append(parts, clean(e.Path))
	}
	if len(parts) == 0 {
		return "the file"
	}
	return strings.Join(parts, " ")
}

// listErrors tells every sentence once, with the first line it is about.
func (s *state) listErrors(errs []lineError, unlisted int) {
	var first []lineError
	lines := map[string]int{}
	for _, e := range errs {
		if lines[e.Detail]++; lines[e.Detail] == 1 {
			first = append(first, e)
		}
	}
	told := 0
	for i, e := range first {
		if i == longestList {
			listed := "lists them all"
			if unlisted > 0 {
				listed = "lists the first " + grouped(len(errs))
			}
			s.note("and %s; --json %s", count(len(errs)-told+unlisted, "more line", "more lines"), listed)
			return
		}
		n := lines[e.Detail]
		told += n
		also := ""
		if n > 1 {
			also = " and " + grouped(n-1) + " more"
		}
		s.note("%s%s: %s", placeOf(&e), also, clean(e.Detail))
	}
	if unlisted > 0 {
		s.note("and %s, which are not listed", count(unlisted, "more line", "more lines"))
	}
}
