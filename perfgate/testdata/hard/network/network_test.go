package network

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

func BenchmarkPipe(b *testing.B) {
	client, server := net.Pipe()
	go echo(server)
	exchange(b, client)
}

func BenchmarkTCP(b *testing.B) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	go func() {
		if c, err := l.Accept(); err == nil {
			echo(c)
		}
	}()
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	exchange(b, client)
}

func echo(c net.Conn) {
	io.Copy(struct{ io.Writer }{c}, struct{ io.Reader }{c})
	c.Close()
}

func exchange(b *testing.B, c net.Conn) {
	defer c.Close()
	buf := make([]byte, 100)
	for b.Loop() {
		if _, err := c.Write(buf); err != nil {
			b.Fatal(err)
		}
		if _, err := io.ReadFull(c, buf); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkHTTP(b *testing.B) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "hello "+r.URL.Path)
	}))
	defer s.Close()
	client := s.Client()
	for i := 0; i < b.N; i++ {
		r, err := client.Get(s.URL + "/world")
		if err != nil {
			b.Fatal(err)
		}
		text, err := io.ReadAll(r.Body)
		r.Body.Close()
		if err != nil || string(text) != "hello /world" {
			b.Fatal(string(text), err)
		}
	}
}
