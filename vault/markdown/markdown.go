package markdown

import (
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"emberd/vault/lex"
)

// Parser reads Markdown. It may be used by several goroutines.
type Parser struct{ parser.Parser }

func NewParser() Parser {
	obsidian := obsidianParser{}
	return Parser{parser.NewParser(
		parser.WithBlockParsers(parser.DefaultBlockParsers()...),
		parser.WithBlockParsers(
			util.Prioritized(mathParser{}, 650),
			util.Prioritized(extension.NewFootnoteBlockParser(), 999),
		),
		parser.WithInlineParsers(parser.DefaultInlineParsers()...),
		parser.WithInlineParsers(
			util.Prioritized(obsidian, 50), // before links
			util.Prioritized(extension.NewStrikethroughParser(), 500),
		),
		parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
		parser.WithParagraphTransformers(util.Prioritized(extension.NewTableParagraphTransformer(), 200)),
		parser.WithASTTransformers(util.Prioritized(extension.NewTableASTTransformer(), 0)),
	)}
}

// Read fills the outline from a source whose frontmatter and comments are blank.
// Most notes go through the parser. Those it would take long over, or panics on,
// go through the line reader.
func (e Parser) Read(o *Builder) {
	s := surveyOf(o.src)
	excess := s.excess()
	if excess == "" {
		before := *o.Outline
		if e.parse(o) {
			return
		}
		o.reset(before)
		excess = "content that the Markdown parser cannot read"
	}
	o.LineByLine = true
	o.Report(1,
		"the note has %s, so emberd reads the note line by line, without its layout; searches still find the note",
		excess)
	ReadLines(o)
}

// parse reports false if the parser, or the walk over its result, panicked: a note must not end
// the daemon.
func (e Parser) parse(o *Builder) (ok bool) {
	defer func() { ok = recover() == nil }()
	w := walker{Builder: o}
	w.blocks(e.Parser.Parse(text.NewReader(o.src)))
	return true
}

// obsidianNode is a markup in goldmark's tree.
type obsidianNode struct {
	ast.BaseInline
	markup
}

var obsidianKind = ast.NewNodeKind("Obsidian")

// Kind and Dump are what goldmark asks of every node.
func (*obsidianNode) Kind() ast.NodeKind { return obsidianKind }

func (n *obsidianNode) Dump(source []byte, level int) { ast.DumpHelper(n, source, level, nil, nil) }

// obsidianParser reads wikilinks, embeds, tags, block ids, math and footnote
// references, and the marks that begin tasks and callouts.
type obsidianParser struct{}

func (obsidianParser) Trigger() []byte { return []byte{'[', '!', '#', '^', '$'} }

func (obsidianParser) Parse(parent ast.Node, block text.Reader, _ parser.Context) ast.Node {
	line, _ := block.PeekLine()
	m, n := scanMarkup(block.PrecendingCharacter(), line)
	if n == 0 && parent.FirstChild() == nil && parent.Parent() != nil {
		n = leadingMark(parent.Parent(), line)
	}
	if n == 0 {
		return nil
	}
	block.Advance(n)
	return &obsidianNode{markup: m}
}

// leadingMark returns the length of "[x] " in a list item or "[!note]-" in a quote.
func leadingMark(container ast.Node, line []byte) int {
	switch container.Kind() {
	case ast.KindListItem:
		return taskMark(line)
	case ast.KindBlockquote:
		return calloutMark(line)
	}
	return 0
}

// taskMark reads "[x] " with any one letter, as Obsidian has it.
func taskMark(line []byte) int {
	if len(line) < 4 || line[0] != '[' {
		return 0
	}
	_, n := utf8.DecodeRune(line[1:])
	if n++; n+1 >= len(line) || line[n] != ']' || !lex.IsBlank(rune(line[n+1])) {
		return 0
	}
	return n + 2
}

// calloutMark reads "[!type]" with "+" or "-" for one that folds.
func calloutMark(line []byte) int {
	if len(line) < 4 || line[0] != '[' || line[1] != '!' {
		return 0
	}
	for i, c := range line[2:] {
		switch {
		case c == '\n' || c == '[':
			return 0
		case c == ']':
			n := i + 3
			if n < len(line) && (line[n] == '+' || line[n] == '-') {
				n++
			}
			return n
		}
	}
	return 0
}

// mathNode is a block between lines of $$, whose text is not Markdown.
type mathNode struct{ ast.BaseBlock }

var mathKind = ast.NewNodeKind("Math")

// Kind, Dump and IsRaw are what goldmark asks of a block.
func (*mathNode) Kind() ast.NodeKind { return mathKind }

func (n *mathNode) Dump(source []byte, level int) { ast.DumpHelper(n, source, level, nil, nil) }

func (*mathNode) IsRaw() bool { return true }

// mathParser reads blocks of math.
type mathParser struct{}

func (mathParser) Trigger() []byte { return []byte{'$'} }

func (mathParser) Open(_ ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	line, segment := reader.PeekLine()
	if at := pc.BlockOffset(); at < 0 || !opensMath(line[at:]) || !closesMath(reader.Source()[segment.Stop:]) {
		return nil, parser.NoChildren
	}
	n := &mathNode{}
	n.Lines().Append(segment)
	reader.AdvanceToEOL()
	return n, parser.NoChildren
}

func (mathParser) Continue(node ast.Node, reader text.Reader, _ parser.Context) parser.State {
	_, segment := reader.PeekLine()
	if lines := node.Lines(); lines.Len() > 1 && closesMath(reader.Value(lines.At(lines.Len()-1))) {
		return parser.Close
	}
	node.Lines().Append(segment)
	reader.AdvanceToEOL()
	return parser.Continue | parser.NoChildren
}

func (mathParser) Close(ast.Node, text.Reader, parser.Context) {}

func (mathParser) CanInterruptParagraph() bool { return true }

func (mathParser) CanAcceptIndentedLine() bool { return false }
