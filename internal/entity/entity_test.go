package entity

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"emberd/internal/text"
	"emberd/memory"
)

// checkFind compares what is found in a text with the names in want, which a comma
// parts.
func checkFind(t *testing.T, text string, opt Options, want string) {
	t.Helper()
	if got := strings.Join(Find(text, opt), ", "); got != want {
		t.Errorf("Find(%q)\n got %s\nwant %s", text, got, want)
	}
}

func TestFindEachKind(t *testing.T) {
	for _, c := range []struct{ kind, text, want string }{
		{"acronyms and nouns", "Use JWT tokens for authentication in all new APIs", "jwt, authentication, apis"},
		{"camel case", "Remember: I prefer TypeScript over JavaScript for all new projects", "typescript, javascript"},
		{"a noun at the start", "Kubernetes runs our website", "kubernetes"},
		{"plurals", "two databases, three repositories and a mutex", ""},
		{"a noun of two words", "we tried machine learning", "machine learning"},
		{"a noun within a word", "the recached httpx apiary", ""},
		{"people and places", "I met Alice Johnson and Bob in New York on Monday.", "alice johnson, bob, new york"},
		{"a run with small words", "at the Bank of America with Ludwig van Beethoven", "bank of america, ludwig van beethoven"},
		{"initials and titles", "ask J. R. Tolkien or Dr. Smith", "j r tolkien, smith"},
		{"hyphens", "GPT-4, COVID-19 and Jean-Luc Picard", "gpt-4, covid-19, jean-luc picard"},
		{"possessives", "it is Alice's Redis", "alice, redis"},
		{"acronyms are no names", "our REST API", ""},
		{"a product of two words", "with GitHub Actions and AWS Lambda", "github actions, aws lambda"},
		{"address", "see https://me:pw@www.example.com/docs/intro/?x=1#y.", ""},
		{"address in a link", "the [guide](https://example.com/a_b), please", ""},
		{"address with a sign in its path", "http://b.example/@bob/x", ""},
		{"too long an address", "https://example.com/" + strings.Repeat("x", 200), ""},
		{"mail", "write to Bob.Lee+x@mail.example.org!", ""},
		{"mention", "thanks @alice-b, and (@bob)", "alice-b, bob"},
		{"tags", "about #project/alpha and #日本, not #123 or #fff000", "project_alpha, 日本"},
		{"paths", "edit internal/text/fold.go, /etc/hosts and ~/notes, and/or 1/2", ""},
		{"a path of Windows", `in C:\Users\bob`, ""},
		{"files", "README.md, go.mod and .gitignore.swp done.then", ""},
		{"dotted names", "os.Root, node.js and x.y.z; done.But no", "node-js"},
		{"snake case", "set max_tokens and EMBERD_HOME in _this_ file", ""},
		{"calls", "getUserName() calls parse() or setName, not SetName", ""},
		{"versions", "from v2 to v3.0-rc1 or 1.26.8, on 2026.01.02 at 3.5", ""},
		{"wikilinks", "see [[Projects/Zorvex Plan#Now|the plan]] and [[Quillmark.md]]", "zorvex plan, quillmark"},
		{"code", "run `frobnicate`, not `a + b`, in `ImageOptim` or `docker`", "docker"},
		{"quotations", `read "Becoming Nicole" and “The Left Hand of Darkness”`, "becoming nicole, the left hand of darkness"},
		{"a version behind it", "new in Tasks 7.12.0 and Step 7", "tasks"},
		{"lines of programs", "```go\nx := NewThing(Maria)\n```\nvar y = NewThing();\nfor Maria", "maria"},
		{"speech is no name", `he said "yes", "we need it now" and "Stop!"`, ""},
	} {
		t.Run(c.kind, func(t *testing.T) { checkFind(t, c.text, Options{}, c.want) })
	}
}

func TestCapitalsThatAreNoNames(t *testing.T) {
	for _, text := range []string{
		"This is critical. Nobody knows. Maybe tomorrow",
		"Deploy it. Then wait! Why? Because\nNobody said so",
		"I'm sure I'll do it on Monday in May, OK?",
		"Yesterday was fine: Everything worked",
		"The plan: Deploy on Friday",
		"maria: Sounds good to me", "maria: Loving the harbour",
		"DO NOT TOUCH THE STOVE. THIS IS NOT A DRILL",
		"The harbour was calm. We saw the Harbour",
		"# Our Grand Opening Party\n\nit rained",
		"Activation of the pump took long. Bye",
		"we saw Old Harbour Friends Club Grand Opening Party", "we left our HARBOURS alone",
		"plain words only", "hello", "keyboard", "", " \n ",
	} {
		checkFind(t, text, Options{}, "")
	}
}

