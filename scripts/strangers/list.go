//go:build linux

package main

import (
	"regexp"
	"slices"
	"strings"
	"time"
)

// A module is one that others wrote.
type module struct {
	path, version string
	benchmarks    []benchmark
}

func (m module) String() string { return m.path + "@" + m.version }

// A benchmark is one without sub-benchmarks.
type benchmark struct {
	dir, name string        // name as perfgate prints it
	limit     time.Duration // for each process; 0 for usualLimit
}

const usualLimit = 10 * time.Minute

// groups returns the benchmarks of each package, those with a limit of their own
// apart.
func (m module) groups() [][]benchmark {
	var groups [][]benchmark
	for _, b := range m.benchmarks {
		i := slices.IndexFunc(groups, func(g []benchmark) bool { return g[0].dir == b.dir && g[0].limit == b.limit })
		if i < 0 {
			i, groups = len(groups), append(groups, nil)
		}
		groups[i] = append(groups[i], b)
	}
	return groups
}

// pattern returns the -bench argument that selects benchmarks.
func pattern(benchmarks []benchmark) string {
	var all []string
	for _, b := range benchmarks {
		elems := strings.Split("Benchmark"+b.name, "/")
		for i, e := range elems {
			elems[i] = "^" + regexp.QuoteMeta(e) + "$"
		}
		all = append(all, strings.Join(elems, "/"))
	}
	return strings.Join(all, "|")
}

// all returns the modules. They are chosen for being used widely; of each, three
// benchmarks of what it is used for, and some that are known to be hard: they
// wait for a disk, talk through sockets, start goroutines, compile at run time,
// read the clock, or prepare for minutes.
func all() []module {
	in := func(dir string, names ...string) (list []benchmark) {
		for _, n := range names {
			list = append(list, benchmark{dir: dir, name: n})
		}
		return list
	}
	join := func(parts ...[]benchmark) (list []benchmark) {
		for _, p := range parts {
			list = append(list, p...)
		}
		return list
	}
	return []module{
		{"go.uber.org/zap", "v1.28.0", join(in(".", "10Fields", "AddCallerAndStacktrace"), in("zapcore", "ZapJSON"))},
		{"github.com/rs/zerolog", "v1.35.1", in(".", "Info", "LogFields", "ContextFields")},
		{"github.com/tidwall/gjson", "v1.20.2", in(".", "Valid", "ValidBytes", "GoStdlibValidBytes")},
		{"github.com/klauspost/compress", "v1.18.0", join(
			in("zstd", "Decoder_DecodeAll/html.zst", "Decoder_DecoderSmall/html.zst/buffered", "Encoder_EncodeAllHTML"),
			in("s2", "TwainEncode1e4/default", "TwainDecode1e4/default", "IndexFind/blocks-1#01"))},
		{"github.com/google/btree", "v1.1.3", in(".", "Insert", "GetG", "DeleteInsertCloneEachTime")},
		{"go.etcd.io/bbolt", "v1.5.0", join(in(".", "DBBatchAutomatic"),
			[]benchmark{{".", "Bucket_CreateBucketIfNotExists", time.Minute}}, // prepares a million buckets
			in("internal/freelist", "_FreelistRelease10K"))},
		{"github.com/goccy/go-json", "v0.12.0", in(".", "EncodeTime", "DecodeRawMessage", "NumberIsValid")},
		{"github.com/bytedance/sonic", "v1.15.5", join(
			in("decoder", "Decoder_Generic_Sonic", "Decoder_Binding_Sonic", "SkipValidate/number/fast"),
			in("encoder", "Encoder_Binding_Sonic"))},
		{"google.golang.org/protobuf", "v1.36.12", join(
			in("proto", "Decode/basic_scalar_types_(*test3.TestAllTypes)", "EqualWithLargeEmpty"), in("encoding", "JSONEncode"))},
		{"github.com/valyala/fastjson", "v1.6.10", in(".", "Parse/small/fastjson", "MarshalTo/twitter", "ObjectGet/items_100/lookups_4")},
		{"github.com/cespare/xxhash/v2", "v2.3.0", in(".", "Sum64/4B", "Sum64String/4KB", "DigestBytes/10MB")},
		{"golang.org/x/crypto", "v0.43.0", join(
			in("chacha20poly1305", "Chacha20Poly1305/Seal-1350"), in("argon2", "Argon2id/_Time:_3,_Memory:_64_MB,_Threads:_4"),
			in("ssh", "EndToEnd", "UnmarshalKexInitMsg"))},
		{"github.com/prometheus/client_golang", "v1.25.0", in("prometheus", "CounterNoLabels", "HistogramObserve4", "Handler")},
		{"github.com/dgraph-io/ristretto/v2", "v2.4.2", join(in(".", "SketchIncrement", "StoreGet"), in("z", "Write/btree"))},
		{"github.com/go-chi/chi/v5", "v5.5.0", join(in(".", "Mux/route:/", "TreeGet"), in("middleware", "Throttle"))},
		{"github.com/gin-gonic/gin", "v1.12.0", in(".", "OneRouteJSON", "ParallelGithub", "LoggerMiddleware")},
		{"github.com/valyala/fasthttp", "v1.78.0", in(".", "RequestHeaderRead", "ServerGet1ReqPerConn", "ClientGetEndToEnd1TCP")},
		{"github.com/miekg/dns", "v1.1.73", in(".", "UnpackDomainName", "NewRR", "Serve")},
		{"github.com/RoaringBitmap/roaring/v2", "v2.30.0", in(".", "NewBitmap", "UnionRoaring", "IntersectionRoaring", "IteratorAlloc/many_iteration")},
		{"github.com/hashicorp/golang-lru/v2", "v2.0.7", in(".", "LRU_Rand", "LRU_Freq", "2Q_Rand")},
		{"github.com/pelletier/go-toml/v2", "v2.4.3", join(in(".", "MarshalRawMessage/table"), in("benchmark", "RealWorldPyproject"), in("unstable", "ParseBasicStringsEasy/16"))},
		{"github.com/google/uuid", "v1.6.0", in(".", "Parse", "UUID_New", "UUID_NewPooled")},
		{"github.com/sirupsen/logrus", "v1.10.2", in(".", "Entry_ReportCaller_WithCaller", "LoggerJSONFormatter", "LargeTextFormatter")},
		{"github.com/gorilla/websocket", "v1.5.3", in(".", "WriteNoCompression", "WriteWithCompression", "Broadcast/NoCompression")},
		{"golang.org/x/net", "v0.62.0", join(in("html", "HighLevelTokenizer"), in("http2/hpack", "HuffmanDecode"), in("quic", "StreamCreation"))},
		{"golang.org/x/text", "v0.40.0", join(in("language", "Parse"), in("message", "SprintfInt"), in("cases", "Casers/nonASCII/upper/default/transform"))},
	}
}
