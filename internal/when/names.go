package when

import (
	"strings"
	"time"
)

// month is a month by one of its names.
type month struct {
	time.Month
	sure bool // the name means nothing else
}

// months are the names of months; those in the first list of a language mean something
// else, too, or are short for it.
var months = monthNames([][2]string{
	{"jan feb march april may june - august - - - -", "january february - - - - july - september october november december"},
	{"- - mar apr - jun jul aug sep oct nov dec", ""},
	{"- - - - - - - - sept okt - dez", ""},
	{"jän - mrz - mai - - - - - - -", "januar februar märz - - juni juli - - oktober - dezember"},
	{"- - - - - - - - - - - -", "jänner feber maerz - - - - - - - - -"},
	{"- - mars avril - - - - - - - -", "janvier février - - - juin juillet août septembre octobre novembre décembre"},
	{"- - - - - - - - - - - -", "- fevrier - - - - - aout - - - decembre"},
	{"- - - abril mayo junio julio - - - - -", "enero febrero marzo - - - - agosto septiembre octubre noviembre diciembre"},
})

func monthNames(lists [][2]string) map[string]month {
	all := make(map[string]month)
	for _, list := range lists {
		for sure, names := range list {
			for i, name := range strings.Fields(names) {
				if name != "-" {
					all[name] = month{time.Month(i + 1), sure == 1}
				}
			}
		}
	}
	return all
}

// unit is a length of time by the calendar.
type unit int

const (
	day unit = iota + 1
	week
	weekend
	aMonth
	quarter
	year
)

var units = map[string]unit{
	"day": day, "days": day, "tag": day, "tage": day, "tagen": day, "jour": day, "jours": day, "día": day, "días": day, "dia": day, "dias": day,
	"week": week, "weeks": week, "woche": week, "wochen": week, "semaine": week, "semaines": week, "semana": week, "semanas": week,
	"weekend": weekend, "weekends": weekend, "wochenende": weekend, "week-end": weekend,
	"month": aMonth, "months": aMonth, "monat": aMonth, "monate": aMonth, "monaten": aMonth, "mois": aMonth, "mes": aMonth, "meses": aMonth,
	"quarter": quarter, "quarters": quarter, "quartal": quarter, "trimestre": quarter,
	"year": year, "years": year, "jahr": year, "jahre": year, "jahren": year, "an": year, "ans": year, "année": year, "années": year, "annee": year, "año": year, "años": year,
}

// seasons are those of the north by the month they begin in.
var seasons = map[string]time.Month{
	"spring": time.March, "frühling": time.March, "frühjahr": time.March, "printemps": time.March, "primavera": time.March,
	"summer": time.June, "sommer": time.June, "été": time.June, "verano": time.June,
	"autumn": time.September, "fall": time.September, "herbst": time.September, "automne": time.September, "otoño": time.September,
	"winter": time.December, "hiver": time.December, "invierno": time.December,
}

var weekdays = map[string]time.Weekday{
	"monday": time.Monday, "tuesday": time.Tuesday, "wednesday": time.Wednesday, "thursday": time.Thursday, "friday": time.Friday, "saturday": time.Saturday, "sunday": time.Sunday,
	"montag": time.Monday, "dienstag": time.Tuesday, "mittwoch": time.Wednesday, "donnerstag": time.Thursday, "freitag": time.Friday, "samstag": time.Saturday, "sonntag": time.Sunday,
	"lundi": time.Monday, "mardi": time.Tuesday, "mercredi": time.Wednesday, "jeudi": time.Thursday, "vendredi": time.Friday, "samedi": time.Saturday, "dimanche": time.Sunday,
	"lunes": time.Monday, "martes": time.Tuesday, "miércoles": time.Wednesday, "jueves": time.Thursday, "viernes": time.Friday, "sábado": time.Saturday, "domingo": time.Sunday,
}

