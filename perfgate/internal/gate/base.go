package gate

// Refuse makes the benchmark k incomparable: reason says why there is nothing
// that it could be compared with, although there may be a base.
func (b *Budgets) Refuse(k Key, reason string) {
	r := b.Rows[k]
	r.incomparable = reason
	b.Rows[k] = r
}

// Lack records why the benchmark k is new, for a reader who may wonder.
func (b *Budgets) Lack(k Key, reason string) {
	if b.lacking == nil {
		b.lacking = make(map[Key]string)
	}
	b.lacking[k] = reason
}

// Had records that the base has a benchmark k. Where it has no sample now, it
// was removed.
func (b *Budgets) Had(k Key) {
	if _, ok := b.Rows[k]; !ok {
		b.Rows[k] = Budget{}
	}
}

// lack returns why k has no budget.
func (b Budgets) lack(k Key) string {
	reason := b.word("no budget", "not in "+b.Base)
	if why := b.lacking[k]; why != "" {
		reason += ": " + why
	}
	return reason
}
