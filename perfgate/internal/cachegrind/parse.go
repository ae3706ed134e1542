package cachegrind

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/cachekit-go/cachekit/perfgate/internal/count"
)

// unknown is what cachegrind writes for a file or a function that it does not
// know.
const unknown = "???"

// Parse reads a cachegrind output file with the single event Ir.
//
// A program that dies leaves a well-formed file too, and a disk that is full a
// cut one. Parse refuses a file without its summary, one whose lines do not add
// up to the summary, and a count of zero, which is what cachegrind writes when
// something went wrong.
//
// Functions have the names that cachegrind gives them; those of one name, such
// as the file-local functions of assembly, count as one. Lines are kept where
// the file says in which source they are.
//
// The format is described in Valgrind User Manual, section 5.3.5, "Cachegrind
// Output File Format".
func Parse(data []byte) (count.Count, error) {
	c := count.Count{Functions: make(map[string]int64)}
	var sum int64
	fl, fn, events, whole := "", "", false, false
	n := 0
	for raw := range bytes.Lines(data) {
		n++
		line := strings.TrimSuffix(string(raw), "\n")
		key, rest, _ := strings.Cut(line, " ")
		switch {
		case whole:
			return count.Count{}, fmt.Errorf("line %d: text after the summary", n)
		case strings.HasPrefix(line, "fn="):
			fn = line[len("fn="):]
		case strings.HasPrefix(line, "fl="), strings.HasPrefix(line, "fi="), strings.HasPrefix(line, "fe="):
			fl = line[len("fl="):]
		case line == "" || key == "desc:" || key == "cmd:" || strings.HasPrefix(line, "#"):
		case key == "events:":
			if rest != "Ir" {
				return count.Count{}, fmt.Errorf("line %d: events are %q, not Ir alone", n, rest)
			}
			events = true
		case key == "summary:":
			total, err := strconv.ParseInt(rest, 10, 64)
			if err != nil || !bytes.HasSuffix(raw, []byte("\n")) {
				return count.Count{}, fmt.Errorf("line %d: bad summary %q", n, rest)
			}
			c.Total, whole = total, true
		default:
			ir, err := strconv.ParseInt(rest, 10, 64)
			number, err2 := strconv.ParseUint(key, 10, 31)
			if err != nil || err2 != nil || ir < 0 || ir > math.MaxInt64-sum {
				return count.Count{}, fmt.Errorf("line %d: %q is not a line of counts", n, line)
			}
			c.Functions[fn] += ir
			if number > 0 && fl != unknown {
				if c.Lines == nil {
					c.Lines = make(map[count.Line]int64)
				}
				c.Lines[count.Line{Function: fn, File: fl, Number: int(number)}] += ir
			}
			sum += ir
		}
	}
	switch {
	case !events || !whole:
		return count.Count{}, errors.New("the file ends too early")
	case sum != c.Total:
		return count.Count{}, fmt.Errorf("the lines add up to %d, the summary says %d", sum, c.Total)
	case c.Total <= 0:
		return count.Count{}, errors.New("no instruction was counted")
	}
	return c, nil
}
