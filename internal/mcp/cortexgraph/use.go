package cortexgraph

import (
	"context"
	"fmt"
	"strings"

	"emberd/internal/dedupe/similarity"
	"emberd/internal/mcp/tool"
	"emberd/memory"
	"emberd/op"
)

type touchMemoryIn struct {
	MemoryID string `json:"memory_id" min:"1" max:"1000" doc:"ID of the used memory"`
	Boost    bool   `json:"boost_strength,omitempty" default:"false" doc:"true: raise the strength of the memory by 0.1, up to 2"`
}

type touchMemoryOut struct {
	Success  bool      `json:"success"`
	MemoryID memory.ID `json:"memory_id"`
	OldScore decimal   `json:"old_score"`
	NewScore decimal   `json:"new_score"`
	UseCount int64     `json:"use_count"`
	Strength decimal   `json:"strength"`
	Message  string    `json:"message"`
}

func touchMemory(ctx context.Context, c *tool.Call, in *touchMemoryIn) (*touchMemoryOut, error) {
	res, err := op.Touch.Call(ctx, c, &op.TouchRequest{ID: in.MemoryID, Boost: in.Boost})
	if err != nil {
		return nil, err
	}
	return &touchMemoryOut{Success: true, MemoryID: res.MemoryID, OldScore: round(res.OldScore, 4),
		NewScore: round(res.NewScore, 4),
		UseCount: res.UseCount, Strength: round(res.Strength, 4), Message: res.Message}, nil
}

type gcIn struct {
	DryRun         *bool `json:"dry_run,omitempty" default:"true" doc:"show what would change, without changing anything"`
	ArchiveInstead bool  `json:"archive_instead,omitempty" default:"false" doc:"true: archive the memories instead of deleting them"`
	Limit          int   `json:"limit,omitempty" min:"1" max:"10000" doc:"maximum number of memories to delete or archive"`
}

type gcOut struct {
	Success       bool        `json:"success"`
	DryRun        bool        `json:"dry_run"`
	RemovedCount  int         `json:"removed_count"`
	ArchivedCount int         `json:"archived_count"`
	FreedScoreSum decimal     `json:"freed_score_sum"`
	MemoryIDs     []memory.ID `json:"memory_ids" doc:"IDs of the memories to delete or archive, at most 10, lowest decay score first"`
	TotalAffected int         `json:"total_affected"`
	Message       string      `json:"message"`
}

func gc(ctx context.Context, c *tool.Call, in *gcIn) (*gcOut, error) {
	res, err := op.GC.Call(ctx, c, &op.GCRequest{DryRun: in.DryRun, ArchiveInstead: in.ArchiveInstead, Limit: in.Limit})
	if err != nil {
		return nil, err
	}
	return &gcOut{Success: true, DryRun: res.DryRun, RemovedCount: res.RemovedCount, ArchivedCount: res.ArchivedCount,
		FreedScoreSum: round(res.FreedScoreSum, 4), MemoryIDs: firstOf(res.MemoryIDs), TotalAffected: res.TotalAffected,
		Message: res.Message}, nil
}

// firstOf returns as many items as CortexGraph lists.
func firstOf[T any](all []T) []T { return all[:min(len(all), 10)] }

type promoteMemoryIn struct {
	MemoryID   string `json:"memory_id,omitempty" max:"1000" doc:"ID of the memory to promote; required if auto_detect is false"`
	AutoDetect bool   `json:"auto_detect,omitempty" default:"false" doc:"true: promote every memory that meets the promotion criteria"`
	DryRun     bool   `json:"dry_run,omitempty" default:"false" doc:"show what would change, without changing anything"`
	Target     string `json:"target,omitempty" enum:"obsidian" default:"\"obsidian\"" doc:"application that shows the notes; obsidian is the only target"`
	Force      bool   `json:"force,omitempty" default:"false" doc:"true: promote the memory even if it does not meet the promotion criteria"`
}

