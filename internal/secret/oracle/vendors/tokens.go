package vendors

import (
	"encoding/base64"
	"strings"
)

// prefixed is a token of a fixed prefix and n characters of an alphabet.
func prefixed(name, prefix, alphabet string, n int) Kind {
	return token(name, func(s source) string { return prefix + s.of(alphabet, n) })
}

// Tokens are the kinds that need no words around them.
var Tokens = []Kind{
	token("aws-access-key-id", func(s source) string { return s.one("AKIA", "ASIA") + s.of(base32, 16) }),
	token("aws-bedrock-key", func(s source) string {
		return "ABSK" + base64.StdEncoding.EncodeToString([]byte("BedrockAPIKey-"+s.of(lowerNum, 4)+"-at-"+s.of(digits, 12)+":"+s.of(std64, 44)))
	}),
	token("github-token", func(s source) string {
		body := s.of(alnum, 30)
		return s.one("ghp_", "gho_", "ghu_", "ghs_", "ghr_") + body + base62CRC(body)
	}),
	token("github-fine-grained", func(s source) string { return "github_pat_" + s.of(alnum, 22) + "_" + s.of(alnum, 59) }),
	token("gitlab", func(s source) string {
		return s.one("glpat-", "gldt-", "glrt-", "glptt-", "glsoat-", "glcbt-64_") + s.of(url64, 20)
	}),
	token("slack-bot-user", func(s source) string {
		return s.one("xoxb-", "xoxp-") + s.of(digits, 12) + "-" + s.of(digits, 13) + "-" + s.of(alnum, 24)
	}),
	token("slack-app", func(s source) string {
		return "xapp-1-A" + s.of(upperNum, 10) + "-" + s.of(digits, 13) + "-" + s.hex(64)
	}),
	token("slack-webhook", func(s source) string {
		return "https://hooks.slack.com/services/T" + s.of(upperNum, 8) + "/B" + s.of(upperNum, 10) + "/" + s.of(alnum, 24)
	}),
	token("stripe", func(s source) string {
		return s.one("sk_live_", "sk_test_", "rk_live_") + s.of(alnum, []int{24, 99}[s.IntN(2)])
	}),
	prefixed("stripe-webhook", "whsec_", alnum, 32),
	prefixed("google-api-key", "AIza", url64, 35),
	prefixed("google-oauth-secret", "GOCSPX-", url64, 28),
	prefixed("google-access-token", "ya29.a0", url64, 160),
	token("openai-legacy", func(s source) string { return "sk-" + s.of(alnum, 20) + "T3BlbkFJ" + s.of(alnum, 20) }),
	token("openai-project", func(s source) string {
		return s.one("sk-proj-", "sk-svcacct-", "sk-admin-") + s.of(url64, 74) + "T3BlbkFJ" + s.of(url64, 74)
	}),
	token("anthropic", func(s source) string { return s.one("sk-ant-api03-", "sk-ant-admin01-") + s.of(url64, 93) + "AA" }),
	prefixed("huggingface", "hf_", upper+lower, 34),
	prefixed("replicate", "r8_", alnum, 37),
	prefixed("groq", "gsk_", alnum, 52),
	prefixed("perplexity", "pplx-", alnum, 48),
	prefixed("xai", "xai-", alnum, 80),
	prefixed("openrouter", "sk-or-v1-", lowerHex, 64),
	token("langsmith", func(s source) string { return "lsv2_" + s.one("pt", "sk") + "_" + s.hex(32) + "_" + s.hex(10) }),
	token("npm", func(s source) string { body := s.of(alnum, 30); return "npm_" + body + base62CRC(body) }),
	prefixed("pypi", "pypi-AgEIcHlwaS5vcmc", url64, 150),
	prefixed("crates-io", "cio", alnum, 32),
	prefixed("rubygems", "rubygems_", lowerHex, 48),
	prefixed("docker-hub", "dckr_pat_", url64, 27),
	token("nuget", func(s source) string { return "oy2" + s.of(lower+"234567", 43) }),
	token("sendgrid", func(s source) string { return "SG." + s.of(url64, 22) + "." + s.of(url64, 43) }),
	prefixed("mailgun-old", "key-", lowerHex, 32),
	token("mailgun", func(s source) string { return s.hex(32) + "-" + s.hex(8) + "-" + s.hex(8) }),
	token("mailchimp", func(s source) string { return s.hex(32) + "-us" + s.one("1", "6", "12", "21") }),
	token("telegram", func(s source) string { return s.of("123456789", 1) + s.of(digits, 9) + ":AA" + s.of(url64, 33) }),
	token("discord-bot", func(s source) string {
		id := s.one("1", "2", "7", "10", "11") + s.of(digits, 17)
		return base64.RawStdEncoding.EncodeToString([]byte(id)) + "." + s.of(upper, 1) + s.of(url64, 5) + "." +
			s.of(url64, []int{27, 38}[s.IntN(2)])
	}),
	token("discord-webhook", func(s source) string {
		return "https://discord.com/api/webhooks/1" + s.of(digits, 18) + "/" + s.of(url64, 68)
	}),
	token("teams-webhook", func(s source) string {
		return "https://acme.webhook.office.com/webhookb2/" + s.uuid() + "@" + s.uuid() + "/IncomingWebhook/" + s.hex(32) + "/" + s.uuid()
	}),
	token("azure-client-secret", func(s source) string {
		return s.of(alnum+"_~.", 3) + s.of(digits, 1) + "Q~" + s.of(alnum+"_~.-", 33) + s.of(alnum, 1)
	}),
	token("azure-devops", func(s source) string { return s.of(alnum, 76) + "AZDO" + s.of(alnum, 4) }),
	token("digitalocean", func(s source) string { return s.one("dop_v1_", "doo_v1_", "dor_v1_") + s.hex(64) }),
	prefixed("heroku", "HRKU-AA", url64, 58),
	prefixed("netlify", "nfp_", alnum, 36),
	token("cloudflare-origin", func(s source) string { return "v1.0-" + s.hex(24) + "-" + s.hex(146) }),
	token("fly-io", func(s source) string { return "FlyV1 fm2_" + s.base64(120) }),
	prefixed("vault", "hvs.", url64, 91),
	token("terraform-cloud", func(s source) string { return s.of(alnum, 14) + ".atlasv1." + s.of(url64, 67) }),
	prefixed("pulumi", "pul-", lowerHex, 40),
	prefixed("databricks", "dapi", lowerHex, 32),
	token("planetscale", func(s source) string { return s.one("pscale_tkn_", "pscale_pw_") + s.of(url64, 43) }),
	token("supabase", func(s source) string { return s.one("sbp_"+s.hex(40), "sb_secret_"+s.of(url64, 31)) }),
	prefixed("linear", "lin_api_", alnum, 40),
	prefixed("notion", "ntn_", alnum, 46),
	prefixed("figma", "figd_", url64, 40),
	token("atlassian", func(s source) string { return "ATATT3xFfGF0" + s.of(url64, 171) + "=" + strings.ToUpper(s.hex(8)) }),
	token("bitbucket", func(s source) string { return "ATBB" + s.of(alnum, 24) + strings.ToUpper(s.hex(8)) }),
	token("shopify", func(s source) string { return s.one("shpat_", "shpss_", "shpca_", "shppa_") + s.hex(32) }),
	token("square", func(s source) string { return s.one("sq0atp-"+s.of(url64, 22), "EAAA"+s.of(url64, 60)) }),
	token("braintree", func(s source) string { return "access_token$production$" + s.of(lowerNum, 16) + "$" + s.hex(32) }),
	prefixed("new-relic", "NRAK-", upperNum, 27),
	token("grafana", func(s source) string { return "glsa_" + s.of(alnum, 32) + "_" + s.hex(8) }),
	prefixed("sentry", "sntryu_", lowerHex, 64),
	token("postman", func(s source) string { return "PMAK-" + s.hex(24) + "-" + s.hex(34) }),
	prefixed("dropbox", "sl.B", url64, 136),
	prefixed("facebook", "EAA", alnum, 180),
	token("tailscale", func(s source) string {
		return s.one("tskey-auth-", "tskey-api-") + "k" + s.of(alnum, 9) + "CNTRL-" + s.of(alnum, 32)
	}),
	token("doppler", func(s source) string { return s.one("dp.pt.", "dp.st.prd.") + s.of(alnum, 43) }),
	token("1password-service", func(s source) string { return "ops_eyJ" + s.of(url64, 250) }),
	token("1password-secret-key", func(s source) string {
		part := func(n int) string { return s.of(upperNum, n) }
		return strings.Join([]string{"A3", part(6), part(6), part(5), part(5), part(5), part(5)}, "-")
	}),
	token("dynatrace", func(s source) string { return "dt0c01." + s.of(base32, 24) + "." + s.of(base32, 64) }),
	prefixed("contentful", "CFPAT-", url64, 43),
	token("airtable", func(s source) string { return "pat" + s.of(alnum, 14) + "." + s.hex(64) }),
	token("sonarqube", func(s source) string { return s.one("sqp_", "squ_", "sqa_") + s.hex(40) }),
	prefixed("buildkite", "bkua_", lowerHex, 40),
	token("circleci", func(s source) string { return "CCIPAT_" + s.of(alnum, 22) + "_" + s.hex(40) }),
	prefixed("prefect", "pnu_", alnum, 36),
	prefixed("adafruit", "aio_", alnum, 28),
	prefixed("easypost", "EZAK", lowerHex, 54),
	token("artifactory", func(s source) string { return "AKCp" + s.of(alnum, 69) }),
	token("age", func(s source) string { return "AGE-SECRET-KEY-1" + s.of(bech32, 58) }),
	token("jwt", func(s source) string {
		return encoded(`{"alg":"HS256","typ":"JWT"}`) + "." + encoded(`{"sub":"`+s.uuid()+`","iat":17`+s.of(digits, 8)+`}`) + "." + s.of(url64, 43)
	}),
	token("private-key", func(s source) string {
		return s.pem(s.one("RSA PRIVATE KEY", "PRIVATE KEY", "EC PRIVATE KEY", "OPENSSH PRIVATE KEY", "ENCRYPTED PRIVATE KEY"), s.between(120, 600))
	}),
	token("pgp-private-key", func(s source) string { return s.pem("PGP PRIVATE KEY BLOCK", 400) }),
}

// encoded is a text in base64url without padding.
func encoded(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
