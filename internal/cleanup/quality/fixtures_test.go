package quality

// junk are texts that no store misses.
func junk() []string {
	return []string{
		// what stands in for something, or does not say it
		"Placeholder for the ledger", "draft, label sheets, ...", "wip 3", "somebody said something about the printer", "it broke again", "maybe later",
		"I think maybe something about the printer was weird somewhere, not sure.", "some stuff about the garden, will fill in later",
		"The conversation was about various topics.", "Here is the summary you asked for:", "Sure! I can help with that.", "no idea what happened here",
		// trials
		"test", "Test", "TEST", "testing", "Testing 123", "test test test", "this is a test", "This is a test memory, please ignore.",
		"test message 4", "hello world", "Hello, World!", "foo", "foo bar baz", "Just testing if saving works", "dummy entry", "sample text",
		"placeholder", "TBD", "n/a", "null", "undefined", "xxx", "one two three test", "temp note, delete me", "Testing the memory tool again",
		"test entry #2", "untitled", "blah blah blah", "Das ist ein Test", "prueba", "テスト", "测试",
		// keys at random
		"asdf", "asdfasdf", "asdf jkl", "qwerty", "qwertyuiop", "aaaaaaa", "hjkl hjkl", "asdjkl fjdkls", "sdfkjhsdfkjh", "zxcvbnm,", "xxxxxxxx",
		"ababababab", "jkhgfdsa",
		// nothing
		"...", "-", "!!!", "?", "👍", "---", "1", "  \n ",
		// small talk
		"ok", "OK thanks!", "thanks", "Thank you so much!", "sounds good", "Sounds good, thanks!", "lol", "haha yeah", "hi", "Hello there",
		"good morning everyone", "Great, thank you very much for your help!", "yes", "No problem", "got it", "Makes sense, thanks", "cool cool",
		"You're welcome!", "see you tomorrow", "Perfect, that's great", "hmm ok", "np", "alright, talk to you later", "Yes, exactly!",
		"danke", "ok super, danke!", "merci", "gracias", "ありがとう", "谢谢",
		// to-dos that do not say what
		"TODO", "todo: fix this", "TODO: fix this later", "FIXME", "TODO check", "need to look into this", "remember to check that thing", "TODO refactor",
		"- [ ] follow up", "don't forget this", "have to finish it tomorrow", "check this later", "need to fix the issue soon", "To do: update the notes",
		"must do this asap",
		// phrases that name nothing
		"important", "Important information", "some stuff about things", "remember this", "Note to self", "various things", "it works now",
		"Fixed the bug", "fixed it", "see above", "as discussed", "as mentioned earlier", "misc notes", "something interesting", "The usual",
		"we talked about this", "There was a problem but it is fixed now", "and then the", "This is important, keep it in mind.", "made some changes",
		"updated the notes", "It is what it is", "the thing from yesterday", "wichtig", "etwas Neues",
		// what stands in many texts
		"All rights reserved.", "Click here to read more", "Subscribe to our newsletter!", "We use cookies. Accept all cookies",
		"As an AI language model, I", "Sent from my iPhone", "Lorem ipsum dolor sit amet, consectetur adipiscing elit.", "You are a helpful assistant.",
		"How can I help you today?", "Hello! How can I assist you today?", "Hope this helps! Let me know if you have any questions.", "Session started",
		"No description provided.", "Feel free to reach out.", "Skip to main content", "Table of contents", "I'm here to help!", "Alle Rechte vorbehalten",
		"This is an automated message. Please do not reply to this email.",
		// what was written after the rules
		"Test note for checking the save function", "Let me test whether this works", "testing one two", "hello memory", "A test", "test - ignore",
		"my first memory", "just trying something out", "qwe qwe", "lkjhgfd", "fdsafdsa", "aaa", "zzzz", "....?", "ok cool",
		"Thanks a lot, really appreciate it!", "Nice one", "yup", "Sure thing", "Good night", "Hey, how are you?", "How are you doing today?", "haha nice",
		"Great job!", "Awesome work, thank you", "ok let me know", "I see", "no worries at all", "Will do!", "That makes sense.", "todo later",
		"TODO: look at it", "fix later", "need to do something about this", "remember that", "Remember to do the thing", "look into it", "Todo: clean up",
		"follow up on this", "note: important!", "some notes", "notes", "Useful info", "Interesting idea", "this could be useful",
		"I should remember this", "The problem was solved", "solved it", "Bug fixed", "Everything works fine now", "more details later", "to be continued",
		"details to follow", "The conversation continued", "User said thanks", "User greeted the assistant", "User said hello",
		"The user asked a question", "Assistant answered the question", "Nothing to report", "No changes", "no new information", "Summary not available",
		"Copyright 2024. All rights reserved.", "Please enable JavaScript to continue", "Follow us on Twitter", "Unsubscribe", "Home | About | Contact",
		"Error", "error occurred", "undefined undefined", "[object Object]", "NaN", "{}", "null null", "Lorem ipsum", "Loading...", "Click here",
		"Kind regards", "Best regards", "Bitte nicht antworten", "bis später", "ok merci beaucoup", "さようなら", "lol ok", "idk", "whatever", "meh",
		"I don't know", "I have no idea", "not sure what this was about", "maybe", "something something", "yada yada", "etc etc", "test123", "asdf123",
		"abc", "abc123", "123 test", "Trying out the memory", "testing... testing...", "dfgdfgdfg", "ghjkl", "oooooo", "mmmm", "alright then", "ha ok",
		"please continue", "Can you help me?", "todo: think about it", "need to discuss this tomorrow", "Something to look at later", "check again",
		"This is a note.", "New memory", "Useful stuff", "A few things to keep in mind", "It didn't work", "All good now", "same as before",
		"The user wants something", "User agreed", "No content", "Confidential. All rights reserved", "Your text here", "zzz", "12", "fine", "Danke dir!",
		"still broken", "The chat ended", "Cookie settings", "Test: please disregard", "ciao",
	}
}

