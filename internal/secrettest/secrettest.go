// Package secrettest is, for tests, a corpus of texts with generated credentials that open
// nothing, and of texts that only look like them. No token stands in its sources, so that no
// scanner stumbles over them.
package secrettest

import (
	"math/rand/v2"
	"strconv"
	"strings"
)

// Alphabets that the fixtures name by one letter.
var alphabets = map[byte]string{
	'a': "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
	'b': "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+/",
	'd': "0123456789",
	'h': "0123456789abcdef",
	'l': "abcdefghijklmnopqrstuvwxyz",
	'u': "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
	'x': "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
}

// Fill replaces each ‹a36› in spec by 36 random characters of alphabet a. No
// token stands in these sources, so that no scanner stumbles over them.
func Fill(rng *rand.Rand, spec string) string {
	var b strings.Builder
	for spec != "" {
		before, rest, found := strings.Cut(spec, "‹")
		b.WriteString(before)
		if !found {
			break
		}
		hole, after, _ := strings.Cut(rest, "›")
		n, err := strconv.Atoi(hole[1:])
		if err != nil {
			panic("bad fixture " + hole)
		}
		b.WriteString(random(rng, alphabets[hole[0]], n))
		spec = after
	}
	return b.String()
}

func random(rng *rand.Rand, alphabet string, n int) string {
	s := make([]byte, n)
	for i := range s {
		s[i] = alphabet[rng.IntN(len(alphabet))]
	}
	return string(s)
}

// Seeded returns the source of randomness of one test.
func Seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(7, seed)) }

// Credential is a text whose secret is the part between « and ».
type Credential struct {
	Rule, Words string // what finds it, and what it is called
	spec        string
}

// In fills the spec and places it in a sentence, returning text and secret.
func (c Credential) In(rng *rand.Rand, before, after string) (text, secret string) {
	filled := Fill(rng, c.spec)
	_, rest, marked := strings.Cut(filled, "«")
	if !marked {
		return before + filled + after, filled
	}
	secret, _, _ = strings.Cut(rest, "»")
	return before + strings.NewReplacer("«", "", "»", "").Replace(filled) + after, secret
}

const (
	pemBegin = "-----BEGIN "
	pemEnd   = "-----END "
)

