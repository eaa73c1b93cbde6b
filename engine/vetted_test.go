package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"emberd/memory"
	"emberd/op"
)

// harmless are what clients really send beside a text: names that they make up, identifiers of
// their systems, and digests. None is a credential, so none may be refused.
var harmless = map[string]string{
	"uuid 4":                    "b3f1c2a4-5d6e-4f70-8a9b-0c1d2e3f4a5b",
	"uuid 7":                    "0192f3a1-b2c3-7d4e-8f50-617283940abc",
	"uuid without dashes":       "b3f1c2a45d6e4f708a9b0c1d2e3f4a5b",
	"uuid in capitals":          "B3F1C2A4-5D6E-4F70-8A9B-0C1D2E3F4A5B",
	"uuid as a urn":             "urn:uuid:b3f1c2a4-5d6e-4f70-8a9b-0c1d2e3f4a5b",
	"ulid":                      "01HQ3K5W8ZJ4M6N7P9R0S2T3V5",
	"ksuid":                     "2ZkJ7qN5vXbR8mW3tYcF1dHgLpA",
	"nanoid":                    "V1StGXR8_Z5jdHi6B-myT",
	"cuid":                      "cjld2cjxh0000qzrmn831i7rn",
	"object id":                 "507f1f77bcf86cd799439011",
	"snowflake":                 "1541815603606036480",
	"sha1":                      "da39a3ee5e6b4b0d3255bfef95601890afd80709",
	"sha256":                    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
	"sha256 with its name":      "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
	"sha256 in base64":          "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
	"etag":                      `W/"33a64df551425fcc55e4d42a148795d9f25f89d4"`,
	"trace parent":              "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
	"session of Claude Code":    "session_01AbCdEf2GhIjKlMnOpQrSt3",
	"conversation of ChatGPT":   "67a1f0c2-8b3c-8009-9d7e-1f2a3b4c5d6e",
	"thread of an assistant":    "thread_abc123DEF456ghi789JKL012",
	"message of a model":        "msg_01XFDUDYJgAACzvnptvVoYEL",
	"call of a tool":            "toolu_01A09q90qw90lq917835lq9",
	"call of a function":        "call_9pw1qnYScqvGrCH58HWCvFH6",
	"answer of a model":         "chatcmpl-9nKZ8wX7vB6cD5eF4gH3iJ2kL1mN",
	"session of an MCP client":  "mcp-session-1868a90c-3f1e-4f0a-9f7c-1b2d3e4f5a6b",
	"event of a web hook":       "evt_1NG8Du2eZvKYlo2CUI79vXWy",
	"request at Amazon":         "4442587FB7D0A2F9",
	"name of a resource":        "arn:aws:iam::123456789012:role/build-runner",
	"digest of an image":        "registry.example.org/app@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c0f0a00a08e",
	"name of a pod":             "api-server-7d9f8b6c5d-x2k4p",
	"branch":                    "feature/JIRA-1234-rotate-api-token",
	"tag of a release":          "v1.2.3-rc.1+build.20260301.a1b2c3d",
	"run of a workflow":         "https://github.com/acme/shop/actions/runs/7654321098/job/20912345678",
	"address with a query":      "https://example.org/search?q=token&session=42&page=3",
	"client with its version":   "claude-code/2.1.3 (external, cli)",
	"client of an editor":       "cursor-vscode/1.105.1 darwin-arm64",
	"key of a daily note":       "daily:2026-03-01",
	"key of an import":          "import:notes/2026/Password reset.md#3",
	"key of a content digest":   "save-9f86d081884c7d65",
	"path of a vault":           "/home/jane/Documents/Vault/Secrets of the garden.md",
	"path in Windows":           `C:\Users\jane\AppData\Roaming\Claude\claude_desktop_config.json`,
	"mail":                      "jane.doe+token@example.org",
	"date and time":             "2026-03-01T12:00:00.000Z",
	"commit of a memory":        "01a201e61ecd-0000-jylaa2ak",
	"name of a secret":          "kubernetes secret db-credentials in namespace shop",
	"fingerprint of a ssh key":  "SHA256:nThbg6kXUpJWGl7E1IGOCspRomTxdCARLviKw6E5SY8",
	"fingerprint of a gpg key":  "4AEE 18F8 3AFD EB23 0000 0000 B5B9 4C4B 1234 5678",
	"identifier of an aws role": "AROAEXAMPLEID:session-name",
}

// What was legal before transactions were looked through stays so, wherever it is sent.
func TestCase63NoIdentifierIsTakenForACredential(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	n := 0
	for what, value := range harmless {
		for where, send := range map[string]func(*op.SaveRequest, *memory.Actor){
			"key":     func(r *op.SaveRequest, _ *memory.Actor) { r.IdempotencyKey = value },
			"client":  func(_ *op.SaveRequest, by *memory.Actor) { by.Client = value },
			"session": func(_ *op.SaveRequest, by *memory.Actor) { by.Session = value },
			"id":      func(r *op.SaveRequest, _ *memory.Actor) { r.SessionID = value },
			"source":  func(r *op.SaveRequest, _ *memory.Actor) { r.Source = value },
			"context": func(r *op.SaveRequest, _ *memory.Actor) { r.Context = value },
			"content": func(r *op.SaveRequest, _ *memory.Actor) { r.Content += " " + value },
		} {
			n++
			req, by := op.SaveRequest{Content: fmt.Sprint("the tide turns at ", n)}, memory.Actor{Via: "http"}
			send(&req, &by)
			if _, err := op.Save.Call(op.WithCaller(t.Context(), by), e, &req); err != nil {
				t.Errorf("%s as %s: %v", what, where, err)
			}
		}
	}
}

// The tokens that emberd makes itself are refused like any other, wherever they are sent.
func TestCase63TokensOfEmberdAreRefused(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	e := h.open(t)
	for n := range 50 {
		secret := do(t, e, op.TokenCreate, &op.TokenCreateRequest{Name: fmt.Sprint("t", n), Write: []string{"tag:work"}}).Secret
		for _, req := range []op.SaveRequest{{Content: "it shows " + secret}, {Content: "pie", IdempotencyKey: secret}, {Content: "pie", Tags: []string{secret}}, {Content: "pie", SessionID: secret}} {
			wantCode(t, refused(t, e, op.Save, &req), memory.Secret, "text that looks like a credential")
		}
		_, err := op.Save.Call(op.WithCaller(t.Context(), memory.Actor{Via: "mcp", Client: secret}), e, &op.SaveRequest{Content: "pie"})
		wantCode(t, err.(*memory.Error), memory.Secret, "remove the credential, or to save the text anyway, set allow_secret (--allow-secret)")
	}
	if e.Stm.Len() > 0 || strings.Contains(h.log.String(), "emberd_") {
		t.Errorf("%d memories, and the log has %.200s", e.Stm.Len(), h.log)
	}
}
