package intent

import (
	"strings"
	"testing"
)

// An ask is what a message is taken for.
type ask string

const (
	saves   ask = "saves"
	recalls ask = "recalls"
	neither ask = "neither"
)

// takenFor judges a message by its words alone.
func takenFor(a *Analyzer, message string) ask {
	switch {
	case a.Save(message, nil).ShouldSave:
		return saves
	case a.Recall(message, nil).ShouldSearch:
		return recalls
	}
	return neither
}

func TestPhrases(t *testing.T) {
	for _, c := range []struct {
		name, message string
		want          ask
	}{
		{"a curly apostrophe", "Don’t forget the milk", saves},
		{"none", "dont forget the milk", saves},
		{"an accent for one", "don`t forget the milk", saves},
		{"capitals", "DON'T FORGET THE MILK", saves},
		{"a line break within", "please keep\nin mind that it rains", saves},
		{"emphasis within", "**Remember** _this_ for me", saves},
		{"in quotation marks", "“Remember this” she said", saves},
		{"before an emoji", "🙏remember this🙏", saves},
		{"not across a comma", "I like to, well, keep, in mind", saves},
		{"not across sentences", "Where do you keep. In mind", neither},
		{"not across paragraphs", "a letter to keep\n\nin mind", neither},
		{"not across a dash", "a thing to keep - in mind it is small", neither},
		{"in either normal form", "je pre\u0301fe\u0300re le lait", saves},
		{"not within a word", "the turnkey keyboard of monkeys", neither},
		{"not within a longer word", "we keep in mindset", neither},
		{"anchored, at the start", "Remember, the key is under the mat", saves},
		{"anchored, after openers", "Hey, please also remember the milk", saves},
		{"anchored, not within", "the things I remember of it", neither},
		{"anchored, in a later sentence", "It rains. Note: no washing today", saves},
		{"anchored, in a list", "- note the new address\n- buy milk", saves},
		{"a longer phrase wins", "remind me to call", saves},
		{"over the shorter", "remind me of the call", recalls},
		{"an earlier one wins", "do you remember this song", recalls},
		{"a polite command", "Could you please remember that it rains?", saves},
		{"a polite recall", "can you remember where it was?", recalls},
		{"what is asked for is not stated", "What's my preference for tea?", recalls},
		{"nor after a recall", "remind me what we agreed on", recalls},
		{"a command after a recall", "What did I say? Remember this: tea", saves},
		{"a question", "What is worth knowing and important?", neither},
		{"a relative clause is no question", "remember our shop, which is small", saves},
		{"a question after a name", "Bob, what is important here, tell me", neither},
		{"a dot within a word ends no sentence", "What is node.js, remember this", neither},
		{"a question beside a command", "What is it? Remember this: it is a bird", saves},
		{"German", "Merk dir bitte, dass es regnet", saves},
		{"German recall", "Was habe ich über Bremen gesagt?", recalls},
		{"French", "n’oublie pas le lait", saves},
		{"Russian", "Запомни: код 12", saves},
		{"Chinese", "请记住这个", saves},
		{"Japanese", "これを覚えておいて", saves},
		{"Japanese recall", "あの店を覚えていますか？", recalls},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := takenFor(Default(), c.message); got != c.want {
				a := Default()
				t.Errorf("%q %s, want %s\n%+v\n%+v", c.message, got, c.want, a.Save(c.message, nil), a.Recall(c.message, nil))
			}
		})
	}
}

func TestNegation(t *testing.T) {
	for _, c := range []struct {
		name, message string
		want          ask
		marked        bool
	}{
		{"a command taken back", "don't remember this", neither, false},
		{"with an apostrophe missing", "please dont save this", neither, false},
		{"some words before", "you do not need to remember this", neither, false},
		{"what is forbidden is not saved for another reason", "Don't save this, but I prefer tea", neither, false},
		{"unless another command says so", "Don't save that. Do remember this: I prefer tea", saves, true},
		{"negation ends with its clause", "I can't stress it enough, remember this", saves, true},
		{"a phrase may hold one", "don't forget that this is important", saves, true},
		{"importance", "it is not important", neither, false},
		{"in German", "das ist nicht wichtig", neither, false},
		{"in Chinese", "不要记住", neither, false},
		{"too far away", "not that it would ever have been so but important", neither, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := Default()
			if got := takenFor(a, c.message); got != c.want || a.Marked(c.message) != c.marked {
				t.Errorf("%q %s (marked %v), want %s (%v)\n%+v", c.message, got, a.Marked(c.message), c.want, c.marked, a.Save(c.message, nil))
			}
		})
	}
}

