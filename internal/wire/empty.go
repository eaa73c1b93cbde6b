package wire

import "reflect"

// NilNormalizer replaces, in the values of one type, the nil lists and maps that JSON would
// show as null. What there is to look at is worked out once, for every operation.
type NilNormalizer struct {
	below   *NilNormalizer // of what a pointer points at, or a list holds
	members []member
}

// member is a field of a struct that needs a look.
type member struct {
	index int
	list  bool // null when nil
	fill  *NilNormalizer
}

// FillerOf returns the filler of a type, nil when nothing in it can be null. A
// Filler may be shared.
func FillerOf(t reflect.Type) *NilNormalizer { return fillers{}.of(t) }

// fillers are those worked out so far, and those under way.
type fillers map[reflect.Type]*NilNormalizer

func (all fillers) of(t reflect.Type) *NilNormalizer {
	if f, ok := all[t]; ok {
		return f
	}
	f := new(NilNormalizer)
	all[t] = f
	needed := false
	switch {
	case t.Kind() == reflect.Pointer, t.Kind() == reflect.Slice && holdsStructs(t):
		f.below = all.of(t.Elem())
		needed = f.below != nil
	case t.Kind() == reflect.Struct:
		f.members = all.members(t)
		needed = len(f.members) > 0
	}
	if !needed {
		f, all[t] = nil, nil
	}
	return f
}

func (all fillers) members(t reflect.Type) []member {
	var out []member
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() {
			continue
		}
		_, optional := JSONName(f)
		m := member{index: i, list: !optional && isList(f.Type), fill: all.of(f.Type)}
		if m.list || m.fill != nil {
			out = append(out, m)
		}
	}
	return out
}

func holdsStructs(list reflect.Type) bool {
	k := list.Elem().Kind()
	return k == reflect.Struct || k == reflect.Pointer
}

func isList(t reflect.Type) bool {
	return (t.Kind() == reflect.Slice || t.Kind() == reflect.Map) && t != RawType
}

// Apply fills a value, which can be set unless it is a pointer or a list.
func (f *NilNormalizer) Apply(v reflect.Value) {
	switch {
	case f == nil:
	case v.Kind() == reflect.Pointer:
		if !v.IsNil() {
			f.below.Apply(v.Elem())
		}
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			f.below.Apply(v.Index(i))
		}
	default:
		for _, m := range f.members {
			value := v.Field(m.index)
			if m.list && value.IsNil() {
				value.Set(emptyOf(value.Type()))
			}
			m.fill.Apply(value)
		}
	}
}

func emptyOf(t reflect.Type) reflect.Value {
	if t.Kind() == reflect.Map {
		return reflect.MakeMap(t)
	}
	return reflect.MakeSlice(t, 0, 0)
}
