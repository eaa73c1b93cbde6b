package rekindle

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"emberd/memory"
)

// Ages are how long after its last use a memory leaves for the next stage, each
// at least the one before.
type Ages struct{ Demote, Archive, Rehydrate time.Duration }

// A Policy decides when memories fade and how many of them at a time. Start from
// [DefaultPolicy] and call [Policy.Validate] after changing it.
type Policy struct {
	Ages       Ages
	Categories map[string]Ages // instead of Ages, for memories of a category

	// Coldest is the last stage that memories reach by themselves, "" for
	// rehydratable. Without a vault to keep the text in it is demoted.
	Coldest memory.Stage

	Most  int     // memories that one run moves at most
	Share float64 // and at most this share of all memories, 0 to 1
	Few   int     // the share never holds up so many: in a small store each memory is a large share
}

// DefaultPolicy returns 7, 30 and 90 days for all categories, and at most 1,000
// memories and a twentieth of all in one run, but twenty always. So what comes due
// at once, by an import or a clock that jumped, fades in portions.
func DefaultPolicy() Policy {
	const day = 24 * time.Hour
	return Policy{
		Ages: Ages{Demote: 7 * day, Archive: 30 * day, Rehydrate: 90 * day},
		Most: 1000, Share: 0.05, Few: 20,
	}
}

// Validate reports the first setting that is out of bounds and names the bound.
func (p Policy) Validate() error {
	if err := p.Ages.validate("every category"); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(p.Categories)) {
		if err := p.Categories[name].validate(fmt.Sprintf("category %q", name)); err != nil {
			return err
		}
	}
	if _, err := memory.ParseStage(string(cmp.Or(p.Coldest, memory.Rehydratable))); err != nil {
		return fmt.Errorf("coldest stage: %w", err)
	}
	switch {
	case p.Most < 1:
		return fmt.Errorf("invalid maximum number of memories per lifecycle run: %d; use 1 or more", p.Most)
	case p.Few < 1:
		return fmt.Errorf("invalid minimum number of memories per lifecycle run: %d; use 1 or more", p.Few)
	case !(p.Share >= 0 && p.Share <= 1):
		return fmt.Errorf("share %v of memories per lifecycle run is out of range (0 to 1)", p.Share)
	}
	return nil
}

func (a Ages) validate(of string) error {
	switch {
	case a.Demote <= 0:
		return fmt.Errorf("invalid age for demoting memories of %s: %v; use an age above 0", of, a.Demote)
	case a.Archive < a.Demote:
		return fmt.Errorf("invalid age for archiving memories of %s: %v; use at least the age for demoting, %v", of,
			a.Archive, a.Demote)
	case a.Rehydrate < a.Archive:
		return fmt.Errorf(
			"invalid age for making memories of %s rehydratable: %v; use at least the age for archiving, %v", of,
			a.Rehydrate, a.Archive)
	}
	return nil
}

// StageInputs are the facts that a memory's stage depends on.
type StageInputs struct {
	ID        memory.ID
	Stage     memory.Stage
	Category  string
	Core      bool
	CreatedAt time.Time
	LastUsed  time.Time // zero: CreatedAt counts; when both are, the memory does not fade
	// LastOpened is when the whole memory was last shown, zero for never. That delays the next stages like a
	// use, but it makes no memory warmer.
	LastOpened time.Time

	// Since is when the memory came into its stage, zero if that is not known. To have
	// come to active, by an undo say, counts as a use; and no memory is demoted and
	// archived in less time than one takes to be demoted.
	Since time.Time
	// Coldest is the last stage that this one reaches, "" for the policy's: a text that
	// has no place to go stays.
	Coldest memory.Stage
	// ArchivedElsewhere is since when the memory has its stage because another system had archived it, zero if
	// none had: while it is demoted it does not become active by its age, only by a later use.
	ArchivedElsewhere time.Time
}

func (f StageInputs) used() time.Time {
	if f.LastUsed.IsZero() {
		return f.CreatedAt
	}
	return f.LastUsed
}

// touched returns the later of the last use and the last opening.
func (f StageInputs) touched() time.Time { return memory.Later(f.used(), f.LastOpened) }

// Stage returns the stage a memory should be in at now. A last use in the future
// counts as now.
func (p Policy) Stage(f StageInputs, now time.Time) memory.Stage {
	due := p.due(f, now)
	if !f.LastOpened.IsZero() && stageRank(due) < stageRank(f.Stage) {
		f.LastOpened = time.Time{}
		if stageRank(p.due(f, now)) >= stageRank(f.Stage) {
			return f.Stage
		}
	}
	return due
}

// due returns the stage by age alone, whatever made the memory older or younger.
func (p Policy) due(f StageInputs, now time.Time) memory.Stage {
	due := memory.Active
	for _, step := range p.steps(f) {
		if step.at.After(now) {
			break
		}
		due = step.stage
	}
	if (f.Stage.Cold() || f.rests()) && stageRank(due) < stageRank(f.Stage) {
		return f.Stage
	}
	return due
}

// rests reports whether a demoted memory keeps what another system said of it, as it was not used since.
func (f StageInputs) rests() bool {
	return !f.ArchivedElsewhere.IsZero() && f.Stage == memory.Demoted && !f.Core &&
		!f.LastUsed.After(f.ArchivedElsewhere)
}

// Next returns the stage that a memory goes to next if it is left alone, and when
// that is due, which may be past. It reports false for one that stays as it is.
func (p Policy) Next(f StageInputs) (memory.Stage, time.Time, bool) {
	for _, step := range p.steps(f) {
		if stageRank(step.stage) > stageRank(f.Stage) {
			return step.stage, step.at, true
		}
	}
	return "", time.Time{}, false
}

// A step is when a memory arrives in a stage.
type step struct {
	stage memory.Stage
	at    time.Time
}

// steps are the stages that lie before a memory, warmest first; none for one that
// does not fade.
func (p Policy) steps(f StageInputs) []step {
	if f.Core || f.used().IsZero() {
		return nil
	}
	used := f.touched()
	ages, ok := p.Categories[f.Category]
	if !ok {
		ages = p.Ages
	}
	soonest := f.Since.Add(ages.Demote)
	switch {
	case f.Since.IsZero() || f.Stage.Cold():
		soonest = time.Time{}
	case f.Stage != memory.Demoted:
		used = memory.Later(used, f.Since)
	}
	steps := []step{
		{memory.Demoted, used.Add(ages.Demote)},
		{memory.Archived, memory.Later(used.Add(ages.Archive), soonest)},
		{memory.Rehydratable, memory.Later(used.Add(ages.Rehydrate), soonest)},
	}
	coldest := min(stageRank(cmp.Or(p.Coldest, memory.Rehydratable)), stageRank(cmp.Or(f.Coldest, memory.Rehydratable)))
	return steps[:coldest]
}

// stageRank returns 0 for the warmest stage; an unknown stage counts as active.
func stageRank(s memory.Stage) int { return max(0, slices.Index(memory.Stages(), s)) }
