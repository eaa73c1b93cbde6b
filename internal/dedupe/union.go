package dedupe

// union joins items to groups of at most so many.
type union struct {
	most   int
	leader []int         // by item; of a group all have the same
	group  map[int][]int // by leader, those that were joined
}

func newUnion(n, most int) *union {
	u := &union{most: most, leader: make([]int, n), group: make(map[int][]int)}
	for i := range u.leader {
		u.leader[i] = i
	}
	return u
}

func (u *union) of(i int) []int {
	if g, ok := u.group[u.leader[i]]; ok {
		return g
	}
	return []int{i}
}

// join makes one group of those of two items, unless it would be too large or any two in
// it differ.
func (u *union) join(a, b int, differ func(a, b int) string) {
	mine, other := u.of(a), u.of(b)
	if u.leader[a] == u.leader[b] || len(mine)+len(other) > u.most {
		return
	}
	for _, x := range mine {
		for _, y := range other {
			if differ(x, y) != "" {
				return
			}
		}
	}
	leader, gone := u.leader[a], u.leader[b]
	for _, y := range other {
		u.leader[y] = leader
	}
	delete(u.group, gone)
	u.group[leader] = append(mine, other...)
}

// groups are those of two and more, in no order.
func (u *union) groups() [][]int {
	out := make([][]int, 0, len(u.group))
	for _, g := range u.group {
		out = append(out, g)
	}
	return out
}
