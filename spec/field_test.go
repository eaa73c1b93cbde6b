package spec_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// cmdField is "field PATH OP [VALUE]" on the JSON of the last answer. A path is keys and indexes
// with dots; * is every element, of which there must be one, and len their number.
func cmdField(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: field PATH OP [VALUE]")
	}
	if why := judgeField(ts, []byte(ts.ReadFile("stdout")), args); why != "" {
		ts.Fatalf("%s", why)
	}
}

// judgeField says what is not as it should be, or nothing.
func judgeField(ts *testscript.TestScript, raw []byte, args []string) string {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return fmt.Sprintf("no JSON: %v: %.300s", err, raw)
	}
	path, op, want := args[0], args[1], expand(ts, strings.Join(args[2:], " "))
	var keys []string
	if path != "." {
		keys = strings.Split(path, ".")
	}
	found := values(v, keys)
	if op == "absent" {
		if len(found) > 0 {
			return fmt.Sprintf("%s is there: %v", path, found[0])
		}
		return ""
	}
	if len(found) == 0 {
		return fmt.Sprintf("%s is not there in %.300s", path, raw)
	}
	for _, got := range found {
		if !holds(ts, got, op, want) {
			return fmt.Sprintf("%s %s %s: it is %.300s", path, op, want, compact(got))
		}
	}
	return ""
}

func compact(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

// values are what a path leads to.
func values(v any, path []string) []any {
	if len(path) == 0 {
		return []any{v}
	}
	switch at := v.(type) {
	case map[string]any:
		if path[0] == "len" {
			return []any{float64(len(at))}
		}
		if inner, ok := at[path[0]]; ok {
			return values(inner, path[1:])
		}
		if path[0] == "*" {
			return valuesOf(slices.Collect(maps.Values(at)), path[1:])
		}
	case []any:
		if path[0] == "len" {
			return []any{float64(len(at))}
		}
		if path[0] == "*" {
			return valuesOf(at, path[1:])
		}
		if i, err := strconv.Atoi(path[0]); err == nil && i >= 0 && i < len(at) {
			return values(at[i], path[1:])
		}
	}
	return nil
}

// valuesOf are what a path leads to from each of several.
func valuesOf(items []any, path []string) (all []any) {
	for _, inner := range items {
		all = append(all, values(inner, path)...)
	}
	return all
}

// holds reports whether a value is as an operator wants it.
func holds(ts *testscript.TestScript, got any, op, want string) bool {
	switch op {
	case "exists":
		return true
	case "is", "isnt":
		return equal(got, want) == (op == "is")
	case "type":
		return kind(got) == want || want == "number" && kind(got) == "integer"
	case "~", "!~":
		text, ok := got.(string)
		if !ok {
			text = compact(got)
		}
		m, err := regexp.MatchString(want, text)
		ts.Check(err)
		return m == (op == "~")
	case "has", "lacks":
		return contains(got, want) == (op == "has")
	case "keys":
		object, ok := got.(map[string]any)
		for key := range strings.FieldsSeq(want) {
			_, has := object[key]
			ok = ok && has
		}
		return ok
	}
	return compares(ts, got, op, want)
}

// compares is about numbers: want is an expression, and for near a tolerance may follow it.
func compares(ts *testscript.TestScript, got any, op, want string) bool {
	n, ok := got.(float64)
	if !ok {
		return false
	}
	tolerance := 1e-4
	if before, after, ok := strings.Cut(want, " ± "); ok {
		want, tolerance = before, formula(ts, after)
	}
	w := formula(ts, want)
	switch op {
	case "near":
		return math.Abs(n-w) <= tolerance
	case ">=":
		return n >= w
	case ">":
		return n > w
	case "<=":
		return n <= w
	case "<":
		return n < w
	}
	ts.Fatalf("unknown operator %q", op)
	return false
}

func equal(got any, want string) bool {
	if text, ok := got.(string); ok && text == want {
		return true
	}
	var w any
	return json.Unmarshal([]byte(want), &w) == nil && reflect.DeepEqual(got, w)
}

func contains(got any, want string) bool {
	switch got := got.(type) {
	case string:
		return strings.Contains(got, want)
	case []any:
		for _, item := range got {
			if equal(item, want) {
				return true
			}
		}
	case map[string]any:
		_, ok := got[want]
		return ok
	}
	return false
}

func kind(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case float64:
		if v == math.Trunc(v) {
			return "integer"
		}
		return "number"
	}
	return "object"
}

// cmdSum is "sum NAME EXPRESSION": it sets a variable to a number.
func cmdSum(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: sum NAME EXPRESSION")
	}
	n := formula(ts, expand(ts, strings.Join(args[1:], " ")))
	ts.Setenv(args[0], strconv.FormatFloat(n, 'g', -1, 64))
}

// formula is what an expression of numbers comes to, with exp, pow, min and max.
func formula(ts *testscript.TestScript, text string) float64 {
	e, err := parser.ParseExpr(text)
	if err != nil {
		ts.Fatalf("%q is no formula: %v", text, err)
	}
	return evaluate(ts, e)
}

func evaluate(ts *testscript.TestScript, e ast.Expr) float64 {
	switch e := e.(type) {
	case *ast.BasicLit:
		n, err := strconv.ParseFloat(e.Value, 64)
		ts.Check(err)
		return n
	case *ast.ParenExpr:
		return evaluate(ts, e.X)
	case *ast.UnaryExpr:
		return -evaluate(ts, e.X)
	case *ast.BinaryExpr:
		x, y := evaluate(ts, e.X), evaluate(ts, e.Y)
		return map[token.Token]float64{token.ADD: x + y, token.SUB: x - y, token.MUL: x * y, token.QUO: x / y}[e.Op]
	case *ast.CallExpr:
		x, y := evaluate(ts, e.Args[0]), 0.0
		if len(e.Args) > 1 {
			y = evaluate(ts, e.Args[1])
		}
		return map[string]float64{
			"exp": math.Exp(x), "pow": math.Pow(x, y), "min": math.Min(x, y), "max": math.Max(x, y),
		}[e.Fun.(*ast.Ident).Name]
	}
	ts.Fatalf("%T is no part of a formula", e)
	return 0
}

// cmdGrab is "grab NAME PATH": it sets a variable to what the last answer has there.
func cmdGrab(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: grab NAME PATH")
	}
	var v any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &v))
	found := values(v, strings.Split(args[1], "."))
	if len(found) == 0 {
		ts.Fatalf("%s is not there in %.300s", args[1], compact(v))
	}
	text, ok := found[0].(string)
	if !ok {
		text = compact(found[0])
	}
	ts.Setenv(args[0], text)
}
