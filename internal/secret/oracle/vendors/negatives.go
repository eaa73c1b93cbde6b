package vendors

import (
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/btcsuite/btcd/btcutil/base58"
	"github.com/tyler-smith/go-bip39"
	"github.com/tyler-smith/go-bip39/wordlists"
)

// Negatives are texts that look like credentials and are none: identifiers, digests, public keys,
// placeholders of documentation, and talk about credentials.
var Negatives = []Kind{
	none("git-hash", func(s source) string { return s.hex(40) }, "Fixed in commit %s.", "git checkout %s", "merge-base: %s", "%s refs/heads/main"),
	none("short-hash", func(s source) string { return s.hex(s.between(7, 12)) }, "see %s", "reverted %s yesterday", "v1.2.0-14-g%s"),
	none("sha256", func(s source) string { return s.hex(64) }, "sha256:%s", "image: nginx@sha256:%s", "checksum of the ISO: %s",
		"%s  emberd-v1.0.tar.gz"),
	none("md5", func(s source) string { return s.hex(32) }, `ETag: "%s"`, "md5sum: %s", "gravatar.com/avatar/%s"),
	none("uuid", source.uuid, "id: %s", "session %s crashed", "The order has the ID %s", "device-uuid=%s", "%s"),
	none("ulid", func(s source) string { return "01" + s.of(digits+"ABCDEFGHJKMNPQRSTVWXYZ", 24) }, "request %s failed", "event ID %s"),
	none("npm-integrity", func(s source) string { return s.base64(64) }, `"integrity": "sha512-%s"`, "integrity sha512-%s", `resolved, sha512-%s`),
	none("go-sum", func(s source) string { return s.base64(32) }, "github.com/google/uuid v1.6.0 h1:%s", "golang.org/x/sync v0.7.0/go.mod h1:%s"),
	none("base64-image", func(s source) string { return s.base64(s.between(120, 800)) },
		"![logo](data:image/png;base64,iVBORw0KGgo%s)", "<img src=\"data:image/gif;base64,R0lGODlh%s\">"),
	none("order-number", func(s source) string { return luhn(s.of("456", 1) + s.of(digits, 14)) },
		"Order %s has shipped.", "invoice no. %s", "Your booking reference is %s", "order #%s", "ticket %s was closed"),
	none("tracking-number", func(s source) string {
		return s.one("1Z"+s.of(upperNum, 16), "00340"+s.of(digits, 15), s.of(digits, 12))
	},
		"DHL tracking %s", "UPS: %s", "parcel %s arrives on Friday"),
	none("isbn", func(s source) string {
		return s.one("978-3-16-", "978-0-13-") + s.of(digits, 6) + "-" + s.of(digits, 1)
	},
		"ISBN %s", "The book (ISBN: %s) is out of print.", "isbn=%s"),
	none("phone", func(s source) string {
		return s.one("+49 30 "+s.of(digits, 8), "+1 (415) 555-"+s.of(digits, 4), "0171 "+s.of(digits, 7))
	},
		"Call %s after six.", "Phone: %s", "Priya's number is %s"),
	none("iban", func(s source) string {
		return s.one("DE"+s.of(digits, 20), "GB"+s.of(digits, 2)+"NWBK"+s.of(digits, 14), "DE"+s.of(digits, 2)+" "+s.of(digits, 4)+" "+s.of(digits, 4)+" "+s.of(digits, 4)+" "+s.of(digits, 4)+" "+s.of(digits, 2))
	},
		"IBAN %s", "Transfer the rent to %s", "account: %s"),
	none("imei", func(s source) string { return luhn(s.one("35", "86", "01") + s.of(digits, 12)) }, "IMEI %s", "The phone's IMEI is %s", "imei: %s"),
	none("timestamp", func(s source) string {
		return s.one("17"+s.of(digits, 17), "17"+s.of(digits, 11), "17"+s.of(digits, 8))
	},
		"ts=%s", "at %s the queue was empty", "created_at: %s"),
	none("snowflake", func(s source) string { return "1" + s.of(digits, 18) }, "tweet %s", "Discord channel %s", "user id %s"),
	none("hex-colors", func(s source) string {
		return strings.Join([]string{"#" + s.hex(6), "#" + s.hex(6), "#" + s.hex(6), "#" + s.hex(8)}, ", ")
	},
		"Palette: %s", "--accent: %s", "brand colors are %s"),
	none("mac-ip", func(s source) string {
		return s.one("2001:db8:"+s.hex(4)+":"+s.hex(4)+"::"+s.hex(4), "02:"+s.hex(2)+":"+s.hex(2)+":"+s.hex(2)+":"+s.hex(2)+":"+s.hex(2))
	},
		"The NAS is at %s", "host %s is down"),
	none("ssh-public-key", func(s source) string { return s.base64(51) }, "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5%s priya@laptop"),
	none("pem-public", func(s source) string { return s.pem(s.one("CERTIFICATE", "PUBLIC KEY", "RSA PUBLIC KEY"), 290) }, "%s"),
	none("bitcoin-address", func(s source) string {
		return s.one(base58.CheckEncode(s.bytes(20), 0), "bc1q"+strings.ToLower(s.of(bech32, 38)))
	},
		"Donate to %s", "btc address %s", "%s"),
	none("bip32-xpub", func(s source) string {
		return base58.CheckEncode(append([]byte{0x88, 0xB2, 0x1E}, s.bytes(74)...), 0x04)
	}, "watch-only wallet %s"),
	none("ethereum-address", func(s source) string { return "0x" + s.hex(40) }, "The contract is at %s", "wallet %s"),
	none("transaction-hash", func(s source) string { return "0x" + s.hex(64) }, "tx %s was mined", "block hash %s"),
	none("google-doc", func(s source) string { return "1" + s.of(url64, 43) }, "https://docs.google.com/document/d/%s/edit"),
	none("youtube", func(s source) string { return s.of(url64, 11) }, "https://www.youtube.com/watch?v=%s", "https://youtu.be/%s?t=42"),
	none("public-ids", source.publicID, "id %s", "see %s", `{"id": "%s"}`),
	none("publishable-key", func(s source) string { return s.one("pk_live_", "pk_test_") + s.of(alnum, 24) }, "Stripe's publishable key is %s"),
	none("arn", func(s source) string { return "arn:aws:iam::" + s.of(digits, 12) + ":role/" + s.one(words...) }, "assume %s", "%s"),
	none("bip39-words", source.listWords, "%s", "vocabulary for Monday: %s", "%s were the words of the quiz"),
	none("bip39-wrong-checksum", source.wrongPhrase, "%s"),
	none("placeholder", source.placeholder, "export API_KEY=%s", "token: %s", "password=%s", "Authorization: Bearer %s", "api_key = \"%s\""),
	none("documented-example", source.example, "For example: %s", "The AWS docs use %s", "%s"),
	none("talk", source.talk, "%s"),
	none("code", source.code, "%s"),
	none("prose", source.prose, "%s"),
}

