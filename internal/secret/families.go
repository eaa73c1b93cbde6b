package secret

import "strings"

// sameWords makes marks that are all described by the same words.
func sameWords(words string, literals ...string) []mark {
	marks := make([]mark, len(literals))
	for i, literal := range literals {
		marks[i] = mark{literal: literal, words: words}
	}
	return marks
}

// tokensOf makes marks out of "prefix vendor" pairs, described as the vendor's
// access token.
func tokensOf(pairs ...string) []mark {
	marks := make([]mark, len(pairs))
	for i, pair := range pairs {
		prefix, vendor, _ := strings.Cut(pair, " ")
		marks[i] = mark{literal: prefix, words: vendor + " access token"}
	}
	return marks
}

// familyRules are one rule for each form of token that many vendors share: a
// prefix of their own, then hexadecimal digits, letters and digits, or the URL
// alphabet of base64.
func familyRules() []rule {
	return []rule{
		{
			id: "hex-token", pattern: `[0-9A-Fa-f_-]{32,}[0-9A-Za-z]*`, entropy: 2.7, changes: 5,
			marks: tokensOf("dop_v1_ DigitalOcean", "doo_v1_ DigitalOcean", "dor_v1_ DigitalOcean", "DOR_V1_ DigitalOcean",
				"dapi Databricks", "rubygems_ RubyGems", "pul- Pulumi", "shippo_live_ Shippo", "shippo_test_ Shippo",
				"shpat_ Shopify", "shpca_ Shopify", "shppa_ Shopify", "shpss_ Shopify", "sntryu_ Sentry", "sgp_ Sourcegraph",
				"sgp_local_ Sourcegraph", "SK Twilio", "PMAK- Postman", "xkeysib- Brevo", "v1.0- Cloudflare",
				"s-s4t2ud- 42 Intra", "s-s4t2af- 42 Intra", "sbp_ Supabase", "access-sandbox- Plaid",
				"access-development- Plaid", "access-production- Plaid"),
		},
		{
			id: "alphanumeric-token", pattern: `[0-9A-Za-z]{32,}(?:_[0-9A-Fa-f]{8})?`, entropy: 3.2, changes: 3, fold: true,
			marks: tokensOf("npm_ Node (npm)", "hf_ Hugging Face", "api_org_ Hugging Face", "ico- Infracost", "lin_api_ Linear",
				"lin_oauth_ Linear", "ntn_ Notion", "secret_ Notion", "pplx- Perplexity", "pnu_ Prefect", "rdme_ ReadMe",
				"dp.pt. Doppler", "dp.st. Doppler", "dp.ct. Doppler", "ezak EasyPost", "eztk EasyPost", "clojars_ Clojars",
				"akcp Artifactory", "cmvmd Artifactory", "glsa_ Grafana", "gsk_ Groq", "r8_ Replicate", "4b1d ClickHouse",
				"p8e- Adobe", "sk- OpenAI", "nfp_ Netlify", "flwseck_test- Flutterwave", "flwpubk_test- Flutterwave",
				"flwseck- Flutterwave", "_gitlab_session= GitLab"),
		},
		{
			id: "url-safe-token", pattern: `[\w=.+/-]{19,}[\w=]`, entropy: 3.2, changes: 6,
			marks: tokensOf("dckr_pat_ Docker Hub", "dckr_oat_ Docker Hub", "sq0atp- Square", "sq0csp- Square",
				"HRKU- Heroku", "NRAK- New Relic", "NRII- New Relic", "NRJS- New Relic", "fo1_ Fly.io", "fio-u- Frame.io",
				"tk-us- Scalingo", "sha256~ OpenShift", "duffel_live_ Duffel", "duffel_test_ Duffel", "pscale_tkn_ PlanetScale",
				"pscale_oauth_ PlanetScale", "pscale_pw_ PlanetScale", "dnkey- Defined Networking", "tskey- Tailscale",
				"hvs. HashiCorp Vault", "hvb. HashiCorp Vault", "hvr. HashiCorp Vault", "tfp_ Typeform", "SG. SendGrid",
				"dt0c01. Dynatrace", "glc_ Grafana", "AQVN Yandex", "pypi- PyPI", "figd_ Figma", "sb_secret_ Supabase",
				"LTAI Alibaba Cloud", "sntrys_ Sentry"),
		},
		{
			id: "short-token", pattern: `[0-9A-Za-z]{12,}`, entropy: 2.4, changes: 3,
			marks: tokensOf("sm_aat_ SettleMint", "sm_pat_ SettleMint", "sm_sat_ SettleMint", "FLWSECK_TEST- Flutterwave"),
		},
		{
			id: "upper-case-token", pattern: `[A-Z0-9-]{26,}`, entropy: 3, changes: 4,
			marks: tokensOf("API- Octopus Deploy", "A3- 1Password", "AGE-SECRET-KEY-1 Age (file encryption)"),
		},
		{ // 52 letters and digits of base32, of which one in two thousand has hardly a digit, and some a word
			id: "emberd-token", pattern: `[A-Z2-7]{52}`, entropy: 3, raw: true, marks: tokensOf("emberd_ emberd"),
		},
		{
			id: "long-token", pattern: `[\w+/=.\\-]{100,}`, entropy: 3.5, changes: 20, blob: true, window: 2 << 10,
			marks: tokensOf("ops_eyJ 1Password", "fm1a_ Fly.io", "fm1r_ Fly.io", "fm2_ Fly.io", "EAAM Facebook", "EAAC Facebook",
				"ATATT3 Atlassian", "sl. Dropbox"),
		},
		{
			id: "encoded-token", pattern: `[\w+/\\-]{28,}={0,3}`, entropy: 3, changes: 8, blob: true, window: 2 << 10,
			marks: tokensOf("ABSK AWS Bedrock", "bedrock-api-key- AWS Bedrock", "eyJrIjoi Grafana", "ZXlK Base64-wrapped JSON web"),
		},
		{
			id: "square-token", pattern: `[\w-]{22,60}`, entropy: 3, changes: 6, blob: true,
			marks: tokensOf("EAAA Square"),
		},
		{
			id: "dotted-token", entropy: 3, changes: 5,
			pattern: `[\w-]{5,30}\.[0-9A-Za-z]{4,24}\.(?:acc[_-][0-9A-Za-z-]{10,32}\.)?[\w+/=-]{20,}|[0-9A-Za-z]{14}\.[0-9a-f]{64}`,
			marks: tokensOf("sc_ Authress", "ext_ Authress", "scauth_ Authress", "authress_ Authress", "pat. Harness",
				"sat. Harness", "pat Airtable"),
		},
		{
			id: "twitter-bearer-token", pattern: `[0-9A-Za-z%]{58,}`, entropy: 4, changes: 12, blob: true, raw: true,
			marks: tokensOf(strings.Repeat("A", 22) + " Twitter"),
		},
	}
}

// vendors are names that make a random value next to them a key of theirs.
func vendors() []mark {
	names := strings.Fields(`Adafruit Airtable Algolia Asana Atlassian Bitbucket Bittrex Cloudflare Cohere Coinbase
		Contentful Databricks Datadog DigitalOcean Discord dnkey Dropbox Facebook Fastly Gitter GoCardless Heroku HubSpot
		Intercom JFrog Jira Kraken LaunchDarkly LinkedIn Lob Mailchimp Mailgun Mapbox Mattermost Netlify NewRelic New_Relic
		New-Relic Okta OpenAI Plaid RapidAPI SendGrid Sentry Shopify Slack Snyk Sonar Stripe SumoLogic Telegram Trello
		Twilio Twitch Twitter Typeform Yandex Zendesk`)
	marks := make([]mark, len(names))
	for i, name := range names {
		marks[i] = mark{literal: strings.ToLower(name), words: name + " key"}
	}
	return marks
}
