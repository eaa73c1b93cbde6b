package vendors

import (
	"encoding/base64"
	"fmt"
	"net/url"

	"github.com/btcsuite/btcd/btcutil/base58"
	"github.com/tyler-smith/go-bip39"
)

// InContext are the kinds that only the words around them identify, and those with a checksum.
var InContext = []Kind{
	inText("aws-secret-key", func(s source) string { return s.of(std64, 40) },
		"aws_secret_access_key = %s", "AWS_SECRET_ACCESS_KEY=%s", `"SecretAccessKey": "%s"`),
	inText("aws-session-token", func(s source) string { return "IQoJb3JpZ2luX2Vj" + s.base64(240) },
		"export AWS_SESSION_TOKEN=%s", "aws_session_token = %s"),
	inText("twilio-auth-token", func(s source) string { return s.hex(32) }, "TWILIO_AUTH_TOKEN=%s", `twilio: {auth_token: "%s"}`),
	inText("datadog", func(s source) string { return s.hex(32) }, "DD_API_KEY=%s", "DD-API-KEY: %s", "datadog.api_key: %s"),
	inText("cloudflare-token", func(s source) string { return s.of(url64, 40) },
		"CLOUDFLARE_API_TOKEN=%s", "CF_API_TOKEN: %s", "The Cloudflare API token is %s"),
	inText("heroku-old", source.uuid, "HEROKU_API_KEY=%s", "heroku api key: %s"),
	inText("vercel", func(s source) string { return s.of(alnum, 24) }, "VERCEL_TOKEN=%s", "vercel deploy --token %s"),
	inText("deepseek", func(s source) string { return "sk-" + s.hex(32) }, "DEEPSEEK_API_KEY=%s", "deepseek key %s"),
	inText("asana", func(s source) string { return "1/12" + s.of(digits, 14) + ":" + s.hex(32) },
		"asana token %s", "ASANA_ACCESS_TOKEN=%s", "Authorization: Bearer %s"),
	inText("azure-storage-key", func(s source) string { return s.base64(64) },
		"DefaultEndpointsProtocol=https;AccountName=acmedata;AccountKey=%s;EndpointSuffix=core.windows.net",
		"The account key for acmedata is\n%s"),
	inText("azure-sas", func(s source) string {
		return url.QueryEscape(s.base64(32))
	}, "https://acmedata.blob.core.windows.net/backup/db.bak?sv=2022-11-02&st=2026-01-10T08:00:00Z&se=2027-01-10T08:00:00Z&sr=b&sp=r&sig=%s",
		"?sv=2021-06-08&ss=bfqt&srt=sco&sp=rwdlacupx&se=2027-03-01T00:00:00Z&spr=https&sig=%s",
		"sas is sp=racwl&se=2027-05-05T10:11:12Z&sv=2024-05-04&sr=c&sig=%s"),
	inText("azure-service-bus", func(s source) string { return s.base64(32) },
		"Endpoint=sb://acme.servicebus.windows.net/;SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=%s"),
	inText("gcp-service-account", func(s source) string { return s.hex(40) },
		`{"type": "service_account", "project_id": "acme", "private_key_id": "%s", "private_key": "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\n-----END PRIVATE KEY-----\n"}`),
	inText("url-password", func(s source) string { return s.of(alnum, s.between(9, 20)) },
		"postgres://app:%s@db.acme-corp.net:5432/orders", "mongodb+srv://root:%s@cluster0.k3v9x.mongodb.net/",
		"redis://:%s@cache.acme-corp.net:6379/0", "amqp://svc:%s@mq.acme-corp.net/", "https://deploy:%s@git.acme-corp.net/app.git"),
	inText("basic-auth", func(s source) string {
		return base64.StdEncoding.EncodeToString([]byte(s.one("admin", "priya", "svc-ci") + ":" + s.of(alnum, 14)))
	}, "Authorization: Basic %s", "curl -H 'Authorization: Basic %s' https://ci.acme-corp.net"),
	inText("bearer", func(s source) string { return s.of(url64, s.between(32, 64)) },
		"Authorization: Bearer %s", `curl -H "Authorization: Bearer %s" https://api.acme-corp.net/v2/me`),
	inText("curl-user", func(s source) string { return s.of(alnum, 14) }, "curl -u admin:%s https://ci.acme-corp.net/job/build"),
	inText("docker-auth", func(s source) string {
		return base64.StdEncoding.EncodeToString([]byte("acme-ci:" + s.of(alnum, 22)))
	}, `{"auths": {"registry.acme-corp.net": {"auth": "%s"}}}`),
	inText("npmrc", func(s source) string { return s.uuid() }, "//npm.acme-corp.net/:_authToken=%s"),
	inText("netrc", source.password, "machine git.acme-corp.net login priya password %s",
		"machine api.heroku.com\n  login priya@acme-corp.net\n  password %s", "default login anonymous password %s",
		"machine ftp.acme-corp.net login deploy password %s macdef init"),
	inText("pgpass", func(s source) string { return s.of(alnum, 16) }, "db.acme-corp.net:5432:orders:app:%s"),
	inText("kubeconfig", func(s source) string { return s.base64(900) }, "users:\n- name: admin\n  user:\n    client-key-data: %s"),
	inText("otpauth", func(s source) string { return s.of(base32, 32) },
		"otpauth://totp/ACME:priya@acme-corp.net?secret=%s&issuer=ACME&digits=6"),
	inText("wifi-qr", source.wifi, "WIFI:T:WPA;S:Office-5G;P:%s;;", "WIFI:S:Guest;T:WPA;P:%s;H:false;;"),
	inText("seed-phrase", source.phrase, "%s", "My wallet: %s", "Seed phrase (do not lose): %s", "recovery words\n%s\nledger nano",
		"metamask backup: %s."),
	inText("bitcoin-wif", source.wif, "%s", "cold wallet key %s", "importprivkey %s"),
	inText("bip32-xprv", func(s source) string {
		body := append([]byte{0x88, 0xAD, 0xE4, 0, 0, 0, 0, 0, 0, 0, 0, 0}, s.bytes(32)...)
		return base58.CheckEncode(append(append(body, 0), s.bytes(32)...), 0x04)
	}, "%s", "descriptor wpkh(%s/84h/0h/0h)"),
	inText("ethereum-key", func(s source) string { return "0x" + s.hex(64) },
		"private key: %s", "PRIVATE_KEY=%s", "eth private key is %s"),
	inText("card-number", source.card, "card number %s exp 04/29 cvv 731", "My Visa is %s", "Corporate card: %s, valid thru 11/28",
		"pay with %s (credit card)", "amex %s", "cc %s 09/30"),
	inText("password-in-prose", source.password, "The password is %s", "Wifi password: %s", "my password for the NAS is %s",
		"Priya's passphrase: %s", "root pw is %s", "The admin password was changed to %s yesterday", "use password %s to unlock the zip"),
	inText("login-in-prose", source.password, "The staging login is admin / %s", "login: priya / %s", "Router login is admin/%s",
		"log in with priya@acme-corp.net / %s", "credentials are svc-backup / %s", "the login for the NAS is root and %s",
		"sign in as admin with %s"),
	inText("password-assignment", source.password, "DB_PASSWORD=%s", `password: "%s"`, `{"password": "%s"}`, "spring.datasource.password=%s",
		"MYSQL_ROOT_PASSWORD: %s", "mysql -u root --password=%s"),
	inText("secret-assignment", func(s source) string { return s.of(alnum, s.between(24, 48)) },
		"SECRET_KEY=%s", `client_secret: "%s"`, "APP_SECRET=%s", `{"api_key": "%s"}`, "session_secret = '%s'"),
}

