package engine_test

import (
	"testing"

	"emberd/op"
)

// What add answers to a text beside one that is known: a conflict, the same, or neither.
func TestStatementsOfOneThing(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{
		{"other", "In project A the port is 8080", "In project B the port is 9090"},
		{"other", "The sister of Anna lives in Rome", "The sister of Tom lives in Oslo"},
		{"other", "Anna thinks the port is 80", "Tom thinks the port is 90"},
		{"other", "Anna thinks the port is 80", "The port is 90"},
		{"conflict", "Run migrations before the deploy", "Run migrations after the deploy"},
		{"conflict", "The build takes more than 10 minutes", "The build takes less than 10 minutes"},
		{"conflict", "Passwords have at least 8 characters", "Passwords have at most 8 characters"},
		{"conflict", "A depends on B", "B depends on A"},
		{"conflict", "Service A is blocked by service B", "Service B is blocked by service A"},
		{"conflict", "猫追狗", "狗追猫"},
		{"conflict", "把A改成B", "把B改成A"},
		{"other", "x = y + z", "x = y - z"},
		{"other", "x = y + z", "x = z + y"},
		{"same", "Vite replaces Webpack", "Webpack is replaced by Vite"},
	} {
		for _, texts := range [][2]string{{c[1], c[2]}, {c[2], c[1]}} {
			e, _ := newEngine(t)
			known := do(t, e, op.Add, &op.AddRequest{Content: texts[0]}).Memory.ID
			res := do(t, e, op.Add, &op.AddRequest{Content: texts[1]})
			got := "other"
			switch {
			case len(res.Conflicts) > 0:
				got = "conflict"
			case res.Memory.ID == known:
				got = "same"
			}
			if got != c[0] {
				t.Errorf("%q beside %q: %s, want %s", texts[1], texts[0], got, c[0])
			}
		}
	}
}

// Memories of another project than that of the claim, or of the memory that says it, do not contradict it.
func TestStatementsOfTwoProjects(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	for project, text := range map[string]string{"orion": "The port is 8080", "lyra": "The port is 9090"} {
		if res := do(t, e, op.Add, &op.AddRequest{Content: text, Project: project}); len(res.Conflicts) > 0 {
			t.Errorf("add to %s: %+v", project, res.Conflicts)
		}
	}
	if res := verify(t, e, "The port is 8080"); res.Status != op.StatusConfirmed || len(res.Conflicts) > 0 {
		t.Errorf("verify: %s, %+v", res.Status, res.Conflicts)
	}
	if res := verify(t, e, "The port is 7070"); len(res.Conflicts) != 2 {
		t.Errorf("verify of another port: %+v", res.Conflicts)
	}
}

// A note under the heading of another project does not contradict a claim.
func TestStatementsUnderAHeading(t *testing.T) {
	t.Parallel()
	for heading, want := range map[string]int{"Project Lyra": 0, "Project Orion": 1} {
		d := newDesk(t, nil)
		d.write(t, "Services.md", "# Projects\n\n## "+heading+"\n\nThe port is 9090\n")
		d.batch([]string{"Services.md"}, nil)
		if res := verify(t, d.Engine, "In project Orion the port is 8080"); len(res.Conflicts) != want {
			t.Errorf("under %q: %+v, want %d", heading, res.Conflicts, want)
		}
	}
}
