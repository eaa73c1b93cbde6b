package query

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

// now is a Thursday afternoon, in a zone where it is already Friday in UTC.
var now = time.Date(2026, time.May, 14, 19, 30, 0, 0, time.FixedZone("", -5*60*60))

func day(y int, m time.Month, d int) time.Time {
	return time.Date(y, m, d, 0, 0, 0, 0, now.Location())
}

// parse is Parse for texts that are right.
func parse(t *testing.T, text string) Query {
	t.Helper()
	q, err := Parse(text, now)
	if err != nil {
		t.Fatalf("Parse(%q): %v", text, err)
	}
	return q
}

func must(f Filter) Query { return Query{Must: f} }
func not(f Filter) Query  { return Query{Not: f} }

func TestOperators(t *testing.T) {
	tests := []struct {
		name, text string
		want       Query
	}{
		{"nothing", " \t\n", Query{}},
		{"words", "staging port", Query{Words: "staging port", Prefix: true}},
		{"words, the last one finished", "staging port ", Query{Words: "staging port"}},
		{"phrase", `"star wars"`, must(Filter{Phrases: []string{"star wars"}})},
		{"phrase with quotes in it", `"they said \"hello\""`, must(Filter{Phrases: []string{`they said "hello"`}})},
		{"phrase that is an operator", `"tag:work"`, must(Filter{Phrases: []string{"tag:work"}})},
		{"phrases side by side", `"a b""c d"`, must(Filter{Phrases: []string{"a b", "c d"}})},
		{"excluded word", "-draft", not(Filter{Phrases: []string{"draft"}})},
		{"excluded phrase", `-"star wars"`, not(Filter{Phrases: []string{"star wars"}})},

		{"tag", "tag:work", must(Filter{Tags: []string{"work"}})},
		{"tag with its sign", "tag:#Work", must(Filter{Tags: []string{"Work"}})},
		{"bare tag", "#work", must(Filter{Tags: []string{"work"}})},
		{"nested tag", "#work/2026/q1", must(Filter{Tags: []string{"work/2026/q1"}})},
		{"beginning of nested tags", "tag:work/", must(Filter{Tags: []string{"work"}})},
		{"tag with a space", `tag:"to do"`, must(Filter{Tags: []string{"to do"}})},
		{"tag in Chinese", "#读书笔记", must(Filter{Tags: []string{"读书笔记"}})},
		{"tag of an emoji", "#👩‍🚀", must(Filter{Tags: []string{"👩‍🚀"}})},
		{"excluded tags", "-tag:work -#play", not(Filter{Tags: []string{"work", "play"}})},

		{"folder", "path:Projects/", must(Filter{Paths: []string{"Projects/"}})},
		{"folder from the top", "path:/Projects/", must(Filter{Paths: []string{"Projects/"}})},
		{"folder with a space", `path:"My Notes/2026"`, must(Filter{Paths: []string{"My Notes/2026"}})},
		{"file name", "file:plan.md", must(Filter{Files: []string{"plan.md"}})},
		{"operator in capitals", "File:plan", must(Filter{Files: []string{"plan"}})},
		{"excluded folder and file", "-path:Archive/ -file:draft", not(Filter{Paths: []string{"Archive/"}, Files: []string{"draft"}})},

		{"entity", "entity:Ada", must(Filter{Entities: []string{"Ada"}})},
		{"entity of words", `Entity:"Ada Lovelace"`, must(Filter{Entities: []string{"Ada Lovelace"}})},
		{"excluded entity", "-entity:Ada", not(Filter{Entities: []string{"Ada"}})},

		{"property", "[status:done]", must(Filter{Properties: []Property{{"status", "done"}}})},
		{"property with any value", "[due]", must(Filter{Properties: []Property{{"due", ""}}})},
		{"property of words", "[status: in progress ]", must(Filter{Properties: []Property{{"status", "in progress"}}})},
		{"property in quotes", `["due date":"a [b] c"]`, must(Filter{Properties: []Property{{"due date", "a [b] c"}}})},
		{"inline field of Dataview", "[due:: 2026-03-09]", must(Filter{Properties: []Property{{"due", "2026-03-09"}}})},
		{"excluded property", "-[status:done]", not(Filter{Properties: []Property{{"status", "done"}}})},

		{"dates", "after:2026-03 before:2026-05-02", Query{After: day(2026, 3, 1), Before: day(2026, 5, 2)}},
		{"excluded dates turn round", "-before:2026-03 -after:2026-05-02", Query{After: day(2026, 3, 1), Before: day(2026, 5, 2)}},
		{"narrowest dates", "after:2025 after:2026 after:2024 before:2027 before:2026-06 before:2028", Query{After: day(2026, 1, 1), Before: day(2026, 6, 1)}},

		{"all at once", `jwt "access token" -draft #auth path:"API docs/" after:7d rota`, Query{
			Words: "jwt rota", Prefix: true,
			Must:  Filter{Phrases: []string{"access token"}, Tags: []string{"auth"}, Paths: []string{"API docs/"}},
			Not:   Filter{Phrases: []string{"draft"}},
			After: day(2026, 5, 7),
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := parse(t, tt.text); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("Parse(%q)\n got %#v\nwant %#v", tt.text, got, tt.want)
			}
		})
	}
}

