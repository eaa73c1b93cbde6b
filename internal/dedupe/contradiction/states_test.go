package contradiction

import "testing"

// What is so now is compared with what is so now, in any spelling of its value.
func TestPresentStates(t *testing.T) {
	check(t, []disagreement{
		{"The build took 9 minutes yesterday", "The build takes 4 minutes", ""},
		{"The build took 9 minutes", "The build takes 4 minutes", ""},
		{"The build takes 9 minutes", "The build takes 4 minutes", "number: 9 minutes against 4 minutes"},
		{"The release of sprint 41 is on Monday", "The release of sprint 42 is on Friday", ""},
		{"In sprint 41 the release is on Monday", "In sprint 42 the release is on Friday", ""},
		{"The sensor has the address 0x44", "The sensor has the address 0x46", "number: 0x44 against 0x46"},
		{"The sensor's I2C address is 0x44", "The sensor's I2C address is 0x46", "number: 0x44 against 0x46"},
		{"The sensor uses I2C address 0x44", "The sensor uses I2C address 0x46", "number: 0x44 against 0x46"},
		{"The mask is 0xFF", "The mask is 255", ""},
		{"The pump runs on 12 volts", "The pump runs on 24 V", "number: 12 volts against 24 V"},
		{"The pump runs on 12 volts", "The pump runs on 12V", ""},
		{"The ticket costs 20 euros", "The ticket costs €20", ""},
		{"The ticket costs 20 euros", "The ticket costs €30", "number: 20 euros against €30"},
		{"Emma wohnt in Bremen", "Emma wohnt nicht mehr in Bremen", "negation"},
		{"Emma lives in Bremen", "Emma no longer lives in Bremen", "negation"},
		{"Emma lives in Bremen", "Emma does not live in Bremen any more", "negation"},
		{"Emma vive en Bremen", "Emma ya no vive en Bremen", "negation"},
		{"Die Kita braucht mehr Geld", "Die Kita braucht mehr Zeit", ""},
		{"Der Biobauer liefert immer dienstags", "Der Biobauer liefert ab jetzt donnerstags statt dienstags",
			"date: dienstags against donnerstags"},
		{"Die Miete beträgt 1020 Euro", "Die Miete beträgt ab November 985 Euro", "number: 1020 Euro against 985 Euro"},
		{"We moved the greenhouse database from port 5432 to port 6432", "The greenhouse database runs on port 6432", ""},
		{"We moved the greenhouse database from port 5432 to port 6432", "The greenhouse database runs on port 5432",
			"number: 6432 against 5432"},
		{"We migrated the main billing database from MySQL to Postgres", "The main billing database is Postgres", ""},
		{"The port is 6432", "We moved the port from 5432 to 6432", ""},
		{"The port is 5432", "We moved the port from 5432 to 6432", "number: 5432 against 6432"},
		{"Die Miete kostet 985 €", "Die Miete beträgt 1020 Euro", "number: 985 € against 1020 Euro"},
		{"Die Miete kostet 1.020 €", "Die Miete ist 1020,00 Euro", ""},
		{"Le loyer est de 985 euros", "Le loyer est de 1020 €", "number: 985 euros against 1020 €"},
		{"The address of the SHT31 is 0x44", "The SHT31 has the address 0x45", "number: 0x44 against 0x45"},
		{"Register 0x10 holds the mode", "Register 0x12 holds the mode", ""},
		{"The supply gives 5 kW", "The supply gives 5000 watts", ""},
		{"Emma habite à Brême", "Emma n'habite plus à Brême", "negation"},
		{"Emma habite plus à Brême qu'à Lyon", "Emma habite à Brême", ""},
		{"Emma lebt in Bremen", "Emma ist nicht länger in Bremen", "negation"},
		{"Der Dienst nutzt Redis", "Der Dienst nutzt kein Redis mehr", "negation"},
		{"Hier passen 10 Leute hinein", "Hier passen nicht mehr als 10 Leute hinein", ""},
		{"Die Heizung steht auf Stufe 3", "Die Heizung steht nicht auf Stufe 3", "negation"},
	})
}
