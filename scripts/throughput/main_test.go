package main

import "testing"

func TestCell(t *testing.T) {
	for _, v := range []struct {
		ns   float64
		size int
		want string
	}{
		{204.7, 1024, "205 ns · 5.00 GB/s"},
		{999.4, 1024, "999 ns · 1.02 GB/s"},
		{1000, 1024, "1.00 µs · 1.02 GB/s"},
		{123456, 65536, "123.46 µs · 0.53 GB/s"},
		{2.5e6, 65536, "2.50 ms · 0.03 GB/s"},
	} {
		if got := cell(v.ns, v.size); got != v.want {
			t.Errorf("got %q, want %q", got, v.want)
		}
	}
}

// Every operation gives the right answer, or operations fails.
func TestOperations(t *testing.T) {
	for _, n := range []int{0, 64, 1024, 70_000} {
		ops, err := operations(make([]byte, n))
		if err != nil || len(ops) != 6 {
			t.Fatalf("%d bytes: %d operations, %v", n, len(ops), err)
		}
		for _, op := range ops {
			if err := op.call(); err != nil {
				t.Errorf("%s of %d bytes: %v", op.name, n, err)
			}
		}
	}
}