// counts are numbers in words.
var counts = map[string]int{
	"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "couple": 2, "few": 3,
	"einem": 1, "einer": 1, "zwei": 2, "drei": 3, "vier": 4, "fünf": 5, "sechs": 6, "sieben": 7, "acht": 8, "neun": 9, "zehn": 10,
	"un": 1, "une": 1, "deux": 2, "trois": 3, "quatre": 4, "cinq": 5, "sept": 7, "huit": 8, "neuf": 9, "dix": 10,
	"una": 1, "dos": 2, "tres": 3, "cuatro": 4, "cinco": 5, "seis": 6, "siete": 7, "ocho": 8, "nueve": 9, "diez": 10,
}

// turns say which of several: that before this, this, or that behind it. Those of turned
// stand behind what they say it of.
var (
	turns = map[string]int{
		"last": -1, "past": -1, "previous": -1, "this": 0, "next": 1,
		"letzte": -1, "letzten": -1, "letzter": -1, "letztes": -1, "letztem": -1, "vorige": -1, "vorigen": -1, "voriges": -1, "vorigem": -1, "vergangene": -1, "vergangenen": -1, "vergangenes": -1,
		"diese": 0, "diesen": 0, "dieses": 0, "diesem": 0, "dieser": 0, "nächste": 1, "nächsten": 1, "nächstes": 1, "nächster": 1,
		"ce": 0, "cette": 0, "cet": 0, "esta": 0, "este": 0, "próximo": 1, "próxima": 1,
	}
	turned = map[string]int{
		"dernier": -1, "dernière": -1, "derniere": -1, "passé": -1, "passée": -1, "prochain": 1, "prochaine": 1,
		"pasado": -1, "pasada": -1, "próximo": 1, "próxima": 1,
	}
)

// today says how many days after today a word or two mean.
var today = map[string]int{
	"today": 0, "tonight": 0, "this morning": 0, "this afternoon": 0, "this evening": 0, "yesterday": -1, "last night": -1, "tomorrow": 1,
	"heute": 0, "gestern": -1, "vorgestern": -2, "übermorgen": 2,
	"aujourd'hui": 0, "aujourd’hui": 0, "avant-hier": -2, "demain": 1, "hoy": 0, "ayer": -1, "anteayer": -2, "anoche": -1,
}

// edge says how a word bounds the time behind it.
type edge int

const (
	sinceEdge edge = iota + 1
	afterEdge
	beforeEdge
)

var edges = map[string]edge{
	"since": sinceEdge, "seit": sinceEdge, "depuis": sinceEdge, "desde": sinceEdge,
	"after": afterEdge, "nach": afterEdge, "après": afterEdge,
	"before": beforeEdge, "until": beforeEdge, "till": beforeEdge, "bis": beforeEdge, "vor": beforeEdge, "avant": beforeEdge, "antes": beforeEdge, "hasta": beforeEdge,
}

var (
	prepositions = set("in during since until till by on of around about before after early mid late last this next past previous in_the " +
		"im am seit bis um vor nach anfang mitte ende en depuis avant après dès desde hasta durante año year jahr année")
	articles = set("the le la el den dem des der del de d' l' of")
	// ofs stand between the parts of a date.
	ofs      = set("of de del du d'")
	elided   = set("l d qu")
	ordinals = set("st nd rd th er ère")
	// begins begin a range and tos stand between its ends; dashes do so alone.
	begins      = set("between from zwischen von vom entre du de desde")
	tos         = set("and to until till through und bis et à au y a al hasta - – —")
	dashes      = set("- – —")
	frenchWords = set("le la les des du ai a avons est était avec dans pour sur ce que qui quoi nous je")
	// notYears are what a number belongs to that is no year.
	notYears = set("on at port version v release issue pr line page step error code room model number no nr id size limit windows office server iso rfc cve java over under than least most about exactly " +
		"bytes byte kb mb gb ms px tokens token rows lines users items points words characters chars times files notes requests people samples patients participants mg g km m hz rpm usd eur dollars euros meters metres miles steps calories kcal")
)