// What people paste is text, whatever it looks like.
func TestEverythingElseIsWords(t *testing.T) {
	for _, text := range []string{
		"http://x:80 ", "file:///etc/hosts ", "path://server/share ", "10:30 ", "foo:bar ", "key: value ",
		"C++ ", "C# ", "3.5\" disk ", "don't ", "it's 5 o'clock ", "foo-bar ", "a_b ", "user@host ",
		"- ", "-- ", "--flag ", "-> ", "a -> b ", "--- ", "-) ",
		"# ", "## heading ", "#1 ", "#12-3 ", "#include<stdio.h> ", "#fff; ",
		"\"never closed ", "an open \"quote ", "tag:\"never closed ", "-\" ", "«never closed ", "\"\" ",
		"Settings » General » Advanced ",
		"[ ", "] ", "[] ", "[ ] ", "[:] ", "[1] ", "[1, -2, 3] ", "[^1] ", "[never closed ", "[a:never closed ", "[a: \"never closed ] ",
		"[[A Note]] ", "[[A Note|-alias]] ", "[text](http://x/) ", "[::1]:80 ", "x[key] ", "[Errno 13] denied ", `["a" b] `, `["":b] `, `[a:"b" c] `,
		"(meeting OR work) ", "/\\d{4}/ ", "content:cat ", "match-case:Cat ",
		"北京大学 ", "重要：会议 ", "10：30 ", "ＣＡＦＥ ", "👍🏽 ",
		"tag ", "tagged:x ", "before 2026 ", "\xff\xfe ",
	} {
		want := Query{Words: strings.TrimSpace(text)}
		if got := parse(t, text); !reflect.DeepEqual(got, want) {
			t.Errorf("Parse(%q)\n got %#v\nwant %#v", text, got, want)
		}
	}
}

func TestTypographicSigns(t *testing.T) {
	for _, tt := range []struct{ text, same string }{
		{`“star wars”`, `"star wars"`},
		{`„star wars“`, `"star wars"`},
		{`”star wars”`, `"star wars"`},
		{`«star wars»`, `"star wars"`},
		{`« star wars »`, `"star wars"`},
		{`»star wars«`, `"star wars"`},
		{`“star wars"`, `"star wars"`},
		{`＂star wars＂`, `"star wars"`},
		{`－“star wars”`, `-"star wars"`},
		{`path：“My Notes/”`, `path:"My Notes/"`},
		{`＃读书　tag：＃笔记`, `#读书 tag:笔记`},
		{`[状态：完成]`, `[状态:完成]`},
		{`after：2026`, `after:2026`},
	} {
		if got, want := parse(t, tt.text), parse(t, tt.same); !reflect.DeepEqual(got, want) {
			t.Errorf("Parse(%q)\n got %#v\nwant %#v", tt.text, got, want)
		}
	}
}

