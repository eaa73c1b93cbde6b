package llama

import "unsafe"

// The functions that return parameters as a release would have them.
const (
	nameModelDefaults   = "llama_model_default_params"
	nameContextDefaults = "llama_context_default_params"
)

// parameters are a structure of parameters of llama.cpp, by value, whatever is in it.
type parameters struct {
	words [parameterBytes / 8]uint64
}

// returned is a structure that a function returns into memory of ours, which is larger than
// any release's.
type returned struct {
	words [maxReturned / 8]uint64
}

const maxReturned = 4096

// trim is the part of it that can be passed on.
func (r returned) trim() (p parameters) {
	copy(p.words[:], r.words[:])
	return p
}

// A head are the first four numbers of the parameters of a context.
type head struct {
	Tokens     uint32 // n_ctx
	Batch      uint32 // n_batch
	Microbatch uint32 // n_ubatch
	Sequences  uint32 // n_seq_max
}

func (p *parameters) head() *head { return (*head)(unsafe.Pointer(p)) }

// usualHead is what it is in every release before something is written to it.
func usualHead() head { return head{Tokens: 512, Batch: 2048, Microbatch: 512, Sequences: 1} }

// withoutFlash turns flash attention off. In the defaults, which it must be called on, there is
// one run of numbers that are -1: the scaling of positions, pooling, attention and, since
// flash attention is more than on or off, flash_attn_type. Releases before that leave it
// off, and so does a run of another length.
func (p *parameters) withoutFlash() {
	numbers := unsafe.Slice((*int32)(unsafe.Pointer(p)), parameterBytes/4)
	run := 0
	for i, n := range numbers {
		if n == -1 {
			run++
			continue
		}
		if run == 4 {
			numbers[i-1] = 0
		}
		if run > 0 {
			return
		}
	}
}

// A batch is llama_batch, with room for what a release may have at its end. The addresses are
// those of arrays with an element for each token.
type batch struct {
	Count     int32
	_         int32
	Tokens    uintptr // int32
	_         uintptr // vectors instead of tokens
	Positions uintptr // int32
	Counts    uintptr // int32: of the sequences that it is part of
	Sequences uintptr // pointers to them, int32
	Outputs   uintptr // int8: whether something is to be made of it
	_         [9]uint64
}
