package neutralize

import (
	"slices"
	"strings"

	"emberd/internal/text"
	"emberd/vault/lex"
)

// neutralizeMarkup disables everything that is more than text to Obsidian and its plugins; see
// [Body]. It inserts characters within lines and removes none, so that lines stay lines.
func neutralizeMarkup(text string) string {
	text = regionMark().ReplaceAllString(text, "$1 :")
	e := escaper{left: strings.Split(text, "\n"), formulas: strings.Contains(text, "$")}
	if properties().MatchString(e.left[0]) {
		e.left[0] = `\` + e.left[0]
	}
	for len(e.left) > 0 {
		e.block()
	}
	return strings.TrimSuffix(e.out.String(), "\n")
}

var (
	// regionMark is what only emberd may write.
	regionMark = text.Pattern(`(<!--\s*/?\s*emberd):`)
	// properties is the line that they begin with.
	properties = text.Pattern(`^---[ \t]*$`)
	// knownToRun are the blocks of plugins that run what is in them, wherever a line shows
	// one: some plugins read the text and not what Markdown makes of it.
	knownToRun = text.Pattern("(?i)((?:`{3,}|~{3,})[ \t]*)((?:dataview|datacore|js-engine|templater|customjs|run-|button|meta-bind|query|tasks)[\\w-]*)")
)

// escaper neutralizes the lines of a text. It leaves code alone only where there is no doubt that
// it is code, and escapes the rest, whatever Markdown makes of it.
type escaper struct {
	out  strings.Builder
	left []string // lines
	// nested says that a fence may be open within a list or quote: only one without indent
	// is a fence then. lost says that it is not known where fences begin and end at all.
	nested, lost bool
	// formulas says that there may be some.
	formulas bool
	// loose says that this paragraph has a run of backticks that may pair with a later one.
	loose bool
}

// block neutralizes one block of code, or one line.
func (e *escaper) block() {
	if n := e.fenced(); n > 0 {
		e.put(language(e.left[0]))
		for _, line := range e.left[1:n] {
			e.put(disableInlineCode(line))
		}
		e.left, e.loose = e.left[n:], false
		return
	}
	line := e.left[0]
	e.left = e.left[1:]
	if strings.Trim(line, " \t") == "" {
		e.loose = false
	}
	e.put(e.line(line))
	if strings.Contains(line, "```") || strings.Contains(line, "~~~") {
		e.nested = true
	}
}

func (e *escaper) put(line string) { e.out.WriteString(line + "\n") }

// fenced returns how many lines the block of code has that begins here, with its fences, 0 if it
// certainly is none. One with an indent may be in a list, so each of its lines must have that
// indent.
func (e *escaper) fenced() int {
	indent := indentOf(e.left[0])
	mark, size, info := lex.FenceMark([]byte(e.left[0]))
	if e.lost || size == 0 || indent > 3 || strings.HasPrefix(e.left[0][indent:], "\t") || mark == '`' && strings.Contains(string(info), "`") {
		return 0
	}
	if indent == 0 || !e.nested {
		for i, line := range e.left[1:] {
			in := indentOf(line)
			m, s, rest := lex.FenceMark([]byte(line))
			switch closes := m == mark && s >= size && lex.IsBlankLine(rest); {
			case indent == 0 && closes && in <= 3 && line[in] == mark:
				return i + 2
			case indent > 0 && closes && in >= indent && in <= 3 && line[in] == mark:
				return i + 2
			case indent > 0 &&
				(closes || in < indent && strings.Trim(line, " \t") != "" && !strings.HasPrefix(line, "\t")):
				e.lost = true
				return 0
			}
		}
	}
	e.lost = true
	return 0
}

// indentOf returns how many spaces a line begins with.
func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// disableInlineCode disables in a line of code what plugins run even there.
func disableInlineCode(line string) string {
	return knownToRun().ReplaceAllString(strings.ReplaceAll(line, "<%", `<\%`), "${1}text $2")
}

// language neutralizes the first line of a block of code, so that no plugin runs its language.
func language(line string) string {
	at := strings.IndexAny(line, "`~")
	if at < 0 {
		return line
	}
	info := strings.TrimLeft(line[at:], line[at:at+1])
	word := strings.TrimLeft(info, " \t")
	at = len(line) - len(word)
	if word != "" && !common(word) {
		word = "text " + word
	}
	return line[:at] + strings.ReplaceAll(word, "<%", `<\%`)
}

// common reports whether the language of an information string is shown and never run.
func common(info string) bool {
	name, _, _ := strings.Cut(strings.ToLower(info), " ")
	name, _, _ = strings.Cut(name, "\t")
	return slices.Contains(languages, name)
}

// languages are those that highlighters know. What plugins take for their own is not among
// them, nor is what draws or loads: mermaid, plantuml, query, dataview.
var languages = strings.Fields(`text txt plain plaintext output console log diff patch ada apache applescript
	arduino asm assembly awk bash bat batch bash-session bibtex c c# c++ cc clj clojure cmake cmd cobol coffee
	coffeescript conf cpp crystal cs csharp css csv cu cuda cypher d dart delphi docker dockerfile dot dos elisp
	elixir elm emacs-lisp erl erlang ex exs f# fish fortran fs fsharp gherkin git gitignore glsl go golang gradle
	graphql groovy h haml handlebars haskell hcl hocon hpp hs html http hs ini java javascript jinja jl js json
	json5 jsonc jsonl jsx julia kotlin kt kts latex less lisp llvm lua make makefile markdown matlab md nasm ndjson
	nginx nim nix node objc objective-c ocaml octave pascal perl php pl powershell prolog properties proto protobuf
	ps1 pwsh py py3 pyi python python3 pycon r racket rb regex rs rst ruby rust sass scala scheme scss sed sh shell
	shell-session solidity sparql sql svelte swift systemd tcl tex terraform tf toml ts tsv tsx turtle typescript v
	vala vb vba verilog vhdl vim viml vue wasm wat xml yaml yml zig zsh`)
