package vendors

import "fmt"

// Wordings are credentials in sentences and files that were written after the rules of their time: the first version
// found 771 of 1,000 of the first half, the second 795 of 900 of the other. The rules were then changed to find more.
var Wordings = []Kind{
	otherText("any token", "I pasted %s into the settings page", "key=%s;", "<token>%s</token>", "(%s)", "old: %s, new: see mail",
		"token=%s&user=1", "Bearer %s", "| prod | %s | 2027-01-01 |", "Priya sent '%s' over Slack.", "secrets:\n  deploy: %s\n", "%s\n",
		"# %s\nis the one for CI"),
	inText("password", source.password, "new laptop pw: %s", "Password for the router (admin) is %s", "Her Netflix password = %s",
		"pass: %s", "I set the password of the backup drive to %s.", "the password's %s", "das Passwort lautet %s", "Kennwort: %s",
		"passwd %s on the old server", "The passphrase of the key is \"%s\"", "zip password -> %s", "password (wifi): %s",
		"guest network, password %s", "the master password will be %s from Monday on"),
	inText("login", source.password, "user: admin, password: %s", "username priya password %s", "u/p: admin/%s",
		"the NAS account is admin:%s", "login: admin pass: %s", "Username: admin\nPassword: %s", "login with priya and %s",
		"ssh deploy@10.0.0.5, password is %s", "logins\n- grafana: admin / %s", "admin / %s is the login of the printer",
		"credentials: {user: root, pass: %s}"),
	inText("netrc", source.password, "machine a.acme-corp.net\nlogin ci\npassword %s\n", "machine b.acme-corp.net login ci account ci password %s",
		"machine c.acme-corp.net password %s login ci", "machine d.acme-corp.net\tlogin\tci\tpassword\t%s"),
	inText("card", source.card, "%s (Visa, 04/29)", "my credit card is %s", "card no: %s", "CC#: %s", "Kreditkarte %s", "| Visa | %s | 04/29 |",
		"debit: %s", "payment method %s expires 04/29", "Mastercard %s CVC 113", "book it with %s, code on the back 402"),
	inText("seed phrase", source.phrase, "seed = \"%s\"", "- wallet words: %s", "Trezor:\n%s", "%s\nkeep them offline", "The 24 words: `%s`",
		"mnemonic=%s", "I wrote down %s and hid it"),
	inText("WIF key", source.wif, "wif=%s", `{"wif": "%s"}`, "private key (WIF): %s", "sweep %s into the new wallet"),
	inText("SAS", func(s source) string { return fmt.Sprintf("%s%%3D", s.of(alnum, 43)) },
		"azcopy copy 'https://a.blob.core.windows.net/b?sv=2023-01-03&se=2027-01-01&sr=c&sp=rl&sig=%s' .",
		"SharedAccessSignature=sv=2022-11-02&ss=b&srt=sco&sp=rl&se=2027-01-01T00:00:00Z&sig=%s",
		"https://a.queue.core.windows.net/q?sig=%s&sv=2022-11-02&sp=p"),
	inText("secret in a file", func(s source) string { return s.of(alnum, s.between(20, 40)) }, "auth:\n  token: %s", "api_token = \"%s\"",
		"API_KEY = '%s'", `os.environ["ACME_TOKEN"] = "%s"`, `$env:ACME_TOKEN = "%s"`, "docker run -e APP_SECRET=%s acme/app",
		"kubectl create secret generic db --from-literal=password=%s", "X-API-Key: %s", "https://api.acme-corp.net/v1?api_key=%s",
		"https://api.acme-corp.net/v1?id=7&access_token=%s", "jwtSecret: %s", "webhook_secret=%s", "encryption.key=%s"),
	inText("password in a URL", func(s source) string { return s.of(alnum, 12) }, "mysql://root:%s@10.0.0.4/shop", "smtps://mailer:%s@smtp.acme-corp.net:465",
		"ftp://web:%s@ftp.acme-corp.net/www", "git clone https://priya:%s@git.acme-corp.net/app.git", "DATABASE_URL=postgresql://app:%s@db/orders?sslmode=require"),
	otherText("token, again", "here you go %s thanks", "TOKEN := %s", "--header=%s", "set it with `gh secret set X -b %s`", "value=\"%s\" />",
		"[%s]", "prod\t%s\t2027", "> %s\n\nsent from my phone", "the key\n\n    %s\n\nworks until May", "k1=%s&k2=7", "old=%s"),
	inText("password, again", source.password, "btw the password for Priya's laptop: %s", "unlock code of the zip is the password %s", "Wi-Fi 'Harbor' / pw %s",
		"PASSWORD=%s", "my bank password changed, it's %s now", "Login password of the NAS is %s since Monday", "I always use %s as the password",
		"temporary password %s, change it on first login", "root/%s is what the vendor ships", "The password you asked for is: %s",
		"password\n%s", "the PIN-protected file opens with %s", "das WLAN-Passwort ist jetzt %s", "the safe word / password is %s",
		"credentials for the printer: %s"),
	inText("login, again", source.password, "grafana: user admin, pass %s", "email priya@acme-corp.net pw %s", "user=admin password=%s", "admin:%s",
		"SMTP login is mailer@acme-corp.net and the password %s", "account priya, password %s", "log in as root with the password %s",
		"Jenkins (admin / %s)", "ftp user web with password %s", "login %s for admin", "username: root\npw: %s", "Benutzer admin, Passwort %s"),
	inText("netrc, again", source.password, "# ~/.netrc\nmachine e.acme-corp.net\n\tlogin ci\n\tpassword %s\n", "machine f.acme-corp.net login \"ci\" password %s # old"),
	inText("card, again", source.card, "paying by Visa: %s", "the card is %s and expires in May", "Mastercard-Nummer %s", "PAN %s", "hotel booked on AmEx %s",
		"%s exp. 04/29", "card ending... full number %s", "account on file: %s (Visa)", "Card: %s", "%s 04/29 731"),
	inText("seed phrase, again", source.phrase, "BIP39: %s", "The mnemonic is \"%s\".", "seed:\n\n%s\n\nend of seed", "* %s", "wallet backup (paper): %s -- do not share",
		"1st wallet = %s; 2nd wallet is elsewhere", "my secret recovery phrase is %s"),
	inText("wallet key, again", source.wif, "priv=%s", "paper wallet: %s.", "bitcoin-cli importprivkey \"%s\" cold", "<%s>"),
	inText("secret in a file, again", func(s source) string { return s.of(alnum, s.between(20, 40)) }, "SLACK_SIGNING_SECRET=%s", "config.token = '%s'",
		"let apiKey = \"%s\";", "private static final String SECRET = \"%s\";", "- name: AUTH_TOKEN\n  value: %s", "helm upgrade --set auth.token=%s",
		"<add key=\"ApiKey\" value=\"%s\" />", "access-token: %s", "x-auth-token: %s", "auth_token=%s", "refresh_token: %s", "{\"secret\":\"%s\"}"),
	inText("URL, again", func(s source) string { return s.of(alnum, 16) }, "rtsp://admin:%s@10.0.0.9/stream", "https://ci-bot:%s@acme-corp.net/repo.git",
		"ldap://cn=app:%s@ldap.acme-corp.net", "redis://default:%s@redis:6379", "mongodb://app:%s@m1,m2/shop?replicaSet=rs0"),
}

// otherText is any of Tokens in other texts.
func otherText(name string, texts ...string) Kind {
	return Kind{name, func(s source) Sample {
		secret := Tokens[s.IntN(len(Tokens))].secret(s)
		return Sample{fmt.Sprintf(s.one(texts...), secret), secret}
	}, nil}
}