// publicID is an identifier that a vendor's interface shows to everybody.
func (s source) publicID() string {
	return s.one("cus_"+s.of(alnum, 14), "pi_3"+s.of(alnum, 23), "price_1"+s.of(alnum, 23), "prod_"+s.of(alnum, 14),
		"C0"+s.of(upperNum, 9), "U0"+s.of(upperNum, 9), "G-"+s.of(upperNum, 10), "UA-"+s.of(digits, 8)+"-1",
		"i-0"+s.hex(16), "vpc-0"+s.hex(16), "ami-0"+s.hex(16), "MDEwOlJlcG9zaXRvcnk"+s.of(alnum, 12), "AC"+s.hex(32),
		"https://"+s.hex(32)+"@o"+s.of(digits, 6)+".ingest.sentry.io/"+s.of(digits, 7))
}

// listWords are words of the BIP-39 list in no order that a wallet would make.
func (s source) listWords() string {
	for {
		n := s.between(9, 16)
		w := make([]string, n)
		for i := range w {
			w[i] = wordlists.English[s.IntN(2048)]
		}
		text := strings.Join(w, s.one(" ", ", "))
		if !bip39.IsMnemonicValid(strings.Join(w, " ")) && !containsPhrase(w) {
			return text
		}
	}
}

// wrongPhrase is a phrase of the right length with a word exchanged, so that its checksum is wrong.
func (s source) wrongPhrase() string {
	for {
		w := strings.Fields(s.phrase())
		w[s.IntN(len(w))] = wordlists.English[s.IntN(2048)]
		if !containsPhrase(w) {
			return strings.Join(w, " ")
		}
	}
}

// containsPhrase reports whether some of the words, one after the other, are a phrase by chance.
func containsPhrase(w []string) bool {
	for n := 12; n <= 24; n += 3 {
		for at := 0; at+n <= len(w); at++ {
			if bip39.IsMnemonicValid(strings.Join(w[at:at+n], " ")) {
				return true
			}
		}
	}
	return false
}

