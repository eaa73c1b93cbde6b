package contradiction

import (
	"emberd/internal/text"
	"slices"
	"strings"
)

// Of a formula the operators and the order of arguments count, which are no words: x = y + z is another
// one than x = y - z, and f(a, b) another than f(b, a).

var (
	// operation is two operands with an operator between them. Its second operand may be the first of the
	// next one.
	operation = text.Pattern(`([\pL\pN_.)\]]+)(\s*)` +
		`(==|!=|<>|<=|>=|&&|\|\||<<|>>|\*\*|[-+*/%=<>^&|≤≥≠×÷−]=?)` + `(\s*)([\pL\pN_.(\[]+)`)
	// call is a function with several arguments or an operation in it, or a sign of one operand.
	call = text.Pattern(`[\pL\pN_]+\([^()\n]*[-,+*/<>=][^()\n]*\)|\pL(\+\+|--)|!\pL+`)
)

// formulasOf lists the operations and calls of a text, without spaces. Operators that prose has too,
// such as a dash or a stroke, count beside others only.
func formulasOf(s string) (out []string) {
	for line := range strings.Lines(s) {
		if !strings.ContainsAny(line, "(=+*%<>^!&|≤≥≠×÷−") && !strings.Contains(line, "--") {
			continue
		}
		operations, certain := operationsOf(line)
		if calls := call().FindAllString(line, -1); certain || len(calls) > 0 {
			out = append(append(out, operations...), calls...)
		}
	}
	for i := range out {
		out[i] = strings.ToLower(strings.TrimRight(strings.Join(strings.Fields(out[i]), ""), "."))
	}
	return out
}

// operationsOf lists the operations of a line, and reports whether they are certain to be a formula.
func operationsOf(line string) (out []string, certain bool) {
	assigns := false
	for at := 0; at < len(line); {
		m := operation().FindStringSubmatchIndex(line[at:])
		if m == nil {
			break
		}
		sign, spaced := line[at+m[6]:at+m[7]], m[4] < m[5]
		if spaced != (m[8] < m[9]) { // as in use **tabs**
			at += m[10]
			continue
		}
		switch sign {
		case "-", "/", "|", "&":
			certain = certain || assigns && spaced
		case "=":
			assigns = true
		default:
			certain = true
		}
		out = append(out, line[at+m[0]:at+m[1]])
		at += m[10]
	}
	return out, certain
}

// otherFormula returns a formula of f that g lacks, "" if there is none.
func (f *Facts) otherFormula(g *Facts) string {
	for _, one := range f.formulas {
		if !slices.Contains(g.formulas, one) {
			return one
		}
	}
	return ""
}
