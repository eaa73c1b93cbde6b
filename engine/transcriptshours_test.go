package engine_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"emberd/engine"
	"emberd/op"
)

// hours stores the sessions of internal/capture/testdata/hours, each cut into ones of three prompts, and returns in
// which session a message is, by project and id.
func hours(t *testing.T, e *engine.Engine) map[string]string {
	t.Helper()
	files, err := filepath.Glob("../internal/capture/testdata/hours/*.jsonl")
	ok(t, err)
	where := map[string]string{}
	for _, file := range files {
		project := strings.TrimSuffix(filepath.Base(file), ".jsonl")
		raw, err := os.ReadFile(file)
		ok(t, err)
		parts, prompts := [][]op.SessionMessage{nil}, 0
		for lines := bufio.NewScanner(bytes.NewReader(raw)); lines.Scan(); {
			var m op.SessionMessage
			ok(t, json.Unmarshal(lines.Bytes(), &m))
			if m.Role == op.RoleUser {
				if prompts++; prompts > 3 {
					parts, prompts = append(parts, nil), 1
				}
			}
			parts[len(parts)-1] = append(parts[len(parts)-1], m)
			where[project+" "+m.ID] = fmt.Sprintf("%s-%d", project, len(parts)-1)
		}
		for i, part := range parts {
			store(t, e, fmt.Sprintf("%s-%d", project, i), project, part...)
		}
	}
	return where
}

// What somebody asks of 54 past sessions stands in one of the first three that are found.
func TestWhatWasSaidIsFound(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	where := hours(t, e)
	first := 0
	for query, message := range map[string]string{
		"HX711 settle time weight jumps":  "hivescale m18",
		"flash baud CH340 drops bytes":    "hivescale m42",
		"timecode drift NTSC constant":    "cuedesk m11",
		"style guide characters a line":   "cuedesk m18",
		"Dezimalkomma CSV Hof Tiefental":  "keimling m7",
		"Mollie webhook Celery queue":     "keimling m40",
		"storm surge flagged as spikes":   "tidegauge m21",
		"flaky scale-down test requeue":   "valkeyop m14",
		"storage class nvme ceph default": "valkeyop m35",
		"ferry wakes threshold station 7": "tidegauge m28",
	} {
		hits := inSessions(t, e, query)
		place := slices.IndexFunc(hits, func(h op.Hit) bool { return h.Session.ID == where[message] })
		if place < 0 || place > 2 {
			t.Errorf("%q finds the session of %s at place %d", query, message, place)
			continue
		}
		if place == 0 {
			first++
		}
		if len(hits[place].Snippet.Marks) < 2 {
			t.Errorf("%q shows %q", query, hits[place].Snippet.Text)
		}
	}
	t.Logf("of 10 searches, %d find the session first", first)
}

// Sessions are stored, searched and forgotten at once.
func TestPastSessionsAtOnce(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	const sessions, rounds = 4, 5
	var all sync.WaitGroup
	for i := range sessions {
		id := fmt.Sprintf("session%d", i)
		all.Go(func() {
			for round := range rounds {
				m := op.SessionMessage{ID: fmt.Sprint(round), Role: op.RoleUser, Text: fmt.Sprintf("kettle of %s in round %d", id, round)}
				if res, err := op.Hook.Call(t.Context(), e, storing(id, "shop", m)); err != nil || res.Stored != 1 {
					t.Errorf("%s: stored %+v: %v", id, res, err)
				}
				if _, err := op.Search.Call(t.Context(), e, &op.SearchRequest{Query: "kettle", Scope: "sessions"}); err != nil {
					t.Error(err)
				}
			}
			if i%2 == 0 {
				if res, err := op.SessionForget.Call(t.Context(), e, &op.SessionForgetRequest{ID: id}); err != nil || res.Messages != rounds {
					t.Errorf("%s: forgotten is %+v: %v", id, res, err)
				}
			}
		})
	}
	all.Wait()
	wantSessions(t, e, "kettle", "session1", "session3")
	wantSessions(t, e, `"kettle of session3 in round 4"`, "session3")
}
