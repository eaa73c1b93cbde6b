package analysis

import "testing"

func TestForms(t *testing.T) {
	tests := []struct {
		text string
		want Form
	}{
		{"bill", Plain}, {"Bill", Plain | Name}, {"Bill's", Plain | Name}, {"bills", Plural}, {"billing", Ing},
		{"billed", Past}, {"database", Plain}, {"databases", Plural}, {"study", Plain}, {"studies", Plural},
		{"studied", Past}, {"ring", Plain}, {"class", Plain}, {"classes", Plural}, {"organization", Derived},
		{"Éclair", Plain | Name}, {"Anna", Plain | Name}, {"v2.6", Plain}, {"北京", 0}, {"C++", Plain | Name},
	}
	a := New()
	for _, test := range tests {
		for range 2 { // the second time from the table of words
			if got := a.Terms(test.text)[0].FormIn(test.text); got != test.want {
				t.Errorf("%q has form %b, want %b", test.text, got, test.want)
			}
		}
	}
}