func TestPrefix(t *testing.T) {
	for _, tt := range []struct {
		text string
		want bool
	}{
		{"auth", true}, {"auth ", false}, {"auth\u3000", false}, {"北京", true}, {"cafe\u0301", true}, {"my_", true}, {"v2", true},
		{"C++", false}, {"auth.", false}, {"5\"", false}, {"\"auth\"", false}, {"\"unfinished phra", true},
		{"-auth", false}, {"auth tag:x", false}, {"tag:x auth", true}, {"auth #x", false}, {"[key] auth", true}, {"auth [key]", false},
	} {
		if got := parse(t, tt.text).Prefix; got != tt.want {
			t.Errorf("Parse(%q).Prefix = %v, want %v", tt.text, got, tt.want)
		}
	}
}

func TestErrorsSayWhatToDo(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"plans tag:", `tag: has no value; write a value directly after the colon, such as tag:work; to search for "tag:" as text, put it in quotes`},
		{"tag: work", `tag: has no value; write a value directly after the colon, such as tag:work; to search for "tag:" as text, put it in quotes`},
		{"-tag:#", `tag: has no value; write a value directly after the colon, such as tag:work; to search for "tag:" as text, put it in quotes`},
		{"path:/", `path: has no value; write a value directly after the colon, such as path:Projects/; to search for "path:" as text, put it in quotes`},
		{`FILE:" "`, `file: has no value; write a value directly after the colon, such as file:plan; to search for "file:" as text, put it in quotes`},
		{"after:", `after: has no value; write a value directly after the colon, such as after:7d; to search for "after:" as text, put it in quotes`},
		{"[status:]", "[status:] has no value; write [key:value], or [key] for any value; to search for the text itself, put the text in quotes"},
		{"before:soon", "invalid date in before:soon; use 2026, 2026-03, 2026-03-09, today, yesterday, or an age such as 7d, 2w, 3m or 1y; to search for the text itself, put the text in quotes"},
		{"before:\"so\non\"", "invalid date in before:so on; use 2026, 2026-03, 2026-03-09, today, yesterday, or an age such as 7d, 2w, 3m or 1y; to search for the text itself, put the text in quotes"},
		{"after:" + strings.Repeat("九", 50), "invalid date in after:" + strings.Repeat("九", 40) + "…; use 2026, 2026-03, 2026-03-09, today, yesterday, or an age such as 7d, 2w, 3m or 1y; to search for the text itself, put the text in quotes"},
		{strings.Repeat("-x ", 65), "too many operators, phrases and exclusions in the query (limit 64); remove some"},
	} {
		if _, err := Parse(tt.text, now); err == nil || err.Error() != tt.want {
			t.Errorf("Parse(%q)\n got %v\nwant %s", tt.text, err, tt.want)
		}
	}
}

func TestSixtyFourOperatorsAreEnough(t *testing.T) {
	if q := parse(t, strings.Repeat("-x ", 64)); len(q.Not.Phrases) != 64 {
		t.Errorf("%d exclusions, want 64", len(q.Not.Phrases))
	}
}

func TestString(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"", ""},
		{"staging  port", "staging port"},
		{"port ", "port "},
		{`now #work path:"My Notes/" File:a [k:v] ["a b"]`, `tag:work path:"My Notes/" file:a [k:v] ["a b"] now `},
		{`a -b -"c d" -#e -before:2026 2w`, `-"b" -"c d" -tag:e after:2026-01-01 a 2w`},
		{`«say "hi"» after:yesterday before:today`, `"say \"hi\"" after:2026-05-13 before:2026-05-14`},
		{`file:"//x" -\`, `file:"//x" -\ `},
	} {
		if got := parse(t, tt.text).String(); got != tt.want {
			t.Errorf("Parse(%q).String() = %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestNotesOnly(t *testing.T) {
	for _, tt := range []struct {
		text string
		want bool
	}{
		{"", false}, {`word "phrase" #tag after:7d`, false}, {"-path:a -file:b -[c]", false},
		{"path:a", true}, {"file:b", true}, {"[c]", true},
	} {
		if got := parse(t, tt.text).NotesOnly(); got != tt.want {
			t.Errorf("Parse(%q).NotesOnly() = %v, want %v", tt.text, got, tt.want)
		}
	}
}
