package eval

// clutterFact is something that may be said of a service or a person, in several ways.
type clutterFact struct {
	about string
	ways  []string
	ask   string
}

func clutterFacts() []clutterFact {
	return []clutterFact{
		{"svc", []string{
			"{svc} retries calls to {peer} {few} times with a pause of {n} seconds, because {cause}.",
			"Calls from {svc} to {peer} are retried {few} times, {n} seconds apart, because {cause}.",
			"Because {cause}, {svc} repeats failed calls to {peer} up to {few} times with {n} seconds between them.",
		}, "how often does {svc} retry calls to {peer}"},
		{"svc", []string{
			"We chose {tech} for {svc} instead of {other}, since {cause}.",
			"For {svc}, {tech} was chosen over {other}, since {cause}.",
			"Since {cause}, {svc} is built on {tech} rather than {other}.",
		}, "why does {svc} use {tech}"},
		{"svc", []string{
			"When {svc} reports \"{err}\", {fix}.",
			"The error \"{err}\" in {svc} is cured if you {fix}.",
			"{svc} stops reporting \"{err}\" once you {fix}.",
		}, "{svc} says {err}, what helps"},
		{"svc", []string{
			"{person} looks after {svc} and knows how it talks to {peer}.",
			"Ask {person} about {svc}, and about how it talks to {peer}.",
			"The one who maintains {svc} and knows how it talks to {peer} is {person}.",
		}, "who maintains {svc}"},
		{"svc", []string{
			"{svc} is deployed to {place} every {day} after {step}.",
			"Every {day}, after {step}, {svc} is deployed to {place}.",
			"The deployment of {svc} to {place} happens each {day} after {step}.",
		}, "when is {svc} deployed to {place}"},
		{"svc", []string{
			"Caching {things} in {svc} cut the time of {action} to {n} milliseconds.",
			"{svc} needs {n} milliseconds for {action} since {things} are cached.",
			"Since {things} are cached in {svc}, {action} takes {n} milliseconds.",
		}, "what made {action} in {svc} faster"},
		{"svc", []string{
			"In {svc} {rule}, so that {aim}.",
			"So that {aim}, {rule} in {svc}.",
			"{svc} has the rule that {rule}; the aim is that {aim}.",
		}, "what rule do we follow in {svc} so that {aim}"},
		{"svc", []string{
			"{svc} keeps {things} in {tech} for {n} days, then moves them to {place}.",
			"The {things} of {svc} stay in {tech} for {n} days and are moved to {place} then.",
			"After {n} days in {tech}, {things} of {svc} are moved to {place}.",
		}, "how long does {svc} keep {things} in {tech}"},
		{"person", []string{
			"{person} prefers {like} to {dislike} when {doing}.",
			"When {doing}, {person} prefers {like} to {dislike}.",
			"{person} would rather have {like} than {dislike} when {doing}.",
		}, "what does {person} prefer when {doing}"},
		{"svc", []string{
			"The outage of {svc} on {date} began with {trigger} and was ended by {remedy}.",
			"On {date} {svc} went down because of {trigger}; {remedy} brought it back.",
			"{svc} went down on {date} through {trigger}, and came back by {remedy}.",
		}, "what ended the outage of {svc}"},
		{"svc", []string{
			"{svc} accepts at most {n} {unit} at a time from {peer}, or {symptom}.",
			"From {peer}, {svc} accepts at most {n} {unit} at a time; with more {symptom}.",
			"If {peer} sends {svc} more than {n} {unit} at a time, {symptom}.",
		}, "how many {unit} does {svc} accept from {peer}"},
		{"person", []string{
			"{person} comes from {place} and plays the {instrument} on {day} evenings.",
			"On {day} evenings {person}, who comes from {place}, plays the {instrument}.",
			"{person} is from {place} and can be heard on the {instrument} every {day} evening.",
		}, "which instrument does {person} play"},
		{"svc", []string{
			"The tests of {svc} need {tech} on the same machine and take {few} minutes.",
			"To run the tests of {svc}, start {tech} on the same machine; they take {few} minutes.",
			"{svc} is tested in {few} minutes, with {tech} on the same machine.",
		}, "what do the tests of {svc} need"},
		{"person", []string{
			"{person} has a birthday on {date}.",
			"The birthday of {person} is on {date}.",
		}, "when is the birthday of {person}"},
		{"person", []string{
			"{person} leads the {team} team since {date}.",
			"Since {date} the {team} team is led by {person}.",
		}, "which team does {person} lead"},
	}
}
