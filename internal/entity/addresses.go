package entity

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// patterns match one piece of text between blanks. Each is tried only where the
// sign that it is about occurs.
type patterns struct {
	url, mail, at, tag, color, path, drive, version, dotted, snake, call *regexp.Regexp
}

var compiled = sync.OnceValue(func() *patterns {
	return &patterns{
		url:     regexp.MustCompile(`(?i)(?:\b[a-z][a-z0-9+.-]*://|\bwww\.)([^\s<>"'“”„»)\]}|` + "`" + `]+)`),
		mail:    regexp.MustCompile(`[\p{L}\p{N}._%+-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)*\.\p{L}{2,}`),
		at:      regexp.MustCompile(`^@([\p{L}\p{N}_](?:[\p{L}\p{N}_./-]*[\p{L}\p{N}_])?)`),
		tag:     regexp.MustCompile(`^#([\p{L}\p{M}\p{N}_/-]*\p{L}[\p{L}\p{M}\p{N}_/-]*)`),
		color:   regexp.MustCompile(`(?i)^#(?:[0-9a-f]{3}|[0-9a-f]{6}|[0-9a-f]{8})$`),
		path:    regexp.MustCompile(`^(?:~|\.{1,2})?(?:/[\p{L}\p{N}._@+-]+)+/?$|^[\p{L}\p{N}_-]+(?:\.[\p{L}\p{N}_-]+)*(?::\d+)?(?:/[\p{L}\p{N}._@+-]+)+/?$`),
		drive:   regexp.MustCompile(`^[A-Za-z]:\\[\p{L}\p{N}._\\-]+$`),
		version: regexp.MustCompile(`^(?:v\d+(?:\.\d+)*|\d{1,3}\.\d+\.\d+(?:\.\d+)?)(?:-?(?:alpha|beta|rc|pre|dev)[.\d]*)?$`),
		dotted:  regexp.MustCompile(`^\.?[\p{L}_][\p{L}\p{N}_-]*(?:\.[\p{L}\p{N}_-]+)+$`),
		snake:   regexp.MustCompile(`^_{0,2}[\p{L}][\p{L}\p{N}]*(?:_+[\p{L}\p{N}]+)+$`),
		call:    regexp.MustCompile(`^([\p{L}_][\p{L}\p{N}_.]*)\(\)$`),
	}
})

// maxPieceLen bounds what is looked at as one address, in bytes. No entity is as
// long, and a text without blanks stays cheap.
const maxPieceLen = 512

// addresses finds what shows by its signs: mentions and tags. URLs, e-mail addresses, versions, paths
// and the identifiers of programs keep their words, and are entities only if the store or a list has them.
func (f *finder) addresses() {
	for start := 0; start < len(f.text); {
		n := strings.IndexFunc(f.text[start:], divides)
		if n < 0 {
			n = len(f.text) - start
		}
		if n > 1 && n <= maxPieceLen && hasSign(f.text[start:start+n]) {
			f.piece(start, start+n)
		}
		_, size := utf8.DecodeRuneInString(f.text[start+n:])
		start += n + size
	}
}

// hasSign reports whether a piece may be one of the patterns; v2 has no sign but its
// letter.
func hasSign(s string) bool {
	for i := range len(s) {
		switch s[i] {
		case '@', '#', '/', '\\', '.', '_', '(':
			return true
		}
	}
	return s[0] == 'v' && unicode.IsDigit(rune(s[1]))
}

// divides tells what parts two pieces: blanks and the brackets and stops of scripts
// that use no blanks.
func divides(r rune) bool {
	if r < utf8.RuneSelf {
		return r == '|' || r == ',' || r == ';' || unicode.IsSpace(r)
	}
	return unicode.IsSpace(r) || strings.ContainsRune("、。，；：！？「」『』（）【】《》“”„«»…", r)
}

// piece tries what a piece of text between blanks can be.
func (f *finder) piece(start, end int) {
	p, whole := compiled(), f.text[start:end]
	if strings.Contains(whole, "://") || strings.Contains(strings.ToLower(whole), "www.") {
		if loc := p.url.FindStringSubmatchIndex(whole); loc != nil {
			f.add(start+loc[0], start+loc[1], address, Other, "")
			return
		}
	}
	start, end = f.bare(start, end)
	s := f.text[start:end]
	if strings.Contains(s, "@") && f.mailOrMention(start, s) {
		return
	}
	if strings.HasPrefix(s, "#") {
		if loc := p.tag.FindStringSubmatchIndex(s); loc != nil && !p.color.MatchString(s) {
			tag := s[loc[2]:loc[3]]
			if isSmall(tag) {
				return // a word as any other: the store may know it
			}
			if lists().common.Has(folded(tag)) {
				tag = ""
			}
			f.add(start, start+loc[1], address, Other, tag)
			return
		}
	}
	f.codeOf(start, s)
}