func TestSentenceInitialNames(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"one word says nothing", "Orion runs", ""},
		{"unless it is a name elsewhere", "Orion runs. I like Orion", "orion"},
		{"and then it counts from there", "Orion met Bob. I like Orion", "orion, bob"},
		{"two are a name", "Orion Lopez called", "orion lopez"},
		{"a given name is one", "Maria called", "maria"},
		{"but not in small letters", "the maria project", ""},
		{"but not after an opener", "Ask Maria", "maria"},
		{"nor before an acronym", "Chronic EC2", "ec2"},
		{"camel case is a name", "GitHub is down", "github"},
		{"an acronym is one", "NASA called", "nasa"},
		{"after an abbreviation", "we saw Mr. Smith, e.g. Bob", "smith, bob"},
		{"after a colon it is a name", "the author: Maria", "maria"},
		{"unless a sentence begins there", "the author: Orion runs it", ""},
		{"in a list", "- Harbour\n- Maria Lopez\n* I saw Paris", "maria lopez, paris"},
	} {
		t.Run(c.name, func(t *testing.T) { checkFind(t, c.text, Options{}, c.want) })
	}
}

func TestFindInOtherLanguages(t *testing.T) {
	for _, c := range []struct{ language, text, want string }{
		{"German", "Die Besprechung mit Anna Schmidt war gut. Wir nutzen Redis für den Cache der Anwendung.", "anna schmidt, redis"},
		{"German nouns", "Wir haben den Termin im Kalender und die Rechnung vergessen", ""},
		{"German quotations", "Das Projekt „Blauer Mond“ ist fertig", "blauer mond"},
		{"German and English lines", "Der Termin ist am Freitag\nI met Bob in Vienna", "bob, vienna"},
		{"Russian", "Вчера мы встретили Ивана Петрова в Москве. Потом поехали", "ивана петрова, москве"},
		{"Greek", "είδα τον Γιώργο στην Αθήνα", "γιώργο, αθήνα"},
		{"French", "j'ai vu l'API d'Anna et Paris", "anna, paris"},
		{"Japanese", "私は《風の谷》とトムハンクスをRedisで見た", "風の谷, トムハンクス, redis"},
		{"Japanese with a middle dot", "ジョン・スミス・です", "ジョン_スミス"},
		{"two katakana are too few", "バスに乗る", ""},
		{"Chinese", "我们用Redis做缓存，读了《三体》，用docker部署。", "redis, 三体, docker"},
		{"speech in brackets", "「はい。わかりました。」", ""},
		{"Korean", "우리는 Docker를 쓴다", "docker"},
	} {
		t.Run(c.language, func(t *testing.T) { checkFind(t, c.text, Options{}, c.want) })
	}
}

// What the notes of memories link to: first names of people, and no words that have a capital only where a sentence
// begins.
func TestPeopleThatNotesLinkTo(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"Maria leads the design team until April, then Jonas", "maria, jonas"},
		{"Tom wants tea, Anna wants coffee", "tom, anna"},
		{"Lena wrote to Paul", "lena, paul"},
		{"Sam orders seeds", "sam"},
		{"use tabs and a space in the password field, go to settings", ""},
		{"Go to the next space", ""},
	} {
		t.Run(c.text, func(t *testing.T) { checkFind(t, c.text, Options{}, c.want) })
	}
}

// knows makes a lookup of the names given.
func knows(names ...string) func(string) (string, bool) {
	byKey := map[string]string{}
	for _, n := range names {
		byKey[Key(n)] = n
	}
	return func(key string) (string, bool) {
		name, ok := byKey[key]
		return name, ok
	}
}

func TestKnownNamesComeFirstAndAreSpeltAsStored(t *testing.T) {
	// What is known may have been written by hand or stored.
	opt := Options{Known: knows("Bob_s Boat", "Claude AI", "Node-js", "Maria", "東京タワー", "東京都庭園美術館友の会員", "Ideas", "42", "Café", "Maria's House - A Draft", "Maria.md", "tea_cosy")}
	for _, c := range []struct{ name, text, want string }{
		{"before others", "JWT for claude ai", "Claude AI, jwt"},
		{"whatever separates the words", "claude-ai and CLAUDE_AI with Node.js", "Claude AI, Node-js"},
		{"by the name of a file", "see ~/old/maria.md, maria() and tea_cosy", "Maria-md, Maria, tea_cosy"},
		{"at the beginning of a sentence", "Maria called", "Maria"},
		{"with a possessive", "at maria's place", "Maria"},
		{"by a mention", "ask @maria", "Maria"},
		{"in a link", "see [[people/maria|her]]", "Maria"},
		{"in a script without spaces", "昨日東京タワーに行った", "東京タワー"},
		{"a long one", "昨日東京都庭園美術館友の会員になった", "東京都庭園美術館友の会員"},
		{"an everyday word is not meant", "two ideas. Ideas are cheap", ""},
		{"unless it has a capital", "in our Ideas", "Ideas"},
		{"a number never", "it is 42", ""},
		{"in either normal form", "the cafe\u0301", "Café"},
		{"with a possessive as stored", "on Bob's boat", "Bob_s Boat"},
		{"with a possessive and a dash within", "in maria's house - a draft of it", "Maria_s House - A Draft"},
		{"not across a comma", "so Claude, Air", "claude"},
		{"not within an address", "https://maria.example", ""},
	} {
		t.Run(c.name, func(t *testing.T) { checkFind(t, c.text, opt, c.want) })
	}
}