type promoteMemoryOut struct {
	Success         bool         `json:"success"`
	DryRun          bool         `json:"dry_run"`
	CandidatesFound int          `json:"candidates_found"`
	PromotedCount   int          `json:"promoted_count"`
	PromotedIDs     []memory.ID  `json:"promoted_ids"`
	Candidates      []promotable `json:"candidates" doc:"memories to promote, at most 10, highest decay score first"`
	Message         string       `json:"message"`
	PromotedTo      *string      `json:"promoted_to,omitempty" doc:"path of the note that the memory already has"`
	Score           *decimal     `json:"score,omitempty" doc:"decay score of a memory that does not meet the promotion criteria"`
}

type promotable struct {
	ID       memory.ID `json:"id"`
	Preview  string    `json:"content_preview"`
	Reason   string    `json:"reason"`
	Score    decimal   `json:"score"`
	UseCount int64     `json:"use_count"`
	AgeDays  decimal   `json:"age_days"`
}

func promoteMemory(ctx context.Context, c *tool.Call, in *promoteMemoryIn) (*promoteMemoryOut, error) {
	switch {
	case in.MemoryID == "" && !in.AutoDetect:
		return nil, memory.Errorf(memory.Invalid, "missing memory_id; pass one, or auto_detect true").At("memory_id")
	case in.MemoryID != "" && in.AutoDetect:
		return nil, memory.Errorf(memory.Invalid,
			"memory_id and auto_detect cannot be combined; omit one").At("auto_detect")
	case in.AutoDetect:
		return promoteDetected(ctx, c, in)
	}
	res, err := op.Promote.Call(ctx, c, &op.PromoteRequest{ID: in.MemoryID, Force: in.Force, DryRun: in.DryRun})
	if err != nil {
		return nil, err
	}
	if res.Outcome == op.PromotionUnmet {
		return &promoteMemoryOut{DryRun: in.DryRun, Score: new(round(res.Memory.Score, 4)),
			Message: fmt.Sprintf("Memory %s was not promoted: %s", res.Memory.ID,
				tool.Advice()(res.Reason))}, nil
	}
	m := &res.Memory
	out := &promoteMemoryOut{Success: true, DryRun: in.DryRun, CandidatesFound: 1, Candidates: []promotable{{
		ID: m.ID, Preview: preview(m.Content), Reason: res.Meets, Score: round(m.Score, 4), UseCount: m.UseCount,
		AgeDays: round(m.AgeDays, 1)}}}
	if out.Candidates[0].Reason == "" {
		out.Candidates[0].Reason = "Asked for by id"
	}
	switch {
	case res.Outcome == op.PromotionAlready:
		out = &promoteMemoryOut{DryRun: in.DryRun, PromotedTo: unlessEmpty(res.Path),
			Message: fmt.Sprintf("Memory %s is already promoted: %s", m.ID, res.Path)}
	case res.Outcome == op.PromotionPending:
		out.Message = fmt.Sprintf("The note %s cannot be written now and is written later: %s", res.Path, res.Reason)
	case in.DryRun:
		out.Message = fmt.Sprintf("Would promote 1 memory to %s", in.Target)
	default:
		out.PromotedCount, out.PromotedIDs = 1, []memory.ID{m.ID}
		out.Message = fmt.Sprintf("Promoted 1 memory to %s", in.Target)
	}
	return out, nil
}

// promoteDetected promotes what deserves it.
func promoteDetected(ctx context.Context, c *tool.Call, in *promoteMemoryIn) (*promoteMemoryOut, error) {
	res, err := op.PromoteAuto.Call(ctx, c, &op.PromoteAutoRequest{DryRun: in.DryRun, Force: in.Force})
	if err != nil {
		return nil, err
	}
	out := &promoteMemoryOut{Success: true, DryRun: in.DryRun, CandidatesFound: res.CandidatesFound,
		PromotedCount: res.PromotedCount, PromotedIDs: res.PromotedIDs, Message: res.Message}
	for _, p := range firstOf(res.Candidates) {
		out.Candidates = append(out.Candidates,
			promotable{ID: p.ID, Preview: p.Preview, Reason: p.Reason, Score: round(p.Score, 4),
				UseCount: p.UseCount, AgeDays: round(p.AgeDays, 1)})
	}
	return out, nil
}

// preview returns the beginning of a text on one line.
func preview(content string) string {
	return similarity.Truncate(strings.Join(strings.Fields(content), " "), 100)
}
