package when

import "time"

// relative reads a time that is told from now: yesterday, last week, two weeks ago.
func (p *parser) relative(i int) (times, int) {
	for _, read := range []func(int) (times, int){p.fromToday, p.ago, p.lately, p.turn, p.weekday} {
		if t, end := read(i); end > i {
			return t, end
		}
	}
	return times{}, i
}

// fromToday reads today, yesterday, this morning.
func (p *parser) fromToday(i int) (times, int) {
	word := p.word(i)
	if word == "day" && p.word(i+1) == "before" && p.word(i+2) == "yesterday" {
		return p.calendar(day, -2), i + 3
	}
	if p.goesOn(i + 1) {
		if n, ok := today()[word+" "+p.word(i+1)]; ok {
			return p.calendar(day, n), i + 2
		}
	}
	if n, ok := today()[word]; ok {
		return p.calendar(day, n), i + 1
	}
	if word == "hier" && p.french {
		return p.calendar(day, -1), i + 1
	}
	return times{}, i
}

// calendar is the day, week, month … of the calendar that is n after the present one.
func (p *parser) calendar(u unit, n int) times {
	y, m, d := p.now.Date()
	monday := d - (int(p.now.Weekday())+6)%7 + 7*n
	switch u {
	case day:
		return p.days(y, m, d+n, y, m, d+n+1)
	case week:
		return p.days(y, m, monday, y, m, monday+7)
	case weekend:
		return p.days(y, m, monday+5, y, m, monday+7)
	case aMonth:
		return p.days(y, m+time.Month(n), 1, y, m+time.Month(n+1), 1)
	case quarter:
		first := (m-1)/quarterMonths*quarterMonths + 1 + time.Month(n*quarterMonths)
		return p.days(y, first, 1, y, first+quarterMonths, 1)
	}
	return p.days(y+n, 1, 1, y+n+1, 1, 1)
}

// ago reads two weeks ago, vor zwei Wochen, il y a deux semaines, hace dos semanas.
func (p *parser) ago(i int) (times, int) {
	at := i
	switch {
	case p.word(i) == "vor" || p.word(i) == "hace":
		at++
	case p.word(i) == "il" && p.word(i+1) == "y" && p.word(i+2) == "a":
		at += 3
	}
	n, u, end := p.amount(at)
	switch {
	case end == at:
		return times{}, i
	case at > i:
		return p.calendar(u, -n), end
	case p.word(end) == "ago" && p.goesOn(end):
		return p.calendar(u, -n), end + 1
	}
	return times{}, i
}

// amount reads two weeks, a couple of days, 3 months.
func (p *parser) amount(i int) (n int, u unit, end int) {
	if i >= len(p.tokens) {
		return 0, 0, i
	}
	at := i
	if p.word(at) == "a" && (p.word(at+1) == "couple" || p.word(at+1) == "few") {
		at++
	}
	n, ok := counts()[p.word(at)]
	if !ok {
		n = p.tokens[at].number
	}
	at = p.skip(at+1, 1, ofs())
	const limit = 999
	if u = units()[p.word(at)]; u == 0 || n < 1 || n > limit {
		return 0, 0, i
	}
	return n, u, at + 1
}

// lately reads the last two weeks, the past 3 days: up to now.
func (p *parser) lately(i int) (times, int) {
	if turns()[p.word(i)] != -1 {
		return times{}, i
	}
	n, u, end := p.amount(i + 1)
	if end == i+1 {
		return times{}, i
	}
	return times{p.moved(p.now, u, -n), p.now}, end
}

// moved is the beginning of the day that is n units from that of a time.
func (p *parser) moved(from time.Time, u unit, n int) time.Time {
	y, m, d := from.In(p.now.Location()).Date()
	switch u {
	case day:
		d += n
	case week, weekend:
		d += 7 * n
	case aMonth:
		m += time.Month(n)
	case quarter:
		m += time.Month(n * quarterMonths)
	default:
		y += n
	}
	at, _ := startOfDay(y, m, d, p.now.Location())
	return at
}

// turn reads last week, next month, last March, this summer, semaine dernière.
func (p *parser) turn(i int) (times, int) {
	if n, ok := turns()[p.word(i)]; ok && p.goesOn(i+1) {
		if t, ok := p.turnOf(i+1, n); ok {
			return t, i + 2
		}
	}
	if n, ok := turned()[p.word(i+1)]; ok && p.goesOn(i+1) {
		if t, ok := p.turnOf(i, n); ok {
			return t, i + 2
		}
	}
	return times{}, i
}

