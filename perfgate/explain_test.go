package main

import (
	"testing"

	"github.com/cachekit-go/cachekit/perfgate/internal/gate"
)

func TestChoose(t *testing.T) {
	key := func(name string) gate.Key { return gate.Key{Pkg: "m", Name: name} }
	fails := gate.BrokenSample(key("Fails"), "no")
	for _, test := range []struct {
		name   string
		keys   []gate.Key
		faults []gate.Sample
		want   string // a name, or an error
	}{
		{"Store", []gate.Key{key("Store"), key("StoreAll")}, nil, "Store"},
		{"BenchmarkStore", []gate.Key{key("Store"), key("StoreAll")}, nil, "Store"},
		{"ore", []gate.Key{key("Store")}, nil, "Store"},
		{"ore", []gate.Key{key("Store"), key("Core")}, nil, `"ore" is 2 benchmarks: Core, Store`},
		{"Store", []gate.Key{key("Store"), {Pkg: "n", Name: "Store"}}, nil, `"Store" is in 2 packages: m, n`},
		{"Fails", nil, []gate.Sample{fails}, "Fails: no"},
		{"ails", nil, []gate.Sample{fails}, "Fails: no"},
		{"Fails", []gate.Key{key("FailsNot")}, []gate.Sample{fails}, "Fails: no"},
		{"ails", []gate.Key{key("FailsNot")}, []gate.Sample{fails}, "FailsNot"},
	} {
		k, err := choose(test.keys, test.faults, test.name)
		got := k.Name
		if err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%s in %v: got %s, want %s", test.name, test.keys, got, test.want)
		}
	}
}
