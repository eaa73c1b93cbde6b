package embedding

// exam returns pairs of sentences that say the same, written for this purpose. Within a
// pair no word and no stem comes twice, not even an article, and all sentences of a
// script are about as long, so that neither spelling nor length gives a partner away; the
// words that a sentence shares, it shares with others. Each pair has a subject of its own
// among those of all languages. A test holds the exam to that.
func exam() [][2]string {
	return [][2]string{
		{"The physician examined a sick toddler.", "Our doctor looked over one ill child."},
		{"She purchased an inexpensive automobile.", "My aunt bought herself this cheap car."},
		{"A blaze destroyed the old storehouse.", "Fire burned down that ancient depot."},
		{"He is afraid of speaking in public.", "Talking before crowds scares my uncle."},
		{"The attorney won her difficult case.", "Their lawyer succeeded at a tough trial."},
		{"Rain fell heavily all night long.", "It poured without pause until dawn."},
		{"The students finished their homework.", "Pupils completed what school assigned."},
		{"A thief stole my bicycle yesterday.", "Somebody robbed me of the new bike."},
		{"Our flight was delayed by fog.", "Mist made the plane leave late."},
		{"Ships reach the harbor at sunrise.", "Boats come into port by early morning."},
		{"The firm dismissed fifty workers.", "That company laid off many employees."},
		{"Prices of food rose sharply.", "Groceries became much more expensive."},
		{"The infant wept because of hunger.", "A starving baby cried for milk."},
		{"They married in a tiny chapel.", "The wedding was held at some small church."},
		{"Scientists discovered a distant planet.", "Researchers found one far away world."},
		{"The movie bored nearly everyone.", "Hardly anybody enjoyed that dull film."},
		{"He repaired the broken window.", "A handyman fixed our shattered pane."},
		{"The soup tastes much too salty.", "Someone put excess seasoning into this broth."},
		{"We begin the meeting at noon.", "Let us start our conference by midday."},
		{"The teacher praised his effort.", "An instructor commended how hard Tom tried."},
		{"She cannot recall the password.", "Anna forgot what unlocks her account."},
		{"The river overflowed its banks.", "A stream flooded beyond both shores."},
		{"Wolves hunt deer in winter.", "Predators chase prey during cold months."},
		{"The king died without an heir.", "No offspring followed our late monarch."},
		{"The shop closes on Sundays.", "This store stays shut every weekend."},
		{"The soldier was wounded in battle.", "One fighter got hurt during combat."},
		{"The engine makes a strange noise.", "My motor produces some odd sound."},
		{"Children love very sweet desserts.", "Kids adore sugary treats after dinner."},
		{"The jury found him guilty.", "A court convicted that defendant."},
		{"Her neighbor cultivates red roses.", "The man next door grows flowers."},
		{"The bridge is unsafe for trucks.", "Heavy lorries must not cross here."},
		{"Our team lost the final match.", "They were beaten in that last game."},
		{"Turn off the lights before bed.", "Switch every lamp out when going to sleep."},
		{"The painting sold for millions.", "Someone paid a fortune to own this artwork."},
		{"He quit smoking years ago.", "Dad gave up cigarettes long before."},
		{"The surgeon removed a tumor.", "An operation took out this cancerous growth."},
		{"The dog barked at strangers.", "Our hound growls when unknown people come."},
		{"Voters elected a female mayor.", "Citizens chose one woman to lead town."},
		{"The software crashed twice today.", "This program stopped working again."},
		{"The desert receives little water.", "Arid land seldom gets wet."},

		{"Der Metzger verkauft frische Wurst.", "Beim Fleischer gibt es leckere Salami."},
		{"Unser Zug kam viel zu spät an.", "Die Bahn war erneut unpünktlich."},
		{"Sie wohnt in einem kleinen Dorf.", "Ihr Zuhause liegt auf dem Land."},
		{"Der Kuchen ist völlig verbrannt.", "Das Gebäck wurde im Ofen schwarz."},
		{"Er spielt seit Jahren Geige.", "Opa übt schon lange Violine."},
		{"Im Herbst färben sich die Blätter.", "Das Laub wird ab Oktober bunt."},

		{"Elle lit un roman chaque semaine.", "Ma cousine dévore beaucoup de livres."},
		{"Le facteur apporte une lettre.", "Du courrier arrive par la poste."},
		{"Les enfants ont peur du noir.", "Sans lumière, nos petits tremblent."},
		{"Il cherche un appartement à Paris.", "Mon frère veut se loger dans la capitale."},
		{"Nous avons visité plusieurs musées.", "On a vu des expositions de peinture."},

		{"Mi abuela cose vestidos a mano.", "La anciana hace ropa con aguja."},
		{"Ganó la lotería y se hizo rico.", "Su billete premiado le dio una fortuna."},
		{"El café está demasiado caliente.", "Tu bebida me quema los labios."},
		{"La montaña está cubierta de nieve.", "Aquella cumbre luce blanca en invierno."},
		{"Mi vecino canta realmente mal.", "Ese señor de al lado desafina mucho."},

		{"他昨晚很迟才睡。", "前一夜这人熬到深更。"},
		{"春季公园开满了花。", "三月份植物争相绽放。"},
		{"妈妈正在厨房做饭。", "母亲忙着炒菜煮汤。"},
		{"数学考试实在太难。", "算术测验并不容易。"},
	}
}
