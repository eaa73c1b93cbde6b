package answer

import (
	"bytes"
	"context"
	"encoding/json"
	"reflect"
	"time"

	"emberd/internal/text/invisible"
	"emberd/op"
)

// showing is an invoker whose results have no hidden characters: they are shown before
// anything is counted or cut.
type Visible struct{ op.Invoker }

// Invoke carries out an operation.
func (s Visible) Invoke(ctx context.Context, spec *op.Spec, req any) (any, error) {
	res, err := s.Invoker.Invoke(ctx, spec, req)
	if err != nil || res == nil {
		return res, err
	}
	if shown, changed := showValue(reflect.ValueOf(res)); changed {
		return shown.Interface(), nil
	}
	return res, nil
}

// showValue returns a value with the hidden characters of all its texts shown. What has one is
// copied, for others may look at it; the rest is shared.
func showValue(v reflect.Value) (shown reflect.Value, changed bool) {
	switch v.Kind() {
	case reflect.String:
		if !invisible.Hidden(v.String()) {
			return v, false
		}
		return reflect.ValueOf(invisible.Show(v.String())).Convert(v.Type()), true
	case reflect.Pointer, reflect.Interface:
		return showBehind(v)
	case reflect.Struct:
		return showStruct(v)
	case reflect.Slice:
		if raw, ok := v.Interface().(json.RawMessage); ok {
			shown := ShowJSON(raw)
			return reflect.ValueOf(json.RawMessage(shown)), !bytes.Equal(shown, raw)
		}
		return showSlice(v)
	case reflect.Map:
		return showMap(v)
	}
	return v, false
}

func showBehind(v reflect.Value) (reflect.Value, bool) {
	if v.IsNil() {
		return v, false
	}
	shown, changed := showValue(v.Elem())
	if !changed {
		return v, false
	}
	if v.Kind() == reflect.Interface {
		return shown, true
	}
	to := reflect.New(v.Type().Elem())
	to.Elem().Set(shown)
	return to, true
}

func showStruct(v reflect.Value) (reflect.Value, bool) {
	switch s := v.Interface().(type) {
	case time.Time:
		return v, false
	case op.Snippet:
		if !invisible.Hidden(s.Text) {
			return v, false
		}
		return reflect.ValueOf(showSnippet(s)), true
	}
	out, any := v, false
	for i := range v.NumField() {
		if !v.Type().Field(i).IsExported() {
			continue
		}
		shown, changed := showValue(v.Field(i))
		if !changed {
			continue
		}
		if !any {
			out, any = reflect.New(v.Type()).Elem(), true
			out.Set(v)
		}
		out.Field(i).Set(shown)
	}
	return out, any
}

func showSlice(v reflect.Value) (reflect.Value, bool) {
	out, any := v, false
	for i := range v.Len() {
		shown, changed := showValue(v.Index(i))
		if !changed {
			if v.Index(i).Kind() <= reflect.Complex128 {
				break // numbers have no text
			}
			continue
		}
		if !any {
			out, any = reflect.MakeSlice(v.Type(), v.Len(), v.Len()), true
			reflect.Copy(out, v)
		}
		out.Index(i).Set(shown)
	}
	return out, any
}

func showMap(v reflect.Value) (reflect.Value, bool) {
	any := false
	out := reflect.MakeMap(v.Type())
	for at := v.MapRange(); at.Next(); {
		key, a := showValue(at.Key())
		value, b := showValue(at.Value())
		out.SetMapIndex(key, value)
		any = any || a || b
	}
	if !any {
		return v, false
	}
	return out, true
}

// showSnippet shows a text and moves its marks along.
func showSnippet(s op.Snippet) op.Snippet {
	out := op.Snippet{Text: invisible.Show(s.Text)}
	moved := func(at int) int {
		return min(len(invisible.Show(s.Text[:max(0, min(at, len(s.Text)))])), len(out.Text))
	}
	for _, m := range s.Marks {
		out.Marks = append(out.Marks, [2]int{moved(m[0]), moved(m[1])})
	}
	return out
}

// showJSON is JSON whose texts have no hidden characters, escaped or not.
func ShowJSON(raw json.RawMessage) json.RawMessage {
	if !invisible.Hidden(string(raw)) && !bytes.Contains(raw, []byte(`\u`)) {
		return raw
	}
	root, err := parseTree(raw)
	if err != nil {
		return jsonText(invisible.Show(string(raw)))
	}
	root.show()
	return root.encode(nil)
}

// show does what showJSON does to a tree.
func (t *tree) show() {
	if t.kind == '"' {
		t.raw = showText(t.raw)
	}
	for i := range t.names {
		t.names[i] = showText(t.names[i])
	}
	for _, b := range t.below {
		b.show()
	}
}

func showText(raw json.RawMessage) json.RawMessage {
	var text string
	if json.Unmarshal(raw, &text) != nil || !invisible.Hidden(text) {
		return raw
	}
	return jsonText(invisible.Show(text))
}
