package entity

import "testing"

func TestWhatOnlyLooksLikeAName(t *testing.T) {
	for _, c := range []struct{ rule, text, want string }{
		{"an everyday word with a capital", "set the Tolerance of the pump, then the Applied filter", ""},
		{"in Chinese", "打开设置里的 Brightness 和 Muted", ""},
		{"two of them", "pick the Narrow Margins layout", ""},
		{"but for a version behind it", "we moved to Beacon v3 and Anchor 1.2.3", "beacon, anchor"},
		{"short mixed case", "a PhD in IoT, and a BSc", ""},
		{"a link to a note that is a sentence", "as [[Small steps beat large leaps]] says", ""},
		{"a link to an everyday word", "see [[gardening]] and [[Habits#Morning]]", ""},
		{"a person in a link to a sentence", "see [[What Maria said about tea]]", "maria"},
		{"a link in German", "siehe [[Zwiebeln richtig lagern]]", ""},
		{"a link in Chinese", "参考 [[如何种番茄]]", ""},
		{"code of a program", "`NewReader` and `Render` fail", ""},
		{"a class by its form", "it throws ParseException from a TokenFactory", ""},
		{"behind what it is", "raise the exception FooBar in class Zorvex", ""},
		{"in front of what it is", "the FooBar component and the Zorvex hook", ""},
		{"in Chinese brackets", "配置卷（FooVolume）和声明 (FooClaim)", ""},
		{"in front of what it is in Chinese", "使用 Zorvex 算法 和 FooBar 类", ""},
		{"in front of a class", "an Unraised ValueError, and Kafka StreamReader", "kafka"},
		{"what a program shows", `click "Save As" or the "Dark Mode" option`, ""},
		{"in German", "Klicke „Speichern Unter“ oder die Schaltfläche", ""},
		{"a format", `in the "Given-When-Then" format`, ""},
		{"a heading in quotes", `the "Shared with" list`, ""},
		{"what is called so", "the so-called Tolerance", ""},
		{"a message", `errors like "Warning: Disk Full"`, ""},
		{"an everyday acronym with a digit", "HTML5, CSS3 and UTF-8", ""},
		{"an everyday acronym in front", "the HTTP Gateway and a JSON Parser", ""},
		{"a letter", "Vitamin C, Plan B and Native C", ""},
		{"a symbol", "a layer of Au on the Zqx3 gene", ""},
		{"a people", "three Bolivian and Nepalese farmers", ""},
		{"a title", "we asked the Professor and Dr.", ""},
		{"loud", "WITHOUT WARRANTY, EXPRESS OR IMPLIED", ""},
		{"a host with a port", "api.bosch.com:8080 and redis.example.com:6379/docs", ""},
		{"an example", "write to Example.com", ""},
	} {
		t.Run(c.rule, func(t *testing.T) { checkFind(t, c.text, Options{}, c.want) })
	}
	checkFind(t, "see [[ideas.md]] and [[Small steps]]", Options{Known: knows("Ideas", "Small steps")}, "Ideas, Small steps")
}

func TestNamesAsLongAsTheyAre(t *testing.T) {
	for _, c := range []struct{ rule, text, want string }{
		{"possessive of a plural", "hosted by the Velmora Potters' Circle", "velmora potters_ circle"},
		{"a particle", "请安装 Zorvex Log Off 之后重启", "zorvex log off"},
		{"a number", "she plays Zorvex 3000 and Quillmark 2024", "zorvex 3000, quillmark"},
		{"a number in German", "die Quittung 4711 und Zorvex 3000", ""},
		{"a person has no number", "we owe Maria 3000 euros", "maria"},
		{"a subtitle", "we saw Quiet Velmora: Second Tide, and met Maria Lopez: Good Day", "quiet velmora_ second tide, maria lopez"},
		{"a subtitle in quotes", `I finished "Ember Valley: Nightfall"`, "ember valley_ nightfall"},
		{"a street with a number", "the office on 9th Avenue", "9th avenue"},
		{"what it is called", "a game called Portals and a film titled Slow River", "portals, slow river"},
		{"a song", `the song "Broken" and Maria's "Falling"`, "broken, maria, falling"},
		{"a work by somebody", `"Hollow" by Maria`, "hollow, maria"},
		{"a brand with a suffix", "we host on Zorvex.com with Quill.js v4 and Main.js", "zorvex-com, quill-js"},
		{"an acronym that says what it is", "the Zorvex SDK, the Quillmark API and the Docker CLI", "zorvex, quillmark api, docker"},
		{"a customer", "der Kunde Bosch und die Firma Siemens", "bosch, siemens"},
		{"a customer in English", "our Client Bosch called", "bosch"},
		{"somebody addressed", "Thanks, Bo! Well, Vy, come in", "bo, vy"},
		{"a pet in apposition", "her puppy, Biscuit, barks", "biscuit"},
		{"a verb behind a Chinese name", "李强住在上海，王小明说好", "李强, 上海, 王小明"},
	} {
		t.Run(c.rule, func(t *testing.T) { checkFind(t, c.text, Options{}, c.want) })
	}
}
