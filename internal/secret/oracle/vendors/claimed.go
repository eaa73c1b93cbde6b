package vendors

// Claimed are the kinds that the rules name and the other lists lack, after their vendors' documentation. They were
// added after the rules had been read.
var Claimed = []Kind{
	token("maxmind", func(s source) string { return s.of(alnum, 6) + "_" + s.of(alnum, 29) + "_mmk" }),
	token("twitter-bearer", func(s source) string {
		return "AAAAAAAAAAAAAAAAAAAAA" + "A" + s.of(upper+lower, 7) + "AAAAAAA" + s.of(alnum, 24) + "%3D" + s.of(alnum, 50)
	}),
	token("shippo", func(s source) string { return s.one("shippo_live_", "shippo_test_") + s.hex(40) }),
	token("sourcegraph", func(s source) string { return "sgp_" + s.hex(16) + "_" + s.hex(40) }),
	token("brevo", func(s source) string { return "xkeysib-" + s.hex(64) + "-" + s.of(alnum, 16) }),
	token("plaid", func(s source) string { return s.one("access-sandbox-", "access-production-") + s.uuid() }),
	prefixed("infracost", "ico-", alnum, 32),
	prefixed("readme", "rdme_", lowerNum, 70),
	prefixed("clojars", "CLOJARS_", lowerNum, 60),
	prefixed("clickhouse", "4b1d", alnum, 38),
	prefixed("adobe", "p8e-", alnum, 32),
	token("flutterwave", func(s source) string { return "FLWSECK_TEST-" + s.hex(32) + "-X" }),
	prefixed("frame-io", "fio-u-", url64, 64),
	prefixed("scalingo", "tk-us-", url64, 48),
	prefixed("openshift", "sha256~", url64, 43),
	token("duffel", func(s source) string { return s.one("duffel_live_", "duffel_test_") + s.of(url64, 43) }),
	token("defined-networking", func(s source) string { return "dnkey-" + s.of(url64, 26) + "-" + s.of(url64, 52) }),
	token("typeform", func(s source) string { return "tfp_" + s.of(alnum, 44) + "_" + s.of(alnum, 14) }),
	prefixed("alibaba", "LTAI", alnum, 20),
	prefixed("grafana-cloud", "glc_eyJ", alnum, 120),
	prefixed("yandex", "AQVN", url64, 38),
	token("sentry-org", func(s source) string { return "sntrys_eyJ" + s.of(std64, 150) + "_" + s.of(std64, 43) }),
	token("settlemint", func(s source) string { return s.one("sm_aat_", "sm_pat_", "sm_sat_") + s.of(alnum, 16) }),
	prefixed("octopus", "API-", upperNum, 26),
	prefixed("emberd", "emberd_", base32, 52),
	token("harness", func(s source) string {
		return s.one("pat.", "sat.") + s.of(url64, 22) + "." + s.hex(24) + "." + s.of(alnum, 20)
	}),
	inText("vendor-key", func(s source) string { return s.of(alnum, 32) }, "algolia_admin_key = \"%s\"", "FASTLY_KEY=%s", "LOB_API_KEY=%s",
		"okta.api.token: %s", "SNYK_TOKEN=%s", "trello_secret: %s", "zendesk key is %s", "HUBSPOT_ACCESS_TOKEN=%s", "mapbox secret => '%s'"),
	inText("kubernetes-secret", func(s source) string { return s.base64(24) }, "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ndata:\n  password: %s\n"),
	inText("header-key", func(s source) string { return s.of(alnum, 32) }, "curl -H 'X-Api-Key: %s' https://api.acme-corp.net/v1",
		"curl --header \"PRIVATE-TOKEN: %s\" https://git.acme-corp.net/api"),
}
