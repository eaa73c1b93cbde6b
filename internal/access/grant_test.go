package access

import "testing"

func TestScopesCover(t *testing.T) {
	tests := []struct {
		scope string
		of    Subject
		want  bool
	}{
		{"all", Subject{}, true},
		{"tag:work", Subject{Tags: []string{"home", "Work"}}, true},
		{"tag:#work", Subject{Tags: []string{"work/acme"}}, true},
		{"tag:work", Subject{Tags: []string{"workshop"}}, false},
		{"tag:work/acme", Subject{Tags: []string{"work"}}, false},
		{"tag:work", Subject{}, false},
		{"project:acme", Subject{Project: "acme"}, true},
		{"project:acme", Subject{Project: "acme2"}, false},
		{"folder:Work/", Subject{Note: "Work/Plan.md"}, true},
		{"folder:Work", Subject{Note: "Work/Acme/Plan.md"}, true},
		{"folder:Work", Subject{Note: "Workshop/Plan.md"}, false},
		{"folder:./Work//Acme/", Subject{Note: "Work/Acme/Plan.md"}, true},
		{"folder:Home/../Work", Subject{Note: "Work/Plan.md"}, true},
		{"folder:..", Subject{Note: "Work/Plan.md"}, false},
		{"folder:Work", Subject{Note: "Work"}, false},
		{"folder:Work", Subject{}, false},
	}
	for _, test := range tests {
		s, err := ParseScope(test.scope)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.covers(test.of); got != test.want {
			t.Errorf("%s covers %+v = %v, want %v", test.scope, test.of, got, test.want)
		}
	}
}

func TestParseScopeRefuses(t *testing.T) {
	for _, text := range []string{"", "tag:", "tag:#", "folder:/", "folder:.", "work", "all:", "owner:me", "project: "} {
		if s, err := ParseScope(text); err == nil {
			t.Errorf("ParseScope(%q) = %v, want an error", text, s)
		}
	}
}

func TestGrantsReachAsFarAsTheirScopes(t *testing.T) {
	work, home := Subject{Tags: []string{"work"}}, Subject{Tags: []string{"home"}}
	g := &Grant{Read: []Scope{{Tag, "home"}}, Write: []Scope{{Tag, "work"}}}
	if !g.Sees(work) || !g.Sees(home) || !g.May(work) || g.May(home) || g.Sees(Subject{}) || g.Whole() {
		t.Errorf("%+v sees or changes what it should not, or does not what it should", g)
	}
	var everything *Grant
	if !everything.Sees(home) || !everything.May(home) || !everything.Whole() {
		t.Error("the nil grant is not everything")
	}
	if (&Grant{Read: []Scope{{Kind: All}}}).Whole() {
		t.Error("who reads everything may change everything")
	}
}
