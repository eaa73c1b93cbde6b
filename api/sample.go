package api

import (
	"encoding/json"
	"net/url"
	"reflect"
	"strconv"

	"emberd/memory"
	"emberd/op"
)

// sample is an example of a request as it travels, for the document.
type sample struct {
	query url.Values
	body  json.RawMessage
}

// sampleOf encodes the operation's example with the encoder of the client, so
// that it cannot disagree with what is accepted.
func sampleOf(sh *shape) (*sample, error) {
	req := exampleOf(sh.spec)
	if req == nil {
		return &sample{}, nil
	}
	out, err := sh.encode(req)
	if err != nil {
		return nil, err
	}
	at, err := url.Parse(out.url)
	if err != nil {
		return nil, err
	}
	return &sample{at.Query(), out.body}, nil
}

// parameter returns the example of one parameter in the query, nil for none.
func (s *sample) parameter(f field) json.RawMessage {
	text := s.query.Get(f.Name)
	switch {
	case f.in != inQuery || text == "":
		return nil
	case f.Type.Kind() == reflect.String:
		return json.RawMessage(strconv.Quote(text))
	}
	return json.RawMessage(text) // numbers and truth values look alike in both
}

// exampleOf returns a typical request, nil where nothing needs to be shown.
func exampleOf(s *op.Spec) any {
	const id = "0199b2d4-6c1e-7a53-9f20-3d1c8a7e5b42"
	switch s {
	case op.Save.Spec:
		return &op.SaveRequest{Content: "Use JWT tokens for authentication in all new APIs",
			Tags: []string{"security", "api"}}
	case op.SaveBatch.Spec:
		return &op.SaveBatchRequest{Items: []op.SaveRequest{{Content: "The staging database listens on port 5433"},
			{Content: "Releases go out on Thursdays"}}}
	case op.Search.Spec:
		return &op.SearchRequest{Query: "authentication", Limit: 5, Filter: op.Filter{Project: "shop"}}
	case op.Edit.Spec:
		return &op.EditRequest{ID: id, AddTags: []string{"auth"}, Importance: new(0.9)}
	case op.Relate.Spec:
		return &op.RelateRequest{From: id, To: "0199b2d4-7d2f-7a53-9f20-3d1c8a7e5b43", Type: memory.Supports,
			Strength: new(0.9)}
	case op.Consolidate.Spec:
		return &op.ConsolidateRequest{ClusterID: "cluster-3f9a1c5d7e2b4860", Mode: op.ModeApply}
	case op.TrashRestore.Spec:
		return &op.TrashRestoreRequest{IDs: []string{id}}
	}
	return nil
}
