package embedding

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"strings"
)

// OpenAI's protocol of embeddings, as servers of this machine speak it.

// Bounds of an answer.
const (
	maxDim    = 16384
	perNumber = 32 // bytes of a number as text, with what is between
	perAnswer = 64 << 10
	maxModels = 4 << 20 // bytes of a list of models
)

var errTooLarge = errors.New("the text is too large for the model")

type embeddingRequest struct {
	Model  string   `json:"model,omitempty"`
	Input  []string `json:"input"`
	Format string   `json:"encoding_format"`
}

// post asks for the vectors of some texts.
func (s *server) post(ctx context.Context, model string, texts []string) ([][]float32, error) {
	body, err := json.Marshal(embeddingRequest{Model: model, Input: texts, Format: "float"})
	if err != nil {
		return nil, fmt.Errorf("cannot write a request for embeddings: %w", err)
	}
	data, err := s.exchange(ctx, http.MethodPost, "/embeddings", body, perAnswer+len(texts)*maxDim*perNumber)
	if err != nil {
		return nil, s.explain(err, model)
	}
	vectors, err := readVectors(data, len(texts))
	if err != nil {
		return nil, fmt.Errorf("invalid response of the server at %s: %w", s.at, err)
	}
	return vectors, nil
}

// models lists what the server has; none if it keeps no list.
func (s *server) models(ctx context.Context) ([]string, error) {
	if err := s.resting(); err != nil {
		return nil, err
	}
	data, err := s.exchange(ctx, http.MethodGet, "/models", nil, maxModels)
	if status, ok := errors.AsType[*statusError](err); ok && status.code == http.StatusNotFound {
		return nil, nil
	}
	if err != nil {
		err = s.explain(err, "")
		s.noteAnswer(ctx, err)
		return nil, err
	}
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if json.Unmarshal(data, &list) != nil {
		return nil, fmt.Errorf(
			"the server at %s does not list its models in the OpenAI format; set embedding.url_model", s.at)
	}
	names := make([]string, len(list.Data))
	for i, m := range list.Data {
		names[i] = m.ID
	}
	return names, nil
}

