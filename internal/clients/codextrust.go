package clients

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"
)

// codexPatience is how long Codex may take to say which hooks it trusts.
const codexPatience = 10 * time.Second

// codexHook is a hook as "hooks/list" of "codex app-server" tells it. Trust is "trusted", "untrusted", "modified" or
// "managed".
type codexHook struct {
	Event   string `json:"eventName"`
	Command string `json:"command"`
	Trust   string `json:"trustStatus"`
}

// untrustedInCodex returns the events whose hooks of emberd Codex skips, since nobody trusts them as they are. It
// starts the program codex, which must be installed.
func untrustedInCodex(ctx context.Context, folder string) (events []string, err error) {
	all, err := codexHooksIn(ctx, folder)
	for _, h := range all {
		if skipped := h.Trust == "untrusted" || h.Trust == "modified"; skipped && hookLine().MatchString(h.Command) {
			events = append(events, h.Event)
		}
	}
	return events, err
}

// codexHooksIn returns the hooks that Codex knows in a folder.
func codexHooksIn(ctx context.Context, folder string) ([]codexHook, error) {
	ctx, cancel := context.WithTimeout(ctx, codexPatience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "codex", "app-server")
	cmd.WaitDelay = time.Second // for what it started itself and that holds its output
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); errors.Is(err, exec.ErrNotFound) {
		return nil, errors.New("the program codex is not in a folder of PATH")
	} else if err != nil {
		return nil, err
	}
	all, err := askCodex(in, out, folder)
	cancel()
	_ = cmd.Wait() // it was ended
	return all, err
}

// askCodex speaks JSON-RPC, a message a line: https://developers.openai.com/codex/app-server
func askCodex(in io.Writer, out io.Reader, folder string) ([]codexHook, error) {
	const maxLine = 1 << 20
	answers := bufio.NewScanner(out)
	answers.Buffer(nil, maxLine)
	var res struct {
		Data []struct {
			Hooks []codexHook `json:"hooks"`
		} `json:"data"`
	}
	hello := object{"clientInfo": object{"name": name, "version": "1"}, "capabilities": object{}}
	if err := callCodex(in, answers, 1, "initialize", hello, nil); err != nil {
		return nil, err
	}
	if _, err := io.WriteString(in, `{"method":"initialized"}`+"\n"); err != nil {
		return nil, fmt.Errorf("cannot send \"initialized\" to codex app-server: %w", err)
	}
	if err := callCodex(in, answers, 2, "hooks/list", object{"cwds": []string{folder}}, &res); err != nil {
		return nil, err
	}
	var all []codexHook
	for _, of := range res.Data {
		all = append(all, of.Hooks...)
	}
	return all, nil
}

// callCodex sends a request and decodes the result; what Codex says meanwhile is skipped.
func callCodex(in io.Writer, answers *bufio.Scanner, id int, method string, params object, result any) error {
	if err := json.NewEncoder(in).Encode(object{"id": id, "method": method, "params": params}); err != nil {
		return fmt.Errorf("cannot send %s to codex app-server: %w", method, err)
	}
	for answers.Scan() {
		var a struct {
			ID     *int            `json:"id"`
			Result json.RawMessage `json:"result"`
			Error  *struct {
				Message string `json:"message"`
			} `json:"error"`
		}
		switch err := json.Unmarshal(answers.Bytes(), &a); {
		case err != nil:
			return fmt.Errorf("codex app-server returned invalid JSON: %w", err)
		case a.ID == nil || *a.ID != id:
			continue
		case a.Error != nil:
			return fmt.Errorf("codex app-server rejected %s: %s", method, a.Error.Message)
		case result == nil:
			return nil
		default:
			return json.Unmarshal(a.Result, result)
		}
	}
	return errors.Join(fmt.Errorf("codex app-server did not respond to %s", method), answers.Err())
}
