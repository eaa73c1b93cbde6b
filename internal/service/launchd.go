package service

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
)

// agent is the property list, by launchd.plist(5). KeepAlive is about ends that were not
// asked for, so that a stop lasts; 63 is the umask 0077.
const agent = `<?xml version="1.0" encoding="UTF-8"?>
<!-- %[1]s. -->
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>%[2]s</string>
	<key>ProgramArguments</key>
	<array>
%[3]s	</array>
%[4]s	<key>RunAtLoad</key>
	<true/>
	<key>KeepAlive</key>
	<dict>
		<key>SuccessfulExit</key>
		<false/>
	</dict>
	<key>ThrottleInterval</key>
	<integer>10</integer>
	<key>ExitTimeOut</key>
	<integer>15</integer>
	<key>Umask</key>
	<integer>63</integer>
	<key>HardResourceLimits</key>
	<dict>
		<key>Core</key>
		<integer>0</integer>
	</dict>
	<key>StandardOutPath</key>
	<string>%[5]s</string>
	<key>StandardErrorPath</key>
	<string>%[5]s</string>
</dict>
</plist>
`

// Launchd renders the agent. What a property list cannot say is an error that names it.
func Launchd(s *Spec) ([]File, error) {
	var args, env strings.Builder
	for _, a := range append([]string{s.Program}, s.Args...) {
		text, err := escaped(a)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&args, "\t\t<string>%s</string>\n", text)
	}
	for _, pair := range slices.Sorted(slices.Values(s.Env)) {
		text, err := escaped(pair)
		if err != nil {
			return nil, err
		}
		name, value, _ := strings.Cut(text, "=")
		fmt.Fprintf(&env, "\t\t<key>%s</key>\n\t\t<string>%s</string>\n", name, value)
	}
	variables := env.String()
	if variables != "" {
		variables = "\t<key>EnvironmentVariables</key>\n\t<dict>\n" + variables + "\t</dict>\n"
	}
	log, err := escaped(s.Log)
	if err != nil {
		return nil, err
	}
	return []File{{AgentName, fmt.Appendf(nil, agent, markOf(s), Label, args.String(), variables, log)}}, nil
}

func escaped(s string) (string, error) {
	if err := writable(s); err != nil {
		return "", err
	}
	var b bytes.Buffer
	err := xml.EscapeText(&b, []byte(s))
	return b.String(), err
}
