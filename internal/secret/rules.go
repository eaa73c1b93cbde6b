package secret

import "slices"

// allRules returns the rule table. Prefixes and lengths follow what the vendors
// issue; where a vendor has lengthened its tokens before, a rule sets only the
// least length.
func allRules() []rule {
	return slices.Concat(hostingRules(), cloudRules(), familyRules(), structureRules(), contextRules())
}

// hostingRules are code hosting, chat, payment and language model services:
// the tokens pasted most often.
func hostingRules() []rule {
	return []rule{
		{
			id: "github-token", pattern: `[0-9A-Za-z]{36,}`, entropy: 3,
			marks: []mark{
				{literal: "ghp_", words: "GitHub personal access token"},
				{literal: "gho_", words: "GitHub OAuth token"},
				{literal: "ghu_", words: "GitHub user token"},
				{literal: "ghs_", words: "GitHub app token"},
				{literal: "ghr_", words: "GitHub refresh token"},
			},
		},
		{
			id: "github-fine-grained-token", pattern: `\w{50,}`, entropy: 3,
			marks: []mark{{literal: "github_pat_", words: "GitHub personal access token"}},
		},
		{
			id: "gitlab-token", pattern: `[\w-]{20,}(?:\.[0-9a-z]{9})?`, entropy: 2.9, changes: 2,
			marks: sameWords("GitLab token", "glpat-", "gldt-", "glcbt-", "glffct-", "glft-", "glimt-",
				"glagent-", "gloas-", "glptt-", "glrt-", "glsoat-", "GR1348941"),
		},
		{
			id: "slack-token", pattern: `[0-9A-Za-z-]{7,}`, entropy: 2, accept: hasDigit, fold: true,
			marks: sameWords("Slack token", "xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxo-", "xoxs-", "xoxe-",
				"xoxe.xoxb-", "xoxe.xoxp-", "xapp-"),
		},
		{
			id: "webhook-url", inside: true, pattern: `[\w@/+-]{40,}`, entropy: 3, changes: 8,
			marks: []mark{
				{literal: "hooks.slack.com/", words: "Slack webhook address"},
				{literal: ".webhook.office.com/webhookb2/", words: "Microsoft Teams webhook address"},
				{literal: "discord.com/api/webhooks/", words: "Discord webhook address"},
				{literal: "discordapp.com/api/webhooks/", words: "Discord webhook address"},
			},
		},
		{
			id: "stripe-key", pattern: `[0-9A-Za-z]{10,}`, entropy: 2.5, changes: 2,
			marks: sameWords("Stripe secret key", "sk_live_", "sk_test_", "sk_prod_", "rk_live_", "rk_test_", "rk_prod_", "whsec_"),
		},
		{
			id: "ai-api-key", pattern: `[\w-]{32,}`, entropy: 3.3, changes: 5,
			marks: []mark{
				{literal: "sk-ant-", words: "Anthropic API key"},
				{literal: "sk-or-v1-", words: "OpenRouter API key"},
				{literal: "sk-proj-", words: "OpenAI API key"},
				{literal: "sk-svcacct-", words: "OpenAI API key"},
				{literal: "sk-admin-", words: "OpenAI API key"},
				{literal: "sk-None-", words: "OpenAI API key"},
				{literal: "xai-", words: "Grok API key of xAI"},
			},
		},
		{
			id: "discord-bot-token", pattern: `[\w-]{20,26}\.[\w-]{6}\.[\w-]{27,}`, entropy: 3.5, changes: 8,
			marks: sameWords("Discord bot token", "MD", "MT", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT"),
		},
		{
			id: "telegram-bot-token", pattern: `[\w-]{34,}`, entropy: 3, changes: 5, lead: lead{isDigit, 5, 16},
			marks: sameWords("Telegram bot token", ":A"),
		},
	}
}

// cloudRules are cloud and infrastructure services with a shape of their own.
func cloudRules() []rule {
	return []rule{
		{
			id: "aws-access-key", pattern: `[A-Z0-9]?[A-Z2-7]{16}`, entropy: 2.8, blob: true,
			marks: sameWords("AWS access key id", "AKIA", "ASIA", "ABIA", "ACCA", "A3T"),
		},
		{
			id: "aws-secret-key", entropy: 3.8, changes: 8, fold: true, inside: true,
			pattern: `["'\s\]]{0,3}(?:=>|:=|=|:|\bis\b)["'\s]{0,3}([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|$)`,
			marks: sameWords("AWS secret access key", "secret_access_key", "secretaccesskey", "secret access key",
				"aws_secret", "aws_secret_key", "aws secret key"),
		},
		{
			id: "google-key", pattern: `[\w-]{28,}`, entropy: 3.3, changes: 5,
			marks: []mark{
				{literal: "AIza", words: "Google API key"},
				{literal: "GOCSPX-", words: "Google OAuth client secret"},
				{literal: "ya29.", words: "Google OAuth token"},
			},
		},
		{
			id: "google-service-account", pattern: `["\s]{0,3}:\s{0,3}"([0-9a-f]{40})"`, entropy: 3,
			marks: sameWords("Google service account key", "private_key_id"),
		},
		{
			id: "azure-client-secret", pattern: `[\w~.-]{31,}`, entropy: 3, changes: 5, lead: lead{isAzure, 4, 4},
			marks: sameWords("Azure client secret", "Q~"),
		},
		{
			id: "azure-account-key", pattern: `[A-Za-z0-9+/]{40,}={1,2}|[A-Za-z0-9%]{43,}%3D`, entropy: 3.5, fold: true,
			marks: sameWords("Azure access key", "accountkey=", "sharedaccesskey=", "&sig=", "?sig="),
		},
		{
			id: "terraform-token", pattern: `[\w=-]{60,}`, entropy: 3, lead: lead{isAlnum, 14, 14},
			marks: sameWords("Terraform Cloud token", ".atlasv1."),
		},
		{
			id: "maxmind-key", lead: lead{isWord, 36, 36}, marks: sameWords("MaxMind license key", "_mmk"),
		},
		{
			id: "mailchimp-key", pattern: `\d{1,2}`, lead: lead{isHex, 32, 32}, marks: sameWords("Mailchimp API key", "-us"),
		},
		{
			id: "vault-token", pattern: `[0-9A-Za-z]{24}\b`, entropy: 3.2, changes: 9, accept: hasDigit,
			marks: sameWords("HashiCorp Vault token", "s."),
		},
	}
}

// isAzure reports whether c may stand before the mark of an Azure client secret.
func isAzure(c byte) bool { return isWord(c) || c == '~' || c == '.' }

// structureRules go by the structure of the credential and not by its prefix.
func structureRules() []rule {
	return []rule{
		{
			id: "private-key", window: 16 << 10, raw: true, accept: keyBody,
			pattern: `(?i:[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-----)(?:[\w+/=\s\\:,.()<>@]|-\w)*(?i:-----END[ A-Z0-9_-]*-----)?`,
			fold:    true,
			marks:   sameWords("private key", "-----begin"),
		},
		{
			id: "json-web-token", window: 4 << 10, entropy: 3, changes: 6,
			pattern: `[A-Za-z0-9]{17,}\.ey[A-Za-z0-9/\\_-]{17,}\.(?:[A-Za-z0-9/\\_-]{10,}={0,2})?`,
			marks:   sameWords("JSON web token", "ey"),
		},
		{
			id: "url-password", entropy: 1.5, weak: true, inside: true, accept: notDummy,
			pattern: `[^\s/:@"'<>` + "`" + `\\]{0,64}:([^\s/@"'<>` + "`" + `\\]{5,128})@[\w\[]`,
			marks:   sameWords("password in a URL", "://"),
		},
		{
			id: "kubernetes-secret", fold: true, entropy: 2.5, accept: notDummy, nearby: "kind: secret",
			// The first value of a mapping in base64, perhaps after comments.
			pattern: `(?:\s+#[^\n]*)*\s+[\w.-]+:(?:[ \t]*(?:\||>[-+]?)\s+)?[ \t]*["']?([A-Za-z0-9+/]{10,}={0,3})`,
			marks:   sameWords("Kubernetes secret", "data:"),
		},
		{
			id: "authorization-header", fold: true, weak: true, entropy: 2.7, accept: headerValue,
			pattern: `["']?\s{0,3}[:=]?\s{0,3}["']?(?i:(?:bearer|basic|bot|(?:api-?)?(?:token|key))[ \t]+)?([\w=~@.+/-]{8,})`,
			marks:   sameWords("authorization header", "authorization:", "authorization\"", "authorization'", "bearer "),
		},
		{
			id: "header-key", fold: true, weak: true, inside: true, entropy: 2.7, accept: headerValue, nearby: "curl",
			pattern: `\s{0,5}["']?([\w=~@.+/-]{8,})`,
			marks:   sameWords("key in a header", "key:", "token:"),
		},
		{
			id: "command-line-password", weak: true, entropy: 1.5, accept: notDummy, nearby: "curl",
			pattern: `[= \t]{0,5}(?:"[^"\s:]*:([^"]{3,})"|'[^'\s:]*:([^']{3,})'|["']?[^\s"':]{1,64}["']?:["']?([^\s"']{3,}))`,
			marks:   sameWords("password on a command line", "-u", "--user"),
		},
	}
}

// keyBody reports whether a key's header is followed by a key, and not by words
// about it: whether there is a line of base64.
func keyBody(_, block string) bool {
	const line = 40
	run := 0
	for i := range len(block) {
		run++
		if c := block[i]; !isAlnum(c) && c != '+' && c != '/' {
			run = 0
		}
		if run == line {
			return true
		}
	}
	return false
}

// headerValue judges what follows an authorization header's name.
func headerValue(between, value string) bool {
	return notDummy(between, value) && hasDigit(between, value) && changes(value) >= 3
}

// valueWindow bounds how far after its key an assigned value is read.
const valueWindow = 320

// contextRules go by words around a value: assignments and plain sentences.
func contextRules() []rule {
	const quoted = `"([^"\s]{8,})(?:"|$)|'([^'\s]{8,})(?:'|$)|` + "`([^`\\s]{8,})(?:`|$)"
	const assign = `[\w-]{0,24}\\?["'\]]{0,2}\s{0,3}(?:=>|:=|==?|:)\s{0,3}\\?(?:` + quoted
	const end = `(?:[\s"'` + "`" + `<>){}\],;]|$))`
	return []rule{
		{
			id: "vendor-key", fold: true, weak: true, entropy: 2.9, changes: 5,
			pattern: `[ \t\w.-]{0,24}["'\s\]]{0,3}(?:=>|:=|\|\||\?=|:{1,3}=?|[=>,]| is )["'\s=` + "`" + `]{0,5}` +
				`([\w=:.%/+-]{20,}\b=*|[A-Za-z0-9]{16,})`,
			accept: vendorKey,
			marks:  vendors(),
		},
		{
			id: "password", window: valueWindow, fold: true, inside: true, weak: true, entropy: 2.5,
			pattern: assign + `|([^\s"'` + "`" + `<>(){}\[\],;]{8,})` + end, accept: assignedPassword,
			marks: sameWords("password", "password", "passwd", "passphrase", "pwd", "passwort"),
		},
		{
			id: "secret-value", window: valueWindow, fold: true, inside: true, weak: true, entropy: 3, changes: 4,
			pattern: assign + `|([\w.~+/=:%$!@#-]{12,})` + end, accept: assignedKey,
			marks: sameWords("secret value", "secret", "token", "api_key", "apikey", "api-key", "api key",
				"access_key", "accesskey", "access-key", "private_key", "privatekey", "auth_key", "authkey",
				"credential", "encryption_key", "signing_key"),
		},
		{
			id: "spoken-secret", fold: true, weak: true, entropy: 2.7, changes: 4,
			pattern: `(?: for [\w .@'-]{1,40}?)? (?:is|was|=|to) ["'` + "`" + `]?([^\s"'` + "`" + `<>(){}\[\],;]{8,128})`,
			accept:  assignedPassword,
			marks: sameWords("password or key", "password", "passphrase", "passcode", "token", "api key", "secret key",
				"access key", "secret"),
		},
	}
}
