package embedding

// exam returns pairs of sentences that say the same and share no stem.
func exam() [][2]string {
	return [][2]string{
		{"The physician examined the ill child.", "A doctor looked at our sick kid."},
		{"She purchased an inexpensive automobile.", "My sister bought some cheap car."},
	}
}