// valuable are short texts that somebody would miss.
func valuable() []string {
	return []string{
		"draft beer costs 4 euros at the Anchor", "Draft the contract with Moira", "someone stole the blue bicycle", "Things to bring to Leith: tent, stove",
		"API key rotates every 90 days", "Port 5432", "prod DB is read-only on Sundays", "Anna is vegetarian", "Wi-Fi: fritz-7590", "use pnpm, not npm",
		"Never force-push main", "CI needs Go 1.26", "vim: hjkl moves", "Sam's birthday: 3 May", "allergic to nuts", "Deploys freeze on Fridays",
		"ssh via bastion.example.org", "tests run with -race", "The test suite takes nine minutes", "test database is on port 5433", "TODO rotate the billing key on 2026-12-01",
		"Remember to water the tomatoes", "Don't forget the visa for Japan", "hello.go prints the banner", "foo.example.com is the staging host",
		"Thanks to Ben the backup runs hourly", "OK to merge PR 42", "Yes, Lena moved to Oslo", "prefers dark mode", "hates cilantro", "Likes jazz",
		"likes tea", "works from home on Mondays", "Passport expires 2027-03-14", "QWERTY layout on the kiosk", "Lorem ipsum is used for the mock-ups of the Leith shop",
		"cookies are stored in Redis for 30 minutes", "Newsletter goes out on Tuesdays", "Der Server startet um 3 Uhr neu", "Oma mag keine Rosinen",
		"La clé est sous le pot de fleurs", "El perro se llama Bruno", "東京オフィスは9時に開く", "猫の名前はタマ", "密码每九十天更换一次", "Совещание по средам в десять",
		"nginx", "Postgres", "Kubernetes", "tabs over spaces", "Sie trinkt keinen Kaffee", "GDPR applies to the audit log", "max 3 retries", "HTTP 429 means back off",
		"`make lint` before pushing", "~/bin is on PATH", "user prefers metric units", "Mia has two cats", "blood type 0−", "the boiler needs 1.5 bar",
		"TODO list lives in Notion", "null means not asked in the survey", "Test coverage must stay above 80%", "placeholder image is logo.svg",
		"Meeting moved to Thursday", "the good scissors are in the kitchen", "I think Carol owns the billing service", "Maybe the leak comes from the roof",
		"Is the deploy key in the vault?", "must renew the TLS certificate", "sample rate is 44.1 kHz", "Strengths: patience, humour", "gate code changes monthly",
		"asdf manages the Ruby versions", "The landlord is called Mr Okoye", "no shellfish for Priya", "Thank-you card for Aunt May", "hi-fi repair shop in Leith",
		// what was written after the rules
		"Backup at 02:00", "Ann owns billing", "rent due on the 1st", "router admin: 192.168.1.1", "flag -trimpath strips paths", "Luis speaks Catalan",
		"no meetings before ten", "the cat hates the vacuum", "Tea, not coffee", "wife's name is Ines", "gym closes at nine", "use UTC everywhere",
		"left knee hurts on stairs", "Prefers window seats", "vegan", "Dentist: Dr Holt", "car plate HX 21 KLM", "Redis evicts with LRU",
		"python3 -m venv", "Use spaces", "English or German only", "deploys need two approvals", "secret santa budget 20 euros", "printer is out of cyan",
		"Grandpa fought at Narvik", "errors go to Sentry", "The error budget is 43 minutes a month", "Assistant professor Li teaches Mondays",
		"bug bounty pays 500 dollars", "fix the fence before winter", "Use the blue bin for paper", "water meter is behind the sink", "lunch with Omar",
		"kids' school starts 8:15", "Answer in Dutch", "Be concise", "Always answer in French", "call me Jo", "don't use emojis", "I live in Porto",
		"I'm a nurse", "She is left-handed", "His mother died in spring", "We adopted Rufus", "my mum is 70", "Ignore lint rule S1000 in gen.go",
		"Everything is stored in S3", "Nothing ships in August", "Anything above 200 needs approval", "new office: 4th floor", "Old password policy ended",
		"tests live next to code", "sample size was twelve", "checks run nightly", "Note 7 was recalled", "Das WLAN heißt Kaninchenbau",
		"Mülltonne dienstags", "Schlüssel beim Nachbarn", "anniversaire de Léa le 12 juin", "alérgica al polen", "牛乳アレルギー", "周三开会", "집은 서울",
		"Живёт в Минске", "kubectl", "use ctx", "never sudo npm", "a11y matters to Rita", "k8s", "tls 1.3 only", "bye-law 12 forbids bikes",
		"great-aunt Edith lives in Fife", "cool roofs save energy", "nice value 10 for backups", "Sorry, no dogs allowed in flat 3", "ok button is green",
		"thanks giving dinner at Moira's", "yes vote needs two thirds", "Feed the cat at six", "Lukas plays the oboe", "rotate logs weekly", "use gofmt",
		"tax number 12/345/678", "she prefers email", "Kim's dog is Biscuit", "the alarm code is 4417", "vote on May 7", "deploy from tags only",
		"queue name: jobs-high", "the cellar floods in March", "hates Mondays", "Wants shorter answers", "gluten free", "Rate limit 100/min",
		"JSON over XML", "no semicolons", "Wearing glasses since age nine", "parking spot 12", "his thesis is on bees", "Nora said no to the offer",
		"Ok Computer is his favourite album", "test kitchen is closed in July", "hello fresh box arrives Thursday", "memory limit 512 MiB",
		"note: Ida is deaf in one ear", "check engine light came on 3 Nov", "Thanks for all the fish is his motto", "error code E13 means jammed door",
		"issue 42 blocks release", "keeps bees", "Er heißt Matteo", "Elle habite à Lyon", "trabaja en el puerto", "血液型はA型", "他住在上海", "Аллергия на орехи",
		"max_connections = 200", "retry with jitter", "see RFC 9110",
	}
}
