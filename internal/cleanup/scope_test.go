package cleanup

import (
	"fmt"
	"strings"
	"testing"
)

func TestScopes(t *testing.T) {
	for s, want := range map[string]string{
		"In Python 2.7 print is a statement":              "python 2.7",
		"python3.12 -m venv makes one":                    "python 3.12",
		"Python 3: print is a function":                   "python 3",
		"With Java 8 the build works":                     "java 8",
		"ES2020 has optional chaining":                    "es 2020",
		"Office 2019 has no such function":                "office 2019",
		"v2 of the API has pages":                         "api 2",
		"version 1.4 of Flarn has no cache":               "flarn 1.4",
		"API v3 answers with JSON":                        "api 3",
		"Flarn 2.7 has a cache":                           "flarn 2.7",
		"On Windows 11 the menu is short":                 "windows 11",
		"On Windows the path has backslashes":             "windows",
		"On mac OS and on Linux it has slashes":           "macos, linux",
		"In Safari the button is hidden":                  "safari",
		"The staging database is slow":                    "staging",
		"prod: port 5432":                                 "production",
		"The service runs on Python 3.12":                 "(python 3.12)",
		"We use Linux":                                    "(linux)",
		"Go 1.26 is required":                             "(go 1.26)",
		"When using Python 3.8, pin the wheel":            "python 3.8",
		"Redis listens on 6379":                           "",
		"Redis 6379 is open":                              "",
		"postgres 10.0.0.12 is the host":                  "",
		"The windows of the shed leak":                    "",
		"Section 2.7 says so":                             "",
		"We go 3 times a week":                            "",
		"It costs 2.7 euros":                              "",
		"port 5432, page 12, step 3":                      "",
		"The word 5 is odd, and the office 3 is upstairs": "",
	} {
		var got []string
		for _, x := range scopesOf(s) {
			name := x.value
			if x.kind == Version {
				name = x.what + " " + x.value
			}
			if x.says {
				name = "(" + name + ")"
			}
			got = append(got, name)
		}
		if g := strings.Join(got, ", "); g != want {
			t.Errorf("%q holds for %q, want %q", s, g, want)
		}
	}
}

func TestApart(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{"In Python 2.7 it is a statement", "In Python 3.12 it is a function", "version python 2.7 python 3.12"},
		{"In Python 3 it is a function", "In Python 3.12 it is a function", ""},
		{"In Python 2.7 it is so", "In Ruby 3.1 it is so", ""},
		{"In Python 2.7 and Python 3.12 it is so", "In Python 3.12 it is so", ""},
		{"The service runs on Python 3.11", "The service runs on Python 3.12", ""},
		{"In Python 3.11 it is so", "The service runs on Python 3.12", ""},
		{"On Windows it is here", "On Linux it is there", "platform windows linux"},
		{"On Ubuntu it is here", "On Linux it is there", ""},
		{"On Ubuntu it is here", "On Fedora it is there", "platform ubuntu fedora"},
		{"On Linux with bash it is here", "On Linux with zsh it is there", "platform bash zsh"},
		{"In staging it is here", "In production it is there", "platform staging production"},
		{"On Windows it is here", "In Safari it is there", ""},
		{"On Windows it is here", "It is there", ""},
	} {
		for _, turned := range []bool{false, true} {
			a, b, want := c.a, c.b, c.want
			kind, x, y := apart(scopesOf(a), scopesOf(b))
			if turned {
				kind, y, x = apart(scopesOf(b), scopesOf(a))
			}
			if got := strings.TrimSpace(fmt.Sprint(kind, " ", x, " ", y)); got != want {
				t.Errorf("%q and %q are apart in %q, want %q", a, b, got, want)
			}
		}
	}
}

func TestNewer(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"3.12", "3.9", 1}, {"2.7", "3", -1}, {"3", "3", 0}, {"3.0", "3", 1}, {"10", "9.6", 1}} {
		if got := newer(c.a, c.b); got != c.want {
			t.Errorf("%s against %s is %d", c.a, c.b, got)
		}
	}
}