// placeholder is what stands in documentation, configuration and scripts instead of a credential.
func (s source) placeholder() string {
	return s.one("YOUR_API_KEY", "<your-token>", "${GITHUB_TOKEN}", "$TOKEN", "xxxxxxxxxxxxxxxxxxxx", "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
		"$(pass show work/api)", "{{ secrets.API_KEY }}", "process.env.API_KEY", "os.environ['API_KEY']", "sk-...", "****************",
		"********", "changeme", "REPLACE_ME", "op://Private/GitHub/token", "vault:secret/data/app#key", "<redacted>", "[REDACTED]",
		"my-secret-token", "null", "none", "...")
}

// example is a credential that a vendor's documentation marks as an example.
func (s source) example() string {
	return s.one("AKIAIOSFODNN7EXAMPLE", "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "postgres://user:password@localhost:5432/db",
		"https://user:pass@example.com/", "curl -u username:password https://example.com", "machine example.com login USER password PASSWORD",
		"the test card 4242 4242 4242 4242 always succeeds", "xoxb-your-token", "SG.xxxxxxxxxxxxxxxxxxxxxx.yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy",
		"abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about is the test phrase of BIP-39")
}

// talk is about credentials without one.
func (s source) talk() string {
	return s.one("The password is stored in the keychain.", "The password policy requires 12 characters and a digit.",
		"Login is by passkey or SSO.", "The login is broken on Safari / Firefox.", "Login is admin / user / guest, depending on the role.",
		"Reset the password before Friday, please.", "The token budget is 4096 per request.", "My password is the usual one.",
		"Ask Priya for the credentials / access to the NAS.", "The secret of good bread is time.", "Passwords are hashed with argon2id.",
		"The machine login page asks for a password twice.", "machine learning login default password rotation",
		"The seed phrase is in the safe, on a steel plate.", "Private key: kept on the YubiKey.", "She paid with her Visa card ending in 4412.",
		"Card number is printed on the back.", "password: see 1Password", "The API key is rotated every 90 days.", "pw is in the vault",
		"The root password was changed to something longer yesterday.", "use password manager to unlock the zip",
		"sign in as admin with your passkey", "credentials are read / write", "The login for the NAS is disabled and hidden.",
		"The password is SHA-256 hashed.", "Secret santa: Priya drew Tom.", "key: value pairs are sorted", "The author token is valid until tomorrow.")
}

// code is a line of a program or of its configuration.
func (s source) code() string {
	return s.one("token := r.Header.Get(\"Authorization\")", "password = getpass.getpass()", "if password != confirmation { return errMismatch }",
		"const secretKey = process.env.SECRET_KEY", "api_key: ${{ secrets.NPM_TOKEN }}", "SELECT password_hash FROM users WHERE id = $1",
		"def login(user, password): return authenticate(user, password)", "kubectl get secret db -o jsonpath='{.data.password}'",
		"password_field = driver.find_element(By.ID, 'user-password-input')", "token_type=bearer&expires_in=3600",
		"const max_tokens = 128000", "tokenizer = AutoTokenizer.from_pretrained('bert-base-uncased')", "sha1sum *.iso > SHA1SUMS",
		"--password-stdin < ~/.docker/pw", "export GPG_KEY_ID="+strings.ToUpper(s.hex(16)), "primaryKey: 'customer_account_identifier_id'",
		"secretName: tls-wildcard-acme-corp-net", "passwordResetTokenExpirationMinutes: 30", "key = hashlib.sha256(data).hexdigest()",
		"ssh -i ~/.ssh/id_ed25519 deploy@10.0.0.12", "cacheKey: 'user-profile-settings-v2'", "VERSION=2026.11.3+build."+s.hex(8))
}

// prose is a sentence of a note.
func (s source) prose() string {
	w := func() string { return s.one(words...) }
	return s.one(
		fmt.Sprintf("The %s meets the %s at noon, then the %s team reviews the %s.", w(), w(), w(), w()),
		fmt.Sprintf("Bought %d kg of %s seed and a %s lamp for %d euros.", s.between(2, 40), w(), w(), s.between(5, 90)),
		fmt.Sprintf("Version %d.%d.%d of %s needs %d MiB and %d threads.", s.between(1, 9), s.between(0, 30), s.between(0, 9), w(), s.between(64, 4096), s.between(2, 64)),
		fmt.Sprintf("Latitude 52.%s, longitude 13.%s: the %s.", s.of(digits, 6), s.of(digits, 6), w()),
		fmt.Sprintf("doi:10.1145/%s.%s describes %s trees.", s.of(digits, 7), s.of(digits, 7), w()),
		fmt.Sprintf("Call number QA76.%s .%s %d", s.of(digits, 2), strings.ToUpper(w()[:1])+s.of(digits, 3), s.between(1990, 2026)),
		"Base64 of the word is "+base64.StdEncoding.EncodeToString([]byte(w()+" "+w())))
}