// isSmall reports a word of small ASCII letters.
func isSmall(s string) bool { return strings.Trim(s, "abcdefghijklmnopqrstuvwxyz") == "" }

// mailOrMention adds the e-mail address or else the mention that a piece has.
func (f *finder) mailOrMention(start int, s string) bool {
	p := compiled()
	if loc := p.mail.FindStringIndex(s); loc != nil {
		f.add(start+loc[0], start+loc[1], address, Other, "")
		return true
	}
	loc := p.at.FindStringSubmatchIndex(s)
	if loc == nil {
		return false
	}
	f.add(start, start+loc[1], address, Person, s[loc[2]:loc[3]])
	return true
}

// bare cuts brackets, quotation marks, emphasis and the end of a sentence off.
func (f *finder) bare(start, end int) (int, int) {
	s := f.text[start:end]
	trimmed := strings.TrimLeft(s, "([{<\"'`*")
	start += len(s) - len(trimmed)
	kept := strings.TrimRight(trimmed, ".,;:!?\"'`*>]}")
	if strings.Contains(kept, ")") && !strings.Contains(kept, "(") {
		kept = kept[:strings.Index(kept, ")")]
	}
	return start, start + len(kept)
}

// codeOf adds a piece that is a path, a version or an identifier.
func (f *finder) codeOf(start int, s string) {
	p, end := compiled(), start+len(s)
	s = withoutPort(s)
	switch {
	case f.isBrand(s, end):
		f.add(start, end, marked, Product, s)
	case strings.Contains(s, "/") && p.path.MatchString(s) && isPath(s),
		strings.Contains(s, `:\`) && p.drive.MatchString(s):
		f.add(start, end, code, Other, strings.Trim(s, "~./"))
	case s != "" && (s[0] == 'v' || s[0] >= '0' && s[0] <= '9') && p.version.MatchString(s):
		f.add(start, end, code, Other, "")
	case strings.HasSuffix(s, "()") && p.call.MatchString(s):
		f.add(start, end, code, Other, strings.TrimSuffix(s, "()"))
	case strings.Contains(s, ".") && p.dotted.MatchString(s) && isDotted(s),
		strings.Contains(s, "_") && p.snake.MatchString(s):
		f.add(start, end, code, Other, s)
	}
}

// isPath tells internal/text/fold.go and /etc/hosts from and/or.
func isPath(s string) bool {
	segments := strings.Split(strings.Trim(s, "~./"), "/")
	last := segments[len(segments)-1]
	rooted := strings.HasPrefix(s, "/") || strings.HasPrefix(s, "~/") || strings.HasPrefix(s, "./") ||
		strings.HasPrefix(s, "../")
	host := strings.Contains(segments[0], ".")
	return rooted && (len(segments) > 1 || s[0] != '/') || len(segments) > 1 && (host || isFile(last))
}

// isFile reports whether a name ends in a suffix that files or hosts have.
func isFile(s string) bool {
	dot := strings.LastIndexByte(s, '.')
	return dot >= 0 && lists().suffixes.Has(strings.ToLower(s[dot+1:]))
}

// isDotted tells main.go, os.Root and a.b.c from two sentences without a blank.
func isDotted(s string) bool {
	if isFile(s) {
		return true
	}
	parts := strings.Split(strings.TrimPrefix(s, "."), ".")
	for _, part := range parts {
		key := strings.ToLower(part)
		if utf8.RuneCountInString(part) < 2 || lists().function.Has(key) || lists().openers.Has(key) {
			return false
		}
	}
	small := parts[0] == strings.ToLower(parts[0])
	return small && (len(parts) > 2 || shapeOf(parts[1])&capital != 0 || strings.Contains(s, "_"))
}

// isBrand reports a name that is written like a host or a file, and that ends at a byte of the text: Acme.com, or
// Zorvex.js in front of its version.
func (f *finder) isBrand(s string, end int) bool {
	name, suffix, ok := strings.Cut(s, ".")
	if !ok || name == "Example" || !unicode.IsUpper(firstRune(name)) || strings.ContainsFunc(name, parts) {
		return false
	}
	next := strings.TrimPrefix(strings.TrimPrefix(f.text[min(end, len(f.text)):], " "), "v")
	return among(suffix, "com io ai net org app") || suffix == "js" && unicode.IsDigit(firstRune(next))
}

// withoutPort cuts the port off a host.
func withoutPort(s string) string {
	host, port, ok := strings.Cut(s, ":")
	if ok && port != "" && isNumber(port) && strings.Contains(host, ".") {
		return host
	}
	return s
}