// Credentials are one or more of each kind. Nobody changes them.
var Credentials = []Credential{
	{"github-token", "GitHub personal access token", "ghp_‹a36›"},
	{"github-token", "GitHub OAuth token", "gho_‹a36›"},
	{"github-token", "GitHub user token", "ghu_‹a36›"},
	{"github-token", "GitHub app token", "ghs_‹a36›"},
	{"github-token", "GitHub refresh token", "ghr_‹a76›"},
	{"github-fine-grained-token", "GitHub personal access token", "github_pat_‹a22›_‹a59›"},
	{"gitlab-token", "GitLab token", "glpat-‹a20›"},
	{"gitlab-token", "GitLab token", "glpat-‹a27›.‹l2›‹d7›"},
	{"gitlab-token", "GitLab token", "glptt-‹h40›"},
	{"slack-token", "Slack token", "xoxb-‹d12›-‹d12›-‹a24›"},
	{"slack-token", "Slack token", "xoxp-‹d11›-‹d11›-‹d12›-‹h32›"},
	{"slack-token", "Slack token", "xapp-1-‹u11›-‹d13›-‹h64›"},
	{"webhook-url", "Slack webhook address", "https://«hooks.slack.com/services/T‹u9›/B‹u9›/‹a24›»"},
	{"webhook-url", "Discord webhook address", "https://«discord.com/api/webhooks/‹d18›/‹a68›»"},
	{"stripe-key", "Stripe secret key", "sk_live_‹a24›"},
	{"stripe-key", "Stripe secret key", "rk_test_‹a99›"},
	{"ai-api-key", "Anthropic API key", "sk-ant-api03-‹a93›AA"},
	{"ai-api-key", "OpenAI API key", "sk-proj-‹a74›T3BlbkFJ‹a74›"},
	{"alphanumeric-token", "OpenAI access token", "sk-‹a20›T3BlbkFJ‹a20›"},
	{"discord-bot-token", "Discord bot token", "MT‹a24›.‹a6›.‹a38›"},
	{"telegram-bot-token", "Telegram bot token", "‹d10›:AA‹a33›"},
	{"aws-access-key", "AWS access key id", "AKIA‹x16›"},
	{"aws-secret-key", "AWS secret access key", `aws_secret_access_key = "«‹b40›»"`},
	{"google-key", "Google API key", "AIza‹a35›"},
	{"google-key", "Google OAuth client secret", "GOCSPX-‹a28›"},
	{"google-service-account", "Google service account key", `{"type": "service_account", "private_key_id": "«‹h40›»"}`},
	{"azure-client-secret", "Azure client secret", "‹a3›8Q~‹a34›"},
	{"azure-account-key", "Azure access key", "AccountName=store;«AccountKey=‹b86›==»"},
	{"terraform-token", "Terraform Cloud token", "‹a14›.atlasv1.‹a67›"},
	{"maxmind-key", "MaxMind license key", "‹a6›_‹a29›_mmk"},
	{"mailchimp-key", "Mailchimp API key", "‹h32›-us12"},
	{"vault-token", "HashiCorp Vault token", "s.‹a24›"},
	{"url-safe-token", "HashiCorp Vault access token", "hvs.‹a95›"},
	{"private-key", "private key", pemBegin + "RSA PRIVATE KEY-----\n‹b64›\n‹b64›\n‹b30›==\n" + pemEnd + "RSA PRIVATE KEY-----"},
	{"private-key", "private key", pemBegin + "OPENSSH PRIVATE KEY-----\n‹b70›\n‹b70›\n" + pemEnd + "OPENSSH PRIVATE KEY-----"},
	{"private-key", "private key", pemBegin + "PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v2\n\n‹b64›\n‹b64›\n=AbCd\n" + pemEnd + "PGP PRIVATE KEY BLOCK-----"},
	{"private-key", "private key", pemBegin + `PRIVATE KEY-----\n‹b64›\n‹b64›\n` + pemEnd + `PRIVATE KEY-----`},
	{"json-web-token", "JSON web token", "eyJ‹a33›.eyJ‹a60›.‹a43›"},
	{"url-password", "password in a URL", "postgres://app:«‹a14›»@db.internal:5432/main"},
	{"kubernetes-secret", "Kubernetes secret", "kind: Secret\nmetadata:\n  name: db\ndata:\n  login: «‹b32›»\n"},
	{"authorization-header", "authorization header", "Authorization: Bearer «‹a32›»"},
	{"header-key", "key in a header", "curl -H 'X-Custom-Key: «‹a24›»' https://api.internal/v1"},
	{"command-line-password", "password on a command line", "curl -u admin:«‹a12›» https://internal/"},
	{"vendor-key", "Heroku key", "HEROKU_API = «‹h8›-‹h4›-4‹h3›-a‹h3›-‹h12›»"},
	{"vendor-key", "Mailgun key", "mailgun: «key-‹h32›»"},
	{"vendor-key", "Twilio key", "twilio auth = '«‹h32›»'"},
	{"password", "password", `DB_PASSWORD="«‹a6›!‹a6›7»"`},
	{"password", "password", "smtp.passwd: «‹a7›#‹a7›4»"},
	{"secret-value", "secret value", `client_secret = '«‹a32›»'`},
	{"secret-value", "secret value", `"apiKey": "«‹a40›»"`},
	{"spoken-secret", "password or key", "the password for the router is «‹a5›&‹a6›3»"},
	{"hex-token", "DigitalOcean access token", "dop_v1_‹h64›"},
	{"hex-token", "Databricks access token", "dapi‹h32›"},
	{"hex-token", "Shopify access token", "shpat_‹h32›"},
	{"hex-token", "Sourcegraph access token", "sgp_‹h16›_‹h40›"},
	{"long-token", "Atlassian access token", "ATATT3‹a186›"},
	{"hex-token", "Twilio access token", "SK‹h32›"},
	{"alphanumeric-token", "Node (npm) access token", "npm_‹a36›"},
	{"alphanumeric-token", "Hugging Face access token", "hf_‹a34›"},
	{"alphanumeric-token", "Linear access token", "lin_api_‹a40›"},
	{"alphanumeric-token", "Notion access token", "ntn_‹d11›‹a35›"},
	{"url-safe-token", "Docker Hub access token", "dckr_pat_‹a27›"},
	{"url-safe-token", "SendGrid access token", "SG.‹a22›.‹a43›"},
	{"url-safe-token", "PyPI access token", "pypi-AgEIcHlwaS5vcmc‹a80›"},
	{"url-safe-token", "Square access token", "sq0csp-‹a43›"},
	{"url-safe-token", "Heroku access token", "HRKU-AA‹a58›"},
	{"short-token", "SettleMint access token", "sm_pat_‹a16›"},
	{"upper-case-token", "Octopus Deploy access token", "API-‹u26›"},
	{"emberd-token", "emberd access token", "emberd_‹x52›"},
	{"long-token", "Facebook access token", "EAAM‹a120›"},
	{"encoded-token", "AWS Bedrock access token", "ABSK‹a110›"},
	{"square-token", "Square access token", "EAAA‹a60›"},
	{"dotted-token", "Airtable access token", "pat‹a14›.‹h64›"},
	{"twitter-bearer-token", "Twitter access token", strings.Repeat("A", 22) + "‹a80›"},
}

