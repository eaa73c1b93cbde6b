package vendors

// Unseen are credentials in sentences and files that were written after the rules, and the rules were not changed for
// them: they show what to expect of a text that nobody thought of. Whoever changes the rules for them moves them to
// Wordings, and writes others.
var Unseen = []Kind{
	otherText("token", "key is in the attachment, in short: %s", "TOKEN %s", "const T = `%s`", "%s (expires 2027-03-01)", "api: %s / region: eu", "\t%s\t",
		"secret-%s was a typo, the real one starts after the dash", "use:\n```\n%s\n```", "{%s}", "tok=%s", "\u201c%s\u201d"),
	inText("password", source.password, "Reminder: NAS password = %s (changed in May)", "my mother's email password is: %s", "Password %s works for both printers",
		"pw for the guest wifi -> %s", "I think the password was %s", "The passphrase for the backup is now %s", "He texted me the password (%s)",
		"Wifi: Harbor-5G, password: %s", "Excel sheet is protected with %s", "new password since yesterday: %s", "passcode %s opens the app",
		"Passwort vom Router: %s", "enter %s when it asks for a password", "password=%s;server=db1", "Set-Cookie is not it, the password is '%s'"),
	inText("login", source.password, "Login: admin, %s", "NAS: admin / %s", "root password %s", "user priya pw %s", "Log in at portal.acme-corp.net as priya with password %s",
		"credentials (admin:%s)", "login priya/%s works again", "Name: admin, Kennwort: %s", "ssh root@10.0.0.7 (pw: %s)", "the shared account is team@acme-corp.net / %s"),
	inText("netrc", source.password, "machine g.acme-corp.net\r\nlogin ci\r\npassword %s\r\n", "default login ci password %s"),
	inText("card", source.card, "charge it to %s, expiry 05/29", "my mastercard: %s", "Visa/%s", "card#%s", "credit card number is %s.", "%s CVV 123",
		"Diners or Amex: %s", "new debit card %s arrived", "Zahlung mit Karte %s", "The number on the card reads %s"),
	inText("seed phrase", source.phrase, "Ledger seed: %s", "phrase -> %s", "%s <- never type this anywhere", "(%s)", "Recovery:\n%s\nPIN is elsewhere", "words = ['%s']"),
	inText("wallet key", source.wif, "key %s of the paper wallet", "%s,0.5 BTC", "old=%s"),
	inText("secret in a file", func(s source) string { return s.of(alnum, s.between(20, 40)) }, "STRIPE_WEBHOOK_SECRET: \"%s\"", "export const TOKEN = '%s'",
		"secretKey = \"%s\"", "<secret>%s</secret>", "api-key=%s", "apikey %s", "Authorization: token %s", "token: !!str %s", "--set secret=%s", "client-secret: '%s'",
		"\"accessToken\" : \"%s\"", "ENCRYPTION_KEY=%s"),
	inText("URL", func(s source) string { return s.of(alnum, 16) }, "nats://svc:%s@nats.acme-corp.net:4222", "clickhouse://default:%s@ch:9000/logs",
		"https://x-access-token:%s@git.acme-corp.net/a.git", "sftp://web:%s@files.acme-corp.net"),
}

// UnseenOthers are texts without a credential, written after the rules as Unseen.
var UnseenOthers = []Kind{
	none("talk", source.otherTalk, "%s"),
	none("identifiers", func(s source) string {
		return s.one("build-"+s.hex(12), "INC"+s.of(digits, 7), "PROJ-"+s.of(digits, 5), "rev_"+s.of(lowerNum, 10), "k8s-pool-"+s.of(lowerNum, 5)+"-"+s.of(lowerNum, 5),
			"B0"+s.of(upperNum, 8), s.of(upper, 3)+"-"+s.of(digits, 4)+"-"+s.of(upper, 2), "SHA256:"+s.of(std64, 43), "0x"+s.hex(16),
			"chart-7.2."+s.of(digits, 1)+"-rc."+s.of(digits, 1), s.of(digits, 4)+"-"+s.of(digits, 4)+"-"+s.of(digits, 4)+"-"+s.of(digits, 4))
	}, "see %s for details", "it is %s", "ref: %s", "Ticket %s was moved to the next sprint.", "key %s in the cache", "login failed, request %s", "user %s signed up"),
	none("numbers", func(s source) string { return s.of("3456", 1) + s.of(digits, 15) }, "serial number %s", "meter reading %s", "account %s",
		"Paid invoice %s.", "barcode %s", "trace %s took 3 ms"),
}

// otherTalk is about passwords, logins, cards and keys, without one.
func (s source) otherTalk() string {
	return s.one("Which password does the printer want?", "password + OTP is required from 2027-01-01", "The password field accepts UTF-8.", "Password reset mail: ticket 4711-A",
		"the admin account was locked at 10:42:17", "root: 93% of 120 GB used", "admin: Priya, deputy: Tom", "user guide / admin guide v2.1", "login took 3.2s on Wi-Fi 6E",
		"sign in with Apple is broken since iOS 19.2", "credentials expire after 90d", "The account has 2FA and SMS-TAN.", "passwords.csv was deleted on 2026-02-03",
		"Pass 2 of 3: add tests", "the pass to Bolzano is A22", "pw.x is the binary of Quantum ESPRESSO 7.3", "the card game has 52 cards and 2 jokers", "Visa sponsorship: H-1B, O-1",
		"Discover weekly 2026-11-23", "business card: Priya Shah, +1 415 555 0142", "graphics card RTX-5090 32GB", "machine learning on 8xH100", "the default machine is t3.large",
		"login node login02.cluster is down", "WiFi channel 36/80 MHz", "secret ballot on 12/05", "token ring is IEEE 802.5", "tokens/s: 45.2 (Q4_K_M)", "the key change to F#m7b5",
		"password hashing: PBKDF2-HMAC-SHA256, 600k rounds", "The password for the exam room is given on site.", "password is case-sensitive", "password length is now 16+",
		"use password protected ZIP files", "with password rotation every 30d", "The seed list: carrot, onion, leek, kale", "seed=1234567890", "private key is in the HSM (slot 3)",
		"netrc support landed in curl 7.84.0", "account: 12 users, 3 admins", "log in, then open Settings > Security", "creds are in 1Password, item NAS-Admin")
}
