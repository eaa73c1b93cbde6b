package when

// between reads a range: between May and July 2023, from 2009 to 2014, 2009-2014.
func (p *parser) between(i int) (times, int) {
	announced := begins()[p.word(i)]
	first := i
	if announced {
		first++
	}
	first = p.skip(first, 1, articles())
	a, at := p.date(first, announced || dashes()[p.word(first+1)] || p.leads(i))
	if at == first || !tos()[p.word(at)] || !announced && !dashes()[p.word(at)] {
		return times{}, i
	}
	second := p.skip(at+1, 1, articles())
	b, end := p.date(second, true)
	if end == second {
		return times{}, i
	}
	switch {
	case a.year == 0 && b.year != 0:
		a.year = b.year
		if a.month > b.month {
			a.year--
		}
	case a.year == 0:
		b.year = b.last(p.now)
		a.year = b.year
		if a.month > b.month {
			a.year--
		}
	case b.year == 0:
		b.year = a.year
		if a.month > b.month {
			b.year++
		}
	}
	t := times{p.resolve(a).from, p.resolve(b).to}
	if !t.from.Before(t.to) {
		return times{}, i
	}
	return t, end
}