// Innocent are texts that resemble a credential and hold none, by what they are; [Fill] makes
// them whole. Nobody changes them.
var Innocent = map[string]string{
	"prose":                "We talked about the secret garden, a token of friendship and the password reset page.",
	"prose with a colon":   "The secret: patience. The key takeaway: auth is hard, password: strongly encouraged",
	"spoken algorithm":     "the API key is OAuth2-based and the token is RS256-signed-JWT, the secret is SHA256-hashed",
	"spoken action":        "I changed the password to something-stronger and the token is base64-encoded",
	"commit":               "Fixed in commit ‹h40›, see also ‹h7›",
	"commit in a token":    "token_commit: ‹h40›",
	"sha256":               "sha256:‹h64›  release.tar.gz",
	"md5":                  "d8:‹h32› *image.iso",
	"uuid":                 "memory ‹h8›-‹h4›-4‹h3›-a‹h3›-‹h12› was merged",
	"uuid as token":        "request token: ‹h8›-‹h4›-4‹h3›-a‹h3›-‹h12›",
	"path":                 "secret file: /etc/ssl/private/server-2024.key and ~/.ssh/id_ed25519",
	"path in assignment":   `token_file = "/var/run/secrets/kubernetes.io/token2"`,
	"data URI":             "![](data:image/png;base64,iVBORw0KGgo‹b60›/EAAA‹b80›/AKIA‹x16›/sk_live_‹a24›)",
	"isbn":                 "ISBN 978-3-16-148410-0 and ISBN-10: 0-306-40615-2",
	"phone":                "Call +49 (0)30 1234567-89 or 555-0199 after 18:00",
	"go code":              "token := parser.NewToken(kind, 42)\nsecret, err := store.Secret(ctx, id)\nif password == \"\" {",
	"go camel case":        "dec.tokenState = tokenArrayValue\npriv.PrivateKey = marshalPKCS1PrivateKey",
	"call with digits":     "secretKey = deriveKey2FromSeed32(seed)",
	"python code":          `api_key = os.environ["OPENAI_API_KEY"]`,
	"javascript code":      "const token = await getAccessTokenSilently({ audience: API_V2_URL });",
	"shell variable":       `export GITHUB_TOKEN=${GITHUB_TOKEN_2024} PASSWORD="$DB_PASSWORD_V1"`,
	"template":             "password: {{ .Values.db.password1 }}\ntoken: <your token here>",
	"workflow expression":  "token: ${{ secrets.GITHUB_TOKEN1 }}",
	"stars":                "password: ********1a and api_key=xxxxxxxxxxxx1Xx9",
	"your token":           "GITHUB_TOKEN=ghp_" + "yourTokenHere12345abcdefghijklmnopqrstuv",
	"example key":          "AWS_ACCESS_KEY_ID=AKIA" + "IOSFODNN7EXAMPLE",
	"example secret":       "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCY" + "EXAMPLEKEY",
	"zeros":                "ghp_" + strings.Repeat("0", 36) + " sk-ant-" + strings.Repeat("x", 40),
	"counting":             "npm_" + "0123456789abcdefghijklmnopqrstuvwxyz",
	"url dummy":            "postgres://user:password@localhost:5432/db and https://host:8080/path@2x.png",
	"mail":                 "Write to https://example.com or mailto:jane@example.com",
	"public key":           "-----BEGIN PUBLIC KEY-----\n‹b64›\n‹b64›\n-----END PUBLIC KEY-----",
	"key header only":      "A file that starts with -----BEGIN RSA PRIVATE KEY----- is PKCS 1, the others are PKCS 8.",
	"hash of password":     `"password_hash": "$2b$12$‹a22›‹a31›"`,
	"token type":           `"token_type": "bearer-v2-2024-x1y2"`,
	"identifier with mark": "hf_hub_download_with_retries_and_timeouts_2024(repo)",
	"css":                  ".sk-fading-circle .sk-circle-12 { animation-delay: -0.1s }",
	"vendor in prose":      "Slack: discussed the 2024-roadmap-for-search-and-ranking with the Discord people",
	"vendor link":          "Sentry: https://sentry.io/organizations/acme/issues/4501239876/",
	"module version":       "github.com/rogpeppe/go-internal v1.16.0 h1:‹b43›=",
	"bearer":               "She is the bearer of good news2day",
}
