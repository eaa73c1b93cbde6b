package cli

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// Bind adds a flag for each field of a request that specs name. A spec is the name of a flag,
// which is the JSON name of the field with dashes; after a colon, the JSON name if it differs;
// after a comma, the short flag; after an equals sign, the default: "tag:tags,t", "limit,n=20".
// A pointer is nil unless its flag is given; a field after "!" is false if the flag is given, as in
// "no-track:!track". [Describe] adds the help of the flags.
func Bind(f *pflag.FlagSet, req any, specs ...string) {
	for _, spec := range specs {
		spec, def, _ := strings.Cut(spec, "=")
		spec, short, _ := strings.Cut(spec, ",")
		name, field, _ := strings.Cut(spec, ":")
		field = cmp.Or(field, strings.ReplaceAll(name, "-", "_"))
		field, negated := strings.CutPrefix(field, "!")
		to := fieldOf(reflect.ValueOf(req).Elem(), field)
		if negated {
			addOptional(f, to.(**bool), name, short, "", "bool", func(s string) (bool, error) {
				given, err := strconv.ParseBool(s)
				return !given, err
			})
			f.Lookup(name).NoOptDefVal = "true"
			continue
		}
		bind(f, to, name, short, def)
	}
}

// bind adds one flag. A default that its field cannot have is a mistake in the program.
func bind(f *pflag.FlagSet, to any, name, short, def string) {
	var err error
	switch to := to.(type) {
	case *string:
		f.StringVarP(to, name, short, def, "")
	case *bool:
		f.BoolVarP(to, name, short, def == "true", "")
	case *[]string:
		f.StringSliceVarP(to, name, short, nil, "")
	case *int:
		n := 0
		n, err = strconv.Atoi(cmp.Or(def, "0"))
		f.IntVarP(to, name, short, n, "")
	case *float64:
		n := 0.0
		n, err = strconv.ParseFloat(cmp.Or(def, "0"), 64)
		f.Float64VarP(to, name, short, n, "")
	case **string:
		addOptional(f, to, name, short, def, "string", func(s string) (string, error) { return s, nil })
	case **bool:
		addOptional(f, to, name, short, def, "bool", strconv.ParseBool)
		f.Lookup(name).NoOptDefVal = "true"
	case **[]string:
		addOptional(f, to, name, short, def, "stringSlice", func(s string) ([]string, error) {
			all := []string{}
			if *to != nil {
				all = **to
			}
			if s == "" {
				return all, nil
			}
			more, err := csv.NewReader(strings.NewReader(s)).Read()
			return NonEmpty(append(all, more...)...), err
		})
	case **int:
		addOptional(f, to, name, short, def, "int", strconv.Atoi)
	case **int64:
		addOptional(f, to, name, short, def, "int",
			func(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) })
	case **float64:
		addOptional(f, to, name, short, def, "float64", func(s string) (float64, error) {
			return strconv.ParseFloat(s, 64)
		})
	default:
		err = fmt.Errorf("unsupported field type %T", to)
	}
	if err != nil {
		panic(fmt.Errorf("flag --%s: %w", name, err))
	}
}

// fieldOf returns the address of the field of v with a JSON name, or else a name in Go.
func fieldOf(v reflect.Value, name string) any {
	for _, field := range reflect.VisibleFields(v.Type()) {
		if tag, _, _ := strings.Cut(field.Tag.Get("json"), ","); tag == name || field.Name == name {
			return v.FieldByIndex(field.Index).Addr().Interface()
		}
	}
	panic(fmt.Errorf("%s has no field %s", v.Type(), name))
}

// optional is the value of a flag for a field that is nil unless the flag is given.
type optional[T any] struct {
	to    **T
	kind  string
	parse func(string) (T, error)
}

func addOptional[T any](f *pflag.FlagSet, to **T, name, short, def, kind string, parse func(string) (T, error)) {
	f.VarPF(&optional[T]{to, kind, parse}, name, short, "").DefValue = def
}

func (o *optional[T]) Type() string { return o.kind }

func (o *optional[T]) String() string {
	if o.to == nil || *o.to == nil {
		return ""
	}
	return fmt.Sprint(**o.to)
}

func (o *optional[T]) Set(text string) error {
	v, err := o.parse(text)
	if err == nil {
		*o.to = &v
	}
	return err
}
