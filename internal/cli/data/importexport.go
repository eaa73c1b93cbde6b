package data

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/memory"
	"emberd/op"
)

func importExportCommand(s *cli.App) *cobra.Command {
	var o storeOptions
	cmd := cli.Command("export FILE|-", cli.ArgCount(1, 1, "one file, or - for stdin"), nil,
		func(cmd *cobra.Command, args []string) error {
			in, total, err := openImport(cmd.Context(), s, args[0])
			if err != nil {
				return err
			}
			defer in.Close()
			run := &recordsRun{s: s, opt: o, progress: cli.NewProgress(s, total), report: ImportReport{DryRun: o.dryRun,
				Errors: []lineError{}}}
			err = run.all(cmd.Context(), in)
			run.progress.Done()
			if err != nil && run.report.Tx == "" && run.report.Lines == 0 {
				return err
			}
			return errors.Join(printImport(s, &run.report), run.verdict(err))
		})
	cmd.Flags().BoolVar(&o.again, "again", false, "")
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "")
	return cmd
}

// recordsRun is an import of an export under way.
type recordsRun struct {
	s        *cli.App
	opt      storeOptions
	progress *cli.Progress
	report   ImportReport
	ended    bool // the last line was met

	records []op.Record
	at      []int // the line of each
	size    int
	flight  *flight[op.Record, op.ImportResult] // nil: no batch was sent, or its answer was noted
}

// verdict is the error of a run that did something.
func (r *recordsRun) verdict(err error) error {
	switch {
	case err != nil:
		return err
	case !r.ended:
		return &cli.Exit{Code: cli.ExitNothing,
			Err: errors.New("the export is incomplete, because the last line is missing; " +
				map[bool]string{false: "the readable part was imported",
					true: "the readable part can be imported"}[r.opt.dryRun])}
	case r.report.Failed > 0:
		return &cli.Exit{Code: cli.ExitNothing}
	}
	return nil
}

func (r *recordsRun) all(ctx context.Context, in io.Reader) error {
	return cmp.Or(r.lines(ctx, in), r.land())
}

func (r *recordsRun) lines(ctx context.Context, in io.Reader) error {
	began := false
	for line, err := range jsonLines(in) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		kind := markOf(line.object)
		switch {
		case !began && kind != kindExport:
			return notAnExport(kind)
		case !began:
			began = true
		case kind == kindEnd:
			r.ended = true
			if err := r.checkEnd(line.object); err != nil {
				return err
			}
		default:
			if err := r.take(ctx, line); err != nil {
				return err
			}
		}
	}
	if !began {
		return notAnExport("")
	}
	return r.send(ctx)
}

// markOf is the kind of a line around the records, "" for any other.
func markOf(object map[string]json.RawMessage) string {
	var kind string
	// Of another type it is no mark.
	_ = json.Unmarshal(object["emberd"], &kind)
	return kind
}

func notAnExport(kind string) error {
	if kind == kindState {
		return memory.Errorf(memory.Invalid,
			"the file was written with --state and lacks fields that an import needs; export again without --state")
	}
	return memory.Errorf(memory.Invalid,
		"the file was not created by emberd export; for other files, run: emberd import jsonl")
}

func (r *recordsRun) checkEnd(object map[string]json.RawMessage) error {
	var n int
	if err := json.Unmarshal(object["records"], &n); err != nil || n != r.report.Lines {
		return fmt.Errorf("the export should contain %d records, but %d were read", n, r.report.Lines)
	}
	return nil
}

// take puts one record into the batch and sends that when it is full.
func (r *recordsRun) take(ctx context.Context, line sourceLine) error {
	r.report.Lines++
	r.progress.Add(line.bytes, r.report.Lines)
	rec, err := recordOf(line)
	if err != nil {
		r.fail(line.number, *cli.Problem(err))
		return nil
	}
	if len(r.records) == op.MaxBatch || r.size+line.bytes > batchBytes {
		if err := r.send(ctx); err != nil {
			return err
		}
	}
	r.records, r.at, r.size = append(r.records, rec), append(r.at, line.number), r.size+line.bytes
	return nil
}

func recordOf(line sourceLine) (op.Record, error) {
	var rec op.Record
	if line.err != nil {
		return rec, line.err
	}
	for key, to := range map[string]any{"id": &rec.ID, "memory": &rec.Fields, "forgotten": &rec.Forgotten,
		"use": &rec.Use} {
		if value, ok := line.object[key]; ok {
			if err := json.Unmarshal(value, to); err != nil {
				return rec, memory.Errorf(memory.Invalid, "cannot read %s: %w", key, err)
			}
		}
	}
	if rec.ID == "" || rec.Fields == nil {
		return rec, memory.Errorf(memory.Invalid, "missing id or memory; this is not a line of emberd export")
	}
	return rec, nil
}

func (r *recordsRun) fail(line int, p op.Problem) {
	r.report.Failed++
	r.report.tell(lineError{Line: line, Problem: p})
}

// batchError says which lines of the input an error is about, from the first of at to the last.
func batchError(at []int, err error) error {
	if memory.CodeOf(err) == memory.Unknown {
		err = fmt.Errorf("%w; if you run the import again, emberd adds no duplicates", err)
	}
	return fmt.Errorf("lines %d to %d: %w", at[0], at[len(at)-1], err)
}

// send sends the batch when the answer to the one before it was noted, and does not wait for its own.
func (r *recordsRun) send(ctx context.Context) error {
	if err := r.land(); err != nil || len(r.records) == 0 {
		return err
	}
	r.flight = sendOff(ctx, r.s, op.Import, &op.ImportRequest{Tx: r.report.Tx, Again: r.opt.again,
		DryRun: r.opt.dryRun, Records: r.records}, r.records, r.at)
	r.records, r.at, r.size = nil, nil, 0
	return nil
}

// land waits for the answer to the batch that was sent, if there is one, and notes the fate of every record.
func (r *recordsRun) land() error {
	if r.flight == nil {
		return nil
	}
	records, at := r.flight.items, r.flight.at
	res, err := r.flight.answer()
	r.flight = nil
	if err != nil {
		return batchError(at, err)
	}
	if len(res.Results) != len(records) {
		return batchError(at, fmt.Errorf("the daemon returned results for %d of %d records", len(res.Results),
			len(records)))
	}
	r.report.Tx = cmp.Or(r.report.Tx, res.Tx)
	for i, a := range res.Results {
		if p := r.report.fate(a); p != nil {
			r.fail(at[i], *p)
		}
	}
	return nil
}