func TestAWordThatWasOnlyFoundNeedsItsCapital(t *testing.T) {
	opt := Options{
		Known: func(key string) (string, bool) {
			known := map[string]string{"orion": "orion", "harbour": "harbour", "ada": "Ada", "grand hotel": "grand hotel", "港町": "港町"}
			name, ok := known[key]
			return name, ok
		},
		Guessed: func(key string) bool { return key != "ada" },
	}
	checkFind(t, "the harbour, the grand hotel, ada and 港町", opt, "grand hotel, Ada, 港町")
	checkFind(t, "Orion is a cat", opt, "orion")
	checkFind(t, "Harbour is a cat", opt, "")
	checkFind(t, "Orion Harbour is a cat", opt, "orion harbour")
}

func TestKey(t *testing.T) {
	for name, want := range map[string]string{
		"Node.js": "node js", "node-js": "node js", "  Claude  AI ": "claude ai", "O’Brien": "o brien", "O_Brien": "o brien",
		"東京 タワー": "東京 タワー", "Alice's": "alice", "Alice_s Cat": "alice cat", "Alice’s Cat": "alice cat", "!": "", "": "",
	} {
		if got := Key(name); got != want {
			t.Errorf("Key(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestLimitKeepsWhatMattersMost(t *testing.T) {
	var b strings.Builder
	for name := range strings.FieldsSeq("Ada Bea Cid Dov Eve Fay Gus Hal Ivy Jon Kim Lea") {
		b.WriteString("and " + name + " ")
	}
	text := "docker " + b.String() + "and Lea again with zed and Zed Kay"
	want := strings.Fields("ada bea cid dov eve fay gus hal ivy lea") // Lea twice; docker is a noun
	if got := Find(text, Options{}); !slices.Equal(got, want) {
		t.Errorf("by default: %v, want %v", got, want)
	}
	if got := Find(text, Options{Limit: 2, Known: knows("zed kay")}); !slices.Equal(got, []string{"zed kay", "lea"}) {
		t.Errorf("the two that matter most: %v", got)
	}
	if got := Find(text, Options{Limit: 1000}); len(got) != 14 {
		t.Errorf("all: %d names, want 14: %v", len(got), got)
	}
	var many strings.Builder
	for i := range 300 {
		many.WriteString("and X" + strings.Repeat("y", i%50+1) + strings.Repeat("z", i/50) + " ")
	}
	if got := Find(many.String(), Options{Limit: 1000}); len(got) != memory.MaxEntities {
		t.Errorf("%d names of 300, want %d", len(got), memory.MaxEntities)
	}
}

// The lists are data that people add to.
func TestListsHoldWhatTextsAreComparedWith(t *testing.T) {
	l := lists()
	for name, set := range map[string]*text.Dictionary{"common": l.common, "function": l.function, "openers": l.openers, "verbs": l.verbs} {
		for _, entry := range set.Words() {
			if entry != folded(entry) || !utf8.ValidString(entry) {
				t.Errorf("%s has %q, which no word of a text is compared with as it stands", name, entry)
			}
		}
	}
	for n, key := range l.keys.Words() {
		e := l.names[n]
		if Key(e.name) != key || utf8.RuneCountInString(key) < 2 {
			t.Errorf("%q is listed by the key %q", e.name, key)
		}
		if l.common.Has(key) && !e.doubtful && e.kind != Topic {
			t.Errorf("%q is an everyday word and not marked as one", e.name)
		}
	}
}

// A quotation mark inside a word, behind a mark that combines with a letter, is an apostrophe.
func TestAQuotationMarkInsideAWord(t *testing.T) {
	if got := Find("A\u0488'A'", Options{}); len(got) > 0 {
		t.Errorf("found %q", got)
	}
}
