package contradiction

import "testing"

// What people say in a conversation, and what belongs to two things, is no conflict.
func TestTurnsOfConversations(t *testing.T) {
	check(t, []disagreement{
		{"No, not really.", "It really is!", ""},
		{"No, not really.", "I really enjoy films", ""},
		{"Not recently.", "I found out recently that I need glasses", ""},
		{"No worries!", "Worries and stress seem to vanish", ""},
		{"I couldn't agree more!", "I agree!", ""},
		{"I don't agree", "I agree", "negation"},
		{"The cache is not ready", "The cache is ready", "negation"},
		{"When the door is open the lamp is on", "When the door is closed the lamp is on", ""},
		{"Rolling a 6 has the probability 1/6", "Rolling a 4 has the probability 1/6", ""},
		{"I need a 16 GB laptop", "I need a 32 GB laptop", "number: 16 GB against 32 GB"},
		{"The CSS size is under 100 KB", "The CSS and JS size is under 150 KB combined", ""},
		{"I used the editor on July 15 and reduced the passive voice by 35%",
			"I used the editor on May 11 and reduced the passive voice by 25%", ""},
		{"My application uses Flask 2.3.1", "My application is at version 1.0.0", ""},
		{"My application needs Flask 2.3.1", "My application needs Flask 2.3.2", "version: 2.3.1 against 2.3.2"},
		{"My application uses Bootstrap 5.3.0", "My application uses 6 items", ""},
		{"The response time improved to 250 ms after caching", "Reduce the response time to 250 ms by caching", ""},
	})
}

// Who speaks and who is spoken to have no roles in what is said, and an exclamation is no value of a label.
func TestSpeakersAndThoseSpokenTo(t *testing.T) {
	check(t, []disagreement{
		{"Ruth: Hey Tom! Good to see you!", "Tom: Hey Ruth! Good to hear from you!", ""},
		{"Ruth: Thanks, Tom! Your help means a lot.", "Tom: Thanks Ruth. That means a lot to me.", ""},
		{"Ruth: Wow, Tom, what a garden!", "Tom: Wow, Ruth! What a lovely house!", ""},
		{"Ruth: Hooray! The boat is ready.", "Ruth: Look at the boat! It is ready.", ""},
		{"Tom: Indeed, Ruth! Let us mend the boat together.", "Tom: Certainly! We mend the boat together.", ""},
		{"Ruth: Tom reports to Ada.", "Ruth: Ada reports to Tom.", "order"},
		{"Ruth reports to Tom", "Tom reports to Ruth", "order"},
		{"Owner: Ann", "Owner: Bob", "name: Ann against Bob"},
		{"Ruth can't have gluten.", "Ruth is curious about recipes for gluten-free bread.", ""},
		{"Ruth can't have gluten.", "Ruth can have gluten.", "negation"},
		{"The solder is not lead-free.", "The solder is lead-free.", "negation"},
	})
}
