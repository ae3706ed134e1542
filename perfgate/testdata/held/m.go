package m

func Sum(n int) (s int) {
	for i := range n {
		s += i
	}
	return s
}