// exchange sends one request and returns the answer, at most so many bytes of it.
func (s *server) exchange(parent context.Context, method, path string, body []byte, most int) ([]byte, error) {
	ctx, cancel := context.WithTimeout(parent, requestTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, s.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if s.key != "" {
		req.Header.Set("Authorization", "Bearer "+s.key)
	}
	res, err := s.http.Do(req)
	if err != nil {
		return nil, s.unanswered(parent, err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(io.LimitReader(res.Body, int64(most)+1))
	switch {
	case err != nil:
		return nil, s.unanswered(parent, err)
	case len(data) > most:
		return nil, fmt.Errorf("too many bytes in the response of the server at %s (limit %d)", s.at, most)
	case res.StatusCode != http.StatusOK:
		return nil, &statusError{res.StatusCode, complaintIn(res.StatusCode, data)}
	}
	return data, nil
}

// statusError is an answer that is no success.
type statusError struct {
	code int
	complaint
}

func (e *statusError) Error() string { return fmt.Sprintf("HTTP status %d", e.code) }

// complaint is what of an answer's text matters, beside its status.
type complaint int

const (
	other complaint = iota
	tooLarge
	noSuchModel
	notLoaded
)

// complaintIn finds the words that servers complain with: llama-server's "input is too
// large to process" (500) and "exceeds the available context size" (400), Ollama's "the
// input length exceeds the context length" (400), LM Studio's "No models loaded" and
// "model_not_found" (400).
func complaintIn(code int, body []byte) complaint {
	switch code {
	case http.StatusRequestEntityTooLarge:
		return tooLarge
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusInternalServerError:
	default:
		return other
	}
	said := strings.ToLower(string(body))
	for _, sign := range []struct {
		words string
		complaint
	}{
		{"no models loaded", notLoaded}, {"model_not_found", noSuchModel}, {"try pulling it first", noSuchModel},
		{"too large", tooLarge}, {"too long", tooLarge}, {"exceeds the", tooLarge}, {"context length", tooLarge},
		{"context size", tooLarge},
		{"context_size", tooLarge},
	} {
		if strings.Contains(said, sign.words) {
			return sign.complaint
		}
	}
	return other
}

// explain reports what is to be done about an error of exchange.
func (s *server) explain(err error, model string) error {
	status, ok := errors.AsType[*statusError](err)
	if !ok {
		return err
	}
	switch status.complaint {
	case tooLarge:
		return fmt.Errorf("the server at %s cannot embed a text: %w", s.at, errTooLarge)
	case notLoaded:
		return fmt.Errorf(
			"the server at %s %w as an embedding provider: no model is loaded; load a model on the server", s.at,
			ErrAway)
	case noSuchModel:
		return s.lacks(model)
	}
	switch code := status.code; {
	case code == http.StatusNotFound && model != "":
		return s.lacks(model)
	case code == http.StatusNotFound:
		return fmt.Errorf("OpenAI-compatible API at %s not found; set embedding.url "+
			"to the address of the server, such as http://127.0.0.1:PORT", s.at)
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		return fmt.Errorf("the server at %s requires a key; write the key to a "+
			"file, and set embedding.key_file to the path of the file", s.at)
	case code == http.StatusNotImplemented:
		return fmt.Errorf("the server at %s does not compute embeddings with this model; "+
			"select an embedding model, and start llama-server with --embeddings", s.at)
	case code == http.StatusTooManyRequests || code == http.StatusServiceUnavailable || code == http.StatusBadGateway ||
		code == http.StatusGatewayTimeout:
		return fmt.Errorf("the server at %s %w now: %w; the server might still be loading its model", s.at, ErrAway,
			status)
	case code >= 300 && code < 400:
		return fmt.Errorf("the server at %s redirects requests, but emberd does not follow "+
			"redirects; set embedding.url to the target of the redirect", s.at)
	}
	return fmt.Errorf("the server at %s does not embed texts: %w; see the log of the server", s.at, status)
}

func (s *server) lacks(model string) error {
	if model == "" {
		return fmt.Errorf("the server at %s requires a model name; set embedding.url_model", s.at)
	}
	return fmt.Errorf("the server at %s does not have model %q; load the model "+
		"on the server, or set another model in embedding.url_model", s.at, model)
}

// readVectors takes the vectors out of an answer, in the order of the texts. They must be
// as many as the texts, of one length and not zero.
func readVectors(data []byte, n int) ([][]float32, error) {
	var answer struct {
		Data []struct {
			Index     *int            `json:"index"`
			Embedding json.RawMessage `json:"embedding"`
		} `json:"data"`
	}
	if json.Unmarshal(data, &answer) != nil || len(answer.Data) == 0 {
		return nil, errors.New("the response does not use the OpenAI embeddings format; check embedding.url")
	}
	if len(answer.Data) != n {
		return nil, fmt.Errorf("the response contains %d embeddings instead of %d; see the log of the server",
			len(answer.Data), n)
	}
	vectors := make([][]float32, n)
	for i, d := range answer.Data {
		at := i
		if d.Index != nil {
			at = *d.Index
		}
		if at < 0 || at >= n || vectors[at] != nil {
			return nil, fmt.Errorf("the response contains wrong index numbers for the embeddings of %d texts", n)
		}
		v, err := readVector(d.Embedding)
		if err != nil {
			return nil, err
		}
		vectors[at] = v
	}
	for _, v := range vectors {
		if len(v) != len(vectors[0]) {
			return nil, errors.New("the response contains embeddings of different lengths")
		}
	}
	return vectors, nil
}

// readVector reads a list of numbers, or the same as float32 in base64, and brings it to
// length one.
func readVector(raw json.RawMessage) ([]float32, error) {
	var v []float32
	var packed string
	switch {
	case bytes.HasPrefix(raw, []byte(`"`)):
		if json.Unmarshal(raw, &packed) != nil {
			return nil, errBroken
		}
		data, err := base64.StdEncoding.DecodeString(packed)
		if err != nil || len(data)%4 != 0 {
			return nil, errBroken
		}
		for ; len(data) > 0; data = data[4:] {
			v = append(v, math.Float32frombits(binary.LittleEndian.Uint32(data)))
		}
	case bytes.Contains(raw, []byte("null")): // would be read as zero
		return nil, errBroken
	case json.Unmarshal(raw, &v) != nil:
		return nil, errBroken
	}
	if len(v) > maxDim {
		return nil, fmt.Errorf("the response contains an embedding with %d dimensions (limit %d)", len(v), maxDim)
	}
	if !normalize(v) {
		return nil, errBroken
	}
	return v, nil
}

var errBroken = errors.New(
	"the response contains an embedding that is zero or not finite; the model of the server might be damaged")

// unanswered is the error of a server that gave no answer, or not a whole one. That the
// caller did not wait says nothing of the server.
func (s *server) unanswered(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, errElsewhere):
		return fmt.Errorf(
			"invalid embedding.url %s: %w, but emberd sends texts only to this machine; use http://127.0.0.1:PORT",
			s.at, errElsewhere)
	}
	if lost, ok := errors.AsType[*url.Error](err); ok {
		err = lost.Err // its URL is told already
	}
	return fmt.Errorf("the server at %s %w: %w; start the server, or correct embedding.url", s.at,
		ErrAway, err)
}
