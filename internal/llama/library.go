package llama

import (
	"fmt"
	"path/filepath"
)

// pointer is one that llama.cpp gave, to be given back to it.
type pointer = uintptr

// A library has the functions of libllama and libggml that are used.
type library struct {
	handles []uintptr // of libllama, libggml and what is below it, as far as they are there

	logSet          func(callback, data uintptr)
	backendInit     func()
	systemInfo      func() string
	version         func() string // nil in releases before September 2026
	modelDefaults   func() returned
	contextDefaults func() returned

	modelLoad       func(path string, p parameters) pointer
	modelFree       func(model pointer)
	modelVocab      func(model pointer) pointer
	modelContext    func(model pointer) int32
	modelDim        func(model pointer) int32
	modelHasEncoder func(model pointer) bool
	modelHasDecoder func(model pointer) bool

	contextNew     func(model pointer, p parameters) pointer
	contextFree    func(context pointer)
	nBatch         func(context pointer) uint32
	nMicrobatch    func(context pointer) uint32
	nSequences     func(context pointer) uint32
	poolingType    func(context pointer) int32
	setThreads     func(context pointer, one, many int32)
	setEmbeddings  func(context pointer, on bool)
	memory         func(context pointer) pointer
	memoryClear    func(memory pointer, data bool)
	tokenize       func(vocab pointer, text *byte, length int32, tokens *int32, room int32, special, parse bool) int32
	decode         func(context pointer, b batch) int32
	sequenceVector func(context pointer, sequence int32) *float32

	backendsLoad func(dir string)
	backendCount func() uintptr
	backendGet   func(i uintptr) pointer
	backendName  func(backend pointer) string
	deviceCount  func() uintptr
	deviceGet    func(i uintptr) pointer
	deviceType   func(device pointer) int32
}

// A symbol is a function by its name in C.
type symbol struct {
	name string
	to   any // pointer to a func
}

func (l *library) symbols() []symbol {
	return []symbol{
		{"llama_log_set", &l.logSet},
		{"llama_backend_init", &l.backendInit},
		{"llama_print_system_info", &l.systemInfo},
		{nameModelDefaults, &l.modelDefaults},
		{nameContextDefaults, &l.contextDefaults},
		{"llama_model_load_from_file", &l.modelLoad},
		{"llama_model_free", &l.modelFree},
		{"llama_model_get_vocab", &l.modelVocab},
		{"llama_model_n_ctx_train", &l.modelContext},
		{"llama_model_n_embd", &l.modelDim},
		{"llama_model_has_encoder", &l.modelHasEncoder},
		{"llama_model_has_decoder", &l.modelHasDecoder},
		{"llama_init_from_model", &l.contextNew},
		{"llama_free", &l.contextFree},
		{"llama_n_batch", &l.nBatch},
		{"llama_n_ubatch", &l.nMicrobatch},
		{"llama_n_seq_max", &l.nSequences},
		{"llama_pooling_type", &l.poolingType},
		{"llama_set_n_threads", &l.setThreads},
		{"llama_set_embeddings", &l.setEmbeddings},
		{"llama_get_memory", &l.memory},
		{"llama_memory_clear", &l.memoryClear},
		{"llama_tokenize", &l.tokenize},
		{"llama_decode", &l.decode},
		{"llama_get_embeddings_seq", &l.sequenceVector},
		{"ggml_backend_load_all_from_path", &l.backendsLoad},
		{"ggml_backend_reg_count", &l.backendCount},
		{"ggml_backend_reg_get", &l.backendGet},
		{"ggml_backend_reg_name", &l.backendName},
		{"ggml_backend_dev_count", &l.deviceCount},
		{"ggml_backend_dev_get", &l.deviceGet},
		{"ggml_backend_dev_type", &l.deviceType},
	}
}

// link opens the libraries and finds their functions.
func link(f *files) (*library, error) {
	l := &library{}
	for _, path := range []string{f.base, f.ggml, f.llama} { // each needs those before it
		if path == "" {
			continue
		}
		handle, err := open(path)
		if err != nil {
			return nil, fmt.Errorf("cannot load %s: %w", filepath.Base(path), err)
		}
		l.handles = append(l.handles, handle)
	}
	for _, s := range l.symbols() {
		address := l.address(s.name)
		if address == 0 {
			return nil, fmt.Errorf("the libraries do not contain function %s, so they are "+
				"too old (oldest supported: b%d), too new or incomplete", s.name, oldest)
		}
		register(s.to, address)
	}
	if address := l.address("llama_version"); address != 0 {
		register(&l.version, address)
	}
	return l, nil
}

// address is where a function is, 0 if there is none. A library is asked for those of the
// ones below it as well.
func (l *library) address(name string) uintptr {
	for _, handle := range l.handles {
		if a := lookup(handle, name); a != 0 {
			return a
		}
	}
	return 0
}

// backends are the names of what computes.
func (l *library) backends() []string {
	var names []string
	for i := range l.backendCount() {
		names = append(names, l.backendName(l.backendGet(i)))
	}
	return names
}

// hasProcessor reports whether there is something to compute with, whatever the model.
func (l *library) hasProcessor() bool {
	const processor = 0 // GGML_BACKEND_DEVICE_TYPE_CPU
	for i := range l.deviceCount() {
		if l.deviceType(l.deviceGet(i)) == processor {
			return true
		}
	}
	return false
}

// check finds out whether parameters are what this package takes them for.
func (l *library) check() error {
	defaults := l.contextDefaults().trim()
	if got, want := *defaults.head(), usualHead(); got != want {
		return fmt.Errorf("unsupported layout of the context parameters: they begin with %v instead of %v", got, want)
	}
	for _, name := range []string{nameModelDefaults, nameContextDefaults} {
		if err := passable(name, sizeReturned(l.address(name))); err != nil {
			return err
		}
	}
	return nil
}

// passable is nil if all that a function returns can be passed on.
func passable(name string, size int) error {
	if size > parameterBytes {
		return fmt.Errorf("the result of %s is too large (limit %d bytes)", name, parameterBytes)
	}
	return nil
}