func TestReasoningSaysWhatSpokeAgainst(t *testing.T) {
	for message, want := range map[string]string{
		"What is it, don't forget, maybe? Not important": `Detected: ["don't forget"] importance_marker: True entities_found: 3` +
			` question: ['what'] doubt: ['maybe'] negated: ['important']`,
		"don't forget this important step": `Detected: ["don't forget", 'important'] importance_marker: True entities_found: 3`,
		"it must be":                       "Detected: ['must'] importance_marker: False entities_found: 3",
		"hello":                            "Detected: [] importance_marker: False entities_found: 3",
	} {
		if got := Default().Save(message, make([]string, 3)).Reasoning; got != want {
			t.Errorf("%q\n got %s\nwant %s", message, got, want)
		}
	}
}

func TestEntitiesCountUpToFour(t *testing.T) {
	a := Default()
	four, ten := a.Save("hello", make([]string, 4)), a.Save("hello", make([]string, 10))
	if four.Confidence != 0.7685 || ten.Confidence != four.Confidence {
		t.Errorf("confidence %v with four entities and %v with ten, want 0.7685", four.Confidence, ten.Confidence)
	}
	if two := a.Save("hello", make([]string, 2)).Confidence; two < AskAt || two >= SaveAt {
		t.Errorf("two entities: confidence %v, want one between %v and %v", two, AskAt, SaveAt)
	}
}

func TestTags(t *testing.T) {
	for message, want := range map[string]string{
		"our databases and APIs":          "database api",
		"my preference is #Home/Kitchen.": "home/kitchen preference",
		"see #api, issue #12 (#api)":      "api",
		"I prefer tea":                    "",
		"page.html#part":                  "",
	} {
		got := Default().Save(message, nil).Tags
		if strings.Join(got, " ") != want {
			t.Errorf("tags of %q are %v, want %s", message, got, want)
		}
		if also := Default().Recall(message, nil).Tags; strings.Join(also, " ") != want {
			t.Errorf("tags of %q are %v for a recall, want %s", message, also, want)
		}
	}
}

func TestQuery(t *testing.T) {
	for _, c := range []struct{ name, message, want string }{
		{"its sentence only", "Hi! I'm back. What did I say about node.js? I need it.", "node.js"},
		{"without a possessive", "What did we decide about our new API?", "new API"},
		{"without a second phrase", "Do you remember what did I say about tea?", "tea"},
		{"what stands before", "Redis: what did I say about it?", "Redis"},
		{"what stands before in the sentence", "I like it. The garden, did I mention it again?", "The garden"},
		{"the rest of the message", "Do you remember? We chose Redis.", "We chose Redis"},
		{"nothing else", "Do you remember it?", "Do you remember it?"},
		{"one line", "What did I say about\nthe   harbour", "the harbour"},
		{"cut", "remind me of " + strings.Repeat("a b ", 100), "of " + strings.Repeat("a b ", 49) + "a"},
		{"in a script without spaces", "还记得Redis的配置吗？", "Redis的配置吗"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Default().Recall(c.message, nil).Query; got != c.want {
				t.Errorf("query of %q is %q, want %q", c.message, got, c.want)
			}
		})
	}
}

func TestQueryOfTheLongestEntities(t *testing.T) {
	got := Default().Recall("hello", []string{"go", "postgresql", "rust", "ruby", "redis"})
	if got.Query != "postgresql redis rust" || !got.ShouldSearch {
		t.Errorf("%+v, want the three longest names", got)
	}
	if one := Default().Recall("hello "+strings.Repeat("x", 60), []string{"go"}); one.ShouldSearch || one.Query != "hello "+strings.Repeat("x", 44) {
		t.Errorf("%+v, want the first 50 characters", one)
	}
}

func TestStrengthOfQuestions(t *testing.T) {
	a := Default()
	for message, question := range map[string]bool{
		"is it so?": true, "是吗？": true, "\"really?\" he said": true, "see https://example.com/?q=1": false, "a?b": false, "plain": false,
	} {
		marked := "important: " + message
		if lower := a.Strength(marked, 0) < a.Strength("important: "+strings.Repeat("x", len([]rune(message))), 0); lower != question {
			t.Errorf("%q lowers the strength: %v, want %v", message, lower, question)
		}
	}
}
