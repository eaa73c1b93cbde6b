package api

import (
	"context"

	"emberd/op"
)

// The shelf hands out tokens that open nothing.
func (s *shelf) addTokenVerbs(add func(*op.Spec, op.Handler)) {
	add(op.TokenCreate.Handle(s.tokenCreate))
	add(op.TokenList.Handle(s.tokenList))
	add(op.TokenRevoke.Handle(s.tokenRevoke))
}

func (s *shelf) tokenCreate(_ context.Context, req *op.TokenCreateRequest) (*op.TokenCreateResult, error) {
	return &op.TokenCreateResult{Token: op.Token{Name: req.Name, Read: req.Read, Write: req.Write}, Secret: "emberd_x"}, nil
}

func (s *shelf) tokenList(context.Context, *op.TokenListRequest) (*op.TokenListResult, error) {
	return &op.TokenListResult{Tokens: []op.Token{{Name: "cursor", Write: []string{"tag:work"}, Shown: "2026-03-05"}}}, nil
}

func (s *shelf) tokenRevoke(_ context.Context, req *op.TokenRevokeRequest) (*op.TokenRevokeResult, error) {
	return &op.TokenRevokeResult{Token: op.Token{Name: req.Name}}, nil
}