// turnOf is the unit, month, season or weekday at i that is n behind the present one.
func (p *parser) turnOf(i, n int) (times, bool) {
	word := p.word(i)
	if u := units()[word]; u > day {
		if articles()[p.word(i+1)] {
			return times{}, false // the last week of something
		}
		return p.calendar(u, n), true
	}
	if w, ok := weekdays()[word]; ok {
		return p.dayOfWeek(w, n), true
	}
	d, ok := p.partOfYear(i)
	if !ok || n == 0 && months()[word].Month != 0 && !months()[word].sure && !p.tokens[i].capital {
		return times{}, false
	}
	return p.turnOfYear(d, n), true
}

// partOfYear is the month or season at i, if no year stands behind it.
func (p *parser) partOfYear(i int) (date, bool) {
	d := date{month: months()[p.word(i)].Month}
	if d.month == 0 {
		d = date{month: seasons()[p.word(i)], months: seasonMonths}
	}
	after := p.withYear(&d, i+1)
	return d, d.month != 0 && after == i+1
}

// turnOfYear is the last one that is over, that of this year, or the next to come.
func (p *parser) turnOfYear(d date, n int) times {
	d.year = p.now.Year()
	t := p.resolve(d)
	switch {
	case n < 0 && t.to.After(p.now):
		d.year--
	case n > 0 && !t.from.After(p.now):
		d.year++
	}
	return p.resolve(d)
}

// weekday reads on Friday: the last one, or today.
func (p *parser) weekday(i int) (times, int) {
	w, ok := weekdays()[p.word(i)]
	switch p.word(i - 1) {
	case "on", "am":
	default:
		return times{}, i
	}
	if _, month := months()[p.word(i+1)]; !ok || month || p.word(i+1) != "" && i+1 < len(p.tokens) &&
		p.tokens[i+1].number > 0 {
		return times{}, i // the date that follows says which
	}
	return p.dayOfWeek(w, 0), i + 1
}

// dayOfWeek is the last such day before today, that of today or before, or the next.
func (p *parser) dayOfWeek(w time.Weekday, n int) times {
	back := (int(p.now.Weekday()-w) + 7) % 7
	switch {
	case n < 0 && back == 0:
		back = 7
	case n > 0:
		back -= 7
	}
	return p.calendar(day, -back)
}

// beside reads what is told from another date: the week before 3 August 2023, two weeks
// after May 3, the Sunday before 25 October.
func (p *parser) beside(i int) (times, int) {
	n, u, at := p.amount(i)
	w, isDay := weekdays()[p.word(i)]
	if _, turn := turns()[p.word(i)]; turn && u == 0 {
		u, at = units()[p.word(i+1)], i+2
		n = 1
	}
	if u == 0 {
		u, n, at = units()[p.word(i)], 1, i+1
	}
	if u == 0 && !isDay {
		return times{}, i
	}
	e := edges()[p.word(at)]
	d, end := p.date(p.skip(at+1, 1, articles()), true)
	if e != beforeEdge && e != afterEdge || d.day == 0 {
		return times{}, i
	}
	base := p.resolve(d)
	if isDay {
		return p.weekdayBeside(w, base, e), end
	}
	return p.unitsBeside(n, u, base, e), end
}

func (p *parser) weekdayBeside(w time.Weekday, base times, e edge) times {
	q := parser{now: base.from}
	if e == beforeEdge {
		return q.dayOfWeek(w, -1)
	}
	return q.dayOfWeek(w, 1)
}

// unitsBeside is the nth unit before or after a day.
func (p *parser) unitsBeside(n int, u unit, base times, e edge) times {
	if u == weekend {
		q := parser{now: base.from}
		if e == beforeEdge {
			sunday := q.dayOfWeek(time.Sunday, -1)
			return times{p.moved(sunday.from, day, -1), sunday.to}
		}
		saturday := q.dayOfWeek(time.Saturday, 1)
		return times{saturday.from, p.moved(saturday.to, day, 1)}
	}
	if e == beforeEdge {
		return times{p.moved(base.from, u, -n), p.moved(base.from, u, 1-n)}
	}
	return times{p.moved(base.to, u, n-1), p.moved(base.to, u, n)}
}
