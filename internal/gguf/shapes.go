package gguf

import (
	"fmt"
	"slices"
	"strings"
)

// checkTensors checks that the tensors are those of the model, in their shapes.
func (f *File) checkTensors(facts *Facts, kin family) error {
	known := 0
	for _, want := range kin.shapes(facts) {
		t, ok := f.tensors[want.name]
		if !ok {
			if want.optional {
				continue
			}
			return damaged("tensor %s is missing", want.name)
		}
		known++
		if !want.fits(t.Dims) {
			return damaged("tensor %s has the shape %v instead of %v", t.Name, t.Dims, want.dims)
		}
		if len(want.dims) == 1 && t.Type != F32 {
			return unfit("tensor %s has the type %s instead of F32", t.Name, t.Type)
		}
	}
	facts.Weights = f.tensors["blk.0.ffn_up.weight"].Type
	if known < len(f.tensors) {
		return f.stranger(facts, kin)
	}
	return nil
}

// head begins the names of the tensors that judge a text's vector once it is made: no pooling
// but rank uses them.
const head = "cls."

// stranger tells of a tensor that is there beside those of the model. A forward pass that
// does not know it would embed as another model does.
func (f *File) stranger(facts *Facts, kin family) error {
	names := make(map[string]bool)
	for _, s := range kin.shapes(facts) {
		names[s.name] = true
	}
	first := ""
	for name := range f.tensors {
		if !names[name] && !strings.HasPrefix(name, head) && (first == "" || name < first) {
			first = name
		}
	}
	switch {
	case first == "":
		return nil
	case strings.HasPrefix(first, "blk."):
		return damaged("tensor %s does not belong to a %s model with %d layers", shown(first), called(facts),
			facts.Layers)
	}
	return unfit("tensor %s does not belong to a %s embedding model", shown(first), called(facts))
}

// called is what people call the architecture.
func called(facts *Facts) string {
	if facts.Architecture == "bert" {
		return "BERT"
	}
	return facts.Architecture
}

// A shape is what a tensor must be.
type shape struct {
	name     string
	dims     []int
	optional bool
}

func (s shape) fits(dims []int) bool {
	for i, d := range dims { // a vector may be written as a table of one row
		if i < len(s.dims) && d != s.dims[i] || i >= len(s.dims) && d != 1 {
			return false
		}
	}
	return len(dims) >= len(s.dims)
}

// bertShapes are the tensors of a BERT, by the names that llama.cpp has for them.
func bertShapes(facts *Facts) []shape {
	dim, forward := facts.Dim, facts.FeedForward
	list := slices.Insert(embedded(facts), 1, shape{"position_embd.weight", []int{dim, facts.Context}, false})
	for n := range facts.Layers {
		layer := fmt.Sprintf("blk.%d.", n)
		for _, name := range []string{"attn_q", "attn_k", "attn_v"} {
			list = append(list, linear(layer+name, dim, dim)...)
		}
		list = append(list, attended(layer, dim)...)
		list = append(list, linear(layer+"ffn_up", dim, forward)...)
		list = append(list, linear(layer+"ffn_down", forward, dim)...)
	}
	return list
}

// nomicShapes are those of nomic-embed-text: queries, keys and values are made by one
// matrix, and another one is a gate of what is fed forward. Places turn vectors, and so there
// is no table of them.
func nomicShapes(facts *Facts) []shape {
	dim, forward := facts.Dim, facts.FeedForward
	list := embedded(facts)
	for n := range facts.Layers {
		layer := fmt.Sprintf("blk.%d.", n)
		list = append(list, linear(layer+"attn_qkv", dim, 3*dim)...)
		list = append(list, attended(layer, dim)...)
		list = append(list, linear(layer+"ffn_up", dim, forward)...)
		list = append(list, linear(layer+"ffn_down", forward, dim)...)
		list = append(list, shape{layer + "ffn_gate.weight", []int{dim, forward}, false})
	}
	return list
}

// embedded are the tensors before the layers.
func embedded(facts *Facts) []shape {
	return append([]shape{
		{"token_embd.weight", []int{facts.Dim, facts.Vocabulary}, false},
		{"token_types.weight", []int{facts.Dim, facts.TokenTypes}, true},
	}, norm("token_embd_norm", facts.Dim)...)
}

// attended are those that all layers have after attention and at their ends.
func attended(layer string, dim int) []shape {
	return slices.Concat(linear(layer+"attn_output", dim, dim), norm(layer+"attn_output_norm", dim),
		norm(layer+"layer_output_norm", dim))
}

func linear(name string, in, out int) []shape {
	return []shape{{name + ".weight", []int{in, out}, false}, {name + ".bias", []int{out}, true}}
}

func norm(name string, dim int) []shape {
	return []shape{{name + ".weight", []int{dim}, false}, {name + ".bias", []int{dim}, false}}
}