// wifi returns a password without the characters that the WIFI: scheme escapes.
func (s source) wifi() string { return s.of(alnum, s.between(10, 20)) }

// phrase returns the words of a wallet as BIP-39 makes them: 12, 15, 18, 21 or 24 with their checksum.
func (s source) phrase() string {
	words, err := bip39.NewMnemonic(s.bytes(16 + 4*s.IntN(5)))
	if err != nil {
		panic(err)
	}
	return words
}

// wif returns a private key of Bitcoin in the wallet import format, compressed or not.
func (s source) wif() string {
	key := s.bytes(32)
	if s.IntN(2) == 0 {
		key = append(key, 1)
	}
	return base58.CheckEncode(key, 0x80)
}

// card returns a card number of an issuer's range (ISO/IEC 7812) with its check digit, in one of the usual groupings.
func (s source) card() string {
	n := ""
	switch s.IntN(6) {
	case 0, 1:
		n = luhn("4" + s.of(digits, 14))
	case 2:
		n = luhn(fmt.Sprint(s.between(51, 55)) + s.of(digits, 13))
	case 3:
		n = luhn(fmt.Sprint(s.between(2221, 2720)) + s.of(digits, 11))
	case 4:
		n = luhn(s.one("6011", "6500") + s.of(digits, 11))
	default:
		n = luhn(s.one("34", "37") + s.of(digits, 12))
		return s.one(n, n[:4]+" "+n[4:10]+" "+n[10:])
	}
	return s.one(n, n[:4]+" "+n[4:8]+" "+n[8:12]+" "+n[12:], n[:4]+"-"+n[4:8]+"-"+n[8:12]+"-"+n[12:])
}
