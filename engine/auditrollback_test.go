package engine_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"emberd/op"
)

// Attack: state/device.json is removed, so that emberd takes a new identity and its former log is
// another device's. What is then forged into that, changed in it or left out of it is named.
func TestAnAuditOfAFormerDevice(t *testing.T) {
	t.Parallel()
	h, before := lived(t)
	for name, tamper := range map[string]func(d disk){
		"a change forged, with the next number": func(d disk) { tampers["a change forged, with the next number"](t, d, h, 1) },
		"a segment forged": func(d disk) {
			name, text := lastSegment(d, h)
			lines := slices.Collect(strings.Lines(text))
			change := lines[slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, `"do":"`) })]
			forged := stampOf.ReplaceAllString(numberOf.ReplaceAllString(change, `"q":2000`), `"$1":"0fffffffffff-`)
			d[filepath.Join(filepath.Dir(name), "s-00000099.jsonl")] = []byte(lines[0] + summed(actorOf.ReplaceAllString(forged, theForger)))
		},
		"a change left out": func(d disk) { d.changes(t, h, 2, func(string) string { return "" }) },
		"another caller": func(d disk) {
			d.changes(t, h, 2, func(line string) string { return summed(actorOf.ReplaceAllString(line, theForger)) })
		},
	} {
		after := maps.Clone(before)
		delete(after, filepath.Join(h.State, "device.json"))
		tamper(after)
		after.put(t, h)
		e := h.open(t)
		first := checkAudit(t, e)
		if len(first.Problems) == 0 {
			t.Errorf("%s: the check finds nothing, and notes %q", name, first.Notes)
		}
		asked(t, e, withCard, op.Save, &op.SaveRequest{Content: "The pot is of the new device"})
		e = h.restart(t, e)
		if again := checkAudit(t, e); len(again.Problems) == 0 {
			t.Errorf("%s: after a restart the check does not find any more %q", name, first.Problems)
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// lastSegment is the latest file of the log that emberd appended to.
func lastSegment(d disk, h *house) (name, text string) {
	for file := range d {
		if strings.HasPrefix(file, h.Data) && strings.HasPrefix(filepath.Base(file), "s-") && strings.HasSuffix(file, ".jsonl") {
			name = max(name, file)
		}
	}
	return name, string(d[name])
}

// A home whose device.json is lost has no problem, and the check says which device it was.
func TestAnAuditAfterDeviceJSONWasLost(t *testing.T) {
	t.Parallel()
	h, before := lived(t)
	delete(before, filepath.Join(h.State, "device.json"))
	before.put(t, h)
	e := h.open(t)
	asked(t, e, withCard, op.Save, &op.SaveRequest{Content: "The pot is of the new device"})
	for range 2 {
		c := checkAudit(t, e)
		if len(c.Problems) > 0 || len(c.Notes) != 1 || !strings.Contains(c.Notes[0], "this installation was device ") {
			t.Errorf("problems %q, notes %q", c.Problems, c.Notes)
		}
		e = h.restart(t, e)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// audited are the files that the audit has in the state folder.
func (d disk) audited(h *house) disk {
	out := make(disk)
	for name, text := range d {
		if strings.HasPrefix(name, filepath.Join(h.State, "audit")) { // audit.json, too
			out[name] = text
		}
	}
	return out
}

// putBack replaces what the audit has by an earlier copy.
func (d disk) putBack(h *house, copied disk) disk {
	out := maps.Clone(d)
	for name := range d.audited(h) {
		delete(out, name)
	}
	maps.Copy(out, copied)
	return out
}

var sealOfChange = regexp.MustCompile(`"au":"[^"]*",`)

// rewrite changes the lines of changes in the log, and drops those that become "".
func (d disk) rewrite(h *house, change func(line string) string) {
	for name, text := range d {
		if !strings.HasPrefix(name, h.Data) || !strings.HasSuffix(name, ".jsonl") {
			continue
		}
		var out strings.Builder
		for line := range strings.Lines(string(text)) {
			if fresh := change(line); fresh == line {
				out.WriteString(line)
			} else if fresh != "" {
				out.WriteString(summed(fresh))
			}
		}
		d[name] = []byte(out.String())
	}
}

// theirs makes the pots of the log those of another caller.
func theirs(line string) string {
	if !strings.Contains(line, "The pot") {
		return line
	}
	return actorOf.ReplaceAllString(line, theForger)
}

// Attack: the folder audit and audit.json are put back to an earlier copy together, and what was
// changed since is put down to another. That is a problem, whatever else is made to look like a kill.
func TestAnAuditThatWasPutBack(t *testing.T) {
	t.Parallel()
	h, _ := lived(t)
	e := h.open(t)
	asked(t, e, anAgent, op.Save, &op.SaveRequest{Content: "The kettle is descaled"})
	if err := e.Ledger.Flush(); err != nil {
		t.Fatal(err)
	}
	copied := h.disk(t).audited(h)
	for range 6 {
		asked(t, e, withCard, op.Save, &op.SaveRequest{Content: "The pot is full", Again: true})
		if err := e.Ledger.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	killed := h.disk(t)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	stopped := h.disk(t)
	device := filepath.Join(h.State, "device.json")
	for name, tt := range map[string]struct {
		from   disk
		tamper func(d disk)
		noted  bool // and no problem
	}{
		"after a stop":    {stopped, func(disk) {}, false},
		"after a kill":    {killed, func(disk) {}, false},
		"callers changed": {stopped, func(d disk) { d.rewrite(h, theirs) }, false},
		"changed, a kill": {killed, func(d disk) { d.rewrite(h, theirs) }, false},
		"seals taken out": {killed, func(d disk) {
			d.rewrite(h, func(l string) string { return sealOfChange.ReplaceAllString(theirs(l), "") })
		}, false},
		"the segment's too": {stopped, func(d disk) {
			d.rewrite(h, func(l string) string { return unended(sealOfChange.ReplaceAllString(theirs(l), "")) })
		}, false},
		"seals of before": {stopped, func(d disk) {
			seal := ""
			for _, text := range d {
				seal = max(seal, string(sealOfChange.Find(text)))
			}
			d.rewrite(h, func(l string) string { return sealOfChange.ReplaceAllString(theirs(l), seal) })
		}, false},
		"no device.json, and changed": {stopped, func(d disk) { delete(d, device); d.rewrite(h, theirs) }, false},
		"no device.json":              {stopped, func(d disk) { delete(d, device) }, true},
	} {
		after := tt.from.putBack(h, copied)
		tt.tamper(after)
		after.put(t, h)
		e := h.open(t)
		for _, when := range []string{"at once", "after a restart"} {
			c := checkAudit(t, e)
			if (len(c.Problems) == 0) != tt.noted || tt.noted && !strings.Contains(strings.Join(c.Notes, "\n"), "6 later changes are not in the audit log") {
				t.Errorf("%s, %s: problems %q, notes %q", name, when, c.Problems, c.Notes)
			}
			asked(t, e, withCard, op.Save, &op.SaveRequest{Content: "The kettle is new"})
			e = h.restart(t, e)
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// Attack: a run saved something and was then asked often, and the chain and audit.json are put back to
// what they were after the save: the end of the log says how far the chain was.
func TestAnAuditOfReadsThatWerePutBack(t *testing.T) {
	t.Parallel()
	h, _ := lived(t)
	e := h.open(t)
	asked(t, e, anAgent, op.Save, &op.SaveRequest{Content: "The kettle is descaled"})
	if err := e.Ledger.Flush(); err != nil {
		t.Fatal(err)
	}
	copied := h.disk(t).audited(h)
	asked(t, e, withCard, op.Search, &op.SearchRequest{Query: "kettle"})
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	h.disk(t).putBack(h, copied).put(t, h)
	e = h.open(t)
	for range 2 {
		if c := checkAudit(t, e); len(c.Problems) != 1 || !strings.Contains(c.Problems[0], "the log was closed after line") {
			t.Errorf("problems %q, notes %q", c.Problems, c.Notes)
		}
		asked(t, e, withCard, op.Save, &op.SaveRequest{Content: "The kettle is new"})
		e = h.restart(t, e)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// unended drops the line that says that a segment ended in order.
func unended(line string) string {
	if strings.Contains(line, `"op":"seal"`) {
		return ""
	}
	return line
}

// A copy of a home is another device, which has no problem with what the first one goes on to write.
func TestAnAuditOfACopiedHome(t *testing.T) {
	t.Parallel()
	h, copied := lived(t)
	twin := newHouse(t)
	there := make(disk)
	for name, text := range copied {
		there[strings.NewReplacer(h.Data, twin.Data, h.State, twin.State).Replace(name)] = text
	}
	for _, dir := range []string{twin.Data, twin.State} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	there.put(t, twin)
	first := h.open(t)
	asked(t, first, withCard, op.Save, &op.SaveRequest{Content: "The pot is of the first"})
	device := status(t, first).Device
	first = h.restart(t, first)
	carry(t, h, twin, device)
	second := twin.open(t)
	asked(t, second, withCard, op.Save, &op.SaveRequest{Content: "The pot is of the second"})
	if status(t, second).Device == device {
		t.Fatal("the copy is the same device, so that the test proves nothing")
	}
	carry(t, twin, h, status(t, second).Device)
	c := checkAudit(t, second)
	if len(c.Problems) > 0 || len(c.Notes) != 1 || !strings.Contains(c.Notes[0], "1 later change is not in the audit log") {
		t.Errorf("the copy: problems %q, notes %q", c.Problems, c.Notes)
	}
	if c := checkAudit(t, first); len(c.Problems) > 0 || len(c.Notes) != 1 || !strings.Contains(c.Notes[0], "1 device that is not in the audit log") {
		t.Errorf("the first: problems %q, notes %q", c.Problems, c.Notes)
	}
}

// A lost state folder, or a lost chain, is no problem; the check says what nothing vouches for.
func TestAnAuditAfterTheStateWasLost(t *testing.T) {
	t.Parallel()
	h, before := lived(t)
	for name, tt := range map[string]struct{ gone, want string }{
		"the state folder": {h.State, "the log contains changes of 1 device that is not in the audit log"},
		"the chain":        {filepath.Join(h.State, "audit") + "/", "older than the audit log and sealed with another key"},
	} {
		after := maps.Clone(before)
		maps.DeleteFunc(after, func(file string, _ []byte) bool { return strings.HasPrefix(file, tt.gone) })
		after.put(t, h)
		e := h.open(t)
		asked(t, e, withCard, op.Save, &op.SaveRequest{Content: "The pot is new"})
		c := checkAudit(t, e)
		if len(c.Problems) > 0 || len(c.Notes) != 1 || !strings.Contains(c.Notes[0], tt.want) {
			t.Errorf("without %s: problems %q, notes %q", name, c.Problems, c.Notes)
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// Attack: the counts of a caller in audit.json are changed, which no line of the chain has.
func TestAnAuditOfCountsThatWereChanged(t *testing.T) {
	t.Parallel()
	h, before := lived(t)
	name := filepath.Join(h.State, "audit.json")
	for what, tamper := range map[string]func(f map[string]json.RawMessage){
		"counts": func(f map[string]json.RawMessage) {
			f["callers"] = regexp.MustCompile(`"calls":[0-9]+`).ReplaceAll(f["callers"], []byte(`"calls":4711`))
		},
		"saves":      func(f map[string]json.RawMessage) { f["saves"] = json.RawMessage("[]") },
		"no callers": func(f map[string]json.RawMessage) { f["callers"] = json.RawMessage("[]") },
	} {
		var f map[string]json.RawMessage
		if err := json.Unmarshal(before[name], &f); err != nil {
			t.Fatal(err)
		}
		tamper(f)
		after := maps.Clone(before)
		after[name], _ = json.Marshal(f)
		after.put(t, h)
		e := h.open(t)
		for range 2 {
			if c := checkAudit(t, e); len(c.Problems) != 1 || !strings.Contains(c.Problems[0], "the counts per caller in audit.json differed") {
				t.Errorf("%s: problems %q, notes %q", what, c.Problems, c.Notes)
			}
			asked(t, e, withCard, op.Search, &op.SearchRequest{Query: "kettle"})
			e = h.restart(t, e)
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
